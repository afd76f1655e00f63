//! Packages of the npm registry with jars, fetched by the machine's own `npm`.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use xtask_tools::process;

/// Value of a program's suite for npm: the package is npm's.
pub const REGISTRY: &str = "npm";

/// Fetches the newest version of `name` and unpacks it to `root`, as the folder `package`; returns
/// the version. Runs none of its scripts.
///
/// # Errors
/// Fails if there is no `npm`, or the package is missing.
pub fn fetch(name: &str, root: &Path) -> Result<String> {
    fs::create_dir_all(root).with_context(|| format!("make {}", root.display()))?;
    eprintln!("  downloading from npm: {name}");
    let mut pack = Command::new("npm");
    pack.args(["pack", "--silent", name, "--pack-destination"]).arg(root);
    let printed = process::output(&mut pack)?;
    let tarball = root.join(printed.trim());
    ensure!(tarball.is_file(), "npm pack left no {}", tarball.display());
    process::output(Command::new("tar").arg("-xzf").arg(&tarball).arg("-C").arg(root))?;
    fs::remove_file(&tarball)?;
    version(&fs::read_to_string(root.join("package/package.json"))?)
}

/// The version in a `package.json`.
fn version(manifest: &str) -> Result<String> {
    let manifest: serde_json::Value = serde_json::from_str(manifest).context("package.json")?;
    let version = manifest["version"].as_str().context("package.json states no version")?;
    Ok(version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_states_the_version() {
        assert_eq!(version(r#"{"name": "x", "version": "1.2.3"}"#).unwrap(), "1.2.3");
        assert!(version("{}").is_err());
        assert!(version("").is_err());
    }
}
