//! `cargo xtask quickstart`: from a machine with only Rust to a calling-context tree and a flame
//! graph.
//!
//! It runs the commands that a user would type, and shows them: `cctrewrite run` runs a program,
//! then its profile is reported and exported. The program is a sample (`fixtures/quickstart`), or
//! the user's own. Only the JDK, its profiled image and cargo's outputs are kept.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;
use xtask_tools::jdks::{self, Fetch, Jdk, tool};
use xtask_tools::print::print_line;
use xtask_tools::process;
use xtask_tools::workspace::{self, ReleaseBuild};

/// The JDK of the sample, so that it shows the same numbers on every machine.
const SAMPLE_JDK: u32 = 17;

/// The part of the report that fits on one screen.
const SCREEN: Screen = Screen { lines: 32, columns: 100, depth: 10 };

struct Screen {
    lines: usize,
    columns: usize,
    depth: usize,
}

/// The expected output of the sample program, plain and profiled.
const SAID: &str = "a 1000  boat 1000  but 1000  down 1000  dream 1000  gently 1000  is 1000  life 1000  \
                    merrily 4000  row 3000  stream 1000  the 1000  your 1000  ";

/// Arguments of the task.
#[derive(Args)]
pub struct Arguments {
    /// Your own command that runs a Java program, after `--`, instead of the sample:
    /// `-- java -jar app.jar`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Runs the task.
///
/// # Errors
/// Fails if there is no JDK, or if one of the steps fails.
pub fn run(arguments: &Arguments) -> Result<()> {
    let started = Instant::now();
    let own = !arguments.command.is_empty();
    step(1, "a JDK (found on this machine, or fetched from Debian's packages into the cache folder)");
    let jdk = jdk()?;
    eprintln!("    {} ({}, {})", jdk.home.display(), jdk.full_version, jdk.origin);

    step(2, "building cctrewrite (the first time takes some minutes)");
    let ReleaseBuild { program, target } = workspace::build_release(&jdk)?;
    let place = Place::fresh(&target, program)?;

    step(3, "running the program on a profiled JDK (which is made the first time)");
    let profile = place.folder.join("profile.cct");
    if own {
        place.run_own(&arguments.command, &jdk, &profile)?
    } else {
        place.run_sample(&jdk, &profile)?
    }

    step(4, "a flame graph");
    let picture = place.folder.join("flames.svg");
    let mut export = place.command("export");
    export.arg(&profile).args(["--format", "svg", "-o"]).arg(&picture);
    shown(&mut export)?;

    eprintln!("\nDone in {:.0} s. This is the calling-context tree:\n", started.elapsed().as_secs_f64());
    place.report(&profile)?;
    place.farewell(own, &profile, &picture);
    Ok(())
}

fn step(number: u32, what: &str) {
    eprintln!("\n[{number}/4] {what}");
}

fn jdk() -> Result<Jdk> {
    let answers = jdks::get(&[SAMPLE_JDK], Fetch::IfMissing)?;
    answers.into_iter().next().context("no answer about the JDK")?.jdk.context("JDK")
}

/// The folder for the quickstart's outputs, and the command.
struct Place {
    folder: PathBuf,
    program: PathBuf,
}

impl Place {
    /// An empty folder in cargo's target folder.
    fn fresh(target: &Path, program: PathBuf) -> Result<Place> {
        let folder = target.join("quickstart");
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("remove {}", folder.display()))?;
        }
        fs::create_dir_all(&folder).with_context(|| format!("make {}", folder.display()))?;
        Ok(Place { folder, program })
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(name);
        command
    }

    /// Runs the sample program, and checks its output.
    fn run_sample(&self, jdk: &Jdk, profile: &Path) -> Result<()> {
        let classes = self.folder.join("classes");
        fs::create_dir(&classes)?;
        let source = workspace::root().join("fixtures/quickstart/Sample.java");
        shown(tool(&jdk.home, "javac").arg("-d").arg(&classes).arg(&source))?;
        let mut run = self.command("run");
        run.arg("--jdk").arg(&jdk.home).arg("-o").arg(profile);
        run.args(["--", "java", "-cp"]).arg(&classes).arg("Sample");
        let said = shown(&mut run)?;
        eprintln!("    {}", said.trim());
        ensure!(said == SAID, "the sample program should have printed: {SAID}");
        Ok(())
    }

    /// Runs the user's command with its own streams; on its own JDK, or on the found one if there
    /// is none.
    fn run_own(&self, command: &[OsString], jdk: &Jdk, profile: &Path) -> Result<()> {
        let mut run = self.command("run");
        if env::var_os("JAVA_HOME").is_none() && !is_on_path("java") {
            run.arg("--jdk").arg(&jdk.home);
        }
        run.arg("-o").arg(profile).arg("--").args(command);
        eprintln!("    $ {}", words(&run));
        let status = run.status().with_context(|| words(&run))?;
        ensure!(profile.is_file(), "the command left no profile ({status})");
        if !status.success() {
            eprintln!("    (the command ended with {status})");
        }
        Ok(())
    }

    /// Prints the beginning of the report: as much as fits on a screen.
    fn report(&self, profile: &Path) -> Result<()> {
        let mut report = self.command("report");
        report.arg(profile).args(["--depth", &SCREEN.depth.to_string()]);
        report.args(["--width", &SCREEN.columns.to_string()]);
        let report = process::output(&mut report)?;
        let lines: Vec<&str> = report.lines().collect();
        for line in lines.iter().take(SCREEN.lines) {
            print_line(line)?;
        }
        if lines.len() > SCREEN.lines {
            print_line(&format!("... and {} lines more", lines.len() - SCREEN.lines))?;
        }
        Ok(())
    }

    /// Prints where the outputs are, and what to do with them.
    fn farewell(&self, own: bool, profile: &Path, picture: &Path) {
        let shown = |path: &Path| from_here(path).display().to_string();
        let [program, profile, picture] = [&self.program, profile, picture].map(shown);
        if !own {
            eprintln!(
                "
The numbers can be checked by hand: fixtures/quickstart/Sample.java says how."
            );
        }
        eprintln!(
            "
The flame graph, for a browser:   {picture}
The whole tree:                   {program} report {profile}
What costs most:                  {program} report {profile} --top 20

Your own program, as it is:
    {program} run -- java -jar app.jar
    {program} export --format svg cctrewrite.cct -o flames.svg"
        );
    }
}

fn is_on_path(name: &str) -> bool {
    env::var_os("PATH").is_some_and(|path| env::split_paths(&path).any(|folder| folder.join(name).is_file()))
}

/// Prints a command as a user would type it, runs it, prints the essence of its messages, and
/// returns its output.
fn shown(command: &mut Command) -> Result<String> {
    eprintln!("    $ {}", words(command));
    let output = process::run(command)?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("this command failed ({}): {said}", output.status);
    }
    for line in said.lines() {
        eprintln!("    {line}");
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A command as a user would type it.
fn words(command: &Command) -> String {
    let words = [command.get_program()].into_iter().chain(command.get_args());
    words.map(|word| from_here(Path::new(word)).display().to_string()).collect::<Vec<_>>().join(" ")
}

/// A path as a user would type it here: relative, if it is below the current folder.
fn from_here(path: &Path) -> PathBuf {
    let relative =
        env::current_dir().ok().and_then(|here| path.strip_prefix(here).ok().map(Path::to_path_buf));
    relative.unwrap_or_else(|| path.to_owned())
}
