//! The file that holds the trees (`cctrewrite.runtime.Arena`). There is at most one.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cct_arena::Arena;
use cct_arena::log::Entry;

/// Held briefly: nobody waits for anything under this lock, and no other lock is taken.
static ARENA: Mutex<Option<Arena>> = Mutex::new(None);

/// The file, if there is one.
pub fn arena() -> MutexGuard<'static, Option<Arena>> {
    // A panic under the lock leaves at worst a record unfinished, which the length in the header
    // does not count.
    ARENA.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates the file; `%p` in its name is the process id. Returns an error message on failure.
pub fn make(path: Option<&str>) -> Result<(), String> {
    let made = match path {
        Some(path) => {
            let path = path.replace("%p", &std::process::id().to_string());
            let made = Arena::create(&PathBuf::from(&path)).map_err(|e| format!("{path}: {e}"))?;
            if let Some(other) = made.path().filter(|other| *other != Path::new(&path)) {
                let line = format!(
                    "cctrewrite: {path} already exists, perhaps from a killed JVM (see `cctrewrite \
                     recover`); this JVM uses {}",
                    other.display()
                );
                // Without standard error there is nowhere to report to.
                let _ = writeln!(std::io::stderr(), "{line}");
            }
            made
        }
        None => Arena::nameless().map_err(|e| e.to_string())?,
    };
    *arena() = Some(made);
    Ok(())
}

/// Whether the file is open.
pub fn is_open() -> bool {
    arena().is_some()
}

/// Adds a record to the file's log, if there is a file.
pub fn log(record: &Entry<'_>) {
    if let Some(arena) = arena().as_mut() {
        arena.log(record);
    }
}
