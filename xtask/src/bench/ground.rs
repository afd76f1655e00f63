//! What the benchmarks that run programs stand on: JDKs, the command, a folder, the kernels.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use tempfile::TempDir;

use crate::jdks::{self, Fetch, Jdk, tool};
use crate::process;
use crate::workspace;

/// JDKs, and the command built in release.
pub struct Ground {
    /// At least one.
    pub jdks: Vec<Jdk>,
    /// The command.
    pub cctrewrite: PathBuf,
    work: TempDir,
}

impl Ground {
    /// For JDKs of these versions.
    ///
    /// # Errors
    /// If one is not to be had, or the command cannot be built.
    pub fn new(versions: &[u32]) -> Result<Ground> {
        let answers = jdks::get(versions, Fetch::IfMissing)?;
        let jdks: Vec<Jdk> = answers.into_iter().map(|answer| answer.jdk).collect::<Result<_>>()?;
        let built = workspace::build_release(jdks.first().context("no JDK")?)?;
        let folder = built.target.join("bench");
        fs::create_dir_all(&folder)?;
        Ok(Ground { jdks, cctrewrite: built.program, work: tempfile::tempdir_in(&folder)? })
    }

    /// The same with a command that was built before.
    ///
    /// # Errors
    /// If a JDK is not to be had.
    pub fn with(versions: &[u32], cctrewrite: &Path) -> Result<Ground> {
        let answers = jdks::get(versions, Fetch::IfMissing)?;
        let jdks: Vec<Jdk> = answers.into_iter().map(|answer| answer.jdk).collect::<Result<_>>()?;
        let cctrewrite = cctrewrite.canonicalize()?;
        Ok(Ground { jdks, cctrewrite, work: tempfile::tempdir()? })
    }

    /// A folder that goes with this.
    pub fn work(&self) -> &Path {
        self.work.path()
    }

    /// Compiles `xtask/bench/Kernels.java`; see [`Ground::classes`].
    ///
    /// # Errors
    /// If `javac` refuses.
    pub fn kernels(&self) -> Result<PathBuf> {
        self.classes("Kernels.java")
    }

    /// Compiles a file of `xtask/bench` and what it needs of its neighbours, for JDK 8 and later
    /// whichever JDK does it; returns the folder of the classes.
    ///
    /// # Errors
    /// If `javac` refuses.
    pub fn classes(&self, file: &str) -> Result<PathBuf> {
        let sources = workspace::root().join("xtask/bench");
        let classes = self.work().join(file).with_extension("");
        // For another JDK they have been compiled already.
        if classes.is_dir() {
            return Ok(classes);
        }
        fs::create_dir(&classes)?;
        let first = self.jdks.first().context("no JDK")?;
        let mut javac = tool(&first.home, "javac");
        javac.args(["-nowarn", "-source", "8", "-target", "8", "-Xlint:-options", "-d"]).arg(&classes);
        process::output(javac.arg("-sourcepath").arg(&sources).arg(sources.join(file)))?;
        Ok(classes)
    }
}
