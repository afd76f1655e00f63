//! The result of a comparison.

use super::measure::Agreement;
use crate::metric::Counts;
use crate::pair::Remark;

/// A context in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListEntry {
    /// The context's counts in A.
    pub a: Counts,
    /// The context's counts in B.
    pub b: Counts,
    /// The context's frames, outermost first, as positions in [`Comparison::frames`].
    pub path: Vec<u32>,
}

/// The name of a frame that occurs in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameName {
    /// The exact name, as in a list of contexts.
    pub exact: String,
    /// The name for people: short and unique.
    pub readable: String,
}

/// Contexts that are in one tree only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnpairedContexts {
    /// Number of contexts.
    pub contexts: u64,
    /// Sum of their calls.
    pub calls: u64,
    /// Sum of their bytecodes.
    pub bytecodes: u64,
    /// Contexts with the largest counts (bytecodes, or calls where bytecodes are not compared),
    /// largest first.
    pub largest: Vec<ListEntry>,
}

/// Result of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Remarks for the reader of the numbers: missing parts, and differences besides the contexts.
    pub remarks: Vec<Remark>,
    /// Number of contexts of A.
    pub contexts_a: u64,
    /// Number of contexts of B.
    pub contexts_b: u64,
    /// Number of contexts that are in both.
    pub common: u64,
    /// Contexts that are in A only.
    pub only_a: UnpairedContexts,
    /// Contexts that are in B only.
    pub only_b: UnpairedContexts,
    /// Agreement of the calls.
    pub calls: Agreement<ListEntry>,
    /// Agreement of the bytecodes; `None` if they are not compared.
    pub bytecodes: Option<Agreement<ListEntry>>,
    /// The frames of all lists.
    pub frames: Vec<FrameName>,
}

impl Comparison {
    /// Whether both have the same contexts with the same counts.
    pub fn is_equal(&self) -> bool {
        let counts_differ = |agreement: &Agreement<ListEntry>| agreement.absolute > 0;
        self.only_a.contexts == 0
            && self.only_b.contexts == 0
            && !counts_differ(&self.calls)
            && !self.bytecodes.as_ref().is_some_and(counts_differ)
    }

    /// Whether part of an input is missing, so that no result is certain.
    pub fn is_incomplete(&self) -> bool {
        self.remarks.iter().any(|remark| matches!(remark, Remark::Incomplete(..) | Remark::Marker { .. }))
    }

    /// The agreements of all metrics that are compared.
    pub fn agreements(&self) -> impl Iterator<Item = &Agreement<ListEntry>> {
        std::iter::once(&self.calls).chain(&self.bytecodes)
    }
}
