//! Whether a class inherits `hashCode` from `Object`. For classes that were not rewritten this asks
//! the JVM. It does so without initialising them (as JNI's `GetMethodID` does), and without traces
//! that the program's own reflection could notice. The JVM keeps the answer's data for ever, so
//! this is the exception.

use cct_classfile::NameAndType;

use crate::frames::known_class;
use crate::jni::{Env, jclass};
use crate::jvmti::Jvmti;
use crate::members::Members;
use crate::state::jvmti;

const HASH_CODE: NameAndType<'_> = NameAndType::new(b"hashCode", b"()I");

/// Whether no class from `class` up to `Object` overrides `hashCode`. `None` if the JVM does not
/// say.
pub fn is_inherited(env: Env, class: jclass) -> Option<bool> {
    let (jvmti, members) = (jvmti(env)?, Members::find(env)?);
    // An array has no class name, and inherits the methods of Object.
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
            Some(known) => known.summary.find(HASH_CODE).is_some(),
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
    Some(
        methods
            .into_iter()
            .any(|method| jvmti.method_name(method).is_some_and(|named| named.name_and_type() == HASH_CODE)),
    )
}
