//! The workspace, and the command `cctrewrite` built from it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::jdks::Jdk;
use crate::paths;

/// The root of the workspace.
pub fn root() -> PathBuf {
    // Cargo sets the current path of the package that it runs; the constant is that of this one at
    // compile time.
    let package = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let package = PathBuf::from(package);
    let is_root = |folder: &&Path| folder.join("structure.toml").is_file();
    package.ancestors().find(is_root).unwrap_or(&package).to_path_buf()
}

/// Cargo's target folder, for builds of this workspace.
pub fn target_folder() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// A cargo command in the workspace, with a `javac` for the build of the examples: that of `jdk` if
/// the machine has none.
pub fn cargo(jdk: &Jdk) -> Command {
    let mut cargo = cargo_alone();
    if !machine_has_javac() {
        cargo.env("JAVA_HOME", &jdk.home);
    }
    cargo
}

/// A cargo command in the workspace, for packages without Java.
pub fn cargo_alone() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root()).stdin(Stdio::null());
    // Cargo sets them for xtask; if passed on, they would describe another package.
    for variable in
        env::vars_os().map(|(name, _)| name).filter(|name| is_of_this_package(&name.to_string_lossy()))
    {
        cargo.env_remove(variable);
    }
    cargo
}

/// Whether cargo sets this variable for the package that it runs.
fn is_of_this_package(name: &str) -> bool {
    name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
}

/// Whether the build of the examples finds a `javac` by itself, in the places of
/// `examples/monitors/build.rs`.
fn machine_has_javac() -> bool {
    let home = env::var_os("JAVA_HOME").map(|home| Path::new(&home).join("bin"));
    let path = env::var_os("PATH").unwrap_or_default();
    home.into_iter().chain(env::split_paths(&path)).any(|folder| folder.join("javac").is_file())
}

/// The release build of a package with a program.
pub struct ReleaseBuild {
    /// The program.
    pub program: PathBuf,
    /// Cargo's target folder.
    pub target: PathBuf,
}

/// Builds the command `cctrewrite` in release mode; cargo shows its progress on standard error.
///
/// # Errors
/// Fails if it does not compile.
pub fn build_release(jdk: &Jdk) -> Result<ReleaseBuild> {
    build_release_of(jdk, "cctrewrite")
}

/// Builds a package in release mode, as [`build_release`] does.
///
/// # Errors
/// Fails if it does not compile, or has no program.
pub fn build_release_of(jdk: &Jdk, package: &str) -> Result<ReleaseBuild> {
    let mut build = cargo(jdk);
    build.args(["build", "--release", "--package", package]);
    build.args(["--message-format", "json-render-diagnostics"]);
    paths::forget(&mut build, &root(), &target_folder());
    build.stderr(Stdio::inherit());
    let output = build.output().context("cargo cannot be started")?;
    if !output.status.success() {
        bail!("{package} does not compile; see the errors above");
    }
    let messages = String::from_utf8(output.stdout).context("cargo's messages")?;
    let program = executables(&messages).pop().context("cargo built no program")?;
    // .../target/release/cctrewrite
    let target = program.ancestors().nth(2).context("cargo's target folder")?.to_owned();
    Ok(ReleaseBuild { program, target })
}

/// The built programs in cargo's JSON messages, one message on each line.
pub fn executables(messages: &str) -> Vec<PathBuf> {
    messages.lines().filter_map(executable).collect()
}

/// The built program in a line of cargo's JSON messages (The Cargo Book, "External Tools").
fn executable(message: &str) -> Option<PathBuf> {
    let message: serde_json::Value = serde_json::from_str(message).ok()?;
    message.get("executable")?.as_str().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_the_workspace() {
        assert!(root().join("Cargo.lock").is_file());
        assert!(root().join("crates/cctrewrite").is_dir());
    }

    #[test]
    fn programs_are_found_in_cargos_messages() {
        let message = r#"{"reason":"compiler-artifact","executable":"/t/release/cctrewrite","fresh":true}"#;
        assert_eq!(executable(message), Some("/t/release/cctrewrite".into()));
        assert_eq!(executable(r#"{"reason":"compiler-artifact","executable":null}"#), None);
        assert_eq!(executable("no JSON"), None);
    }
}
