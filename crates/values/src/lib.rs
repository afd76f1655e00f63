//! Readers of calling-context values (docs/research/pcc.md): the analyses of `cctrewrite pcc` for
//! files of values, and for trees.
//!
//! * [`report`]: the contents of a file,
//! * [`tree`]: the values of a tree's contexts,
//! * [`contexts`]: the contexts of values,
//! * [`collisions`]: how well values distinguish contexts.
//!
//! The crate `cct-pcc`, which knows nothing of profiles, computes and stores values.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod collisions;
pub mod contexts;
pub mod report;
pub mod tree;

use cct_pcc::{BadPattern, Value};
use cct_profile::MergeError;

/// Why an analysis fails.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The tree has no call sites.
    #[error("the profile does not distinguish call sites, which values need: record it with --call-sites")]
    NoCallSites,
    /// The tree has no such context.
    #[error("no context of the tree has the value {0}")]
    NoContext(Value),
    /// The file has an invalid pattern for the methods that take part.
    #[error("the file says that these methods take part (pcc-only): {0}")]
    Only(#[from] BadPattern),
    /// The tree's threads cannot be merged into one.
    #[error("the threads of the profile cannot be added up: {0}")]
    Threads(#[from] MergeError),
}
