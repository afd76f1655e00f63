//! Reports for people: a header, the tree with its thresholds, the table of the methods that cost most.
//!
//! Counts have thousands separators; names are those of [`FrameTable::readable`], with control characters escaped. Nothing is
//! left out in silence: what the thresholds hide is said in a line of its own.

mod header;
pub(crate) mod numbers;
#[cfg(test)]
mod tests;
mod top;
mod tree;

pub use header::write_header;
pub use numbers::{grouped, percent};
pub use top::{Order, TopOptions, write_top};
pub use tree::{ThreadView, TreeOptions, write_tree};

use crate::{MergeError, Node, Profile};
use std::io;

#[cfg(doc)]
use crate::names::FrameTable;

/// Why a report cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The output failed.
    #[error("writing the report failed")]
    Io(#[from] io::Error),
    /// Trees could not be added up.
    #[error(transparent)]
    Merge(#[from] MergeError),
}

/// What percentages are taken of: bytecodes, or calls where bytecodes were not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weight {
    Bytecodes,
    Calls,
}

impl Weight {
    fn of(profile: &Profile) -> Weight {
        if profile.counts_bytecodes() { Weight::Bytecodes } else { Weight::Calls }
    }

    fn own(self, node: &Node) -> u64 {
        match self {
            Weight::Bytecodes => node.bytecodes,
            Weight::Calls => node.calls,
        }
    }
}

/// The weights of all subtrees of a tree.
///
/// A subtree is a range of the preorder, so one running sum over it serves all.
struct Inclusive<'a> {
    tree: &'a crate::Tree,
    /// Sum over all nodes before this one.
    before: Vec<u128>,
}

impl Inclusive<'_> {
    fn of(tree: &crate::Tree, weight: Weight) -> Inclusive<'_> {
        let mut before = Vec::with_capacity(tree.nodes().len() + 1);
        let mut sum = 0u128;
        before.push(sum);
        for (index, node) in tree.nodes().iter().enumerate() {
            // The root's counts mean nothing.
            sum += if index == 0 { 0 } else { u128::from(weight.own(node)) };
            before.push(sum);
        }
        Inclusive { tree, before }
    }

    fn subtree(&self, node: u32) -> u128 {
        let range = self.tree.subtree(node);
        self.before[range.end as usize] - self.before[range.start as usize]
    }

    fn total(&self) -> u128 {
        self.subtree(0)
    }
}
