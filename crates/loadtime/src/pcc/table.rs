//! A thread's table: how often it entered which place with which value (docs/research/pcc.md). Java
//! code of the thread counts in it (`CctPcc.java`); this module allocates, grows and reads it.

#![allow(unsafe_code)]

use std::alloc::{Layout, alloc_zeroed, dealloc};

// Offsets in a record.
const TABLE: usize = 0;
const MASK: usize = 8;
const USED: usize = 16;
const MOST: usize = 24;
const LOST: usize = 32;
const FULL: usize = 48;

/// Size of a record, in bytes.
pub const RECORD: usize = 64;

/// Size of an entry, in bytes: place, value, count. An entry without a place is empty.
pub const ENTRY: usize = 24;

/// Number of entries of a new table.
const FIRST: u64 = 16;

const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

/// The record of a thread.
#[derive(Debug, Clone, Copy)]
pub struct Record(*mut u8);

// SAFETY: only `grow` frees memory of records and tables. The record's owner calls it while nobody
// reads (`Tables`).
unsafe impl Send for Record {}

/// A count: place, value and number of entries.
pub type Entry = (u64, u64, u64);

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes, 64).ok()
}

fn zeroed(bytes: usize) -> Option<*mut u8> {
    // SAFETY: no size is 0.
    let memory = unsafe { alloc_zeroed(layout(bytes)?) };
    (!memory.is_null()).then_some(memory)
}

/// Size in bytes of a table with this many entries.
fn bytes_of(entries: u64) -> Option<usize> {
    usize::try_from(entries).ok()?.checked_mul(ENTRY)
}

impl Record {
    /// Allocates a record with an empty table. `None` if memory runs out; `take` says whether so
    /// many bytes are allowed.
    pub fn new(take: impl FnOnce(usize) -> bool) -> Option<Record> {
        let bytes = bytes_of(FIRST)?;
        if !take(RECORD + bytes) {
            return None;
        }
        let record = Record(zeroed(RECORD)?);
        record.set(TABLE, zeroed(bytes)? as u64);
        record.set(MASK, FIRST - 1);
        record.set(MOST, most(FIRST));
        Some(record)
    }

    /// The record at an address.
    ///
    /// # Safety
    /// The address must be that of a record.
    pub unsafe fn at(address: u64) -> Record {
        Record(address as *mut u8)
    }

    /// The record's address.
    pub fn address(self) -> u64 {
        self.0 as u64
    }

    fn word(self, offset: usize) -> u64 {
        // SAFETY: a record has this many words; its thread may be writing one.
        unsafe { self.0.add(offset).cast::<u64>().read_volatile() }
    }

    fn set(self, offset: usize, value: u64) {
        // SAFETY: a record has this many words; its thread may be writing one.
        unsafe { self.0.add(offset).cast::<u64>().write_volatile(value) }
    }

    /// Number of entries that found no room.
    pub fn lost(self) -> u64 {
        self.word(LOST)
    }

    /// The counts so far; the thread may still be counting. Entries that it has not completed are
    /// omitted.
    pub fn entries(self) -> impl Iterator<Item = Entry> {
        let (table, entries) = (self.word(TABLE) as *const u64, self.word(MASK) + 1);
        (0..entries as usize).filter_map(move |at| {
            // SAFETY: a table has this many entries, and exists as long as nobody grows it.
            let word = |place: usize| unsafe { table.add(at * (ENTRY / 8) + place).read_volatile() };
            let entry = (word(0), word(1), word(2));
            (entry.0 != 0 && entry.1 != 0 && entry.2 != 0).then_some(entry)
        })
    }

