//! Removal of this machine's paths from built files: panic messages, debug information and C code
//! use the folder names below instead of the real paths.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Name of the workspace.
const WORKSPACE: &str = "/cctrewrite";

/// Name of the target folder, which need not be in the workspace.
const TARGET: &str = "/cctrewrite/target";

/// Name of cargo's home, which contains the sources of dependencies.
const HOME: &str = "/cargo";

/// Makes cargo's build use folder names that do not depend on the real paths.
///
/// The user's `RUSTFLAGS` take precedence: if there are any, cargo uses them instead.
pub fn forget(build: &mut Command, workspace: &Path, target: &Path) {
    // rustc and C compilers use the last prefix that fits: folders inside other folders follow
    // these.
    let mut folders = vec![(workspace.to_owned(), WORKSPACE)];
    folders.extend(cargo_home().map(|home| (home, HOME)));
    folders.push((target.to_owned(), TARGET));
    let folders: Vec<(&str, &str)> =
        folders.iter().filter_map(|(folder, name)| Some((folder.to_str()?, *name))).collect();

    build.arg("--config").arg(format!("build.rustflags={}", rust_flags(&folders)));
    let of_the_user = env::var_os("CFLAGS").unwrap_or_default();
    build.env("CFLAGS", c_flags(&of_the_user, &folders));
}

/// A list in TOML, which is also a list in JSON.
fn rust_flags(folders: &[(&str, &str)]) -> serde_json::Value {
    folders.iter().map(|(folder, name)| format!("--remap-path-prefix={folder}={name}")).collect()
}

/// Appends to the user's flags. They are separated by spaces, so a folder with a space cannot be
/// named.
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
