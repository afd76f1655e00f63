//! Cache of what frames of methods may be in the tree, by the ids of the methods.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::known::Body;

/// Methods by their ids, which are valid as long as the JVM lives.
#[derive(Debug, Default)]
pub struct Frames {
    pub(crate) known: FxHashMap<usize, Shown>,
}

/// Maximum number of cached methods.
pub(crate) const REMEMBERED: usize = 1 << 16;

/// The possible appearances of a method's frame in the tree, sorted. There are none, usually one
/// body, or a body in each of several classes that have the same name to the JVM.
pub type Shown = Arc<[Body]>;

/// The body with this id, if it is one of these.
pub fn body(shown: &[Body], mid: u64) -> Option<&Body> {
    Some(&shown[shown.binary_search_by_key(&mid, |body| body.mid).ok()?])
}
