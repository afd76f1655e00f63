//! Interns values: equal values share one copy, which lives as long as the process. So settings,
//! which the code copies often, can refer to tables by reference.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

/// The interned values of a type.
pub(crate) struct Interner<T: 'static>(Mutex<Option<HashSet<&'static T>>>);

impl<T: Eq + Hash> Interner<T> {
    pub(crate) const fn new() -> Self {
        Interner(Mutex::new(None))
    }

    /// The stored value that equals `value`.
    pub(crate) fn of(&self, value: T) -> &'static T {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.get_or_insert_default();
        if let Some(known) = known.get(&value) {
            return known;
        }
        let value: &'static T = Box::leak(Box::new(value));
        known.insert(value);
        value
    }
}
