//! The jars of a set, found or fetched.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use walkdir::WalkDir;
use xtask_programs::packages::Packages;
use xtask_programs::place::fresh;
use xtask_programs::{jars, pypi};
use xtask_tools::class_library::jars_in;
use xtask_tools::jdks::{Fetch, Jdk};

use super::obfuscate::Obfuscator;
use super::sets::{Origin, PROGUARD, SUITE, Set};

/// The jars of a set.
pub struct SetJars {
    /// Files with different names, in the order of the class path.
    pub jars: Vec<PathBuf>,
    /// Further entries of the class path: the original jars, which they refer to.
    pub besides: Vec<PathBuf>,
    /// The jars' origins, with versions.
    pub versions: Vec<String>,
}

/// Finds or fetches the jars of a set; files created for it are in `folder`. `jdk` runs tools that
/// create jars.
///
/// # Errors
/// Fails if they are missing.
pub fn obtain(set: &Set, packages: &mut Packages, fetch: Fetch, jdk: &Jdk, folder: &Path) -> Result<SetJars> {
    let obtained = match &set.origin {
        Origin::Pypi(name, version) => SetJars {
            jars: pypi::jars(name, version, fetch)?,
            besides: Vec::new(),
            versions: vec![format!("{name} {version}")],
        },
        Origin::Debian(names) => {
            let (folders, versions) = packages.folders(SUITE, names)?;
            SetJars { jars: copies(&all_jars(&folders)?, folder)?, besides: Vec::new(), versions }
        }
        Origin::ProGuard { packages: names, jars } => {
            let (package, jar) = PROGUARD;
            let tool = packages.find(SUITE, &[package], &[jar])?;
            let (_, proguard) = tool.jars.into_iter().next().context("no jar of ProGuard")?;
            let mut found = packages.find(SUITE, names, jars)?;
            found.versions.extend(tool.versions);
            let copies = copies(
                &found.jars.into_iter().map(|(_, jar)| jar).collect::<Vec<_>>(),
                &folder.join("plain"),
            )?;
            let obfuscated = folder.join("obfuscated");
            fresh(&obfuscated)?;
            Obfuscator::new(proguard).all(&copies, jdk, &obfuscated)?;
            SetJars { jars: jars_in(&obfuscated)?, besides: copies, versions: found.versions }
        }
    };
    let names: BTreeSet<_> = obtained.jars.iter().map(|jar| jar.file_name()).collect();
    ensure!(names.len() == obtained.jars.len(), "{}: two jars of one name", set.name);
    ensure!(!obtained.jars.is_empty(), "{}: no jars", set.name);
    Ok(obtained)
}

/// The jars of packages, by package and path; the first of several with one name. Links lead to
/// other jars among them.
fn all_jars(packages: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut names = BTreeSet::new();
    let mut found = Vec::new();
    for package in packages {
        for entry in WalkDir::new(package).sort_by_file_name() {
            let entry = entry?;
            let is_jar = entry.path().extension().is_some_and(|extension| extension == "jar");
            if is_jar && entry.file_type().is_file() && names.insert(entry.file_name().to_owned()) {
                found.push(entry.into_path());
            }
        }
    }
    Ok(found)
}

/// Copies jars into a folder, without the `Class-Path` of their manifests, which names files of an
/// installed system.
fn copies(jars: &[PathBuf], folder: &Path) -> Result<Vec<PathBuf>> {
    fresh(folder)?;
    let copy = |jar: &PathBuf| {
        let name = jar.file_name().with_context(|| format!("{} has no name", jar.display()))?;
        let to = folder.join(name);
        ensure!(!to.exists(), "two jars of the name {}", to.display());
        jars::copy(jar, &to)?;
        Ok(to)
    };
    jars.iter().map(copy).collect()
}

/// Writes a file with the paths of jars, one on each line, as input for programs.
///
/// # Errors
/// Fails if it cannot be written.
pub fn list(jars: &[PathBuf], file: &Path) -> Result<()> {
    let lines: String = jars.iter().map(|jar| format!("{}\n", jar.display())).collect();
    fs::write(file, lines).with_context(|| format!("write {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_jars_with_one_name_the_first_counts_and_links_do_not() {
        let work = tempfile::tempdir().unwrap();
        let package = |name: &str| {
            let folder = work.path().join(name);
            fs::create_dir_all(folder.join("java")).unwrap();
            fs::write(folder.join("java/a.jar"), name).unwrap();
            folder
        };
        let (one, two) = (package("one"), package("two"));
        fs::write(two.join("java/b.jar"), "").unwrap();
        std::os::unix::fs::symlink("b.jar", two.join("java/c.jar")).unwrap();
        let found = all_jars(&[one.clone(), two.clone()]).unwrap();
        assert_eq!(found, [one.join("java/a.jar"), two.join("java/b.jar")]);
    }
}
