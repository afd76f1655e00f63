//! Differences with known causes. All others make the task fail.

use super::compare::Difference;
use super::mode::Mode;
use super::outcome::Outcome;

/// A known cause of differences.
pub struct KnownCause {
    /// The programs, by name.
    pub programs: &'static [&'static str],
    /// The mode.
    pub mode: Mode,
    /// The text that the run must print on standard output or standard error; otherwise the failure
    /// is a different one.
    pub sign: &'static str,
    /// The cause, in a few words; docs/internals/programs.md explains it.
    pub cause: &'static str,
}

/// The table. Empty: all programs behave as before.
const KNOWN: &[KnownCause] = &[];

/// The known cause of a program's differences, if there are any.
pub fn cause(
    program: &str,
    mode: Mode,
    outcome: &Outcome,
    differences: &[Difference],
) -> Option<&'static KnownCause> {
    if differences.is_empty() {
        return None;
    }
    let said = |sign: &str| {
        [&outcome.stdout, &outcome.stderr].iter().any(|text| String::from_utf8_lossy(text).contains(sign))
    };
    KNOWN.iter().find(|known| known.mode == mode && known.programs.contains(&program) && said(known.sign))
}

/// The entries for a program and a mode, to report obsolete ones.
pub fn entries(program: &str, mode: Mode) -> impl Iterator<Item = &'static KnownCause> {
    KNOWN.iter().filter(move |known| known.mode == mode && known.programs.contains(&program))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::programs;

    #[test]
    fn only_programs_that_there_are_are_excused() {
        for name in KNOWN.iter().flat_map(|known| known.programs) {
            assert!(programs().any(|program| program.name == *name), "{name}");
        }
    }
}
