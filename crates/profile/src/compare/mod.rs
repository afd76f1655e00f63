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
mod result;
mod tally;
#[cfg(test)]
mod tests;
mod text;

pub use measure::{Agreement, Overlap, relative_error};
pub use result::{Comparison, FrameName, ListEntry, UnpairedContexts};
pub use text::write_text;

use crate::names::NameStyle;
use crate::pair::{Input, PairError, PairOptions, Remark, united};
use crate::{Metric, Selection};
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
