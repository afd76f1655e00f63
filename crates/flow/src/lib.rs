//! Control flow of one method: what may run after what, and where to count.
//!
//! Everything here looks at one `Code` attribute at a time. It knows neither the class hierarchy
//! nor how a counter is kept; it answers four questions that the rewriting passes ask:
//!
//! - **Where does a number of bytecodes stand for certain?** [`blocks`] cuts the code into basic
//!   blocks, by a rule that says whether an instruction that may throw ([`throws`]) ends one.
//! - **What does the code look like as a graph?** [`graph`] has its edges, exceptions and
//!   subroutines included, [`depth_first`] its order and retreating edges, [`dominators`] and
//!   [`loops`] what follows from them.
//! - **Where must the count be true?** [`exact`] adds up in a local variable and writes into the
//!   node where somebody may look.
//! - **How long can it run unobserved?** [`activation`] places the updates and tests of the
//!   activation counter, by which a thread knows, at no more than a subtraction per loop iteration,
//!   that its profiling agent is due.
//!
//! The papers: W. Binder, J. Hulaas, *Exact and Portable Profiling for the JVM Using Bytecode
//! Instruction Counting* (JP), sections 4 and 5; K. D. Cooper, T. J. Harvey, K. Kennedy, *A Simple,
//! Fast Dominance Algorithm*.
//!
//! # How it is built
//! Results are flat vectors indexed by block number. Each type is [`Default`] and has a `compute`
//! that fills it anew in the memory it already has, so that a worker analyses a quarter of a
//! million methods with a handful of allocations; and a constructor for those who have one method.
//! No algorithm recurses: the depth of a graph is the choice of whoever wrote the class file.
//!
//! # What an edge means
//! The code need not be verified, only checked as [`cct_classfile::Code`] checks it: instructions
//! are complete, jumps lead to instructions. Asynchronous exceptions (`Thread.stop`) and errors of
//! the virtual machine itself (JVMS 6.3) may strike anywhere; they have no edges. Code that only
//! they reach, or nothing at all, is analysed all the same (see [`depth_first`]).

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
