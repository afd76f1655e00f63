//! Foreign libraries that rewrite classes, from Debian's packages, and the harnesses for them
//! (`xtask/bench`).

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, anyhow, ensure};
use xtask_programs::packages::Packages;
use xtask_tools::jdks::{Fetch, Jdk, tool};
use xtask_tools::process;
use xtask_tools::workspace;

/// The suite of Debian with the newest versions: older ones do not read the classes of JDK 25.
pub const SUITE: &str = "sid";

/// The task of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// Read, visit everything, write.
    AsmCopy,
    /// About the same work as cctrewrite.
    AsmTransform,
    /// Read, make lists of instructions, write.
    BcelCopy,
    /// The probes of offline instrumentation.
    Jacoco,
}

impl Peer {
    /// All tasks, in the order of the tables.
    pub const ALL: [Peer; 4] = [Peer::AsmCopy, Peer::AsmTransform, Peer::BcelCopy, Peer::Jacoco];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Peer::AsmCopy => "ASM, copy",
            Peer::AsmTransform => "ASM, transform",
            Peer::BcelCopy => "BCEL, copy",
            Peer::Jacoco => "JaCoCo, offline instrumentation",
        }
    }

    /// The class of the harness.
    fn harness(self) -> &'static str {
        match self {
            Peer::AsmCopy => "AsmCopy",
            Peer::AsmTransform => "AsmTransform",
            Peer::BcelCopy => "BcelCopy",
            Peer::Jacoco => "JacocoInstrument",
        }
    }

    fn library(self) -> &'static Library {
        match self {
            Peer::AsmCopy | Peer::AsmTransform => &ASM,
            Peer::BcelCopy => &BCEL,
            Peer::Jacoco => &JACOCO,
        }
    }
}

/// A library, and the files that harnesses need.
struct Library {
    name: &'static str,
    /// The packages; the first one's version is the library's.
    packages: &'static [&'static str],
    jars: &'static [&'static str],
    /// Files in `xtask/bench`, besides the common ones.
    sources: &'static [&'static str],
}

const ASM: Library = Library {
    name: "ASM",
    packages: &["libasm-java"],
    jars: &["asm.jar"],
    sources: &["AsmCopy.java", "AsmTransform.java", "AsmContexts.java"],
};

const BCEL: Library = Library {
    name: "BCEL",
    packages: &["libbcel-java", "libcommons-io-java", "libcommons-lang3-java"],
    jars: &["bcel.jar", "commons-io.jar", "commons-lang3.jar"],
    sources: &["BcelCopy.java"],
};

/// Uses Debian's ASM instead of a bundled one.
const JACOCO: Library = Library {
    name: "JaCoCo",
    packages: &["libjacoco-java", "libasm-java"],
    jars: &["org.jacoco.core.jar", "asm.jar", "asm-commons.jar", "asm-tree.jar"],
    sources: &["JacocoInstrument.java"],
};

const LIBRARIES: [&Library; 3] = [&ASM, &BCEL, &JACOCO];

/// The result for a library.
struct Answer {
    library: &'static Library,
    /// The prepared library, or why it is missing.
    prepared: Result<PeerLibrary>,
}

struct PeerLibrary {
    /// Package and version: `libasm-java 9.11.1-1`.
    version: String,
    class_path: OsString,
}

/// All libraries; for missing ones the reason.
pub struct Peers(Vec<Answer>);

impl Peers {
    /// Finds or fetches the libraries, and compiles the harnesses into `work`.
    ///
    /// # Errors
    /// Fails if there is no usable cache folder.
    pub fn prepare(jdk: &Jdk, work: &Path) -> Result<Peers> {
        let mut packages = Packages::new(Fetch::IfMissing)?;
        let answers = LIBRARIES.map(|library| {
            let prepared = prepare(library, &mut packages, jdk, work);
            if let Err(reason) = &prepared {
                eprintln!("{} is missing, and is skipped: {reason:#}", library.name);
            }
            Answer { library, prepared }
        });
        Ok(Peers(answers.into()))
    }

