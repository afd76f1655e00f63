//! Results of the sets.

use clap::ValueEnum;

use super::link::Linked;
use super::sets::Set;
use super::steps::{Checked, Instrumented};
use super::survey::Survey;

/// The time at which classes are rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Way {
    /// By `cctrewrite instrument`
    Offline,
    /// When they are loaded
    LoadTime,
}

impl Way {
    /// The word for the way.
    pub fn word(self) -> &'static str {
        match self {
            Way::Offline => "offline",
            Way::LoadTime => "load time",
        }
    }
}

/// A set, with its results.
pub struct Tried {
    /// The set.
    pub set: &'static Set,
    /// Origins of its jars.
    pub versions: Vec<String>,
    /// Number of jars.
    pub jars: usize,
    /// The readers' results.
    pub survey: Survey,
    /// Results on each JDK.
    pub on: Vec<OnJdk>,
}

/// The results of a set on a JDK.
pub struct OnJdk {
    /// The JDK's version.
    pub version: u32,
    /// The JDK's full version.
    pub full_version: String,
    /// The report of `instrument`.
    pub instrumented: Instrumented,
    /// The report of `verify`.
    pub checked: Checked,
    /// The plain JDK's JVM.
    pub plain: Linked,
    /// The results of the profiled JDK's JVM, in each way, with known and unknown differences.
    pub profiled: Vec<Profiled>,
}

/// A run on a profiled JDK.
pub struct Profiled {
    /// The way.
    pub way: Way,
    /// The results for the classes.
    pub linked: Linked,
    /// Differences without a known cause.
    pub unknown: Vec<String>,
    /// Differences with their causes.
    pub known: Vec<(String, &'static str)>,
}
