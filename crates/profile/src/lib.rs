//! The profile: a program's calling-context trees as data.
//!
//! A [`Profile`] holds one [`ThreadTree`] per thread (or per group of threads that shared a tree), each an arena of nodes in
//! preorder ([`Tree`]), and the names of the methods that occur in them. It is
//!
//! * read from and written to `.cct` files ([`Profile::read`], [`Profile::write`]; the format is `docs/formats/profile.md`),
//! * merged with others by the methods' names ([`merge`]),
//! * listed for machines, one line per context, in byte order ([`contexts`]),
//! * reported for people ([`report`]),
//! * compared with another ([`compare`]).
//!
//! Nothing here knows class files, and nothing recurses on the depth of a tree: stacks of a hundred thousand frames are ordinary.

pub mod compare;
pub mod contexts;
pub mod merge;
mod model;
pub mod names;
mod read;
pub mod report;
mod section;
#[cfg(test)]
mod testing;
mod tree;
mod write;

pub use merge::MergeError;
pub use model::{Damage, Method, Missing, Profile, ThreadTree};
pub use read::{Problem, ReadError};
pub use report::ReportError;
pub use tree::{Children, Node, ROOT, Tree, TreeBuilder, TreeTooLarge};
pub use write::{NodeError, TreeWriter, WriteError};
