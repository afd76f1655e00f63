//! `cargo xtask integrations`: builds the Java projects in `integrations/` with the released Maven
//! and JUnit, and runs their tests on plain and on profiled JDKs (docs/ci/junit.md).

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use xtask_tools::jdks::{self, Fetch, Jdk};
use xtask_tools::print::print_line;
use xtask_tools::process;
use xtask_tools::workspace::{build_release, root, target_folder};

/// Options of `cargo xtask integrations`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The JDKs (repeatable).
    #[arg(long = "jdk", value_name = "VERSION", default_values_t = [8, 17, 25], value_parser = jdks::supported)]
    jdks: Vec<u32>,
    /// Download nothing: Maven needs what an earlier run has fetched.
    #[arg(long)]
    offline: bool,
}

/// A release of JUnit.
struct JUnit {
    version: &'static str,
    /// The version of its platform.
    platform: &'static str,
    /// The oldest JDK that it runs on.
    since: u32,
}

const JUNITS: [JUnit; 2] = [
    JUnit { version: "5.14.4", platform: "1.14.4", since: 8 },
    JUnit { version: "6.1.3", platform: "6.1.3", since: 17 },
];

/// Tests that need a profiled JDK, and tests that need a plain one: each kind is skipped on the
/// other.
const OF_PROFILED: usize = 3;
const OF_PLAIN: usize = 1;

/// Runs the tests of all projects.
///
/// # Errors
/// Fails if a JDK or Maven is missing, or a test fails.
pub fn run(arguments: &Arguments) -> Result<()> {
    let fetch = if arguments.offline { Fetch::Never } else { Fetch::IfMissing };
    let mut command = None;
    for answer in jdks::get(&arguments.jdks, fetch)? {
        let jdk = answer.jdk.with_context(|| format!("JDK {}", answer.version))?;
        if command.is_none() {
            command = Some(build_release(&jdk)?.program);
        }
        let program = command.as_ref().context("the command")?;
        for junit in JUNITS.iter().filter(|junit| junit.since <= answer.version) {
            let says =
                |how: &str| print_line(&format!("JDK {}, JUnit {}, {how}", answer.version, junit.version));
            let mut plain = maven("mvn".as_ref(), &[], junit, arguments.offline);
            plain.env("JAVA_HOME", &jdk.home);
            check(&mut plain, OF_PROFILED)?;
            says("plain: ok")?;
            let through = profiled(&jdk)?;
            let through: Vec<&OsStr> = through.iter().map(AsRef::as_ref).collect();
            check(&mut maven(program.as_os_str(), &through, junit, arguments.offline), OF_PLAIN)?;
            says("profiled: ok")?;
        }
    }
    Ok(())
}

/// The arguments that make `cctrewrite` run Maven on a profiled JDK.
fn profiled(jdk: &Jdk) -> Result<Vec<String>> {
    let folder = target_folder().join("integrations");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let text = |path: &Path| path.to_str().map(str::to_owned).context("a path that is not Unicode");
    let (out, home) = (text(&folder.join("maven.cct"))?, text(&jdk.home)?);
    Ok(["run", "-o", &out, "--jdk", &home, "--", "mvn"].map(str::to_owned).into())
}

fn maven(program: &OsStr, before: &[&OsStr], junit: &JUnit, offline: bool) -> Command {
    let mut maven = Command::new(program);
    maven.args(before).args(["--batch-mode", "verify"]).current_dir(root().join("integrations"));
    maven.arg(format!("-Djunit.version={}", junit.version));
    maven.arg(format!("-Djunit.platform.version={}", junit.platform));
    if offline {
        maven.arg("--offline");
    }
    maven
}

/// Runs Maven, and checks that only `skipped` tests were skipped.
fn check(maven: &mut Command, skipped: usize) -> Result<()> {
    let printed = process::output(maven)?;
    let total = OF_PLAIN + OF_PROFILED;
    let wanted = format!("Tests run: {total}, Failures: 0, Errors: 0, Skipped: {skipped}");
    let Some(line) = printed.lines().find(|line| line.contains("Tests run: ")) else {
        bail!("Maven ran no tests: {printed}");
    };
    ensure!(line.contains(&wanted), "not \"{wanted}\": {line}");
    Ok(())
}
