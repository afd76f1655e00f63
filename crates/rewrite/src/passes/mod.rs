//! The passes over a body. They do not know each other; each asks the carrier for what it needs.

pub mod activation_counters;
pub mod allocation_counts;
pub mod bytecode_counts;
pub mod call_sites;
pub mod context_values;
pub mod exact_counts;
pub mod pinned_results;
pub mod trace_events;
