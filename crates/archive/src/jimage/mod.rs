//! Images: the file `lib/modules` of a JDK from 9 on, with all classes and resources of its
//! modules. The formats are 1.0 and 1.1 (`jdk.internal.jimage` in OpenJDK; written by jlink). See
//! `docs/reference/formats/jimage.md`.
//!
//! Entries are the resources of modules, in the order of their contents, named
//! `java.base/java/lang/Object.class`. The image's listings of its folders and packages are no
//! entries; they are created again when an image is written.

mod compressed;
mod format;
mod index;
mod lookup;
mod packages;
mod perfect_hash;
mod previews;
mod rewrite;
mod strings;
mod tree;
mod writer;

use std::borrow::Cow;
use std::ops::Range;

use crate::container::Container;
use crate::entry::Entry;
use crate::error::{ArchiveProblem, EntryProblem};
use crate::jimage::strings::Strings;
use crate::limits::Budget;

pub(crate) use lookup::Lookup;
pub(crate) use rewrite::rewrite;

use format::{Header, Location, Order};

/// An image in memory.
#[derive(Debug)]
pub(crate) struct Image {
    bytes: Vec<u8>,
    header: Header,
    entries: Vec<Entry>,
    /// Parallel to `entries`.
    locations: Vec<Location>,
    /// The range of the strings in the file.
    strings: Range<usize>,
    /// Start of the contents.
    contents: usize,
}

impl Image {
    /// The whole file.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether a file with these first bytes is an image, of either byte order.
    pub(crate) fn is_announced_by(bytes: &[u8]) -> bool {
        Order::of(bytes).is_some()
    }

    /// Reads the index and checks that every resource is found by its name and has bytes of its
    /// own.
    pub(crate) fn parse(bytes: Vec<u8>) -> Result<Image, ArchiveProblem> {
        let index = index::read(&bytes)?;
        let index::Index { header, entries, locations, strings, contents } = index;
        Ok(Image { bytes, header, entries, locations, strings, contents })
    }

    fn strings(&self) -> Strings<'_> {
        Strings(&self.bytes[self.strings.clone()])
    }

    /// The entry's bytes as stored in the image. Checked when it was read.
    fn stored(&self, index: usize) -> &[u8] {
        let location = &self.locations[index];
        let start = self.contents + location.offset as usize;
        &self.bytes[start..start + location.stored() as usize]
    }
}

impl Container for Image {
    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn read(&self, index: usize, budget: &Budget<'_>) -> Result<Cow<'_, [u8]>, EntryProblem> {
        let (location, stored) = (&self.locations[index], self.stored(index));
        if location.compressed == 0 {
            budget.check_size(location.size)?;
            return Ok(Cow::Borrowed(stored));
        }
        compressed::unfold(self.header.order, self.strings(), stored, location.size, budget)
    }
}
