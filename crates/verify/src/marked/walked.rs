//! What the pieces of a body tell, in order.

use std::collections::BTreeMap;

use crate::marked::helpers::Helper;
use crate::marked::pieces::{Enter, How};

/// Where an entry stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    /// In front of all code, once.
    Entry,
    /// In front of the instruction with this number, however control comes there.
    Before(usize),
    /// Behind it, when it has completed.
    Behind(usize),
}

/// The pieces of a method, by the numbers of the instructions at which they stand.
#[derive(Debug, Default)]
pub struct Walked {
    /// Tokens that are null in the beginning.
    pub nulls: Vec<u16>,
    /// Entries.
    pub entered: Vec<(Where, Enter)>,
    /// Exits of what may have been left when control comes there.
    pub left: Vec<(usize, u16, How)>,
    /// Exits behind calls.
    pub called: Vec<(usize, u16, How)>,
    /// Exits in front of returns.
    pub returns: Vec<(usize, u16, How)>,
}

impl Walked {
    /// The helpers that are called, each for one of its markers.
    pub fn called_helpers(&self) -> BTreeMap<Helper, u16> {
        self.entered.iter().map(|(_, enter)| (enter.helper.clone(), enter.index)).collect()
    }
}
