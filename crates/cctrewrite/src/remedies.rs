//! What helps if two profiles cannot be compared, by the options of each command.

use cct_profile::pair::{PairError, Remedy};

/// What a command offers against errors of comparisons.
pub struct Remedies {
    calls_only: &'static str,
    threads_of_list: &'static str,
}

/// The remedies of `diff` and `compare`.
pub const COMPARISON: Remedies = Remedies {
    calls_only: "use --calls-only",
    threads_of_list: "write the list with --per-thread, or compare without --per-thread and --thread",
};

/// The remedies of `view`.
pub const VIEW: Remedies = Remedies { calls_only: "use --metric calls", threads_of_list: LIST_OF_THREADS };

/// The remedies of `report --table overlap`, which compares all numbers.
pub const OVERLAP: Remedies =
    Remedies { calls_only: "use `cctrewrite compare --calls-only`", threads_of_list: LIST_OF_THREADS };

const LIST_OF_THREADS: &str =
    "write the list with `report --format contexts --per-thread`, or leave out --thread";

impl Remedies {
    /// The error, and what helps.
    pub fn explained(&self, error: PairError) -> anyhow::Error {
        match error.remedy() {
            None => error.into(),
            Some(remedy) => anyhow::anyhow!("{error}; {}", self.worded(remedy)),
        }
    }

    fn worded(&self, remedy: Remedy) -> &'static str {
        match remedy {
            Remedy::CallsOnly => self.calls_only,
            Remedy::ThreadsOfList => self.threads_of_list,
            Remedy::Ids => "`report --ids` shows ids",
        }
    }
}

#[cfg(test)]
mod tests {
    use cct_profile::pair::Side;

    use super::*;

    #[test]
    fn each_command_names_its_own_options() {
        let no_bytecodes = || PairError::NoBytecodes(Side::A);
        let texts = [COMPARISON, VIEW, OVERLAP].map(|of| of.explained(no_bytecodes()).to_string());
        let what = "A counts only calls, the other side also counts bytecodes; use";
        let options = ["--calls-only", "--metric calls", "`cctrewrite compare --calls-only`"];
        assert_eq!(texts, options.map(|option| format!("{what} {option}")));
        let list = VIEW.explained(PairError::NoThreads(Side::B)).to_string();
        assert!(list.ends_with("all threads; write the list with `report --format contexts --per-thread`, or leave out --thread"), "{list}");
        let thread = PairError::NoSuchThread("x".to_owned());
        assert_eq!(COMPARISON.explained(thread).to_string(), "neither side has a thread 'x'");
    }
}
