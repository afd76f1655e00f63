//! The reports that the pieces of a body make, in order.

use std::collections::BTreeMap;

use crate::marked::helpers::Helper;
use crate::marked::pieces::{Enter, ExitKind};

/// The location of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryLocation {
    /// Before all code, once.
    Entry,
    /// Before the instruction with this number, on every path to it.
    Before(usize),
    /// After this instruction, when it has completed.
    Behind(usize),
}

/// The pieces of a method, by the numbers of the instructions where they are.
#[derive(Debug, Default)]
pub struct PieceIndex {
    /// Tokens that are null initially.
    pub nulls: Vec<u16>,
    /// Entries.
    pub entered: Vec<(EntryLocation, Enter)>,
    /// Exits of regions that may have been left by then.
    pub left: Vec<(usize, u16, ExitKind)>,
    /// Exits after calls.
    pub called: Vec<(usize, u16, ExitKind)>,
    /// Exits before returns.
    pub returns: Vec<(usize, u16, ExitKind)>,
}

impl PieceIndex {
    /// The helpers that are called, each for one of its markers.
    pub fn called_helpers(&self) -> BTreeMap<Helper, u16> {
        self.entered.iter().map(|(_, enter)| (enter.helper.clone(), enter.index)).collect()
    }
}
