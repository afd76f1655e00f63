//! The common basis of benchmarks that run programs: JDKs, the command, a folder, the kernels.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use tempfile::TempDir;
use xtask_tools::jdks::{self, Fetch, Jdk, tool};
use xtask_tools::process;
use xtask_tools::workspace;

/// JDKs, and the command built in release mode.
pub struct Ground {
    /// The JDKs, at least one.
    pub jdks: Vec<Jdk>,
    /// The command.
    pub cctrewrite: PathBuf,
    work: TempDir,
}

impl Ground {
    /// Prepares JDKs of these versions.
    ///
    /// # Errors
    /// Fails if one is missing, or if the command cannot be built.
    pub fn new(versions: &[u32]) -> Result<Ground> {
        let answers = jdks::get(versions, Fetch::IfMissing)?;
        let jdks: Vec<Jdk> = answers.into_iter().map(|answer| answer.jdk).collect::<Result<_>>()?;
        let built = workspace::build_release(jdks.first().context("no JDK")?)?;
        let folder = built.target.join("bench");
        fs::create_dir_all(&folder)?;
        Ok(Ground { jdks, cctrewrite: built.program, work: tempfile::tempdir_in(&folder)? })
    }

    /// Prepares JDKs of these versions, with a command that was built before.
    ///
    /// # Errors
    /// Fails if a JDK is missing.
    pub fn with(versions: &[u32], cctrewrite: &Path) -> Result<Ground> {
        let answers = jdks::get(versions, Fetch::IfMissing)?;
        let jdks: Vec<Jdk> = answers.into_iter().map(|answer| answer.jdk).collect::<Result<_>>()?;
        let cctrewrite = cctrewrite.canonicalize()?;
        Ok(Ground { jdks, cctrewrite, work: tempfile::tempdir()? })
    }

    /// A folder that is removed with this value.
    pub fn work(&self) -> &Path {
        self.work.path()
    }

    /// Compiles `xtask/bench/Kernels.java`; see [`Ground::classes`].
    ///
    /// # Errors
    /// Fails if `javac` reports an error.
    pub fn kernels(&self) -> Result<PathBuf> {
        self.classes("Kernels.java")
    }

    /// Compiles a file of `xtask/bench` and the neighbours that it needs, for JDK 8 and later with
    /// any JDK; returns the folder of the classes.
    ///
    /// # Errors
    /// Fails if `javac` reports an error.
    pub fn classes(&self, file: &str) -> Result<PathBuf> {
        let sources = workspace::root().join("xtask/bench");
        let classes = self.work().join(file).with_extension("");
        // They were compiled for another JDK already.
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
