//! Folders of JDKs in the cache folder.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::debian::Package;

/// File in each unpacked folder: the packages it came from, one per line.
const STAMP: &str = "debian-packages.txt";

/// Records in `folder` which packages it came from, and the path of its C library.
///
/// # Errors
/// Fails if the file cannot be written.
pub fn stamp<'a>(
    folder: &Path,
    suite: &str,
    packages: impl Iterator<Item = &'a Package>,
    libraries: Option<&Path>,
) -> Result<()> {
    let mut text = format!("suite {suite}\n");
    for package in packages {
        text += &format!("package {} {}\n", package.name, package.version);
    }
    if let Some(libraries) = libraries {
        text += &format!("libraries {}\n", libraries.display());
    }
    fs::write(folder.join(STAMP), text).with_context(|| format!("write {}", folder.join(STAMP).display()))
}

/// Moves `new` to `home` in one step; an existing home goes to `work` first.
///
/// # Errors
/// Fails if they cannot be moved.
pub fn replace(new: &Path, home: &Path, work: &Path) -> Result<()> {
    if home.exists() {
        fs::rename(home, work.join("replaced")).with_context(|| format!("replace {}", home.display()))?;
    }
    fs::rename(new, home).with_context(|| format!("move to {}", home.display()))
}
