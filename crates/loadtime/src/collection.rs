//! `cctrewrite run` (docs/run.md): each JVM that records enters itself into a folder, and its profile goes there.
//!
//! The environment is read here and not in Java, where the program's first look at it initialises a class.

use std::fs;
use std::path::Path;

use cct_profile::collection::{self, VARIABLE, enter};

/// Enters this JVM; returns the file in which its profile is expected. `None` when nobody waits for it.
pub fn place() -> Option<String> {
    let arguments = fs::read("/proc/self/cmdline").unwrap_or_default();
    let profile = enter(Path::new(&folder()?), std::process::id(), &arguments).ok()?;
    profile.into_os_string().into_string().ok()
}

/// What whoever waits for the profile wants of the runtime; `None` if nothing is said about it.
pub fn option(key: &str) -> Option<String> {
    collection::option(Path::new(&folder()?), key)
}

fn folder() -> Option<String> {
    std::env::var(VARIABLE).ok().filter(|folder| !folder.is_empty())
}
