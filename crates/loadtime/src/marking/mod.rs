//! Markers in classes that are defined while the program runs, on a JDK whose class library has
//! markers by the same rules (docs/research/markers.md, *Whole JDKs*).
//!
//! Where the program is counted, too, classes get them when they are rewritten for that
//! ([`beside`]). Elsewhere JVMTI tells of each class file before the JVM takes it ([`hook`]), from
//! the moment on at which the launcher comes to the program. That needs no capability, and so no
//! agent on the command line. Rules by what is above a class have its superclass loaded a moment
//! before the JVM does ([`ancestors`]).

mod ancestors;
pub mod beside;
mod hook;
pub mod natives;
mod rules;

use std::path::Path;

use crate::jni::Env;
use crate::marking::rules::{MARKING, read};
use crate::state::jvmti;

/// Takes what an image carries, and has the JVM tell of classes from now on. Says what is wrong
/// with it.
fn start(env: Env, folder: &Path) -> Result<(), String> {
    let marking = read(folder)?;
    let jvmti = jvmti(env).ok_or("the JVM gives no JVMTI environment")?;
    let marking = MARKING.get_or_init(|| marking);
    if !jvmti.tell_of_class_files(hook::class_file, Some(hook::class_loaded)) {
        return Err("the JVM does not tell of class files".to_owned());
    }
    hook::look_back(env, jvmti, marking);
    Ok(())
}
