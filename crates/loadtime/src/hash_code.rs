//! Whether a class inherits `hashCode` from `Object`. Of classes that were not rewritten the JVM is
//! asked, but not in a way that would initialise them (as JNI's `GetMethodID` does) or that the
//! program's own reflection could notice. It remembers for ever what it was asked for, so this is
//! the exception.

use crate::frames::known_class;
use crate::jni::{Env, jclass};
use crate::jvmti::Jvmti;
use crate::members::Members;
use crate::state::jvmti;

/// Whether no class from `class` up to `Object` overrides it. `None` if the JVM does not say.
pub fn is_inherited(env: Env, class: jclass) -> Option<bool> {
    let (jvmti, members) = (jvmti(env)?, Members::find(env)?);
    // An array has no class name, and the methods of Object.
    if jvmti.class_name(class).is_none() {
        return Some(true);
    }
    let mut class = class;
    loop {
        let above = env.superclass(class);
        if above.is_null() {
            return Some(true);
        }
        let name = jvmti.class_name(class)?;
        let declares = match known_class(env, jvmti, members, class, &name) {
            Some(known) => known.summary.find(b"hashCode", b"()I").is_some(),
            None => declares(jvmti, class)?,
        };
        if declares {
            return Some(false);
        }
        class = above;
    }
}

fn declares(jvmti: Jvmti, class: jclass) -> Option<bool> {
    let methods = jvmti.class_methods(class)?;
    Some(methods.into_iter().any(|method| {
        jvmti
            .method_name(method)
            .is_some_and(|(name, descriptor)| name == b"hashCode" && descriptor == b"()I")
    }))
}
