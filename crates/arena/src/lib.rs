//! The trees of a profiled JVM, in memory that is a file.
//!
//! With the load-time library, the runtime's nodes are in a file that the library maps ([`Arena`]).
//! The file has a name, or none and then lives as long as the JVM. A log in the same file holds
//! what the nodes do not contain: names of methods and threads, and how the numbers were recorded
//! ([`log`]). So anyone who may read the file can extract the profile without the JVM's help, while
//! it runs and after it was killed ([`recover`]).
//!
//! The format is `docs/reference/formats/arena.md`. The contents are not trusted: no address leads
//! out of the file, and cycles end.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod contents;
mod forest;
mod index_bytes;
pub mod layout;
pub mod log;
mod memory;
mod recover;
mod rows;
mod troubles;
mod writer;

pub use contents::InJar;
pub use index_bytes::IndexBytes;
pub use memory::{Memory, ReadError};
pub use recover::{Recovery, State, recover};
pub use rows::{Callees, Rows};
pub use troubles::Troubles;
pub use writer::Arena;
