//! mdBook, the program that makes the site.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};
use xtask_tools::cache::{self, FolderLock};
use xtask_tools::process;
use xtask_tools::workspace::cargo_alone;

/// The version that is built if none is installed.
const VERSION: &str = "0.5.2";

/// An mdBook: the installed one, or else that of the cache folder, where it is built if missing.
///
/// # Errors
/// Fails if it is missing and may not be downloaded, or cannot be built.
pub fn find(offline: bool) -> Result<PathBuf> {
    let installed = env::split_paths(&env::var_os("PATH").unwrap_or_default())
        .map(|folder| folder.join("mdbook"))
        .find(|program| program.is_file());
    if let Some(program) = installed {
        return Ok(program);
    }
    let folder = cache::folder()?.join("tools").join(format!("mdbook-{VERSION}"));
    let program = folder.join("bin/mdbook");
    if program.is_file() {
        return Ok(program);
    }
    if offline {
        bail!("mdBook is not installed (cargo install --locked mdbook@{VERSION})");
    }
    let _lock = FolderLock::take(folder.clone())?;
    if !program.is_file() {
        eprintln!("building mdBook {VERSION} in {}: some minutes, once", folder.display());
        let mut install = cargo_alone();
        install.args(["install", "--locked", "--version", VERSION, "--root"]).arg(&folder).arg("mdbook");
        process::output(&mut install)?;
    }
    Ok(program)
}

/// The command of an mdBook, which needs no terminal.
pub fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("RUST_LOG", "warn");
    command
}
