//! Control flow of one method: which code may run after which, and where to count.
//!
//! This crate looks at one `Code` attribute at a time. It knows neither the class hierarchy nor how
//! a counter is kept. It answers four questions of the rewriting passes:
//!
//! - **Which code has a fixed number of bytecodes?** [`blocks`] cuts the code into basic blocks, by
//!   a rule that says whether an instruction that may throw ([`throws`]) ends one.
//! - **What graph does the code form?** [`graph`] has its edges, exceptions and subroutines
//!   included, [`depth_first`] its order and retreating edges, [`dominators`] and [`loops`] their
//!   consequences.
//! - **Where must the count be exact?** [`exact`] accumulates bytecodes in a local variable and
//!   updates the node where it may be read.
//! - **How long can it run unobserved?** [`activation`] places the updates and tests of the
//!   activation counter. The counter decides when a thread calls its profiling agent. It costs at
//!   most one subtraction per loop iteration.
//!
//! The papers: W. Binder, J. Hulaas, *Exact and Portable Profiling for the JVM Using Bytecode
//! Instruction Counting* (JP), sections 4 and 5; K. D. Cooper, T. J. Harvey, K. Kennedy, *A Simple,
//! Fast Dominance Algorithm*.
//!
//! # How it is built
//! Results are flat vectors indexed by block number. Each type is [`Default`] and has a `compute`
//! that refills it in the memory that it already has: a worker analyses a quarter of a million
//! methods with a handful of allocations. A constructor serves callers with one method. No
//! algorithm recurses, since the author of the class file chooses the depth of its graph.
//!
//! # What an edge means
//! The code need not be verified, only checked as [`cct_classfile::Code`] checks it: instructions
//! are complete, jumps lead to instructions. Asynchronous exceptions (`Thread.stop`) and errors of
//! the virtual machine itself (JVMS 6.3) may occur anywhere; they have no edges. Code that only
//! they reach, or nothing at all, is analysed nevertheless (see [`depth_first`]).

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod activation;
pub mod blocks;
#[cfg(test)]
mod corpus;
pub mod depth_first;
pub mod dominators;
pub mod exact;
pub mod graph;
pub mod initialisation;
pub mod loops;
#[cfg(test)]
mod testing;
pub mod throws;

pub use activation::{ActivationPlan, ActivationPlanner, UpdateKind, UpdatePoint};
pub use blocks::{Block, BlockId, Blocks};
pub use depth_first::DepthFirst;
pub use dominators::Dominators;
pub use exact::{CountPlan, CountPlanner, OwnMembers, Update};
pub use graph::{Graph, TooManyExceptionEdges};
pub use loops::{Loop, LoopId, Loops};
pub use throws::may_throw;
