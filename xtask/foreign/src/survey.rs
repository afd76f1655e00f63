//! Results of three readers of class files on jars: cctrewrite's, cafebabe, and the JDK's own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use xtask_tools::jdks::{Jdk, tool};
use xtask_tools::process;

/// Counts, and disagreements between readers.
#[derive(Default)]
pub struct Survey {
    /// Number of classes that cctrewrite reads and writes unchanged.
    pub same: u64,
    /// The classes' size in bytes.
    pub bytes: u64,
    /// Number of their methods.
    pub methods: u64,
    /// Classes that are written differently, with the difference.
    pub changed: Vec<String>,
    /// Classes that cctrewrite's reader rejects, by place, with the reason.
    pub refused: BTreeMap<String, String>,
    /// Disagreements of cafebabe.
    pub cafebabe: Vec<String>,
    /// Disagreements of the JDK's reader.
    pub jdk: Vec<String>,
}

impl Survey {
    /// Runs cctrewrite's reader and cafebabe, by the program of `xtask/copier`.
    ///
    /// # Errors
    /// Fails if a jar cannot be read.
    pub fn of(copier: &Path, jars: &[PathBuf]) -> Result<Survey> {
        parse(&process::output(Command::new(copier).arg("survey").args(jars))?)
    }

    /// Also runs the JDK's reader, by `ReadJars`, compiled in `program`; `list` names the jars.
    ///
    /// # Errors
    /// Fails if the JVM does not succeed.
    pub fn ask_jdk(&mut self, jdk: &Jdk, program: &Path, list: &Path, folder: &Path) -> Result<()> {
        let out = folder.join("jdk.read");
        let mut java = tool(&jdk.home, "java");
        java.args(["-Xmx2g", "-XX:+UseSerialGC", "-cp"]).arg(program).arg("ReadJars").arg(list).arg(&out);
        process::output(&mut java)?;
        let text = fs::read_to_string(&out).with_context(|| format!("read {}", out.display()))?;
        for line in text.lines() {
            let (place, said) = line.rsplit_once('\t').context("three words expected")?;
            let place = place.replace('\t', ": ");
            match (self.refused.get(&place), said) {
                (None, "read") => {}
                (None, said) => self.jdk.push(format!("{place}: {said}")),
                (Some(ours), "read") => self.jdk.push(format!(
                    "{place}: accepted, but not by \
                                                               cctrewrite: {ours}"
                )),
                (Some(_), _) => {}
            }
        }
        Ok(())
    }
}

/// Parses the copier's output.
fn parse(text: &str) -> Result<Survey> {
    let mut survey = Survey::default();
    for line in text.lines() {
        let words: Vec<&str> = line.split('\t').collect();
        match words.as_slice() {
            ["class", _, _, bytes, methods] => {
                survey.same += 1;
                survey.bytes += bytes.parse::<u64>().context("a number expected")?;
                survey.methods += methods.parse::<u64>().context("a number expected")?;
            }
            ["changed", jar, entry, what] => survey.changed.push(format!("{jar}: {entry}: {what}")),
            ["refused", jar, entry, why] => {
                survey.refused.insert(format!("{jar}: {entry}"), (*why).to_owned());
            }
            ["another", jar, entry, what] => survey.cafebabe.push(format!("{jar}: {entry}: {what}")),
            _ => anyhow::bail!("the copier printed: {line}"),
        }
    }
    Ok(survey)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_copier_prints_is_added_up() {
        let text = "class\ta.jar\tA.class\t100\t3\nclass\ta.jar\tB.class\t50\t1\nrefused\ta.jar\tC.class\tno magic\nanother\ta.jar\tB.class\ttoo new\n";
        let survey = parse(text).unwrap();
        assert_eq!((survey.same, survey.bytes, survey.methods), (2, 150, 4));
        assert_eq!(survey.refused.get("a.jar: C.class").map(String::as_str), Some("no magic"));
        assert_eq!(survey.cafebabe, ["a.jar: B.class: too new"]);
        assert!(parse("what\n").is_err());
    }
}
