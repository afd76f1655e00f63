//! The libraries that work inside the JVM, and where they lie.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::PathBuf;

use anyhow::{Context, Result};

/// Rewrites classes while the program runs; its name, less what the operating system puts around
/// it.
const LOAD_TIME: &str = "cctrewrite_loadtime";

/// Starts HotSpot with the options of a profiled JDK 8.
const VM: &str = "cctrewrite_vm";

/// The agent that tells the JVM with what the names of renamed natives begin.
const PREFIX: &str = "cctrewrite_prefix";

/// The load-time library.
pub fn library() -> Option<PathBuf> {
    beside_command(LOAD_TIME)
}

/// The library that a profiled JDK 8 has its launchers load in place of HotSpot.
pub fn vm() -> Option<PathBuf> {
    beside_command(VM)
}

/// The agent without which renamed natives (`--natives prefix`) are not found.
pub fn prefix() -> Result<PathBuf> {
    beside_command(PREFIX).with_context(|| {
        let name = file_name(PREFIX);
        format!("{name} is not beside this command, and without it no JVM finds natives that were renamed (--natives prefix); install both together")
    })
}

/// The JVM option that loads it from among the JDK's own libraries.
pub fn prefix_option() -> String {
    format!("-agentlib:{PREFIX}")
}

/// Its file name.
pub fn prefix_name() -> String {
    file_name(PREFIX)
}

/// A library beside this command: where cargo builds it, or in the same folder.
fn beside_command(name: &str) -> Option<PathBuf> {
    let command = std::env::current_exe().ok()?;
    let folder = std::fs::canonicalize(command).ok()?.parent()?.to_path_buf();
    let file = file_name(name);
    // Cargo builds a command's libraries in `deps`, and links what it was asked for by name beside
    // the command.
    [folder.join("deps").join(&file), folder.join(&file)].into_iter().find(|path| path.is_file())
}

/// What to tell a user who has no load-time library.
pub fn missing() -> String {
    format!(
        "{} is not beside this command: classes that were not instrumented beforehand stay as they are, and what the JVM calls by \
         itself hangs under the context stored last",
        file_name(LOAD_TIME)
    )
}

/// The load-time library's file name.
pub fn library_name() -> String {
    file_name(LOAD_TIME)
}

/// The file name of [`vm`].
pub fn vm_name() -> String {
    file_name(VM)
}

fn file_name(name: &str) -> String {
    format!("{DLL_PREFIX}{name}{DLL_SUFFIX}")
}
