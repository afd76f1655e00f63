//! The jars of JDK 8's class library.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::jdks::Jdk;

/// The jars of the boot class path with classes or resources, in `jre/lib`. Not every build has all
/// of them.
const BOOT_JARS: [&str; 6] = ["rt.jar", "jce.jar", "jsse.jar", "charsets.jar", "resources.jar", "jfr.jar"];

/// The jars of the boot class path.
pub fn boot_jars(jdk: &Jdk) -> Vec<PathBuf> {
    let lib = jdk.home.join("jre/lib");
    BOOT_JARS.map(|name| lib.join(name)).into_iter().filter(|jar| jar.is_file()).collect()
}

/// The jars of the extension folder.
///
/// # Errors
/// Fails if the folder cannot be listed.
pub fn extension_jars(jdk: &Jdk) -> Result<Vec<PathBuf>> {
    jars_in(&jdk.home.join("jre/lib/ext"))
}

/// The jars in a folder, by name; none if it does not exist.
///
/// # Errors
/// Fails if the folder cannot be listed.
pub fn jars_in(folder: &Path) -> Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder).with_context(|| format!("list {}", folder.display()))?;
    let mut jars = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    jars.retain(|path| path.extension() == Some(OsStr::new("jar")));
    jars.sort();
    Ok(jars)
}
