//! Values of calling contexts, read (docs/research/pcc.md): what `cctrewrite pcc` makes of a file
//! of them, and of a tree.
//!
//! * [`report`]: what a file holds,
//! * [`tree`]: the values of a tree's contexts,
//! * [`contexts`]: from values back to contexts,
//! * [`collisions`]: how well values tell contexts apart.
//!
//! How values are computed and kept is another crate's (`cct-pcc`), which knows no profiles.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod collisions;
pub mod contexts;
pub mod report;
pub mod tree;

use cct_pcc::{BadPattern, Value};
use cct_profile::merge::MergeError;

/// Why nothing can be said.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The tree has no call sites.
    #[error(
        "the profile does not tell call sites apart, which is what values are made of: run the program with --call-sites"
    )]
    NoCallSites,
    /// The tree has no such context.
    #[error("no context of the tree has the value {0}")]
    NoContext(Value),
    /// The file names the methods that take part by a pattern that is none.
    #[error("the file says that these methods take part (pcc-only): {0}")]
    Only(#[from] BadPattern),
    /// The tree's threads do not go into one.
    #[error("the threads of the profile cannot be added up: {0}")]
    Threads(#[from] MergeError),
}
