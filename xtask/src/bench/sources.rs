//! What `javac` and `javadoc` are given to do.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use walkdir::WalkDir;

use crate::jdks::Fetch;
use crate::programs::catalogue::programs;
use crate::programs::packages::Packages;

/// The sources of a library.
pub struct Sources {
    files: Vec<PathBuf>,
    folder: PathBuf,
    /// The library's name and version.
    pub version: String,
}

impl Sources {
    /// From Debian's packages.
    ///
    /// # Errors
    /// If they are not to be had.
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

    /// Has `javac` compile them.
    pub fn compile(&self, javac: &mut Command, into: &Path) {
        javac.args(["-encoding", "UTF-8", "-nowarn", "-proc:none", "-Xmaxwarns", "1", "-sourcepath"]);
        javac.arg(&self.folder).arg("-d").arg(into).args(&self.files);
    }

    /// Has `javadoc` describe them.
    pub fn describe(&self, javadoc: &mut Command, into: &Path) {
        javadoc.args(["-encoding", "UTF-8", "-quiet", "-Xdoclint:none", "-sourcepath"]);
        javadoc.arg(&self.folder).arg("-d").arg(into).args(&self.files);
    }
}
