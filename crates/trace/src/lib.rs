//! Traces, read (docs/research/trace.md): a file ([`Trace`]), the program that it is of
//! ([`Program`]), and what its threads did, step by step ([`replay`]).
//!
//! On that stand the analyses: [`contexts`] rebuilds the calling-context tree, as a profile. Each
//! reads the file chunk by chunk, all threads at once on as many cores as there are; of the trace
//! itself no more is in memory than a chunk for each, and where all others are.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod contexts;
pub mod coverage;
pub mod executions;
mod file;
mod implied;
mod merged;
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
pub use implied::Whole;
pub use merged::Merged;
pub use program::{Called, Callee, Found, Program};
