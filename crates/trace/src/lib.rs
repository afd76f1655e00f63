//! Reader of traces (docs/research/trace.md): a file ([`Trace`]), its program ([`Program`]), and
//! the steps of its threads ([`replay`]).
//!
//! Analyses build on these: [`contexts`] rebuilds the calling-context tree, as a profile. Each
//! reads the file chunk by chunk, all threads in parallel on all cores. Memory holds only one chunk
//! for each thread, and the positions of all others.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod contexts;
pub mod coverage;
pub mod executions;
mod file;
mod found;
mod implied_events;
mod merged_events;
pub mod metrics;
mod position;
mod program;
pub mod replay;
mod sites;
mod stack;
pub mod structure;
#[cfg(test)]
mod testing;
pub mod timeline;

pub use cct_events::ring::SUFFIX as LAST_SUFFIX;
pub use file::{Chunk, Error, ThreadChunks, Trace};
pub use found::TracedMethod;
pub use implied_events::ThreadEvents;
pub use merged_events::MergedEvents;
pub use program::{Callee, MethodKey, Program};
