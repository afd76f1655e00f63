//! Runs of Maven.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};
use xtask_tools::jdks::Jdk;
use xtask_tools::process;

/// How Maven runs.
pub(super) struct Maven<'a> {
    /// Its script.
    pub(super) program: &'a Path,
    /// The JDK that it runs on, and its tests.
    pub(super) jdk: &'a Jdk,
    /// The command `cctrewrite`.
    pub(super) command: &'a Path,
    /// Whether it downloads nothing.
    pub(super) offline: bool,
}

impl Maven<'_> {
    /// Maven in `folder`.
    pub(super) fn plain(&self, folder: &Path, arguments: &[&str]) -> Command {
        let mut maven = Command::new(self.program);
        maven.env("JAVA_HOME", &self.jdk.home);
        self.complete(maven, folder, arguments)
    }

    /// Maven in `folder` on a profiled JDK, with the profile of all JVMs in `output`.
    pub(super) fn profiled(&self, output: &Path, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.command);
        command.arg("run").arg("-o").arg(output).arg("--jdk").arg(&self.jdk.home);
        command.arg("--").arg(self.program);
        self.complete(command, folder, arguments)
    }

    fn complete(&self, mut maven: Command, folder: &Path, arguments: &[&str]) -> Command {
        maven.args(["--batch-mode", "--no-transfer-progress"]).args(arguments).current_dir(folder);
        // Of a developer, or of an outer run.
        maven.env_remove("MAVEN_OPTS").env_remove("MAVEN_ARGS").env_remove("CCTREWRITE_RUN");
        if self.offline {
            maven.arg("--offline");
        }
        maven
    }

    /// The option that names the command to the plugin.
    pub(super) fn property(&self) -> String {
        format!("-Dcctrewrite.command={}", self.command.display())
    }

    /// Runs Maven, which must succeed, and returns what it printed.
    pub(super) fn succeed(&self, maven: &mut Command) -> Result<String> {
        self.run(maven, true)
    }

    /// Runs Maven, which must fail, and returns what it printed.
    pub(super) fn fail(&self, maven: &mut Command) -> Result<String> {
        self.run(maven, false)
    }

    fn run(&self, maven: &mut Command, succeeds: bool) -> Result<String> {
        let output = process::run(maven)?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() != succeeds {
            let arguments: Vec<_> = maven.get_args().map(OsStr::to_string_lossy).collect();
            bail!(
                "Maven ended with {} on {}: {}\n{printed}{}",
                output.status,
                self.jdk.home.display(),
                arguments.join(" "),
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Ok(printed)
    }
}
