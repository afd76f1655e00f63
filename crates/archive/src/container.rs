//! The common interface of all containers.

use std::borrow::Cow;

use crate::entry::Entry;
use crate::error::EntryProblem;
use crate::limits::Budget;

/// A list of entries whose bytes can be read in any order, from many threads.
pub(crate) trait Container: Sync {
    /// The entries in order.
    fn entries(&self) -> &[Entry];

    /// The contents of the entry at `index`: borrowed where the container holds them uncompressed.
    fn read(&self, index: usize, budget: &Budget<'_>) -> Result<Cow<'_, [u8]>, EntryProblem>;
}
