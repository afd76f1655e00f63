//! Results of the sets.

use clap::ValueEnum;

use super::link::LinkResults;
use super::sets::Set;
use super::steps::{InstrumentReport, VerifyReport};
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
pub struct SetResult {
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
    pub instrumented: InstrumentReport,
    /// The report of `verify`.
    pub checked: VerifyReport,
    /// The plain JDK's JVM.
    pub plain: LinkResults,
    /// The results of the profiled JDK's JVM, in each way, with known and unknown differences.
    pub profiled: Vec<ProfiledRun>,
}

/// A run on a profiled JDK.
pub struct ProfiledRun {
    /// The way.
    pub way: Way,
    /// The results for the classes.
    pub linked: LinkResults,
    /// Differences without a known cause.
    pub unknown: Vec<String>,
    /// Differences with their causes.
    pub known: Vec<(String, &'static str)>,
}
