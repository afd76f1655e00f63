//! A JDK home: its version, and whether it runs.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, anyhow, bail};

use crate::key_values::entry;
use crate::process;

/// The origin of a JDK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The variable `JAVA<version>_HOME`.
    Environment,
    /// Installed on the machine.
    Machine,
    /// In the cache folder, from an earlier run.
    Cache,
    /// Just unpacked from Debian's packages.
    DebianPackages,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Origin::Environment => "env",
            Origin::Machine => "machine",
            Origin::Cache => "cache",
            Origin::DebianPackages => "Debian packages",
        })
    }
}

/// A JDK that runs on this machine.
#[derive(Debug, Clone)]
pub struct Jdk {
    /// The JDK's home: the folder with `bin/java`, `bin/javac`, `include/jni.h`.
    pub home: PathBuf,
    /// The JDK's origin.
    pub origin: Origin,
    /// The build, as `java -version` states it: `1.8.0_482-b08`, `25.0.3+9-LTS`.
    pub full_version: String,
}

impl Jdk {
    /// The JDK at `home`, which must be of `version` (8, 11, ...) and must run.
    ///
    /// # Errors
    /// Fails if it is something else, or does not run.
    pub fn of_version(version: u32, home: &Path, origin: Origin) -> Result<Jdk> {
        let home = fs::canonicalize(home).with_context(|| format!("{}", home.display()))?;
        if !home.join("bin/javac").is_file() {
            bail!("{} is not a JDK: it has no bin/javac", home.display());
        }
        let stated = VersionOutput::by_java(&home)?;
        if feature(&stated.version) != Some(version) {
            bail!("{} is JDK {}, not {version}", home.display(), stated.version);
        }
        Ok(Jdk { home, origin, full_version: stated.build })
    }
}

/// The command of one of the JDK's programs (`java`, `javac`, ...), without the variables with
/// which a user's environment adds options to every JVM.
pub fn tool(home: &Path, name: &str) -> Command {
    let mut command = Command::new(home.join("bin").join(name));
    without_user_options(&mut command);
    command
}

/// Removes the variables from a command's environment that add options to every JVM.
pub fn without_user_options(command: &mut Command) {
    for variable in
        ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "JDK_JAVAC_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"]
    {
        command.env_remove(variable);
    }
}

/// The version in the `release` file of the JDK at `home`; `None` if there is no such file or entry
/// (Debian's JDK 8 has none).
pub fn released_version(home: &Path) -> Option<u32> {
    let text = fs::read_to_string(home.join("release")).ok()?;
    feature(entry(&text, "JAVA_VERSION")?)
}

/// The output of `java -version`.
pub struct VersionOutput {
    /// The version: `1.8.0_482`, `25.0.3`.
    pub version: String,
    /// The build.
    pub build: String,
}

impl VersionOutput {
    /// Runs `java -version`, which proves that the JDK runs here.
    ///
    /// # Errors
    /// Fails if it does not run, or if its output is unknown.
    pub fn by_java(home: &Path) -> Result<VersionOutput> {
        let output = process::run(tool(home, "java").arg("-version"))?;
        // The version goes to standard error; an error message may go to either.
        let text = String::from_utf8_lossy(&[output.stderr, output.stdout].concat()).into_owned();
        if !output.status.success() {
            let said = text.trim().replace('\n', " | ");
            bail!("{} does not run ({}): {said}", home.join("bin/java").display(), output.status);
        }
        VersionOutput::parse(&text)
            .ok_or_else(|| anyhow!("{}/bin/java -version says no version: {text}", home.display()))
    }

    /// Reads lines such as
    /// ```text
    /// openjdk version "17.0.15" 2025-04-15
    /// OpenJDK Runtime Environment (build 17.0.15+6-Debian-1deb12u1)
    /// ```
    fn parse(text: &str) -> Option<VersionOutput> {
        let version = between(text, " version \"", "\"")?;
        let runtime = text.lines().find(|line| line.contains("Runtime Environment"))?;
        let build = between(runtime, "(build ", ")")?;
        Some(VersionOutput { version: version.to_owned(), build: build.to_owned() })
    }
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(before)?;
    rest.split_once(after).map(|(found, _)| found)
}

/// The feature version of a version string: 8 for `1.8.0_482`, 21 for `21.0.11`, 26 for `26-ea`.
pub fn feature(version: &str) -> Option<u32> {
    // Up to 8 the feature version stood second (JEP 223 changed that with 9).
    let version = version.strip_prefix("1.").unwrap_or(version);
    let digits = version.find(|c: char| !c.is_ascii_digit()).unwrap_or(version.len());
    version[..digits].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feature_versions_of_old_and_new_strings() {
        assert_eq!(feature("1.8.0_482"), Some(8));
        assert_eq!(feature("11.0.30"), Some(11));
        assert_eq!(feature("25"), Some(25));
        assert_eq!(feature("26-ea"), Some(26));
        assert_eq!(feature("unknown"), None);
        assert_eq!(feature(""), None);
    }

    #[test]
    fn java_states_its_version_and_build() {
        let stated = VersionOutput::parse(
            "Picked up JAVA_TOOL_OPTIONS: -Xint\nopenjdk version \"1.8.0_482\"\n\
             OpenJDK Runtime Environment (Temurin)(build 1.8.0_482-b08)\n\
             OpenJDK 64-Bit Server VM (Temurin)(build 25.482-b08, mixed mode)\n",
        )
        .unwrap();
        assert_eq!((stated.version.as_str(), stated.build.as_str()), ("1.8.0_482", "1.8.0_482-b08"));
        assert!(VersionOutput::parse("command not found").is_none());
    }

    #[test]
    fn a_folder_without_javac_is_no_jdk() {
        let folder = tempfile::tempdir().unwrap();
        let error = Jdk::of_version(17, folder.path(), Origin::Machine).unwrap_err();
        assert!(error.to_string().contains("no bin/javac"), "{error}");
    }
}
