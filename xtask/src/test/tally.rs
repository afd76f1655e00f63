//! Counting what `cargo test -- --show-output` prints.
//!
//! The test harness knows no tests that find out while they run that they cannot: those print a line `skipped: <reason>` and pass.
//! Here such a test counts as skipped, not as passed, even if it skipped only a part of its work. Lines that a test wrote past the
//! harness, which cannot be assigned to a test any more, count as one skipped test each.

use std::collections::BTreeMap;

/// The counts.
#[derive(Debug, Default)]
pub struct Tally {
    /// As the harness counts, so with those that skipped something.
    reported_passed: u32,
    failed: u32,
    ignored: u32,
    /// Tests that passed and said that they skipped something.
    skipping: u32,
    /// `skipped:` lines outside of any test's output.
    loose: u32,
    reasons: BTreeMap<String, u32>,
    section: Section,
}

/// Where in the harness's output we are.
#[derive(Debug, Default, PartialEq, Eq)]
enum Section {
    /// Before the tests' own output.
    #[default]
    Results,
    /// Behind `successes:`, where the output of tests that passed is shown.
    Successes {
        /// Whether the test whose output is being shown has said `skipped:`.
        said: bool,
    },
    /// Behind `failures:`.
    Failures,
}

impl Tally {
    /// Takes the next line.
    pub fn line(&mut self, line: &str) {
        if let Some(result) = line.strip_prefix("test result: ") {
            self.reported_passed += count(result, " passed");
            self.failed += count(result, " failed");
            self.ignored += count(result, " ignored");
            self.section = Section::Results;
        } else if line == "successes:" {
            self.section = Section::Successes { said: false };
        } else if line == "failures:" {
            self.section = Section::Failures;
        } else if line.starts_with("---- ") && line.ends_with(" stdout ----") {
            if let Section::Successes { said } = &mut self.section {
                *said = false;
            }
        } else if let Some(reason) = skip_reason(line) {
            self.skip(reason);
        }
    }

    fn skip(&mut self, reason: &str) {
        *self.reasons.entry(reason.to_owned()).or_default() += 1;
        match &mut self.section {
            Section::Results => self.loose += 1,
            Section::Successes { said } => {
                self.skipping += u32::from(!*said);
                *said = true;
            }
            Section::Failures => {}
        }
    }

    /// Tests that passed and skipped nothing.
    pub fn passed(&self) -> u32 {
        self.reported_passed.saturating_sub(self.skipping)
    }

    /// Tests that failed.
    pub fn failed(&self) -> u32 {
        self.failed
    }

    /// Tests that skipped something, or were ignored.
    pub fn skipped(&self) -> u32 {
        self.skipping + self.loose + self.ignored
    }

    /// The reasons for skipping, and how often each was given.
    pub fn reasons(&self) -> &BTreeMap<String, u32> {
        &self.reasons
    }
}

/// The number in front of `what`: 3 for ` failed` in `FAILED. 4 passed; 3 failed; 0 ignored`.
fn count(result: &str, what: &str) -> u32 {
    let number = result.split(what).next().and_then(|before| before.rsplit(' ').next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// What stands behind `skipped:` at the start of the line, or where a test's result would stand (with a single test thread the harness
/// prints the name of a test before it runs).
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
        lines.lines().for_each(|line| tally.line(line));
        tally
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

    #[test]
    fn lines_written_past_the_harness_count_too() {
        let tally = tally(
            "skipped: JDK 21\ntest a ... skipped: JDK 25\nok\ntest skipped: ... ok\n\
             test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
        );
        assert_eq!((tally.passed(), tally.failed(), tally.skipped()), (2, 0, 2));
    }
}
