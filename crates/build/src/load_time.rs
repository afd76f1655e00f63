//! The native libraries that run inside the JVM, and their paths.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::PathBuf;

use anyhow::{Context, Result};

/// The library that rewrites classes while the program runs: its name, without the operating
/// system's prefix and suffix.
const LOAD_TIME: &str = "cctrewrite_loadtime";

/// The library that starts HotSpot with the options of a profiled JDK 8.
const VM: &str = "cctrewrite_vm";

/// The agent that registers the prefix of renamed natives with the JVM.
const PREFIX: &str = "cctrewrite_prefix";

/// The path of the load-time library.
pub fn library() -> Option<PathBuf> {
    beside_command(LOAD_TIME)
}

/// The path of the library that launchers of a profiled JDK 8 load instead of HotSpot.
pub fn vm() -> Option<PathBuf> {
    beside_command(VM)
}

/// The path of the agent without which renamed natives (`--natives prefix`) are not found.
pub fn prefix() -> Result<PathBuf> {
    beside_command(PREFIX).with_context(|| {
        let name = file_name(PREFIX);
        format!("{name} is not beside this command, and without it no JVM finds natives that were renamed (--natives prefix); install both together")
    })
}

/// The JVM option that loads the agent from the JDK's own libraries.
pub fn prefix_option() -> String {
    format!("-agentlib:{PREFIX}")
}

/// The agent's file name.
pub fn prefix_name() -> String {
    file_name(PREFIX)
}

/// The path of a library next to this command: where cargo builds it, or in the same folder.
fn beside_command(name: &str) -> Option<PathBuf> {
    let command = std::env::current_exe().ok()?;
    let folder = std::fs::canonicalize(command).ok()?.parent()?.to_path_buf();
    let file = file_name(name);
    // Cargo builds a command's libraries in `deps`, and links the requested ones next to the
    // command.
    [folder.join("deps").join(&file), folder.join(&file)].into_iter().find(|path| path.is_file())
}

/// The message for a user who has no load-time library.
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
