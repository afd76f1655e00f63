//! Packages in the cache folder. Debian's are in `programs/<suite>/<package>`, unpacked, with
//! upstream sources in `programs/<suite>/<package>.source`; npm's are in `programs/npm/<package>`.
//! The jars of a set of Maven coordinates are in `programs/maven/<first artifact>-<hash of all>`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use walkdir::WalkDir;
use xtask_tools::cache::{self, FolderLock};
use xtask_tools::debian::{Archive, Package, unpack, unpack_source};
use xtask_tools::jdks::Fetch;

use super::maven::{self, LockedArtifact as Jar};
use super::program::{Program, TOOLS};
use super::{folders, npm};

/// File in each unpacked folder: the name and the version of the package.
const STAMP: &str = "debian-package.txt";

/// The fetched packages, and the means to fetch more.
pub struct Packages {
    folder: PathBuf,
    fetch: Fetch,
    /// Debian's archive with the lock on `folder`, opened for the first download.
    archive: Option<Archive>,
}

/// The files of a program.
pub struct ProgramFiles {
    /// The program's jars in the order of the class path, without the JDK's own.
    pub jars: Vec<(&'static str, PathBuf)>,
    /// The folder of the sources.
    pub source: Option<PathBuf>,
    /// `package version` for each package, in the order of the catalogue.
    pub versions: Vec<String>,
}

impl Packages {
    /// Finds the cache folder.
    ///
    /// # Errors
    /// Fails if there is no usable one.
    pub fn new(fetch: Fetch) -> Result<Packages> {
        Ok(Packages { folder: cache::folder()?.join("programs"), fetch, archive: None })
    }

    /// Finds or fetches the files of a program.
    ///
    /// # Errors
    /// Fails if they are not in the cache folder and cannot be downloaded, or the packages lack a
    /// jar.
    pub fn get(&mut self, program: &Program) -> Result<ProgramFiles> {
        if program.suite == maven::CENTRAL {
            return self.of_maven(program);
        }
        let mut fetched = self.find(program.suite, program.packages, program.jars)?;
        if let Some(package) = program.source {
            let source = self.source(program.suite, package)?;
            fetched.versions.push(stamp(&source)?);
            fetched.source = Some(source);
        }
        Ok(fetched)
    }

    /// Finds or fetches the jars of a program of Maven Central, which must match its lock file.
    fn of_maven(&self, program: &Program) -> Result<ProgramFiles> {
        let lock = folders::lock_file(program.name);
        let text = fs::read_to_string(&lock)
            .with_context(|| format!("no lock file; run `cargo xtask programs --lock {}`", program.name))?;
        let locked = maven::parse_lock(&text).with_context(|| lock.display().to_string())?;
        let folder = self.folder.join(maven::CENTRAL).join(maven::folder_name(program.packages));
        if !folder.is_dir() {
            self.may_fetch(&folder)?;
            self.fetch_by_maven(program.packages, &folder, Some(&locked))?;
        }
        let jars = program.jars.iter().map(|&name| (name, folder.join(name))).collect();
        let versions = program.packages.iter().map(|coordinate| maven::version(coordinate)).collect();
        Ok(ProgramFiles { jars, source: None, versions })
    }

    /// Resolves Maven coordinates again, whatever is in the cache folder, and keeps the jars there.
    ///
    /// # Errors
    /// Fails if they cannot be downloaded.
    pub fn resolve_anew(&self, coordinates: &[&str]) -> Result<Vec<Jar>> {
        let folder = self.folder.join(maven::CENTRAL).join(maven::folder_name(coordinates));
        self.may_fetch(&folder)?;
        if folder.is_dir() {
            fs::remove_dir_all(&folder)?;
        }
        self.fetch_by_maven(coordinates, &folder, None)
    }

    /// Resolves next to the final folder and moves the jars there if they are the expected ones.
    fn fetch_by_maven(
        &self,
        coordinates: &[&str],
        folder: &Path,
        locked: Option<&[Jar]>,
    ) -> Result<Vec<Jar>> {
        let parent = self.folder.join(maven::CENTRAL);
        fs::create_dir_all(&parent)?;
        let work = tempfile::tempdir_in(&parent)?;
        let root = work.path().join("root");
        let jars = maven::resolve(coordinates, &root)?;
        if let Some(locked) = locked {
            maven::check(&jars, locked)?;
        }
        fs::rename(&root, folder).with_context(|| format!("move to {}", folder.display()))?;
        Ok(jars)
    }

