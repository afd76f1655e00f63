//! Differences whose cause is known. Everything else makes the task fail.

use super::Mode;
use super::compare::Difference;
use super::outcome::Outcome;

/// A known cause of differences.
pub struct Known {
    /// The programs, by name.
    pub programs: &'static [&'static str],
    /// In which mode.
    pub mode: Mode,
    /// What the run must say on standard output or standard error; otherwise it is something else
    /// that went wrong.
    pub sign: &'static str,
    /// Why, in a few words; docs/internals/programs.md explains them.
    pub cause: &'static str,
}

/// The table. Empty: all programs do what they did.
const KNOWN: &[Known] = &[];

/// The known cause of a program's differences, if there are any.
pub fn cause(
    program: &str,
    mode: Mode,
    outcome: &Outcome,
    differences: &[Difference],
) -> Option<&'static Known> {
    if differences.is_empty() {
        return None;
    }
    let said = |sign: &str| {
        [&outcome.stdout, &outcome.stderr].iter().any(|text| String::from_utf8_lossy(text).contains(sign))
    };
    KNOWN.iter().find(|known| known.mode == mode && known.programs.contains(&program) && said(known.sign))
}

/// The entries for a program and a mode: for one that has come to be without differences.
pub fn entries(program: &str, mode: Mode) -> impl Iterator<Item = &'static Known> {
    KNOWN.iter().filter(move |known| known.mode == mode && known.programs.contains(&program))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::catalogue::programs;

    #[test]
    fn only_programs_that_there_are_are_excused() {
        for name in KNOWN.iter().flat_map(|known| known.programs) {
            assert!(programs().any(|program| program.name == *name), "{name}");
        }
    }
}
