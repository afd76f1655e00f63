//! The passes over method bodies, one file each. They do not know each other; they share the
//! interface in [`pass`](crate::pass).

pub mod allocations;
pub mod counts;
mod library_hooks;
mod local_names;
mod markers;
mod monitors;
mod nodes;
mod pinned_results;
mod throws;
mod trace;
mod values;

use crate::pass::Pass;

pub use nodes::count_by_id;

/// All passes, in the order in which a body asks them at each step.
///
/// Markers come before counts at an instruction: there the operand stack is still the program's.
/// Exact counts come before the tests of the activation counter.
pub const PASSES: &[&dyn Pass] = &[
    &library_hooks::LibraryHooks,
    &local_names::LocalNames,
    &markers::Markers,
    &counts::Counts,
    &trace::Trace,
    &values::Values,
    &nodes::Nodes,
    &allocations::Allocations,
    &monitors::MONITORS,
    &throws::THROWS,
    &pinned_results::PinnedResults,
];