    /// Whether the library of this peer is available.
    pub fn has(&self, peer: Peer) -> bool {
        self.prepared(peer).is_ok()
    }

    fn prepared(&self, peer: Peer) -> Result<&PeerLibrary> {
        let answer = self.0.iter().find(|answer| answer.library.name == peer.library().name);
        let prepared = answer.and_then(|answer| answer.prepared.as_ref().ok());
        prepared.with_context(|| format!("{} is not there", peer.library().name))
    }

    /// The command of a harness.
    ///
    /// # Errors
    /// Fails if the library is missing.
    pub fn command(
        &self,
        peer: Peer,
        jdk: &Jdk,
        from: &[PathBuf],
        to: &Path,
        passes: u32,
    ) -> Result<Command> {
        let mut java = tool(&jdk.home, "java");
        java.arg("-cp").arg(&self.prepared(peer)?.class_path);
        java.arg(peer.harness()).arg(to).arg(passes.to_string()).args(from);
        Ok(java)
    }

    /// A line for each library: its version, or why it is missing.
    pub fn describe(&self) -> Vec<String> {
        let describe = |answer: &Answer| match &answer.prepared {
            Ok(prepared) => prepared.version.clone(),
            Err(reason) => {
                format!("{} is missing ({reason:#}), so it was not measured", answer.library.name)
            }
        };
        self.0.iter().map(describe).collect()
    }
}

fn prepare(library: &Library, packages: &mut Packages, jdk: &Jdk, work: &Path) -> Result<PeerLibrary> {
    let fetched = packages.find(SUITE, library.packages, library.jars)?;
    let jars: Vec<PathBuf> = fetched.jars.into_iter().map(|(_, jar)| jar).collect();
    let classes = work.join(library.name);
    fs::create_dir(&classes)?;
    let sources = workspace::root().join("xtask/bench");
    let mut javac = tool(&jdk.home, "javac");
    javac
        .arg("-cp")
        .arg(std::env::join_paths(&jars)?)
        .arg("-d")
        .arg(&classes)
        .arg(sources.join("Rewriting.java"));
    process::output(javac.args(library.sources.iter().map(|name| sources.join(name))))?;
    let class_path = std::env::join_paths(std::iter::once(&classes).chain(&jars))?;
    Ok(PeerLibrary { version: fetched.versions.join(", "), class_path })
}

/// A harness's report of a pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pass {
    /// The pass's time in seconds, as the harness measured it.
    pub seconds: f64,
    /// Number of classes that it left unchanged.
    pub left: u64,
}

/// Parses the output of a harness, a line for each pass.
///
/// # Errors
/// Fails if the output is invalid, or no class was rewritten.
pub fn passes(output: &str) -> Result<Vec<Pass>> {
    let pass = |line: &str| {
        let mut words = line.split(' ');
        let seconds: f64 = words.next()?.parse().ok()?;
        let class_bytes: u64 = words.nth(1)?.parse().ok()?;
        let left = words.next()?.parse().ok()?;
        Some((Pass { seconds, left }, class_bytes))
    };
    let mut passes = Vec::new();
    for line in output.lines() {
        let (pass, class_bytes) = pass(line).ok_or_else(|| anyhow!("the harness said: {line}"))?;
        ensure!(class_bytes > 0, "the harness rewrote no class");
        passes.push(pass);
    }
    Ok(passes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_harness_prints_is_read() {
        let of = |seconds, left| Pass { seconds, left };
        assert_eq!(passes("1.5 100 101 0\n0.25 100 101 2\n").unwrap(), [of(1.5, 0), of(0.25, 2)]);
        assert!(passes("Exception").is_err());
        assert!(passes("1.5 0 0 0\n").is_err());
    }

    #[test]
    fn the_sources_of_harnesses_are_there() {
        let sources = workspace::root().join("xtask/bench");
        for peer in Peer::ALL {
            let main = format!("{}.java", peer.harness());
            assert!(peer.library().sources.contains(&main.as_str()), "{main}");
            assert!(peer.library().sources.iter().all(|name| sources.join(name).is_file()), "{main}");
        }
    }
}
