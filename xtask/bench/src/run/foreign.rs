//! Foreign profilers: hprof, which is built into JDK 8, and JaCoCo.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use xtask_programs::packages::Packages;
use xtask_programs::program::{NOTHING, Program};
use zip::ZipArchive;

use super::columns::Column;

/// Maximum ratio to the plain processor time.
pub const LIMIT: f64 = 30.0;

/// All foreign profilers.
pub const ALL: [Column; 2] = [Column::Hprof, Column::Jacoco];

/// The agent's jar inside the jar of Debian's JaCoCo.
const AGENT: &str = "jacocoagent.jar";
const JACOCO: Program =
    Program { name: "jacoco", packages: &["libjacoco-java"], jars: &["org.jacoco.agent.jar"], ..NOTHING };

/// JaCoCo's agent.
pub struct Jacoco {
    /// The agent's jar.
    pub jar: PathBuf,
    /// The package and its version.
    pub version: String,
}

impl Jacoco {
    /// Finds or fetches JaCoCo, and unpacks the agent into the folder `work`.
    ///
    /// # Errors
    /// Fails if it is missing.
    pub fn fetch(packages: &mut Packages, work: &Path) -> Result<Jacoco> {
        let fetched = packages.get(&JACOCO)?;
        let (_, outer) = fetched.jars.first().context("no jar")?;
        let mut outer = ZipArchive::new(File::open(outer)?)?;
        let jar = work.join(AGENT);
        io::copy(&mut outer.by_name(AGENT)?, &mut File::create(&jar)?)?;
        Ok(Jacoco { jar, version: fetched.versions.join(", ") })
    }
}

/// The foreign profilers that run on a JDK of `version`.
pub fn columns(version: u32) -> Vec<Column> {
    match version {
        8 => ALL.to_vec(),
        ..=17 => vec![Column::Jacoco],
        _ => Vec::new(),
    }
}

/// Why the others do not, for the page.
pub fn why_not(version: u32) -> Option<&'static str> {
    match version {
        8 => None,
        ..=17 => Some("hprof: JDK 9 removed it"),
        _ => Some(
            "hprof: JDK 9 removed it. JaCoCo: the version of Debian does not know class files of this JDK",
        ),
    }
}

/// Removes hprof's own messages from standard output.
pub fn without_own_words(output: &[u8]) -> Vec<u8> {
    let lines = output.split_inclusive(|byte| *byte == b'\n');
    lines
        .filter(|line| !line.starts_with(b"Dumping CPU usage by timing methods"))
        .flatten()
        .copied()
        .collect()
}

/// Removes the output of a foreign profiler.
///
/// # Errors
/// Fails if it exists and cannot be removed.
pub fn remove(file: &Path) -> Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("remove {}", file.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hprofs_own_line_goes() {
        let said = b"a\nDumping CPU usage by timing methods ... done.\nb\n";
        assert_eq!(without_own_words(said), b"a\nb\n");
    }

    #[test]
    fn where_a_profiler_is_missing_the_page_says_why() {
        for version in [8, 11, 17, 21, 25] {
            let all = columns(version).len() == ALL.len();
            assert_eq!(why_not(version).is_none(), all, "{version}");
        }
    }
}
