//! The results of a program on a JDK.

use super::compare::Difference;
use super::known_causes::KnownCause;
use super::mode::Mode;
use super::outcome::Outcome;
use super::program::Program;

/// The results of a program.
pub struct Case {
    /// The program.
    pub program: &'static Program,
    /// The version of the JDK.
    pub jdk: u32,
    /// The program's packages, with their versions.
    pub packages: Vec<String>,
    /// The run on the plain JDK.
    pub plain: Outcome,
    /// The profiled runs.
    pub profiled: Vec<ProfiledRun>,
}

/// A profiled run, with its differences.
pub struct ProfiledRun {
    /// The mode.
    pub mode: Mode,
    /// The outcome.
    pub outcome: Outcome,
    /// The differences from the plain run.
    pub differences: Vec<Difference>,
    /// The known cause of all differences.
    pub known: Option<&'static KnownCause>,
}

impl ProfiledRun {
    /// Whether it differs without a known cause.
    pub fn is_unknown(&self) -> bool {
        !self.differences.is_empty() && self.known.is_none()
    }
}
