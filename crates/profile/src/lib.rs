//! The profile: a program's calling-context trees as data.
//!
//! A [`Profile`] holds the names of its methods and one [`ThreadTree`] per thread (or per group of
//! threads that shared a tree). Each is an arena of nodes in preorder ([`Tree`]). A profile is
//!
//! * read from and written to `.cct` files ([`Profile::read`], [`Profile::write`]; the format is
//!   `docs/reference/formats/profile.md`),
//! * merged with others by the methods' names ([`merge`]),
//! * listed for machines, one line per context, in byte order ([`contexts`]),
//! * described ([`summary`]) and reported ([`report`]), as a whole or in parts ([`selection`]), by
//!   methods or groups of them ([`labels`]),
//! * compared with another ([`compare`]), and searched for changes since another ([`diff`];
//!   [`pair`] is common to both),
//! * viewed with the work of a library added to the program's frames ([`library`]),
//! * viewed by the objects that its contexts allocated ([`allocations`]), or by a column of other
//!   numbers ([`columns`]),
//! * measured as in the literature ([`tables`]),
//! * collected from the JVMs that a command starts ([`collection`]).
//!
//! This crate knows nothing of class files. Nothing in it recurses on the depth of a tree: stacks
//! of a hundred thousand frames are ordinary.

pub mod allocations;
pub mod caller_levels;
pub mod callers;
pub mod charges;
mod class_filter;
pub mod collection;
pub mod columns;
pub mod compare;
pub mod context_id;
pub mod contexts;
pub mod csv;
pub mod diff;
pub mod escape;
pub mod exactness;
pub mod fold;
pub mod labels;
mod largest;
pub mod library;
pub mod merge;
mod merge_error;
pub mod merger;
pub mod meta_keys;
pub mod metric;
mod model;
pub mod names;
pub mod origin;
pub mod pair;
mod pattern;
pub mod prefix_sums;
mod read;
mod read_error;
pub mod recursion;
pub mod report;
mod section;
pub mod selection;
pub mod sites;
pub mod suggestions;
pub mod summary;
pub mod sums;
pub mod tables;
#[cfg(test)]
mod testing;
mod tree;
pub mod tree_sum;
pub mod united_methods;
mod walk;
mod write;

pub use context_id::{ContextId, FrameId};
pub use exactness::Exactness;
pub use fold::{Fold, LeftOut};
pub use merge_error::MergeError;
pub use metric::{Metric, Unit};
pub use model::{Damage, Method, MissingPart, Profile, Site, ThreadTree};
pub use pattern::Pattern;
pub use read_error::{Problem, ReadError};
pub use report::ReportError;
pub use selection::{Selection, SelectionError};
pub use summary::Summary;
pub use tree::{Children, Node, ROOT, Tree, TreeBuilder, TreeTooLarge};
pub use write::{NodeError, TreeWriter, WriteError};
