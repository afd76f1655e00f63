//! Whether a class inherits `hashCode` from `Object`. Asked of the JVM, but not in a way that would initialise the class (as JNI's
//! `GetMethodID` does) or that the program's own reflection could notice.

use crate::jni::{Env, jclass};
use crate::jvmti::Jvmti;
use crate::state::jvmti;

/// Whether no class from `class` up to `Object` overrides it. `None` if the JVM does not say.
pub fn is_inherited(env: Env, class: jclass) -> Option<bool> {
    let jvmti = jvmti(env)?;
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
        if declares(jvmti, class)? {
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
