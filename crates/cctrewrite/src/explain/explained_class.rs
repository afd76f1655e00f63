//! The class that `explain` shows, before and after the rewrite.

use cct_rewrite::world::ClassId;
use cct_rewrite::{Rewriter, RewrittenClass};
use cct_settings::Settings;

/// A class to explain, with its rewritten form.
pub(crate) struct ExplainedClass<'r> {
    pub(crate) rewriter: &'r Rewriter,
    /// Whether the class of this name is recorded.
    pub(crate) records: &'r dyn Fn(&[u8]) -> bool,
    pub(crate) id: ClassId,
    pub(crate) settings: Settings,
    pub(crate) rewritten: &'r RewrittenClass,
}
