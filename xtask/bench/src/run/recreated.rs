//! The papers' schemes, recreated (`xtask/bench/papers`): the kernels' own classes rewritten as in
//! the figures of JP and CCCP, on the plain JDK.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use walkdir::WalkDir;
use xtask_programs::packages::Packages;
use xtask_tools::jdks::{Jdk, tool};
use xtask_tools::process;
use xtask_tools::workspace;

use super::super::rewrite::peers::SUITE;

/// A scheme of a paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// JP: an object as argument, a hash map in each node, an update for each block.
    Jp,
    /// The simple scheme that CCCP improves on: a thread-local variable.
    Simple,
}

/// Both, in the order of the table.
pub const SCHEMES: [Scheme; 2] = [Scheme::Jp, Scheme::Simple];

impl Scheme {
    /// The scheme's name in `Recreate.java`.
    fn word(self) -> &'static str {
        match self {
            Scheme::Jp => "jp",
            Scheme::Simple => "simple",
        }
    }

    /// The heading of its column.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Jp => "JP (2005)",
            Scheme::Simple => "thread-local (CCCP 4.1)",
        }
    }
}

/// Kernels that execute mostly code of their own: the schemes leave the class library unchanged.
pub const KERNELS: [&str; 4] = ["recursion", "dispatch", "interpreter", "numbers"];

/// The kernels, rewritten by each scheme.
pub struct RecreatedSchemes {
    folder: PathBuf,
    /// The version of the library that rewrites them.
    pub library: String,
}

impl RecreatedSchemes {
    /// Rewrites the classes of the kernels into `folder`.
    ///
    /// # Errors
    /// Fails if ASM is missing, or if the schemes' counts differ.
    pub fn prepare(
        jdk: &Jdk,
        kernels: &Path,
        packages: &mut Packages,
        folder: &Path,
    ) -> Result<RecreatedSchemes> {
        let fetched = packages.find(SUITE, &["libasm-java"], &["asm.jar", "asm-tree.jar"])?;
        let sources = workspace::root().join("xtask/bench/papers");
        let tools = folder.join("tool");
        fs::create_dir_all(&tools)?;
        let mut class_path: Vec<PathBuf> = fetched.jars.into_iter().map(|(_, jar)| jar).collect();
        let mut javac = tool(&jdk.home, "javac");
        javac.arg("-cp").arg(std::env::join_paths(&class_path)?).arg("-d").arg(&tools);
        process::output(javac.arg(sources.join("Recreate.java")))?;
        class_path.extend([tools, kernels.to_owned()]);
        let mut counted = Vec::new();
        for scheme in SCHEMES {
            let classes = folder.join(scheme.word());
            fs::create_dir(&classes)?;
            let mut javac = tool(&jdk.home, "javac");
            javac.args(["-nowarn", "-source", "8", "-target", "8", "-Xlint:-options", "-d"]).arg(&classes);
            process::output(javac.args(["IC", "RC", "CC"].map(|name| sources.join(format!("{name}.java")))))?;
            let mut java = tool(&jdk.home, "java");
            java.arg("-cp").arg(std::env::join_paths(&class_path)?).args(["Recreate", scheme.word()]);
            process::output(java.arg(kernels).arg(&classes))?;
            counted.push(counts(jdk, &classes)?);
        }
        ensure!(
            counted.windows(2).all(|pair| pair[0] == pair[1]),
            "the schemes differ: {}",
            counted.join(", ")
        );
        let left_out = WalkDir::new(kernels).into_iter().filter_map(Result::ok).filter(|entry| {
            let of_scheme = folder.join(Scheme::Jp.word()).join(entry.file_name());
            entry.file_type().is_file() && !of_scheme.is_file()
        });
        ensure!(left_out.count() == 0, "classes of the kernels were left out");
        Ok(RecreatedSchemes { folder: folder.to_owned(), library: fetched.versions.join(", ") })
    }

    /// The class path for a scheme.
    pub fn classes(&self, scheme: Scheme) -> PathBuf {
        self.folder.join(scheme.word())
    }
}

/// The counts of two runs of a kernel, as a scheme prints them.
fn counts(jdk: &Jdk, classes: &Path) -> Result<String> {
    let mut java = tool(&jdk.home, "java");
    java.arg("-Drecreated.print=true").arg("-cp").arg(classes).args(["Kernels", "dispatch", "1", "1"]);
    let output = java.output()?;
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    ensure!(output.status.success() && said.starts_with("calls "), "the rewritten kernel said: {said}");
    Ok(said)
}