    /// Doubles the number of entries; the thread itself calls this. `take` says whether so many
    /// bytes are allowed, and `give` returns them. Returns whether there was room; if not, there
    /// never will be.
    pub fn grow(self, take: impl FnOnce(usize) -> bool, give: impl Fn(usize)) -> bool {
        let entries = self.word(MASK) + 1;
        let larger = entries * 2;
        let (Some(old_bytes), Some(bytes)) = (bytes_of(entries), bytes_of(larger)) else {
            return self.fill();
        };
        if !take(bytes) {
            return self.fill();
        }
        let Some(table) = zeroed(bytes) else {
            give(bytes);
            return self.fill();
        };
        let mut used = 0;
        for (place, value, count) in self.entries() {
            let mut at = (value ^ place).wrapping_mul(MIX) >> 32 & (larger - 1);
            // SAFETY: the new table has this many entries, more than are used.
            unsafe {
                let entry = |at: u64| table.cast::<u64>().add(at as usize * (ENTRY / 8));
                while entry(at).read() != 0 {
                    at = (at + 1) & (larger - 1);
                }
                entry(at).write(place);
                entry(at).add(1).write(value);
                entry(at).add(2).write(count);
            }
            used += 1;
        }
        let old = self.word(TABLE) as *mut u8;
        self.set(TABLE, table as u64);
        self.set(MASK, larger - 1);
        self.set(MOST, most(larger));
        self.set(USED, used);
        if let Some(layout) = layout(old_bytes) {
            // SAFETY: allocated by `zeroed` with this layout, and nobody refers to it any more.
            unsafe { dealloc(old, layout) };
            give(old_bytes);
        }
        true
    }

    fn fill(self) -> bool {
        self.set(FULL, 1);
        false
    }
}

/// Maximum number of used entries of a table.
fn most(entries: u64) -> u64 {
    entries / 4 * 3
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Record {
        /// Counts as `CctPcc.count` does.
        fn count(self, value: u64, place: u64) -> bool {
            loop {
                let (table, mask) = (self.word(TABLE) as *mut u64, self.word(MASK));
                let mut at = (value ^ place).wrapping_mul(MIX) >> 32 & mask;
                // SAFETY: at most as many entries as the table has.
                let word = |at: u64, place: usize| unsafe { table.add(at as usize * 3 + place) };
                // SAFETY: at most as many entries as the table has; no other thread has the record.
                unsafe {
                    while word(at, 0).read() != 0 {
                        if word(at, 0).read() == place && word(at, 1).read() == value {
                            *word(at, 2) += 1;
                            return true;
                        }
                        at = (at + 1) & mask;
                    }
                    if self.word(USED) < self.word(MOST) {
                        word(at, 1).write(value);
                        word(at, 2).write(1);
                        word(at, 0).write(place);
                        self.set(USED, self.word(USED) + 1);
                        return true;
                    }
                }
                if self.word(FULL) != 0 || !self.grow(|bytes| bytes <= 1 << 20, |_| {}) {
                    self.set(LOST, self.word(LOST) + 1);
                    return false;
                }
            }
        }
    }

    #[test]
    fn tables_grow_and_keep_all_counts() {
        let record = Record::new(|_| true).unwrap();
        for round in 0..3u64 {
            for k in 0..10_000u64 {
                assert!(record.count(2 * k + 1, 128 + k % 7 * 128), "{round} {k}");
            }
        }
        let mut entries: Vec<Entry> = record.entries().collect();
        entries.sort_by_key(|entry| entry.1);
        let expected: Vec<Entry> = (0..10_000).map(|k| (128 + k % 7 * 128, 2 * k + 1, 3)).collect();
        assert_eq!((entries, record.lost()), (expected, 0));
    }

    #[test]
    fn values_without_room_are_counted_as_lost() {
        let record = Record::new(|_| true).unwrap();
        let counted = (0..100_000u64).filter(|&k| record.count(2 * k + 1, 128)).count() as u64;
        // A table of 1 MiB is the largest.
        assert_eq!(counted, most(1 << 15));
        assert_eq!((record.lost(), record.entries().count() as u64), (100_000 - counted, counted));
        assert!(record.count(1, 128));
        assert!(Record::new(|_| false).is_none());
    }
}
