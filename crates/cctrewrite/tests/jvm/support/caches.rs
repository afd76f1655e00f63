//! Runs of `cctrewrite` with a cache of images of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// `cctrewrite` in a folder, with a cache of its own.
pub fn cctrewrite(here: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    for variable in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH", "JAVA_HOME"] {
        command.env_remove(variable);
    }
    command.current_dir(here).env("CCTREWRITE_CACHE", here.join("cache")).args(arguments);
    command
}

/// Runs a command to its end; returns its exit code, output and messages.
pub fn ended(mut command: Command) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let said = [stdout, stderr].concat();
    (status.code(), String::from_utf8_lossy(&said).into_owned())
}

/// The files in the cache of a folder, without following links.
pub fn in_cache(here: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(here.join("cache/images")).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// The images in the cache of a folder.
pub fn cached_images(here: &Path) -> Vec<PathBuf> {
    let is_image = |path: &PathBuf| path.is_dir() && !path.to_str().unwrap().ends_with(".tmp");
    in_cache(here).into_iter().filter(is_image).collect()
}

/// Whether there is an image in the cache of a folder. All of them must be complete: a full check
/// finds nothing.
pub fn assert_sound(here: &Path) -> bool {
    let (code, said) = ended(cctrewrite(here, &["jdk", "--check"]));
    assert_eq!(code, Some(0), "{said}");
    said.contains(": sound")
}
