//! Linking of every class of jars by two JVMs, and the differences.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use xtask_tools::jdks::tool;
use xtask_tools::watch::{self, Limits};

/// Longer than any takes; a JVM that takes longer hangs.
const TIME_LIMIT: Duration = Duration::from_secs(3600);

/// A JVM that links jars.
pub struct Linker<'a> {
    /// The home of its JDK.
    pub home: &'a Path,
    /// The JDK's version.
    pub version: u32,
    /// The JVM's options.
    pub options: Vec<String>,
    /// The folder of the compiled `LinkJars`.
    pub program: &'a Path,
}

/// The results for classes.
#[derive(Default)]
pub struct LinkResults {
    /// By jar and class: `linked`, or the exception.
    pub classes: BTreeMap<(String, String), String>,
    /// How long the JVM ran, in seconds.
    pub seconds: f64,
}

/// The error for a missing class.
pub const MISSING: &str = "java.lang.NoClassDefFoundError";

/// A class with a different result.
#[derive(Debug, PartialEq)]
pub struct Difference {
    /// Jar and class.
    pub place: String,
    /// The result on the plain JDK.
    pub before: String,
    /// The result on the other JVM.
    pub now: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} -> {}", self.place, self.before, self.now)
    }
}

/// The result for a linked class.
const LINKED: &str = "linked";

impl Linker<'_> {
    /// Links all classes of the jars that the file `list` names, with `class_path`. Output goes to
    /// files in `folder` with the prefix `name`.
    ///
    /// # Errors
    /// Fails if the JVM cannot be started, or does not succeed.
    pub fn link(
        &self,
        name: &str,
        list: &Path,
        class_path: &[PathBuf],
        folder: &Path,
    ) -> Result<LinkResults> {
        let out = folder.join(format!("{name}.linked"));
        let said = folder.join(format!("{name}.said"));
        let path = class_path.iter().map(|jar| jar.display().to_string());
        let path: Vec<String> = std::iter::once(self.program.display().to_string()).chain(path).collect();
        let mut java = tool(self.home, "java");
        java.args(verifying(self.version)).args([
            "-Xmx4g",
            "-Xss4m",
            "-XX:+UseSerialGC",
            "-Djava.awt.headless=true",
        ]);
        java.args(&self.options).arg("-cp").arg(path.join(":")).arg("LinkJars").arg(list).arg(&out);
        let file = fs::File::create(&said).with_context(|| format!("make {}", said.display()))?;
        java.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        let started = Instant::now();
        let ended = watch::to_its_end(&mut java, Limits::of(TIME_LIMIT))?;
        if ended.exit != Some(0) {
            let text = fs::read_to_string(&said).unwrap_or_default();
            let end: Vec<&str> = text.lines().rev().take(5).collect();
            bail!("{name}: the JVM ended with {:?}; it said: {}", ended.exit, end.join(" | "));
        }
        let text = fs::read_to_string(&out).with_context(|| format!("read {}", out.display()))?;
        Ok(LinkResults { classes: parse(&text)?, seconds: started.elapsed().as_secs_f64() })
    }
}

/// Options with which the verifier checks every class.
fn verifying(version: u32) -> &'static [&'static str] {
    match version {
        8 => &["-Xverify:all"],
        // The effect of -Xverify:all, which is deprecated since 13.
        _ => &[
            "-XX:+UnlockDiagnosticVMOptions",
            "-XX:+BytecodeVerificationLocal",
            "-XX:+BytecodeVerificationRemote",
        ],
    }
}

fn parse(text: &str) -> Result<BTreeMap<(String, String), String>> {
    let line = |line: &str| {
        let mut words = line.splitn(3, '\t').map(str::to_owned);
        let mut next = || words.next().with_context(|| format!("three words expected: {line}"));
        Ok(((next()?, next()?), next()?))
    };
    text.lines().map(line).collect()
}

impl LinkResults {
    /// Number of linked classes.
    pub fn good(&self) -> usize {
        self.classes.values().filter(|end| *end == LINKED).count()
    }

    /// Number of rejected classes, by the exception.
    pub fn refused(&self) -> BTreeMap<&str, usize> {
        let mut kinds = BTreeMap::new();
        for end in self.classes.values().filter(|end| *end != LINKED) {
            *kinds.entry(kind(end)).or_default() += 1;
        }
        kinds
    }

    /// The names of all classes.
    pub fn names(&self) -> BTreeSet<&str> {
        self.classes.keys().map(|(_, class)| &**class).collect()
    }

    /// Classes whose result differs. For errors the kind counts, and for a missing class its name.
    pub fn differences(&self, other: &LinkResults) -> Vec<Difference> {
        let missing = "not seen".to_owned();
        let mut places: Vec<_> = self.classes.keys().chain(other.classes.keys()).collect();
        places.sort();
        places.dedup();
        places
            .into_iter()
            .filter_map(|place| {
                let ends = [self, other].map(|linked| linked.classes.get(place).unwrap_or(&missing));
                let [before, now] = ends;
                (sign(before) != sign(now)).then(|| Difference {
                    place: format!("{}: {}", place.0, place.1),
                    before: before.clone(),
                    now: now.clone(),
                })
            })
            .collect()
    }
}

/// The class of the exception: `java.lang.VerifyError` for
/// `java.lang.VerifyError: (class: a/A ...`.
fn kind(end: &str) -> &str {
    end.split(':').next().unwrap_or(end)
}

/// The part that must be equal. The verifier's messages contain bytecode indices, which differ.
fn sign(end: &str) -> &str {
    if end.starts_with(MISSING) { end } else { kind(end) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linked(text: &str) -> LinkResults {
        LinkResults { classes: parse(text).unwrap(), seconds: 0.0 }
    }

    #[test]
    fn what_ends_otherwise_is_found() {
        let before = linked(
            "a.jar\tA\tlinked\na.jar\tB\tjava.lang.VerifyError: at 3\na.jar\tC\tlinked\na.jar\tD\tlinked\n",
        );
        let now = linked(
            "a.jar\tA\tlinked\na.jar\tB\tjava.lang.VerifyError: at 9\na.jar\tC\tjava.lang.VerifyError: at 0\n",
        );
        assert_eq!(before.good(), 3);
        assert_eq!(now.refused(), BTreeMap::from([("java.lang.VerifyError", 2)]));
        let found: Vec<String> = before.differences(&now).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            ["a.jar: C: linked -> java.lang.VerifyError: at 0", "a.jar: D: linked -> not seen"]
        );
        let missing = linked("a.jar\tA\tjava.lang.NoClassDefFoundError: x/Y\n");
        assert_eq!(missing.differences(&linked("a.jar\tA\tjava.lang.NoClassDefFoundError: x/Z\n")).len(), 1);
        assert!(parse("a.jar\tA\n").is_err());
    }
}
