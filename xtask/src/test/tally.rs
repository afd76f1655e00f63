//! Counts of the output of `cargo test -- --show-output`.
//!
//! The test harness has no way for a running test to skip itself: such a test prints a line
//! `skipped: <reason>` and passes. Here it counts as skipped instead of passed, even if it skipped
//! only a part of its work. Such lines outside the harness's output, which cannot be assigned to a
//! test, count as one skipped test each.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The counts.
#[derive(Debug, Default)]
pub struct Tally {
    /// As the harness counts, including tests that skipped something.
    reported_passed: u32,
    failed: u32,
    ignored: u32,
    /// Tests that passed and reported that they skipped something.
    skipping: u32,
    /// `skipped:` lines outside of any test's output.
    loose: u32,
    reasons: BTreeMap<String, u32>,
    jdks: BTreeMap<u32, Matrix>,
    /// The JDKs whose JVMs the current test ran, the one whose output is being shown.
    ran: BTreeSet<u32>,
    /// The current test program, as cargo names it: `tests/jvm/main.rs`.
    program: String,
    /// Its executable, without the hash in its name: `jvm`.
    executable: String,
    failures: Vec<Failure>,
    /// How long each executable ran.
    times: BTreeMap<String, Duration>,
    /// Number of programs that cargo reports as failed: with failed tests, or by dying.
    failed_programs: u32,
    section: Section,
}

/// A test that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The test program's source, as cargo names it.
    pub program: String,
    /// The test's name.
    pub test: String,
    /// The test's output, including its panic.
    pub output: Vec<String>,
}

/// The tests of one JDK.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Matrix {
    /// Number of tests that ran a JVM of it; a test may run JVMs of several JDKs.
    pub tests: u32,
    /// Number of JVMs, the plain JDK's and profiled ones.
    pub jvms: u32,
    /// Sum of their times: tests run in parallel.
    pub time: Duration,
}

/// The current section of the harness's output.
#[derive(Debug, Default, PartialEq, Eq)]
enum Section {
    /// Before the tests' own output.
    #[default]
    Results,
    /// After `successes:`, where the output of passed tests is shown.
    Successes {
        /// Whether the current test has printed `skipped:`.
        said: bool,
    },
    /// After `failures:`, where the output of failed tests is shown.
    Failures,
    /// After the second `failures:`, where their names are listed.
    Names,
}

impl Tally {
    /// Processes the next line; returns whether it is of interest to others.
    pub fn line(&mut self, line: &str) -> bool {
        if let Some(result) = line.strip_prefix("test result: ") {
            self.reported_passed += count(result, " passed");
            self.failed += count(result, " failed");
            self.ignored += count(result, " ignored");
            if let Some(time) = finished_in(result) {
                *self.times.entry(self.executable.clone()).or_default() += time;
            }
            self.section = Section::Results;
            self.ran.clear();
        } else if line == "successes:" {
            self.section = Section::Successes { said: false };
        } else if line == "failures:" {
            self.section = if self.section == Section::Failures { Section::Names } else { Section::Failures };
        } else if let Some(program) = program(line) {
            self.program = program.to_owned();
            self.executable = executable(line).unwrap_or(program).to_owned();
        } else if let Some(programs) = failed_programs(line) {
            self.failed_programs += programs;
        } else if let Some(test) =
            line.strip_prefix("---- ").and_then(|line| line.strip_suffix(" stdout ----"))
        {
            match &mut self.section {
                Section::Successes { said } => *said = false,
                Section::Failures => self.failures.push(Failure {
                    program: self.program.clone(),
                    test: test.to_owned(),
                    output: Vec::new(),
                }),
                Section::Results | Section::Names => {}
            }
            self.ran.clear();
        } else if let Some((version, time)) = jvm(line) {
            let jdk = self.jdks.entry(version).or_default();
            jdk.jvms += 1;
            jdk.time += time;
            jdk.tests += u32::from(self.ran.insert(version));
            return false;
        } else {
            if let (Section::Failures, Some(failure)) = (&self.section, self.failures.last_mut()) {
                failure.output.push(line.to_owned());
            }
            if let Some(reason) = skip_reason(line) {
                self.skip(reason);
            }
        }
        true
    }

    /// The test programs that ran for a minute or more, the longest first.
    pub fn longest(&self) -> Vec<(&str, Duration)> {
        let mut long: Vec<_> = self.times.iter().map(|(program, &time)| (&**program, time)).collect();
        long.retain(|(_, time)| *time >= Duration::from_secs(60));
        long.sort_by_key(|&(_, time)| std::cmp::Reverse(time));
        long
    }

