//! Limits of the resources that an input may take, against damaged and hostile archives.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::EntryProblem;

/// Limits of how much an input may unfold. Only what is read counts: classes, nested archives and
/// manifests. Other entries are copied and never inflated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Levels of archives within archives: 1 allows a jar in a jar, 0 none.
    pub max_depth: usize,
    /// Inflated size of one entry, in bytes.
    pub max_entry_bytes: u64,
    /// Inflated size of all entries read in one pass over one input, in bytes.
    pub max_total_bytes: u64,
    /// Inflated size over compressed size, for entries that inflate to more than
    /// [`Limits::RATIO_FREE_BYTES`].
    pub max_ratio: u64,
}

impl Limits {
    /// Entries up to this inflated size (1 MiB) may have any compression ratio.
    pub const RATIO_FREE_BYTES: u64 = 1 << 20;
}

impl Default for Limits {
    /// 8 levels, 1 GiB an entry, 16 GiB in all, ratio 250 (class files reach about 10, repetitive
    /// text 100).
    fn default() -> Limits {
        Limits { max_depth: 8, max_entry_bytes: 1 << 30, max_total_bytes: 16 << 30, max_ratio: 250 }
    }
}

/// Number of bytes that one pass over one input has inflated so far.
#[derive(Debug)]
pub(crate) struct Budget<'a> {
    pub(crate) limits: &'a Limits,
    spent: AtomicU64,
}

impl<'a> Budget<'a> {
    pub(crate) fn new(limits: &'a Limits) -> Budget<'a> {
        Budget { limits, spent: AtomicU64::new(0) }
    }

    /// Checks an entry that declares to inflate from `packed` to `size` bytes, before anything is
    /// allocated.
    pub(crate) fn charge(&self, packed: u64, size: u64) -> Result<(), EntryProblem> {
        self.check_size(size)?;
        if size > Limits::RATIO_FREE_BYTES && size / packed.max(1) > self.limits.max_ratio {
            return Err(EntryProblem::Ratio { packed, size, limit: self.limits.max_ratio });
        }
        // Relaxed: only the sum matters. Saturation is out of reach, as each summand is a checked
        // entry size.
        let before = self.spent.fetch_add(size, Ordering::Relaxed);
        if before.saturating_add(size) > self.limits.max_total_bytes {
            return Err(EntryProblem::TotalTooLarge { limit: self.limits.max_total_bytes });
        }
        Ok(())
    }

    /// Checks the size alone, for bytes that are not inflated.
    pub(crate) fn check_size(&self, size: u64) -> Result<(), EntryProblem> {
        if size > self.limits.max_entry_bytes {
            return Err(EntryProblem::TooLarge { size, limit: self.limits.max_entry_bytes });
        }
        Ok(())
    }
}
