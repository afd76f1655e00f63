//! `cargo xtask integrations`: builds the Java projects in `integrations/` with the released Maven,
//! JUnit and JMH, and runs their tests on plain and on profiled JDKs (docs/ci/junit.md,
//! docs/ci/jmh.md, docs/ci/maven.md).

mod maven;
mod sample;

use std::cmp::Reverse;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail, ensure};
use xtask_tools::jdks::{self, Fetch};
use xtask_tools::print::print_line;
use xtask_tools::workspace::{build_release, root, target_folder};

use maven::Maven;

/// Options of `cargo xtask integrations`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The JDKs (repeatable).
    #[arg(long = "jdk", value_name = "VERSION", default_values_t = [8, 17, 25], value_parser = jdks::supported)]
    jdks: Vec<u32>,
    /// The command to test [default: a release build of this workspace].
    #[arg(long, value_name = "FILE")]
    command: Option<PathBuf>,
    /// The Maven to use [default: `mvn` on the PATH].
    #[arg(long, value_name = "FILE")]
    maven: Option<PathBuf>,
    /// Run only these parts (repeatable).
    #[arg(long = "only", value_name = "PART")]
    parts: Vec<Part>,
    /// Download nothing: Maven needs what an earlier run has fetched.
    #[arg(long)]
    offline: bool,
}

/// A part of the tests.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// The tests of `cctrewrite-junit`.
    Junit,
    /// The tests of `cctrewrite-jmh`.
    Jmh,
    /// The projects of the Maven plugin, in `src/it`.
    MavenPlugin,
    /// The sample project with a regression.
    Sample,
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

/// A project whose tests run on the plain and on the profiled JDK.
struct Project {
    /// The modules to build, by Maven's notation.
    modules: &'static str,
    /// Number of its tests.
    tests: usize,
    /// Number of tests that need a profiled JDK, and are skipped on a plain one.
    of_profiled: usize,
    /// Number of tests that need a plain JDK, and are skipped on a profiled one.
    of_plain: usize,
}

const JUNIT: Project = Project { modules: "api,junit", tests: 6, of_profiled: 5, of_plain: 1 };
const JMH: Project = Project { modules: "api,jmh", tests: 5, of_profiled: 3, of_plain: 1 };

/// Runs the tests of all projects.
///
/// # Errors
/// Fails if a JDK or Maven is missing, or a test fails.
pub fn run(arguments: &Arguments) -> Result<()> {
    let fetch = if arguments.offline { Fetch::Never } else { Fetch::IfMissing };
    let chosen = |part: Part| arguments.parts.is_empty() || arguments.parts.contains(&part);
    let found =
        |file: &PathBuf| file.canonicalize().with_context(|| format!("cannot find {}", file.display()));
    let mut command = arguments.command.as_ref().map(found).transpose()?;
    let program_of_maven = arguments.maven.as_ref().map(found).transpose()?;
    let program_of_maven = program_of_maven.unwrap_or_else(|| "mvn".into());
    // The newest first: Debian's JDK 8 trusts no certificates of its own, so it downloads nothing.
    let mut answers = jdks::get(&arguments.jdks, fetch)?;
    answers.sort_by_key(|answer| Reverse(answer.version));
    for answer in answers {
        let jdk = answer.jdk.with_context(|| format!("JDK {}", answer.version))?;
        let program = match &command {
            Some(program) => program.clone(),
            None => command.insert(build_release(&jdk)?.program).clone(),
        };
        let maven =
            Maven { program: &program_of_maven, jdk: &jdk, command: &program, offline: arguments.offline };
        let says = |what: &str| print_line(&format!("JDK {}, {what}: ok", answer.version));
        if chosen(Part::Junit) {
            for junit in JUNITS.iter().filter(|junit| junit.since <= answer.version) {
                let versions = [
                    format!("-Djunit.version={}", junit.version),
                    format!("-Djunit.platform.version={}", junit.platform),
                ];
                JUNIT.test(&maven, &versions)?;
                says(&format!("JUnit {}, plain and profiled", junit.version))?;
            }
        }
        if chosen(Part::Jmh) {
            JMH.test(&maven, &[])?;
            says("JMH, plain and profiled")?;
        }
        if chosen(Part::MavenPlugin) {
            test_plugin(&maven)?;
            says("Maven plugin")?;
        }
        if chosen(Part::Sample) {
            sample::test(&maven)?;
            says("sample")?;
        }
    }
    Ok(())
}

impl Project {
    /// Runs the tests on the plain and on the profiled JDK.
    fn test(&self, maven: &Maven<'_>, options: &[String]) -> Result<()> {
        let mut goals = vec!["--projects", self.modules, "verify"];
        goals.extend(options.iter().map(String::as_str));
        let folder = root().join("integrations");
        self.check(&maven.succeed(&mut maven.plain(&folder, &goals))?, self.of_profiled)?;
        let output = target_folder().join("integrations");
        fs::create_dir_all(&output).with_context(|| format!("cannot make {}", output.display()))?;
        let printed = maven.succeed(&mut maven.profiled(&output.join("maven.cct"), &folder, &goals))?;
        self.check(&printed, self.of_plain)
    }

    /// Checks that only `skipped` tests were skipped.
    fn check(&self, printed: &str, skipped: usize) -> Result<()> {
        let wanted = format!("Tests run: {}, Failures: 0, Errors: 0, Skipped: {skipped}", self.tests);
        let Some(line) = printed.lines().find(|line| line.contains("Tests run: ")) else {
            bail!("Maven ran no tests: {printed}");
        };
        ensure!(line.contains(&wanted), "not \"{wanted}\": {line}");
        Ok(())
    }
}

/// Builds the projects in `src/it` of the Maven plugin, which check themselves.
fn test_plugin(maven: &Maven<'_>) -> Result<()> {
    let its = root().join("integrations/maven-plugin/src/it");
    let projects = fs::read_dir(&its)
        .with_context(|| format!("cannot read {}", its.display()))?
        .filter_map(|entry| Some(entry.ok()?.path().join("pom.xml")))
        .filter(|pom| pom.is_file())
        .count();
    let folder = root().join("integrations");
    let printed = maven.succeed(&mut maven.plain(&folder, &["verify", "-DskipTests", &maven.property()]))?;
    let wanted = format!("Passed: {projects}, Failed: 0, Errors: 0, Skipped: 0");
    ensure!(printed.contains(&wanted), "not \"{wanted}\": {printed}");
    Ok(())
}
