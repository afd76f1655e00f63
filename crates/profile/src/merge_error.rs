//! Errors of merging.

use crate::TreeTooLarge;

/// Why trees or profiles cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// A sum above 2^64 - 1.
    #[error("a count exceeds 64 bits when the trees are added up")]
    Overflow,
    /// More contexts than can be numbered.
    #[error(transparent)]
    TooLarge(#[from] TreeTooLarge),
    /// A node of a method that is not in the profile. Profiles that were read have none.
    #[error("a tree has a context of method {method}, but there are only {count} methods")]
    NoSuchMethod {
        /// Index of the method.
        method: u32,
        /// Number of methods.
        count: usize,
    },
    /// Profiles that count different things.
    #[error(
        "the profiles were recorded with different '{key}' ({first} and {second}): their numbers \
         cannot be added up"
    )]
    Incompatible {
        /// The `META` key.
        key: &'static str,
        /// The key's value in one profile.
        first: String,
        /// The key's value in another.
        second: String,
    },
}
