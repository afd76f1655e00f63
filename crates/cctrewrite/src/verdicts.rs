//! The lines of a profile's header that say what ran, and whether its numbers are exact.

use cct_profile::Summary;
use cct_profile::report::headlines;

/// The short header of a report without the options of the recording: a line about the program, one
/// about exactness, and one for each missing part.
pub fn program_and_verdicts(summary: &Summary, selected: Option<&str>) -> Vec<String> {
    headlines(summary, selected).into_iter().filter(|line| !line.starts_with("Recorded: ")).collect()
}
