//! The calling-context trees of a profiled JVM, in a memory-mapped file.
//!
//! The load-time library maps a file into memory, and the runtime keeps its nodes there
//! ([`Arena`]). A file without a name is gone when the last process closes it. A log in the same
//! file ([`log`]) holds what the nodes do not contain: names of methods and threads, and how the
//! numbers were recorded. So any process that may read the file can extract the profile without the
//! JVM's help, while the JVM runs and after it was killed ([`recover`]).
//!
//! The format is `docs/reference/formats/arena.md`. The reader does not trust the contents: it
//! follows no address out of the file, and it stops at cycles.

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
pub use recover::{Recovery, State, program, recover};
pub use rows::{Callees, Rows};
pub use troubles::Troubles;
pub use writer::Arena;
