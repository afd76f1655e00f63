//! Cache of the bodies as which a method's frames may appear in the tree, by the method's id.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::known_class::Body;

/// Cached methods, by their ids. The JVM never reuses an id.
#[derive(Debug, Default)]
pub struct Frames {
    pub(crate) known: FxHashMap<usize, FrameBodies>,
}

/// Maximum number of cached methods.
pub(crate) const REMEMBERED: usize = 1 << 16;

/// The bodies as which a method's frame may appear in the tree, sorted by id: usually one, or none.
/// There are several if classes share a name in the JVM, if agents have changed the class, or if
/// callers count the method.
pub type FrameBodies = Arc<[Body]>;

/// The body with this id, if it is in the list.
pub fn body(shown: &[Body], mid: u64) -> Option<&Body> {
    Some(&shown[shown.binary_search_by_key(&mid, |body| body.mid).ok()?])
}
