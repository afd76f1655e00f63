//! Zig as a linker: it knows the symbols of every version of glibc, so it can link programs for
//! systems older than this machine's.
//!
//! The task installs two PyPI packages at fixed versions, into a separate virtual environment in
//! the cache folder: `ziglang` is the compiler, and `cargo-zigbuild` makes cargo use it. pip
//! compares their hashes with the registry's index.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use xtask_tools::cache::{self, FolderLock};
use xtask_tools::jdks::Fetch;
use xtask_tools::process;

/// The PyPI packages.
const PACKAGES: [&str; 2] = ["ziglang==0.15.2", "cargo-zigbuild==0.24.0"];

/// File in the environment that lists its packages. It is written last, so it exists only in a
/// complete environment.
const STAMP: &str = "packages.txt";

/// A virtual environment with both packages.
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
    /// Fails if the package has another layout.
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

    /// The folder in which Zig caches compiled objects.
    pub fn cache(&self) -> PathBuf {
        self.folder.join("cache")
    }
}

/// Finds Zig in the cache folder, or downloads it.
///
/// # Errors
/// Fails if it is not in the cache folder and cannot be downloaded.
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
    // Created at its final path, not renamed later: an environment's scripts contain its path. So
    // the stamp is written last.
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
