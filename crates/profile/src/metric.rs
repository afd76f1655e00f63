//! What is counted of a context.

use crate::{Node, Profile};

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Calls.
    Calls,
    /// Executed bytecodes.
    Bytecodes,
}

impl Metric {
    /// What a profile is looked at by, unless something else is asked for: bytecodes, or calls where bytecodes were not counted.
    pub fn of_profile(profile: &Profile) -> Metric {
        if profile.counts_bytecodes() { Metric::Bytecodes } else { Metric::Calls }
    }

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Calls => "calls",
            Metric::Bytecodes => "bytecodes",
        }
    }

    /// This count of a context.
    pub fn of(self, counts: Counts) -> u64 {
        match self {
            Metric::Calls => counts.calls,
            Metric::Bytecodes => counts.bytecodes,
        }
    }

    /// This count of a node itself.
    pub fn of_node(self, node: &Node) -> u64 {
        match self {
            Metric::Calls => node.calls,
            Metric::Bytecodes => node.bytecodes,
        }
    }
}

/// Counts of a context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls.
    pub calls: u64,
    /// Executed bytecodes; 0 where they are not looked at.
    pub bytecodes: u64,
}