    fn skip(&mut self, reason: &str) {
        *self.reasons.entry(reason.to_owned()).or_default() += 1;
        match &mut self.section {
            Section::Results => self.loose += 1,
            Section::Successes { said } => {
                self.skipping += u32::from(!*said);
                *said = true;
            }
            Section::Failures | Section::Names => {}
        }
    }

    /// Takes over the counts of a second run of the failed tests: those that passed in it are no
    /// failures any more. Returns them, with their output of the failed run.
    pub fn take_back(&mut self, second: &Tally) -> Vec<Failure> {
        let again = |failure: &Failure| second.failures.iter().any(|other| other.test == failure.test);
        // An interrupted second run has shown nothing of its remaining tests.
        if second.reported_passed + second.failed != self.failed {
            return Vec::new();
        }
        let (failed, passed): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.failures).into_iter().partition(again);
        self.failures = failed;
        self.failed = second.failed;
        self.reported_passed += second.reported_passed;
        passed
    }

    /// Tests that passed and skipped nothing.
    pub fn passed(&self) -> u32 {
        self.reported_passed.saturating_sub(self.skipping)
    }

    /// Tests that failed.
    pub fn failed(&self) -> u32 {
        self.failed
    }

    /// The failed tests, with their output.
    pub fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// Test programs that failed, by tests or by dying.
    pub fn failed_programs(&self) -> u32 {
        self.failed_programs
    }

    /// Tests that skipped something, or were ignored.
    pub fn skipped(&self) -> u32 {
        self.skipping + self.loose + self.ignored
    }

    /// The tests of each JDK.
    pub fn jdks(&self) -> &BTreeMap<u32, Matrix> {
        &self.jdks
    }

    /// The reasons for skipping, with their numbers.
    pub fn reasons(&self) -> &BTreeMap<String, u32> {
        &self.reasons
    }
}

