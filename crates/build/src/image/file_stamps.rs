//! Stamps of files: hashes over their names and metadata (device, inode, size, mode, times). No
//! file is read.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

use xxhash_rust::xxh3::Xxh3;

/// The stamp of a set of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Hash over the files' names and metadata.
    pub digest: u128,
    /// The latest status change (ctime) of any of the files, in seconds since 1970.
    pub changed: i64,
}

/// Builder of a [`Stamp`]: hashes one file after the other.
#[derive(Default)]
pub struct Stamps {
    hash: Xxh3,
    changed: i64,
}

impl Stamps {
    /// Adds a name, or what stands for the metadata of a folder or link: `folder`, or the link's
    /// target.
    pub fn name(&mut self, name: &[u8]) {
        self.hash.update(&(name.len() as u64).to_le_bytes());
        self.hash.update(name);
    }

    /// Adds a file's metadata.
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

    /// The stamp of everything added so far.
    pub fn stamp(&self) -> Stamp {
        Stamp { digest: self.hash.digest128(), changed: self.changed }
    }
}
