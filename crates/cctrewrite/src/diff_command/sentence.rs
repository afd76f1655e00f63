//! An exceeded limit as a sentence.

use cct_profile::diff::{Difference, Excess};

/// The sentence about an exceeded limit, without the prefix that it has in a text report.
pub(crate) fn sentence(excess: &Excess<'_>, found: &Difference) -> String {
    cct_profile::diff::excess_in_words(excess, found).trim_start_matches("TOO MUCH: ").to_owned()
}
