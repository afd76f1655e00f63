//! `cargo xtask test`: all checks and tests, on all available JDKs.

mod space;
mod tally;

use std::env;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use xtask_tools::jdks::{self, Answer, Fetch, Jdk, without_user_options};
use xtask_tools::print::print_line;
use xtask_tools::process;
use xtask_tools::watch;
use xtask_tools::workspace::{ReleaseBuild, cargo, root};

use crate::readers;
use space::Space;
use tally::{Failure, Tally};

/// Options of `cargo xtask test`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Download nothing: neither JDKs nor crates.
    #[arg(long)]
    offline: bool,
    /// Only the tests: no `cargo fmt`, no `cargo clippy`, no check of the order of modules.
    #[arg(long)]
    no_lint: bool,
    /// Also run the tests on JDKs that a newer release has superseded (26), and tests that take
    /// long on each JDK. They are skipped otherwise.
    #[arg(long)]
    all_jdks: bool,
}

/// The variable by which JVM tests that take long leave out some JDKs
/// (`crates/cctrewrite/tests/jvm/support/mod.rs`).
const FEWER_JDKS: &str = "CCTREWRITE_FEWER_JDKS";

/// The JDKs that run some real programs.
const PROGRAMS_ON: [u32; 2] = [17, 25];

/// The result of one part of the work.
struct Part {
    name: &'static str,
    outcome: Outcome,
    spent: PartTime,
}

/// How long a part took.
#[derive(Debug, Clone, Copy, Default)]
struct PartTime {
    time: Duration,
    /// Of all processes that were waited for. Below the time by all processors, some were idle.
    processor: Duration,
}

impl std::ops::AddAssign for PartTime {
    fn add_assign(&mut self, other: PartTime) {
        self.time += other.time;
        self.processor += other.processor;
    }
}

enum Outcome {
    Passed,
    Failed,
    Skipped(String),
}

/// Runs the task; the exit code says whether everything passed.
///
/// # Errors
/// Fails if there is no JDK 8, or cargo cannot be started. A check or a test that fails is no error
/// here: all parts are run, and the summary counts it.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let started = Instant::now();
    let (answers, provisioning) = timed(|| provision(arguments));
    let answers = answers?;
    let jdk_8 = answers.iter().find(|answer| answer.version == 8).and_then(|answer| answer.jdk.as_ref().ok());
    let jdk_8 = jdk_8.context("the tests need a JDK 8; see above why there is none")?;

    let (readers, fetching) = timed(|| find_readers(arguments.offline));
    let mut parts = vec![
        Part { name: "JDKs", outcome: Outcome::Passed, spent: provisioning },
        Part { name: "readers", outcome: Outcome::Passed, spent: fetching },
    ];
    if !arguments.no_lint {
        parts.push(lint("fmt", &["--all", "--check"], jdk_8)?);
        let clippy = ["--workspace", "--all-targets", "--", "-D", "warnings"];
        parts.push(lint("clippy", &offline(&clippy, arguments.offline), jdk_8)?);
        parts.push(structure()?);
        // Advisories need the network, and are checked manually (SECURITY.md).
        parts.push(lint("deny", &["check", "bans", "licenses", "sources"], jdk_8)?);
        parts.push(workflows()?);
    }
    let readers = readers?;
    let environment =
        Environment { answers: &answers, readers: readers.as_deref(), jdk_8, all_jdks: arguments.all_jdks };
    let (tests, part) = test(arguments.offline, &environment)?;
    parts.push(part);
    for version in PROGRAMS_ON {
        if let Some(jdk) = answers
            .iter()
            .find(|answer| answer.version == version)
            .and_then(|answer| answer.jdk.as_ref().ok())
        {
            parts.push(programs(version, jdk, arguments.offline)?);
        }
    }
    summary(&answers, &parts, &tests, started.elapsed())
}

