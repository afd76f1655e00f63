//! A class that is explained, with what became of it.

use cct_rewrite::world::ClassId;
use cct_rewrite::{Rewriter, Rewritten};
use cct_settings::Settings;

/// What is explained.
pub(crate) struct Explained<'r> {
    pub(crate) rewriter: &'r Rewriter,
    /// Which classes are recorded.
    pub(crate) records: &'r dyn Fn(&[u8]) -> bool,
    pub(crate) id: ClassId,
    pub(crate) settings: Settings,
    pub(crate) rewritten: &'r Rewritten,
}