/// The number before `what`: 3 for ` failed` in `FAILED. 4 passed; 3 failed; 0 ignored`.
fn count(result: &str, what: &str) -> u32 {
    let number = result.split(what).next().and_then(|before| before.rsplit(' ').next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// How long a program's tests took: `...; finished in 12.34s`.
fn finished_in(result: &str) -> Option<Duration> {
    let (_, seconds) = result.rsplit_once("finished in ")?;
    Duration::try_from_secs_f64(seconds.trim_end_matches('s').parse().ok()?).ok()
}

/// The program in cargo's `Running tests/jvm/main.rs (target/debug/deps/jvm-0123456789abcdef)`.
fn program(line: &str) -> Option<&str> {
    let (program, _) = line.trim_start().strip_prefix("Running ")?.split_once(" (")?;
    Some(program.strip_prefix("unittests ").unwrap_or(program))
}

/// The executable in the same line: `jvm`.
fn executable(line: &str) -> Option<&str> {
    let file = line.strip_suffix(')')?.rsplit('/').next()?;
    Some(file.rsplit_once('-').map_or(file, |(name, _)| name))
}

/// The number in cargo's `error: 2 targets failed:`.
fn failed_programs(line: &str) -> Option<u32> {
    let (number, rest) = line.strip_prefix("error: ")?.split_once(" target")?;
    matches!(rest, " failed:" | "s failed:").then(|| number.parse().ok())?
}

/// Version and time of `JDK 17: a JVM ran for 1234 ms`, which `crates/cctrewrite/tests/jvm` prints
/// for each.
fn jvm(line: &str) -> Option<(u32, Duration)> {
    let (version, time) = line.strip_prefix("JDK ")?.split_once(": a JVM ran for ")?;
    Some((version.parse().ok()?, Duration::from_millis(time.strip_suffix(" ms")?.parse().ok()?)))
}

/// The text after `skipped:` at the start of the line, or in the position of a test's result. (With
/// a single test thread the harness prints the name of a test before it runs.)
fn skip_reason(line: &str) -> Option<&str> {
    let line = match line.split_once(" ... ") {
        Some((test, rest)) if test.starts_with("test ") => rest,
        _ => line,
    };
    let (word, reason) = line.trim_start().split_once(':')?;
    word.eq_ignore_ascii_case("skipped").then(|| reason.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(lines: &str) -> Tally {
        let mut tally = Tally::default();
        lines.lines().for_each(|line| {
            tally.line(line);
        });
        tally
    }

    #[test]
    fn long_programs_are_named() {
        let mut tally = Tally::default();
        for line in [
            "     Running unittests src/lib.rs (target/debug/deps/cct_verify-0123456789abcdef)",
            "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 61.50s",
            "     Running unittests src/lib.rs (target/debug/deps/cct_flow-0123456789abcdef)",
            "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 59.99s",
            "     Running tests/jvm/main.rs (target/debug/deps/jvm-0123456789abcdef)",
            "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 3000.00s",
        ] {
            tally.line(line);
        }
        let expected = [("jvm", Duration::from_secs(3000)), ("cct_verify", Duration::from_millis(61_500))];
        assert_eq!(tally.longest(), expected);
    }

    #[test]
    fn results_of_all_programs_are_added_up() {
        let tally = tally(
            "test a ... ok\n\
             test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
             test result: FAILED. 4 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
        );
        assert_eq!((tally.passed(), tally.failed(), tally.skipped()), (16, 3, 1));
    }

    #[test]
    fn a_test_that_skips_twice_is_one_skipped_test() {
        let tally = tally(
            "successes:\n\n---- jvm::boots stdout ----\nskipped: JDK 11\nskipped: JDK 25\n\n---- other stdout ----\nfine\n\n\
             successes:\n    jvm::boots\n    other\n\n\
             test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
        );
        assert_eq!((tally.passed(), tally.failed(), tally.skipped()), (1, 0, 1));
        assert_eq!(tally.reasons().keys().collect::<Vec<_>>(), ["JDK 11", "JDK 25"]);
    }

    #[test]
    fn a_failed_test_stays_failed() {
        let tally = tally(
            "failures:\n\n---- a stdout ----\nSKIPPED: JDK 11\npanicked\n\nfailures:\n    a\n\n\
             test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
        );
        assert_eq!((tally.passed(), tally.failed(), tally.skipped()), (0, 1, 0));
    }

    const TWO_FAILURES: &str = "\u{20}    Running tests/jvm/main.rs (target/debug/deps/jvm-1)\n\
         test a ... ok\ntest b ... FAILED\ntest c ... FAILED\n\nsuccesses:\n\nsuccesses:\n    a\n\n\
         failures:\n\n---- b stdout ----\nJDK 8: a JVM ran for 1 ms\nno answer\n\n---- c stdout ----\nwrong\n\n\
         failures:\n    b\n    c\n\n\
         test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n\
         error: 1 target failed:\n    `-p cctrewrite --test jvm`\n";

    #[test]
    fn failures_are_kept_with_their_output() {
        let tally = tally(TWO_FAILURES);
        let failures: Vec<_> =
            tally.failures().iter().map(|failure| (&*failure.program, &*failure.test)).collect();
        assert_eq!(failures, [("tests/jvm/main.rs", "b"), ("tests/jvm/main.rs", "c")]);
        assert_eq!(tally.failures()[0].output, ["no answer", ""]);
        assert_eq!(tally.failed_programs(), 1);
    }

    #[test]
    fn only_what_passed_the_second_time_is_taken_back() {
        let second = "test b ... ok\ntest c ... FAILED\n\nfailures:\n\n---- c stdout ----\nwrong\n\nfailures:\n    c\n\n\
                      test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 1 filtered out; finished in 0.00s\n";
        let mut first = tally(TWO_FAILURES);
        let unsteady = first.take_back(&tally(second));
        assert_eq!(unsteady.iter().map(|failure| &*failure.test).collect::<Vec<_>>(), ["b"]);
        assert_eq!((first.passed(), first.failed()), (2, 1));
        assert_eq!(first.failures()[0].test, "c");
    }

    #[test]
    fn a_second_run_that_was_cut_short_takes_nothing_back() {
        let mut first = tally(TWO_FAILURES);
        assert_eq!(first.take_back(&tally("test b ... ok\n")), []);
        assert_eq!((first.passed(), first.failed()), (1, 2));
    }

    #[test]
    fn lines_written_past_the_harness_count_too() {
        let tally = tally(
            "skipped: JDK 21\ntest a ... skipped: JDK 25\nok\ntest skipped: ... ok\n\
             test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
        );
        assert_eq!((tally.passed(), tally.failed(), tally.skipped()), (2, 0, 2));
    }

    #[test]
    fn jvms_are_counted_by_jdk() {
        let tally = tally(
            "successes:\n\n---- a stdout ----\nJDK 8: a JVM ran for 1500 ms\nJDK 17: a JVM ran for 20 ms\nJDK 17: a JVM ran for 30 ms\n\n\
             failures:\n\n---- b stdout ----\nJDK 17: a JVM ran for 50 ms\nJDK 17: a JVM ran\n\n\
             test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
        );
        let matrix = |tests, jvms, time| Matrix { tests, jvms, time: Duration::from_millis(time) };
        assert_eq!(tally.jdks(), &BTreeMap::from([(8, matrix(1, 1, 1500)), (17, matrix(2, 3, 100))]));
        assert!(!Tally::default().line("JDK 8: a JVM ran for 1 ms") && Tally::default().line("JDK 8"));
    }
}
