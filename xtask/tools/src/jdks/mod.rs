//! The JDKs that the tests use: found on this machine, or fetched into the cache folder.
//!
//! For each version the first of these sources counts (docs/internals/jdks.md):
//! 1. the variable `JAVA<version>_HOME`;
//! 2. JDKs that are installed on the machine ([`machine`]);
//! 3. the cache folder, with JDKs of earlier runs;
//! 4. Debian's packages, unpacked into the cache folder ([`crate::debian`], [`build`], [`relink`]).

mod build;
mod folder;
mod home;
mod machine;
mod relink;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};

use crate::cache;
use crate::debian::Archive;
pub use home::{Jdk, Origin, released_version, tool, without_user_options};

/// The versions that the tests use: 8, every release with long-term support since, and the newest.
pub const VERSIONS: [u32; cct_jdk::TESTED.len()] = cct_jdk::TESTED;

/// The suites of Debian that are searched for each version, in this order.
///
/// The release that the version belongs to comes first. `sid` has them all; it alone has 8, 11 and
/// the newest.
const SUITES: &[(u32, &[&str])] = &[
    (8, &["sid"]),
    (11, &["sid"]),
    (17, &["bookworm", "sid"]),
    (21, &["trixie", "sid"]),
    (25, &["sid"]),
    (26, &["sid"]),
    (27, &["sid"]),
];

/// Whether a missing JDK may be downloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fetch {
    /// Download nothing.
    Never,
    /// Download JDKs that are neither on the machine nor in the cache folder.
    IfMissing,
}

/// The result for one wanted version.
pub struct Answer {
    /// The version: 8, 11, ...
    pub version: u32,
    /// The JDK, or why there is none.
    pub jdk: Result<Jdk>,
}

/// Parses a version from the command line.
///
/// # Errors
/// Fails if it is not one of [`VERSIONS`].
pub fn supported(text: &str) -> Result<u32> {
    match text.parse() {
        Ok(version) if VERSIONS.contains(&version) => Ok(version),
        _ => bail!("the tests use JDK {}", VERSIONS.map(|version| version.to_string()).join(", ")),
    }
}

/// Finds or fetches a JDK for each of `wanted`, in that order.
///
/// # Errors
/// Fails if there is no usable cache folder. A missing version is no error here: its [`Answer`] has
/// the reason.
pub fn get(wanted: &[u32], fetch: Fetch) -> Result<Vec<Answer>> {
    let mut store = Store { folder: cache::folder()?.join("jdks"), fetch, archive: None };
    Ok(wanted.iter().map(|&version| Answer { version, jdk: store.find_or_fetch(version) }).collect())
}

/// The fetched JDKs, and the means to fetch more.
struct Store {
    folder: PathBuf,
    fetch: Fetch,
    /// Debian's archive with the lock on `folder`, opened for the first download.
    archive: Option<Archive>,
}

impl Store {
    fn find_or_fetch(&mut self, version: u32) -> Result<Jdk> {
        if let Some(jdk) = from_environment(version)? {
            return Ok(jdk);
        }
        if let Some(jdk) = machine::find(version) {
            return Ok(jdk);
        }
        if let Some(jdk) = cached(version, &self.home(version)) {
            return Ok(jdk);
        }
        let remedy = || format!("set JAVA{version}_HOME to a JDK {version}");
        match self.fetch {
            Fetch::Never => {
                Err(anyhow!("neither on this machine nor in the cache folder; fetch it, or {}", remedy()))
            }
            Fetch::IfMissing => self.fetched(version).with_context(|| {
                format!("neither on this machine nor among Debian's packages; {}", remedy())
            }),
        }
    }

    /// The home of a fetched JDK.
    fn home(&self, version: u32) -> PathBuf {
        self.folder.join(format!("jdk-{version}"))
    }

    /// Fetches a JDK from the suites of Debian that may have it.
    fn fetched(&mut self, version: u32) -> Result<Jdk> {
        let home = self.home(version);
        let archive = match &mut self.archive {
            Some(archive) => archive,
            none => {
                let lock = cache::FolderLock::take(self.folder.clone())?;
                // Another process may have fetched it while this one waited for the lock.
                if let Ok(jdk) = Jdk::of_version(version, &home, Origin::Cache) {
                    return Ok(jdk);
                }
                none.insert(Archive::of_this_machine(lock)?)
            }
        };
        let mut reasons = Vec::new();
        for suite in suites(version) {
            match build::jdk(archive, version, suite, &home) {
                Ok(()) => return Jdk::of_version(version, &home, Origin::DebianPackages),
                Err(error) => reasons.push(format!("{suite}: {error:#}")),
            }
        }
        bail!("{}", reasons.join("; "))
    }
}

/// The JDK that an earlier run left at `home`, if it exists and runs.
fn cached(version: u32, home: &Path) -> Option<Jdk> {
    if !home.exists() {
        return None;
    }
    Jdk::of_version(version, home, Origin::Cache)
        .inspect_err(|error| eprintln!("JDK {version}: passed over what the cache folder has: {error:#}"))
        .ok()
}

/// The suites to search for `version`.
fn suites(version: u32) -> &'static [&'static str] {
    SUITES.iter().find(|(of, _)| *of == version).map_or(&[], |(_, suites)| suites)
}

/// The JDK that `JAVA<version>_HOME` names, if the variable is set.
///
/// # Errors
/// Fails if it names anything but a JDK of that version that runs: a user's explicit choice is not
/// ignored silently.
fn from_environment(version: u32) -> Result<Option<Jdk>> {
    let variable = format!("JAVA{version}_HOME");
    match std::env::var_os(&variable) {
        Some(home) if !home.is_empty() => Jdk::of_version(version, Path::new(&home), Origin::Environment)
            .map(Some)
            .with_context(|| format!("{variable} is set to {}", Path::new(&home).display())),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_has_a_suite() {
        for version in VERSIONS {
            assert!(!suites(version).is_empty(), "{version}");
        }
    }

    #[test]
    fn only_the_versions_of_the_tests_are_taken() {
        assert_eq!(supported("21").unwrap(), 21);
        assert!(supported("9").is_err());
        assert!(supported("x").is_err());
    }
}
