//! The user's module at load time: classes that are defined while the program runs pass it first,
//! as classes that are rewritten beforehand do (docs/research/udi.md).
//!
//! The module is a process of its own. A lock of this library serialises requests to it. No thread
//! that could wait for the JVM holds that lock: only natives take it, around reads and writes of
//! pipes.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use cct_classfile::{ClassFile, access};
use cct_rewrite::{ClassSummary, hooks};
use cct_udi::{Launch, Outcome, Session};

use crate::class_file;
use crate::state::state;

/// The module, as long as it answers.
static MODULE: OnceLock<Mutex<Option<Session>>> = OnceLock::new();

/// Starts the module. Returns an error message on failure.
pub fn start(module: &str, java: Option<&str>, host: Option<&str>, seconds: &str) -> Result<(), String> {
    let path = Path::new(module);
    let identity = cct_udi::identity(path).map_err(|e| format!("module {module}: cannot be read: {e}"))?;
    let made_with = state().library.provenance().and_then(|(_, lines)| Some(lines.value("udi")?.to_owned()));
    match made_with {
        Some(of_library) if of_library == identity => {}
        Some(of_library) => {
            return Err(format!(
                "the module {of_library} transformed the class library, and {module} is \
                 {identity}: make the image again with this module"
            ));
        }
        None => {
            return Err(format!(
                "no module transformed the class library, and -Dcctrewrite.udi names {module}: \
                 make the image with --udi"
            ));
        }
    }
    let seconds = seconds.parse().ok().filter(|seconds| *seconds > 0);
    let seconds = seconds.ok_or("-Dcctrewrite.udi-timeout: expected a number of seconds from 1")?;
    let launch = Launch {
        module: path,
        java: java.map(Path::new),
        host: host.map(Path::new),
        timeout: Duration::from_secs(seconds),
    };
    let session = Session::open(&launch).map_err(|e| e.to_string())?;
    *locked(MODULE.get_or_init(Mutex::default)) = Some(session);
    Ok(())
}

/// The class as the module transforms it; `None` if the module leaves it unchanged.
///
/// `patched` says whether the definer replaces some constants: by their indices, which a module may
/// change.
pub fn given(bytes: &[u8], patched: bool) -> Option<Vec<u8>> {
    let module = MODULE.get()?;
    let class = class_file::read(bytes).ok()?;
    let is_for_it = !class.is(access::MODULE)
        && !hooks::is_runtime_class(class.name())
        && ClassSummary::of(&class).is_ok_and(|summary| !summary.is_rewritten());
    if !is_for_it {
        return None;
    }
    let name = cct_classfile::mutf8::lossy(class.name());
    if patched {
        state().note("classes with constants of their definers, which the module did not get", &name);
        return None;
    }
    let mut session = locked(module);
    let Some(asked) = &mut *session else {
        state().note("classes that the module did not get, since it had failed", &name);
        return None;
    };
    match asked.ask(&name, bytes) {
        Ok(Outcome::Keep) => None,
        Ok(Outcome::Abort(why)) => {
            state().note(format!("classes that the module refused: {why}"), &name);
            None
        }
        Ok(Outcome::Replace(new)) => checked(&class, &name, new),
        Err(error) => {
            // The module is not asked again: a late answer would be taken for that of another
            // class.
            *session = None;
            state().note(format!("the module got no further classes: {error}"), &name);
            None
        }
    }
}

fn checked(class: &ClassFile<'_>, name: &str, new: Vec<u8>) -> Option<Vec<u8>> {
    match cct_udi::check(class, &new) {
        Ok(()) => Some(new),
        Err(misfit) => {
            state().note(format!("classes with invalid output of the module: {misfit}"), name);
            None
        }
    }
}

/// A panic leaves nothing half-done.
fn locked(module: &Mutex<Option<Session>>) -> MutexGuard<'_, Option<Session>> {
    module.lock().unwrap_or_else(PoisonError::into_inner)
}
