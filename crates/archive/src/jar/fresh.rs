//! Writer of new jars.

use std::borrow::Cow;
use std::io::{self, Write};

use super::Jar;
use super::format::end;
use super::writer::{JarWriter, PackedEntry};
use crate::codec;
use crate::entry::Method;
use crate::error::{ArchiveProblem, EntryProblem};

/// Writes entries, all dated 1980-01-01.
pub(crate) struct FreshJar<W> {
    writer: JarWriter<W>,
    empty: Jar<'static>,
}

/// Contents in the form in which a jar stores them.
pub(crate) struct Contents<'a>(PackedEntry<'a>);

impl<'a> Contents<'a> {
    /// Packs contents.
    pub(crate) fn pack(bytes: Cow<'a, [u8]>, method: Method, level: u32) -> Result<Self, EntryProblem> {
        Ok(Contents(match method {
            Method::Stored => PackedEntry::stored(bytes),
            Method::Deflated => PackedEntry::deflated(&bytes, codec::deflate(&bytes, level)?),
        }))
    }
}

impl<W: Write> FreshJar<W> {
    pub(crate) fn new(out: W) -> io::Result<Self> {
        let mut bytes = vec![0; end::SIZE];
        bytes[..4].copy_from_slice(&end::SIGNATURE.to_le_bytes());
        // The smallest zip archive there is.
        let empty = Jar::parse(Cow::Owned(bytes));
        let empty = empty.map_err(|problem: ArchiveProblem| io::Error::other(problem.to_string()))?;
        Ok(FreshJar { writer: JarWriter::new(out, &empty)?, empty })
    }

    pub(crate) fn add(&mut self, name: &str, contents: &Contents<'_>) -> io::Result<()> {
        self.writer.add(name, &contents.0)
    }

    pub(crate) fn finish(self) -> io::Result<W> {
        self.writer.finish(&self.empty)
    }
}
