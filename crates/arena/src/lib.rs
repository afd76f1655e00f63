//! The memory of a profiled JVM's trees, as a file.
//!
//! Where the load-time library is at work, the runtime's nodes lie in a file that the library maps
//! ([`Arena`]): one that was named, or one that has no name and lives as long as the JVM. What the
//! nodes do not say (names of methods and threads, how the numbers came about) stands in a log in
//! the same file ([`log`]). So whoever may read the file can have the profile without the JVM's
//! help: while it runs, and after it was killed ([`recover`]).
//!
//! The format is `docs/reference/formats/arena.md`. What is read is not trusted: addresses lead
//! nowhere but into the file, and cycles end.

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
pub use recover::{Recovered, State, recover};
pub use rows::{Callees, Rows};
pub use troubles::Troubles;
pub use writer::Arena;