    /// Finds or fetches packages, and finds jars in them, except [`TOOLS`].
    ///
    /// # Errors
    /// Fails if they are not in the cache folder and cannot be downloaded, or lack a jar.
    pub fn find(&mut self, suite: &str, packages: &[&str], jars: &[&'static str]) -> Result<ProgramFiles> {
        let (folders, versions) = self.folders(suite, packages)?;
        let mut found = Vec::new();
        for &name in jars.iter().filter(|name| **name != TOOLS) {
            found.push((name, find_jar(&folders, name)?));
        }
        Ok(ProgramFiles { jars: found, source: None, versions })
    }

    /// Finds or fetches packages: the folder of each, and `package version`.
    ///
    /// # Errors
    /// Fails if they are not in the cache folder and cannot be downloaded.
    pub fn folders(&mut self, suite: &str, packages: &[&str]) -> Result<(Vec<PathBuf>, Vec<String>)> {
        let folder = self.folder.join(suite);
        let missing: Vec<&str> =
            packages.iter().copied().filter(|package| !folder.join(package).is_dir()).collect();
        if !missing.is_empty() {
            match suite {
                npm::REGISTRY => self.download_from_npm(&missing)?,
                suite => self.download(suite, &missing)?,
            }
        }
        let folders: Vec<PathBuf> = packages.iter().map(|package| folder.join(package)).collect();
        let versions = folders.iter().map(|folder| stamp(folder)).collect::<Result<_>>()?;
        Ok((folders, versions))
    }

    fn source(&mut self, suite: &str, package: &str) -> Result<PathBuf> {
        let folder = self.folder.join(suite).join(format!("{package}.source"));
        if !folder.is_dir() {
            let archive = self.archive(&folder)?;
            let source = archive.download_source(suite, package)?;
            settle(archive, &source, &folder, unpack_source)?;
        }
        Ok(folder)
    }

    fn download(&mut self, suite: &str, names: &[&str]) -> Result<()> {
        let folder = self.folder.join(suite);
        let archive = self.archive(&folder.join(names[0]))?;
        for package in archive.download(suite, names)? {
            settle(archive, &package, &folder.join(&package.name), |package, root| {
                unpack(std::slice::from_ref(package), root)
            })?;
        }
        Ok(())
    }

    fn download_from_npm(&self, names: &[&str]) -> Result<()> {
        let folder = self.folder.join(npm::REGISTRY);
        for name in names {
            self.may_fetch(&folder.join(name))?;
            fs::create_dir_all(&folder)?;
            let work = tempfile::tempdir_in(&folder)?;
            let root = work.path().join("root");
            let version = npm::fetch(name, &root)?;
            fs::write(root.join(STAMP), format!("{name} {version}\n"))?;
            fs::rename(&root, folder.join(name)).with_context(|| format!("move {name} to its place"))?;
        }
        Ok(())
    }

    fn may_fetch(&self, wanted: &Path) -> Result<()> {
        if self.fetch == Fetch::Never {
            bail!("{} is missing, and downloads are turned off", wanted.display());
        }
        Ok(())
    }

    fn archive(&mut self, wanted: &Path) -> Result<&mut Archive> {
        self.may_fetch(wanted)?;
        match &mut self.archive {
            Some(archive) => Ok(archive),
            none => Ok(none.insert(Archive::of_this_machine(FolderLock::take(self.folder.clone())?)?)),
        }
    }
}

/// The contents of a folder's stamp.
fn stamp(folder: &Path) -> Result<String> {
    let stamp = fs::read_to_string(folder.join(STAMP)).with_context(|| format!("{}", folder.display()))?;
    Ok(stamp.trim_end().to_owned())
}

/// Unpacks a package next to its final folder and moves it there, so that an interrupted run leaves
/// no partial one.
fn settle(
    archive: &Archive,
    package: &Package,
    folder: &Path,
    unpack: impl Fn(&Package, &Path) -> Result<()>,
) -> Result<()> {
    let work = archive.temporary_folder()?;
    let root = work.path().join("root");
    unpack(package, &root)?;
    fs::write(root.join(STAMP), format!("{} {}\n", package.name, package.version))?;
    fs::create_dir_all(folder.parent().unwrap_or(folder))?;
    if folder.exists() {
        // Another process fetched it while this one waited for the lock.
        return Ok(());
    }
    fs::rename(&root, folder).with_context(|| format!("move to {}", folder.display()))
}

/// The jar `name` of one of the packages; links in them lead to jars named after the version. If
/// Debian's folder for jars does not have it, all folders are searched.
fn find_jar(packages: &[PathBuf], name: &str) -> Result<PathBuf> {
    let usual = packages.iter().map(|package| package.join("usr/share/java").join(name));
    if let Some(jar) = usual.filter_map(|jar| fs::canonicalize(jar).ok()).next() {
        return Ok(jar);
    }
    let entries = packages.iter().flat_map(|package| WalkDir::new(package).sort_by_file_name());
    match entries
        .filter_map(std::result::Result::ok)
        .find(|entry| entry.file_name() == name && entry.file_type().is_file())
    {
        Some(jar) => Ok(jar.into_path()),
        None => bail!("none of its packages has {name}"),
    }
}
