//! Keeps the paths of this machine out of what is built: panics' messages, debug information and C
//! code name folders as they are called here, not as they lie.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::workspace::root;

/// What the workspace is called.
const WORKSPACE: &str = "/cctrewrite";

/// What the target folder is called, which may lie in the workspace or not.
const TARGET: &str = "/cctrewrite/target";

/// What cargo's home is called, where the sources of dependencies lie.
const HOME: &str = "/cargo";

/// Cargo's target folder, for builds of this workspace.
pub fn target_folder() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Has a call of cargo's build name folders independently of where they lie.
///
/// `RUSTFLAGS` of the user's are no less valid than these: where there are any, cargo takes them
/// instead.
pub fn forget(build: &mut Command, workspace: &Path, target: &Path) {
    // The last one that fits is taken, by rustc and by C compilers: what may lie within another
    // folder comes behind it.
    let mut folders = vec![(workspace.to_owned(), WORKSPACE)];
    folders.extend(cargo_home().map(|home| (home, HOME)));
    folders.push((target.to_owned(), TARGET));
    let folders: Vec<(&str, &str)> =
        folders.iter().filter_map(|(folder, name)| Some((folder.to_str()?, *name))).collect();

    build.arg("--config").arg(format!("build.rustflags={}", rust_flags(&folders)));
    let of_the_user = env::var_os("CFLAGS").unwrap_or_default();
    build.env("CFLAGS", c_flags(&of_the_user, &folders));
}

/// A list in TOML, which is one in JSON as well.
fn rust_flags(folders: &[(&str, &str)]) -> serde_json::Value {
    folders.iter().map(|(folder, name)| format!("--remap-path-prefix={folder}={name}")).collect()
}

/// Behind the user's own. They are separated by spaces, so a folder with one cannot be said.
fn c_flags(of_the_user: &OsStr, folders: &[(&str, &str)]) -> OsString {
    let mut flags = of_the_user.to_owned();
    for (folder, name) in folders.iter().filter(|(folder, _)| !folder.contains(char::is_whitespace)) {
        if !flags.is_empty() {
            flags.push(" ");
        }
        flags.push(format!("-ffile-prefix-map={folder}={name}"));
    }
    flags
}

fn cargo_home() -> Option<PathBuf> {
    let named = env::var_os("CARGO_HOME").map(PathBuf::from);
    named.or_else(|| env::home_dir().map(|home| home.join(".cargo")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_have_names_of_their_own() {
        let folders = [("/home/a b/\"it\"", "/cctrewrite"), ("/home/cargo", "/cargo")];
        assert_eq!(
            rust_flags(&folders).to_string(),
            r#"["--remap-path-prefix=/home/a b/\"it\"=/cctrewrite","--remap-path-prefix=/home/cargo=/cargo"]"#
        );
        assert_eq!(c_flags(OsStr::new("-O2"), &folders), "-O2 -ffile-prefix-map=/home/cargo=/cargo");
        assert_eq!(c_flags(OsStr::new(""), &folders), "-ffile-prefix-map=/home/cargo=/cargo");
    }
}
