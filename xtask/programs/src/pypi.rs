//! Packages of PyPI with jars, fetched by the machine's own `pip`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use xtask_tools::cache::{self, FolderLock};
use xtask_tools::class_library::jars_in;
use xtask_tools::jdks::Fetch;
use xtask_tools::process;

/// The jars of `name`, from the folder `deps/jars` of its sources, by name; from the cache folder,
/// or fetched into it.
///
/// The package must have a source distribution, from which pip runs `setup.py` to learn its name.
///
/// # Errors
/// Fails if there is no `pip`, or the package is missing, or has no jars.
pub fn jars(name: &str, version: &str, may_fetch: Fetch) -> Result<Vec<PathBuf>> {
    let store = FolderLock::take(cache::folder()?.join("programs/pypi"))?;
    let place = store.folder().join(format!("{name}-{version}"));
    if !place.is_dir() {
        ensure!(may_fetch != Fetch::Never, "{} is missing, and downloads are turned off", place.display());
        let work = tempfile::Builder::new().prefix(".new-").tempdir_in(store.folder())?;
        let jars = work.path().join("jars");
        fs::create_dir(&jars)?;
        fetch(&format!("{name}=={version}"), work.path(), &jars)?;
        fs::rename(&jars, &place).with_context(|| format!("move {name} to its place"))?;
    }
    jars_in(&place)
}

/// Puts the jars of the package into `jars`.
fn fetch(package: &str, work: &Path, jars: &Path) -> Result<()> {
    eprintln!("  downloading from PyPI: {package}");
    let downloads = work.join("downloads");
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check"]);
    pip.args(["--no-cache-dir", "--no-deps", "--no-binary=:all:", "--dest"]).arg(&downloads);
    process::output(pip.arg(package))?;
    let mut found = fs::read_dir(&downloads)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    let (Some(sources), None) = (found.pop(), found.pop()) else {
        bail!("pip has not left exactly one file for {package}");
    };
    let mut tar = Command::new("tar");
    tar.args(["--extract", "--wildcards", "--strip-components=3"]).arg("--file").arg(sources);
    process::output(tar.arg("--directory").arg(jars).arg("*/deps/jars/*.jar"))?;
    ensure!(!jars_in(jars)?.is_empty(), "{package} has no jars");
    Ok(())
}
