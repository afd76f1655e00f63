//! Zig as a linker: it has the symbols of every version of glibc, so that programs run on older
//! systems than this one.
//!
//! From PyPI, in a virtual environment of its own in the cache folder: `ziglang` is the compiler,
//! `cargo-zigbuild` tells cargo of it. Both come at the versions that are stated here; pip compares
//! their hashes with the registry's index.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::cache::{self, FolderLock};
use crate::jdks::Fetch;
use crate::process;

/// The packages.
const PACKAGES: [&str; 2] = ["ziglang==0.15.2", "cargo-zigbuild==0.24.0"];

/// In the environment: the packages that are in it.
const STAMP: &str = "packages.txt";

/// A virtual environment with both.
#[derive(Debug, Clone)]
pub struct Zig {
    folder: PathBuf,
}

impl Zig {
    /// The folder of the programs.
    pub fn bin(&self) -> PathBuf {
        self.folder.join("bin")
    }

    /// The folder of Zig's own files.
    ///
    /// # Errors
    /// If the package has another layout.
    pub fn home(&self) -> Result<PathBuf> {
        let lib = self.folder.join("lib");
        for entry in fs::read_dir(&lib).with_context(|| format!("list {}", lib.display()))? {
            let home = entry?.path().join("site-packages/ziglang");
            if home.join("zig").is_file() {
                return Ok(home);
            }
        }
        bail!("{} has no package ziglang", self.folder.display())
    }

    /// Where Zig keeps what it has compiled.
    pub fn cache(&self) -> PathBuf {
        self.folder.join("cache")
    }
}

/// Finds Zig, or fetches it.
///
/// # Errors
/// If it is neither in the cache folder nor can be fetched.
pub fn get(fetch: Fetch) -> Result<Zig> {
    let store = FolderLock::take(cache::folder()?.join("dist"))?;
    let folder = store.folder().join("zig");
    let wanted = PACKAGES.join("\n");
    if fs::read_to_string(folder.join(STAMP)).is_ok_and(|stamp| stamp == wanted) {
        return Ok(Zig { folder });
    }
    ensure!(fetch != Fetch::Never, "{} is missing, and downloads are turned off", folder.display());
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("remove {}", folder.display()))?;
    }
    eprintln!("  downloading from PyPI: {}", PACKAGES.join(" "));
    // In its place from the start: scripts of an environment have its path in them. The stamp comes
    // last.
    process::output(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    process::output(&mut pip(&folder))?;
    fs::write(folder.join(STAMP), wanted)?;
    Ok(Zig { folder })
}

fn pip(folder: &Path) -> Command {
    let mut pip = Command::new(folder.join("bin/python"));
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-input",
        "--disable-pip-version-check",
        "--no-cache-dir",
    ]);
    pip.args(["--only-binary=:all:"]).args(PACKAGES);
    pip
}
