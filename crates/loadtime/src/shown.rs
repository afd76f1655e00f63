//! What frames of methods may be in the tree, by the ids of the methods.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::known::Body;

/// Methods by their ids, which stay what they are for as long as the JVM lives.
#[derive(Debug, Default)]
pub struct Frames {
    pub(crate) known: FxHashMap<usize, Shown>,
}

/// Methods that are remembered at most.
pub(crate) const REMEMBERED: usize = 1 << 16;

/// What a frame of a method may be in the tree: nothing, one body as a rule, or a method of one of
/// several classes that have the same name to the JVM. Sorted.
pub type Shown = Arc<[Body]>;

/// What a node with this id is, if it is one of these.
pub fn body(shown: &[Body], mid: u64) -> Option<&Body> {
    Some(&shown[shown.binary_search_by_key(&mid, |body| body.mid).ok()?])
}