/// Finds or fetches the JDKs and prints the result.
fn provision(arguments: &Arguments) -> Result<Vec<Answer>> {
    heading("JDKs");
    let fetch = if arguments.offline { Fetch::Never } else { Fetch::IfMissing };
    let is_tested = |version: &u32| arguments.all_jdks || !cct_jdk::SUPERSEDED.contains(version);
    let versions: Vec<u32> = jdks::VERSIONS.into_iter().filter(is_tested).collect();
    let answers = jdks::get(&versions, fetch)?;
    for answer in &answers {
        print_line(&describe(answer))?;
    }
    Ok(answers)
}

/// Finds or fetches the readers of exports, prints the result, and returns their folder. Tests that
/// need a missing one are skipped.
fn find_readers(offline: bool) -> Result<Option<PathBuf>> {
    heading("readers of exports");
    let fetch = if offline { Fetch::Never } else { Fetch::IfMissing };
    match readers::get(fetch) {
        Ok((folder, answers)) => {
            answers.iter().try_for_each(|answer| print_line(&readers::describe(answer)))?;
            Ok(Some(folder))
        }
        Err(error) => {
            print_line(&format!("missing, tests that need them are skipped: {error:#}"))?;
            Ok(None)
        }
    }
}

fn describe(answer: &Answer) -> String {
    let version = answer.version;
    match &answer.jdk {
        Ok(jdk) => format!("JDK {version:<3} {} ({})", jdk.full_version, jdk.origin),
        Err(reason) => format!("JDK {version:<3} missing, tests that need it are skipped: {reason:#}"),
    }
}

/// The line about the JVMs of a JDK.
fn matrix(answer: &Answer, tally: &Tally) -> String {
    let version = answer.version;
    match tally.jdks().get(&version) {
        Some(jdk) => {
            let (tests, jvms, seconds) = (jdk.tests, jdk.jvms, jdk.time.as_secs());
            format!("JDK {version}: ran {tests} tests in {seconds} s, with {jvms} JVMs")
        }
        None => format!("JDK {version}: ran no tests"),
    }
}

/// Checks the order of crates and modules.
fn structure() -> Result<Part> {
    heading("structure");
    let (findings, spent) = timed(|| ::structure::check(&root()));
    let findings = findings?;
    findings.iter().try_for_each(|finding| print_line(finding))?;
    let outcome = if findings.is_empty() { Outcome::Passed } else { Outcome::Failed };
    Ok(Part { name: "structure", outcome, spent })
}

/// Runs one of cargo's checks, which prints its findings. If the tool is not installed, the check
/// is skipped.
fn lint(name: &'static str, arguments: &[&str], jdk: &Jdk) -> Result<Part> {
    heading(&format!("cargo {name}"));
    if !process::run(cargo(jdk).args([name, "--version"]))?.status.success() {
        let how = match name {
            "fmt" => "rustup component add rustfmt",
            "clippy" => "rustup component add clippy",
            _ => "cargo install --locked cargo-deny",
        };
        let reason = format!("cargo {name} is not installed ({how})");
        print_line(&format!("skipped: {reason}"))?;
        return Ok(Part { name, outcome: Outcome::Skipped(reason), spent: PartTime::default() });
    }
    let mut command = cargo(jdk);
    command.arg(name).args(arguments);
    let (status, spent) = timed(|| command.status());
    let passed = status.with_context(|| format!("cargo {name}"))?.success();
    Ok(Part { name, outcome: if passed { Outcome::Passed } else { Outcome::Failed }, spent })
}

/// Checks the workflows of GitHub, where actionlint is installed.
fn workflows() -> Result<Part> {
    heading("workflows");
    let name = "workflows";
    let mut actionlint = Command::new("actionlint");
    if process::run(actionlint.arg("-version")).is_err() {
        let reason =
            "actionlint is not installed (go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12)";
        print_line(&format!("skipped: {reason}"))?;
        return Ok(Part { name, outcome: Outcome::Skipped(reason.to_owned()), spent: PartTime::default() });
    }
    let (status, spent) = timed(|| Command::new("actionlint").current_dir(root()).status());
    let passed = status.context("actionlint")?.success();
    Ok(Part { name, outcome: if passed { Outcome::Passed } else { Outcome::Failed }, spent })
}

