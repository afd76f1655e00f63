//! Where the library is that rewrites classes while the program runs.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::PathBuf;

/// Its name, less what the operating system puts around it.
const NAME: &str = "cctrewrite_loadtime";

/// The library beside this command: where cargo builds it, or in the same folder.
pub fn library() -> Option<PathBuf> {
    let command = std::env::current_exe().ok()?;
    let folder = std::fs::canonicalize(command).ok()?.parent()?.to_path_buf();
    let file = file_name();
    // Cargo builds a command's libraries in `deps`, and links what it was asked for by name beside the command.
    [folder.join("deps").join(&file), folder.join(&file)].into_iter().find(|path| path.is_file())
}

/// What to tell a user who has no library.
pub fn missing() -> String {
    format!(
        "{} is not beside this command: classes that were not instrumented beforehand stay as they are, and what the JVM calls by \
         itself hangs under the context stored last",
        file_name()
    )
}

fn file_name() -> String {
    format!("{DLL_PREFIX}{NAME}{DLL_SUFFIX}")
}
