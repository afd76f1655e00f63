//! What exceeds its limit, in a sentence.

use cct_profile::diff::{Difference, Excess};

/// The sentence about what exceeds its limit, without what stands before it in a text.
pub(crate) fn sentence(excess: &Excess<'_>, found: &Difference) -> String {
    cct_profile::diff::excess_in_words(excess, found).trim_start_matches("TOO MUCH: ").to_owned()
}
