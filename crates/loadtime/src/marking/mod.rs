//! Markers in classes that are defined while the program runs, on a JDK whose class library has
//! markers by the same rules (docs/research/markers.md, *Whole JDKs*).
//!
//! Where the program is also counted, classes get their markers when they are rewritten for that
//! ([`beside`]). Elsewhere JVMTI passes each class file to the hook before the JVM parses it
//! ([`hook`]), from the moment at which the launcher reaches the program. That needs no capability,
//! and so no agent on the command line. For rules about ancestors, the superclass is loaded a
//! moment before the JVM does it ([`ancestors`]).

mod ancestors;
pub mod counted_classes;
mod hook;
pub mod natives;
mod rules;

use std::path::Path;

use crate::jni::Env;
use crate::marking::rules::{MARKING, read};
use crate::state::jvmti;

/// Reads the rules that an image carries, and installs the hook. Returns an error message on
/// failure.
fn start(env: Env, folder: &Path) -> Result<(), String> {
    let marking = read(folder)?;
    let jvmti = jvmti(env).ok_or("the JVM has no JVMTI environment")?;
    let marking = MARKING.get_or_init(|| marking);
    if !jvmti.report_class_files(hook::class_file, Some(hook::class_loaded)) {
        return Err("the JVM does not report class files".to_owned());
    }
    hook::look_back(env, jvmti, marking);
    Ok(())
}
