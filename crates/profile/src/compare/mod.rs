//! Comparing two profiles, context by context.
//!
//! Contexts are the same if their paths are. Methods are matched by class, name and descriptor,
//! whatever their MIDs. So two builds of a program, or the same program on two machines, can be
//! compared. Both trees are united and sorted by the same table of frames; then one walk visits
//! both in parallel. Time is n log n in the number of contexts; memory is that of the trees
//! themselves and one more, whatever the difference.
//!
//! A context counts as being in a tree if it has a call or a bytecode there; one that only leads to
//! others does not.
//!
//! The measures are those of the papers: the overlap percentage ([`Overlap`]) and the relative
//! error ([`relative_error`]).

mod measure;
mod tally;
#[cfg(test)]
mod tests;
mod text;

pub use measure::{Agreement, Overlap, relative_error};
pub use text::write_text;

use crate::Selection;
use crate::metric::{Counts, Metric};
use crate::names::NameStyle;
use crate::pair::{Input, PairError, PairOptions, Remark, Side, united};
use tally::Trees;

/// Options of a comparison.
#[derive(Clone, Debug)]
pub struct CompareOptions {
    /// Keep threads separate: they are matched by their names, and those of one name are added up.
    /// Otherwise all are added up.
    pub per_thread: bool,
    /// The part of both that is compared.
    pub selection: Selection,
    /// Whether to normalise names that differ between runs.
    pub names: NameStyle,
    /// Compare calls, not bytecodes.
    pub calls_only: bool,
    /// Maximum number of contexts in each list.
    pub limit: usize,
}

impl Default for CompareOptions {
    fn default() -> CompareOptions {
        CompareOptions {
            per_thread: false,
            selection: Selection::default(),
            names: NameStyle::Raw,
            calls_only: false,
            limit: 10,
        }
    }
}

/// A context in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
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
pub struct Only {
    /// Number of contexts.
    pub contexts: u64,
    /// Sum of their calls.
    pub calls: u64,
    /// Sum of their bytecodes.
    pub bytecodes: u64,
    /// Contexts with the largest counts (bytecodes, or calls where bytecodes are not compared),
    /// largest first.
    pub largest: Vec<Listed>,
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
    pub only_a: Only,
    /// Contexts that are in B only.
    pub only_b: Only,
    /// Agreement of the calls.
    pub calls: Agreement<Listed>,
    /// Agreement of the bytecodes; `None` if they are not compared.
    pub bytecodes: Option<Agreement<Listed>>,
    /// The frames of all lists.
    pub frames: Vec<FrameName>,
}

impl Comparison {
    /// Whether both have the same contexts with the same counts.
    pub fn is_equal(&self) -> bool {
        let counts_differ = |agreement: &Agreement<Listed>| agreement.absolute > 0;
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
    pub fn agreements(&self) -> impl Iterator<Item = &Agreement<Listed>> {
        std::iter::once(&self.calls).chain(&self.bytecodes)
    }
}

/// Compares two inputs.
///
/// # Errors
/// Fails if they count different things, if an option requests something that neither has, or if
/// sums exceed 64 bits.
pub fn compare(a: Input, b: Input, options: &CompareOptions) -> Result<Comparison, PairError> {
    let CompareOptions { per_thread, selection, names, calls_only, limit } = options;
    let pair = PairOptions {
        per_thread: *per_thread,
        selection: selection.clone(),
        names: *names,
        calls_only: *calls_only,
    };
    united(a, b, &pair, |pair| {
        let counted = if pair.metric == Metric::Allocations { Metric::Allocations } else { Metric::Calls };
        let mut comparison =
            Trees { a: pair.a, b: pair.b, executed: pair.executed, counted }.compare(pair.frames, *limit)?;
        let is_different = comparison.only_a.contexts + comparison.only_b.contexts > 0;
        if *names == NameStyle::Raw && is_different && pair.has_generated_names {
            pair.remarks.push(Remark::GeneratedNames);
        }
        comparison.remarks = std::mem::take(pair.remarks);
        Ok(comparison)
    })
}