/// The results of the tests.
struct Tests {
    tally: Tally,
    /// Tests that failed and passed in a second run.
    unsteady: Vec<Failure>,
    /// Free space on the disk.
    space: Option<Space>,
}

/// The program whose tests start JVMs, hundreds of them in parallel: only these depend on the
/// machine's load. All others are deterministic, so one failure is enough.
const JVM_TESTS: &str = "tests/jvm/main.rs";

/// Maximum number of failures that may be due to the machine's load.
const RUN_AGAIN: usize = 3;

/// Runs all tests, shows their output immediately, and counts. Up to [`RUN_AGAIN`] failed tests of
/// [`JVM_TESTS`] are run once more, by themselves; the summary lists those that pass then with
/// their output.
fn test(offline_too: bool, environment: &Environment<'_>) -> Result<(Tests, Part)> {
    heading("cargo test");
    // The test harness shows the output of passed tests, which says what they skipped, only with
    // this option.
    let arguments = ["--workspace", "--no-fail-fast", "--", "--show-output"];
    let mut command = environment.cargo_test(&offline(&arguments, offline_too));
    let root = root();
    let mut space = Space::of(&root);
    let look = || space.iter_mut().for_each(|space| space.look(&root));
    let (result, mut spent) = timed(|| streamed(&mut command, &mut io::stdout(), look));
    let (mut tally, mut succeeded) = result.context("cargo test")?;

    let mut unsteady = Vec::new();
    if !succeeded && may_run_again(&tally) {
        heading("cargo test, the failed ones by themselves");
        let alone =
            ["-p", "cctrewrite", "--test", "jvm", "--", "--exact", "--show-output", "--test-threads=1"];
        let failed = tally.failures().iter().map(|failure| &*failure.test);
        let arguments: Vec<_> = alone.into_iter().chain(failed).collect();
        let mut command = environment.cargo_test(&offline(&arguments, offline_too));
        let (result, again) = timed(|| streamed(&mut command, &mut io::stdout(), || ()));
        let (second, passed) = result.context("cargo test")?;
        unsteady = tally.take_back(&second);
        succeeded = passed && tally.failed() == 0;
        spent += again;
    }
    remove_images();
    // Cargo fails without a failed test if something does not compile, or a test's process dies.
    let outcome = if succeeded { Outcome::Passed } else { Outcome::Failed };
    Ok((Tests { tally, unsteady, space }, Part { name: "tests", outcome, spent }))
}

/// Whether the only failures are a few tests that start JVMs.
fn may_run_again(tally: &Tally) -> bool {
    let failures = tally.failures();
    (1..=RUN_AGAIN).contains(&failures.len())
        && failures.len() == tally.failed() as usize
        && failures.iter().all(|failure| failure.program == JVM_TESTS)
        && tally.failed_programs() == 1
}

/// The harness's variable for the number of tests at a time, by default one for each core.
const TEST_THREADS: &str = "RUST_TEST_THREADS";

/// The surroundings of the tests.
struct Environment<'a> {
    /// The JDKs.
    answers: &'a [Answer],
    /// The folder of the readers of exports.
    readers: Option<&'a Path>,
    /// The JDK that compiles the examples.
    jdk_8: &'a Jdk,
    /// Whether tests that take long run on each JDK, too.
    all_jdks: bool,
}

impl Environment<'_> {
    /// The command `cargo test`, with the paths of the JDKs and the readers.
    fn cargo_test(&self, arguments: &[&str]) -> Command {
        let mut command = cargo(self.jdk_8);
        command.arg("test").args(arguments);
        if env::var_os(TEST_THREADS).is_none() {
            // Tests wait for JVMs, which end and start, sleep, and are killed.
            let cores = thread::available_parallelism().map_or(1, NonZero::get);
            command.env(TEST_THREADS, (cores + 1).to_string());
        }
        without_user_options(&mut command);
        for answer in self.answers {
            let variable = format!("JAVA{}_HOME", answer.version);
            match &answer.jdk {
                Ok(jdk) => command.env(variable, &jdk.home),
                Err(_) => command.env_remove(variable),
            };
        }
        match self.readers {
            Some(folder) => command.env(readers::VARIABLE, folder),
            None => command.env_remove(readers::VARIABLE),
        };
        if self.all_jdks {
            command.env_remove(FEWER_JDKS);
        } else {
            command.env(FEWER_JDKS, "1");
        }
        command
    }
}

