//! The numbers of a row, and the order of rows.

use cct_profile::diff::Change;

/// The numbers of a context, a chain of callers, or a method. Of a single profile, all bases are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// The metric's sum with all callees.
    pub inclusive: Change,
    /// The metric's own count.
    pub own: Change,
    /// The calls.
    pub calls: Change,
}

/// The order of siblings: the largest count or change first, or by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    Inclusive,
    Own,
    Calls,
    Name,
}

impl Sort {
    /// The order after this one.
    pub fn next(self) -> Sort {
        match self {
            Sort::Inclusive => Sort::Own,
            Sort::Own => Sort::Calls,
            Sort::Calls => Sort::Name,
            Sort::Name => Sort::Inclusive,
        }
    }

    /// The order in a word.
    pub fn name(self) -> &'static str {
        match self {
            Sort::Inclusive => "inclusive",
            Sort::Own => "own",
            Sort::Calls => "calls",
            Sort::Name => "name",
        }
    }

    /// The size by which rows are sorted, the largest first. It is the same for all rows by name.
    pub fn size(self, numbers: Numbers) -> u128 {
        match self {
            Sort::Inclusive => numbers.inclusive.size(),
            Sort::Own => numbers.own.size(),
            Sort::Calls => numbers.calls.size(),
            Sort::Name => 0,
        }
    }
}

/// The sum of changes.
pub fn sum(changes: impl Iterator<Item = Change>) -> Change {
    changes.fold(Change::default(), |sum, change| Change {
        base: sum.base + change.base,
        new: sum.new + change.new,
    })
}
