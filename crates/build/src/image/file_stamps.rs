//! Metadata of files, without their contents: size, times, inode, mode.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

use xxhash_rust::xxh3::Xxh3;

/// The stamp of some files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// A hash over their metadata.
    pub digest: u128,
    /// Latest change of the status of one of them, in seconds since 1970.
    pub changed: i64,
}

/// Adds up the stamps of files.
#[derive(Default)]
pub struct Stamps {
    hash: Xxh3,
    changed: i64,
}

impl Stamps {
    /// Adds a name, and the kind of file that it names.
    pub fn name(&mut self, name: &[u8]) {
        self.hash.update(&(name.len() as u64).to_le_bytes());
        self.hash.update(name);
    }

    /// Adds a file by its metadata.
    pub fn file(&mut self, its: &Metadata) {
        let numbers = [
            its.dev(),
            its.ino(),
            its.size(),
            u64::from(its.mode()),
            its.mtime().cast_unsigned(),
            its.mtime_nsec().cast_unsigned(),
            its.ctime().cast_unsigned(),
            its.ctime_nsec().cast_unsigned(),
        ];
        for number in numbers {
            self.hash.update(&number.to_le_bytes());
        }
        self.changed = self.changed.max(its.ctime());
    }

    /// The stamp of all.
    pub fn stamp(&self) -> Stamp {
        Stamp { digest: self.hash.digest128(), changed: self.changed }
    }
}