/// Runs some real programs with the command that the tests were built with
/// ([`programs::run_tested`]).
fn programs(version: u32, jdk: &Jdk, offline: bool) -> Result<Part> {
    heading(&format!("programs on JDK {version}"));
    // Cargo has put this program next to the command.
    let folder = env::current_exe()?.parent().context("this program is in no folder")?.to_owned();
    let target = folder.parent().context("cargo's target folder")?.join("tmp");
    let built = ReleaseBuild { program: folder.join("cctrewrite"), target };
    let fetch = if offline { Fetch::Never } else { Fetch::IfMissing };
    let (ledger, spent) = timed(|| xtask_programs::run_tested(version, jdk, built, fetch));
    let ledger = ledger?;
    let outcome = if !ledger.is_good() {
        Outcome::Failed
    } else if ledger.skipped.is_empty() {
        Outcome::Passed
    } else {
        Outcome::Skipped(format!("{} cannot be had", ledger.skipped.join(", ")))
    };
    Ok(Part { name: "programs", outcome, spent })
}

/// Removes the profiled JDKs of the tests (`crates/cctrewrite/tests/jvm/support/image.rs`): half a
/// gigabyte each. Folders that stay do no harm, the next run removes them.
fn remove_images() {
    // Cargo has put this program two levels below its target folder.
    let Ok(program) = env::current_exe() else { return };
    if let Some(target) = program.ancestors().nth(2) {
        let _ = fs::remove_dir_all(target.join("tmp/jvm/images"));
    }
}

/// Runs a command, shows its lines on `out` as they arrive, and counts the test results in them;
/// calls `look` for each line. Also returns whether it succeeded.
fn streamed(command: &mut Command, out: &mut dyn Write, mut look: impl FnMut()) -> Result<(Tally, bool)> {
    // One pipe for both, so that lines come in the order in which they were written.
    let (reader, writer) = io::pipe()?;
    let mut child = command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer).spawn()?;
    // The command value holds this end of the pipe, which must be closed for the reader to see the
    // end.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut tally = Tally::default();
    let mut reader = BufReader::new(reader);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        look();
        // Output of tests need not be UTF-8.
        if tally.line(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r'])) {
            out.write_all(&line)?;
        }
        line.clear();
    }
    Ok((tally, child.wait()?.success()))
}

