//! Inputs for `javac` and `javadoc`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use walkdir::WalkDir;
use xtask_programs::catalogue::programs;
use xtask_programs::packages::Packages;
use xtask_tools::jdks::Fetch;

/// The sources of a library.
pub struct Sources {
    files: Vec<PathBuf>,
    folder: PathBuf,
    /// The library's name and version.
    pub version: String,
}

impl Sources {
    /// Fetches the sources from Debian's packages.
    ///
    /// # Errors
    /// Fails if they are missing.
    pub fn fetch() -> Result<Sources> {
        let program =
            programs().find(|program| program.name == "javac").context("javac is not in the catalogue")?;
        let fetched = Packages::new(Fetch::IfMissing)?.get(program)?;
        let folder = fetched.source.context("the library has no sources")?.join("src/main/java");
        let mut files: Vec<PathBuf> =
            WalkDir::new(&folder).into_iter().map(|entry| Ok(entry?.into_path())).collect::<Result<_>>()?;
        files.retain(|file| file.extension().is_some_and(|extension| extension == "java"));
        files.sort();
        ensure!(!files.is_empty(), "{} has no sources", folder.display());
        Ok(Sources { files, folder, version: fetched.versions.join(", ") })
    }

    /// Adds the arguments for compiling them.
    pub fn compile(&self, javac: &mut Command, into: &Path) {
        self.compile_some(javac, into, 1, 1);
    }

    /// The folder of their packages.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// This many of them, from all packages.
    pub fn some(&self, count: usize) -> impl Iterator<Item = &Path> {
        let each = (self.files.len() / count.max(1)).max(1);
        self.files.iter().step_by(each).take(count).map(PathBuf::as_path)
    }

    /// Adds the arguments for compiling the first `part` of each `of` of them, and the files that
    /// these need.
    pub fn compile_some(&self, javac: &mut Command, into: &Path, part: usize, of: usize) {
        javac.args(["-encoding", "UTF-8", "-nowarn", "-proc:none", "-Xmaxwarns", "1", "-sourcepath"]);
        javac.arg(&self.folder).arg("-d").arg(into);
        javac.args(self.files.iter().enumerate().filter(|(at, _)| at % of < part).map(|(_, file)| file));
    }

    /// Adds the arguments for documenting them.
    pub fn describe(&self, javadoc: &mut Command, into: &Path) {
        javadoc.args(["-encoding", "UTF-8", "-quiet", "-Xdoclint:none", "-sourcepath"]);
        javadoc.arg(&self.folder).arg("-d").arg(into).args(&self.files);
    }
}
