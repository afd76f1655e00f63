//! Jars: zip archives as the JVM reads them (PKWARE APPNOTE.TXT 6.3, "APPNOTE" below).
//!
//! This crate reads and writes them without the `zip` crate, because kept entries must come out
//! unchanged. Local headers, data descriptors and extra fields stay verbatim; worker threads
//! deflate entries. Only the parts of the format that a JVM reads are needed: stored and deflated
//! entries, zip64, one file.

#[cfg(test)]
mod against_zip;
mod directory;
mod format;
mod fresh;
mod rewrite;
mod writer;

use std::borrow::Cow;

use crate::codec;
use crate::container::Container;
use crate::entry::Entry;
use crate::error::{ArchiveProblem, EntryProblem};
use crate::limits::Budget;

pub(crate) use fresh::{Contents, FreshJar};
pub(crate) use rewrite::rewrite;

use directory::{Directory, Record};
use format::{DEFLATED, ENCRYPTED, STORED};

/// A jar in memory, owned or borrowed from the jar around it.
#[derive(Debug)]
pub(crate) struct Jar<'a> {
    bytes: Cow<'a, [u8]>,
    directory: Directory,
}

impl<'a> Jar<'a> {
    /// Reads the central directory and checks it against the local headers.
    pub(crate) fn parse(bytes: Cow<'a, [u8]>) -> Result<Jar<'a>, ArchiveProblem> {
        let directory = Directory::read(&bytes)?;
        Ok(Jar { bytes, directory })
    }

    /// The whole file.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes before the first entry.
    pub(crate) fn prefix(&self) -> &[u8] {
        &self.bytes[self.directory.prefix.clone()]
    }

    fn record(&self, index: usize) -> &Record {
        &self.directory.records[index]
    }

    /// The entry's bytes as stored in the archive.
    fn packed(&self, index: usize) -> &[u8] {
        &self.bytes[self.record(index).data.clone()]
    }
}

impl Container for Jar<'_> {
    fn entries(&self) -> &[Entry] {
        &self.directory.entries
    }

    fn read(&self, index: usize, budget: &Budget<'_>) -> Result<Cow<'_, [u8]>, EntryProblem> {
        let record = self.record(index);
        let declared = self.directory.entries[index].size;
        let packed = self.packed(index);
        if record.flags & ENCRYPTED != 0 {
            return Err(EntryProblem::Encrypted);
        }
        let bytes = match record.method {
            STORED => {
                budget.check_size(declared)?;
                if packed.len() as u64 != declared {
                    return Err(EntryProblem::Size { declared, actual: packed.len() as u64 });
                }
                Cow::Borrowed(packed)
            }
            DEFLATED => {
                budget.charge(packed.len() as u64, declared)?;
                Cow::Owned(codec::inflate(packed, declared)?)
            }
            other => return Err(EntryProblem::Method(other)),
        };
        let actual = crc32fast::hash(&bytes);
        if actual != record.crc {
            return Err(EntryProblem::Checksum { declared: record.crc, actual });
        }
        Ok(bytes)
    }
}