/// Prints the summary; its last line is the count of all tests and checks.
fn summary(answers: &[Answer], parts: &[Part], tests: &Tests, total: Duration) -> Result<ExitCode> {
    let Tests { tally, unsteady, space } = tests;
    heading("summary");
    for (failures, verdict) in
        [(unsteady.as_slice(), "failed, then passed by itself"), (tally.failures(), "FAILED")]
    {
        failures
            .iter()
            .flat_map(|failure| what_it_said(failure, verdict))
            .try_for_each(|line| print_line(&line))?;
    }
    for answer in answers {
        print_line(&describe(answer))?;
    }
    for answer in answers {
        print_line(&matrix(answer, tally))?;
    }
    for (reason, times) in tally.reasons() {
        print_line(&format!("skipped, {times} x: {reason}"))?;
    }
    let (mut passed, mut failed, mut skipped) = (tally.passed(), tally.failed(), tally.skipped());
    for Part { name, outcome, spent } in parts {
        let [seconds, processor] = [spent.time, spent.processor].map(|time| time.as_secs());
        let (verdict, counter) = match outcome {
            Outcome::Passed => ("ok".to_owned(), &mut passed),
            Outcome::Failed => ("FAILED".to_owned(), &mut failed),
            Outcome::Skipped(reason) => (format!("skipped: {reason}"), &mut skipped),
        };
        // The format and the lints count as one check each; a part that failed counts even if no
        // test in it did.
        let counts = match *name {
            "fmt" | "clippy" | "structure" | "programs" => true,
            "tests" => matches!(outcome, Outcome::Failed) && tally.failed() == 0,
            _ => false,
        };
        *counter += u32::from(counts);
        print_line(&format!(
            "{name:<9} {:>3} min {:02} s   {:>3} min of processor time   {verdict}",
            seconds / 60,
            seconds % 60,
            processor / 60
        ))?;
    }
    for (program, time) in tally.longest() {
        let seconds = time.as_secs();
        print_line(&format!("{:>3} min {:02} s of the tests: {program}", seconds / 60, seconds % 60))?;
    }
    print_line(&format!("{:<9} {:>3} min {:02} s", "total", total.as_secs() / 60, total.as_secs() % 60))?;
    if let Some(space) = space {
        print_line(&space.line())?;
    }
    if !unsteady.is_empty() {
        print_line(&format!("{} passed only when run again, see above", unsteady.len()))?;
    }
    print_line(&format!("{passed} passed, {failed} failed, {skipped} skipped"))?;
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A failed test's name and the end of its output, for readers who see only the end of everything.
fn what_it_said(failure: &Failure, verdict: &str) -> impl Iterator<Item = String> {
    const LINES: usize = 25;
    let output = &failure.output[failure.output.len().saturating_sub(LINES)..];
    let lines: Vec<_> = output.iter().map(|line| format!("    {line}")).collect();
    std::iter::once(format!("{verdict}: {}", failure.test)).chain(lines)
}

fn heading(what: &str) {
    // To standard error, like cargo's own headings.
    eprintln!("\n=== {what}");
}

/// Prepends `--offline` to the arguments if wanted.
fn offline<'a>(arguments: &[&'a str], wanted: bool) -> Vec<&'a str> {
    wanted.then_some("--offline").into_iter().chain(arguments.iter().copied()).collect()
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, PartTime) {
    let (started, before) = (Instant::now(), children_seconds());
    let result = work();
    let processor = Duration::try_from_secs_f64(children_seconds() - before).unwrap_or_default();
    (result, PartTime { time: started.elapsed(), processor })
}

/// The processor time of all processes that this one has waited for, and of theirs.
fn children_seconds() -> f64 {
    watch::children_of(std::process::id()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(programs: &[&str], failed_programs: u32) -> Tally {
        let mut tally = Tally::default();
        for (test, program) in programs.iter().enumerate() {
            tally.line(&format!("     Running {program} (target/debug/deps/x-1)"));
            tally.line("failures:");
            tally.line(&format!("---- t{test} stdout ----"));
            tally.line("failures:");
            tally.line("test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s");
        }
        tally.line(&format!("error: {failed_programs} targets failed:"));
        tally
    }

    #[test]
    fn only_a_few_tests_that_start_jvms_are_run_again() {
        assert!(may_run_again(&tally(&[JVM_TESTS; 3], 1)));
        assert!(!may_run_again(&tally(&[JVM_TESTS; 4], 1)));
        assert!(!may_run_again(&tally(&[JVM_TESTS, "unittests src/lib.rs"], 2)));
        assert!(!may_run_again(&tally(&[JVM_TESTS], 2)), "another test program has died");
        assert!(!may_run_again(&tally(&[], 1)));
        assert!(!may_run_again(&Tally::default()));
    }

    #[test]
    fn a_stream_is_counted_to_its_end_whoever_wrote_it() {
        let script = "echo 'test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out'; \
                      echo 'skipped: JDK 25' >&2; printf '\\377\\n'; exit 1";
        let mut shown = Vec::new();
        let (tally, succeeded) =
            streamed(Command::new("sh").args(["-c", script]), &mut shown, || ()).unwrap();
        assert!(shown.ends_with(b"\nskipped: JDK 25\n\xff\n"), "{shown:?}");
        assert_eq!((tally.passed(), tally.failed(), tally.skipped()), (3, 0, 2));
        assert!(!succeeded);
    }
}
