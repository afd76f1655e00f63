//! Writer of an image: the contents first, then the index, which depends on them.
//!
//! Compressed resources and locations refer to strings by offset. So the strings of the original
//! image keep their offsets, and new strings follow. The rest of the index is recreated by jlink's
//! rules.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};

use super::format::{Header, Location, MAX_IMAGE_BYTES, Version, modified_utf8};
use super::index::{MAX_NAME_PARTS, full_name};
use super::tree::{self, Item, Listing};
use super::{Image, perfect_hash, previews};
use crate::error::{ArchiveProblem, EntryProblem};

/// An image that is being written. The contents of each entry go to `contents` immediately.
pub(super) struct ImageWriter<'i, W> {
    image: &'i Image,
    strings: StringTable<'i>,
    contents: W,
    /// Number of bytes of contents written so far.
    written: u64,
    locations: Vec<Location>,
    /// The full name of each location, in the order of `locations`.
    names: Vec<Vec<u8>>,
}

/// The index of an image: the part before the contents.
pub(super) struct Index {
    header: Header,
    redirect: Vec<i32>,
    offsets: Vec<u32>,
    locations: Vec<u8>,
    strings: Vec<u8>,
}

/// Why an image could not be completed.
pub(super) enum Problem {
    Io(io::Error),
    Image(ArchiveProblem),
}

impl From<io::Error> for Problem {
    fn from(cause: io::Error) -> Problem {
        Problem::Io(cause)
    }
}

impl<'i, W: Write> ImageWriter<'i, W> {
    /// Creates a writer for a changed copy of `image`.
    pub(super) fn new(image: &'i Image, contents: W) -> ImageWriter<'i, W> {
        let strings = StringTable::of(image.strings().0);
        ImageWriter { image, strings, contents, written: 0, locations: Vec::new(), names: Vec::new() }
    }

    /// Copies an entry verbatim, compressed or not.
    pub(super) fn copy(&mut self, index: usize) -> io::Result<()> {
        self.push_old(index, self.image.locations[index], self.image.stored(index))
    }

    /// Writes an entry with new contents, uncompressed.
    pub(super) fn replace(&mut self, index: usize, bytes: &[u8]) -> io::Result<()> {
        let location = Location { compressed: 0, size: bytes.len() as u64, ..self.image.locations[index] };
        self.push_old(index, location, bytes)
    }

    fn push_old(&mut self, index: usize, location: Location, bytes: &[u8]) -> io::Result<()> {
        // The name exists: that was checked when the image was read.
        let name = full_name(self.image.strings(), &self.image.locations[index]).unwrap_or_default();
        self.push(name, location, bytes)
    }

    /// Adds an entry by its name, `module/path`.
    pub(super) fn add(&mut self, name: &str, bytes: &[u8]) -> Result<(), EntryProblem> {
        let parts = name.split('/').count();
        let own = matches!(name.split('/').next(), Some("modules" | "packages"));
        // The full name has one part more, the empty one before its first slash.
        if !(2..MAX_NAME_PARTS).contains(&parts) || own {
            return Err(EntryProblem::NoModule);
        }
        let full = [b"/", &*modified_utf8(name)].concat();
        let location = Location { size: bytes.len() as u64, ..self.strings.location(&full) };
        let cannot = |cause| EntryProblem::Io { action: "write the output", cause };
        self.push(full, location, bytes).map_err(cannot)
    }

    fn push(&mut self, name: Vec<u8>, location: Location, bytes: &[u8]) -> io::Result<()> {
        self.locations.push(Location { offset: self.written, ..location });
        self.names.push(name);
        self.written += bytes.len() as u64;
        self.contents.write_all(bytes)
    }

    /// Writes the listings of folders and packages after the contents. Returns the index, and the
    /// output with the contents.
    pub(super) fn finish(mut self) -> Result<(Index, W), Problem> {
        let paths: Vec<&[u8]> = self.names.iter().map(|name| &name[1..]).collect();
        let version = self.image.header.version;
        let listings = tree::listings(&paths, version);
        let resources = self.locations.len();
        for (name, listing) in &listings {
            let previews = if let Listing::Package(_, flags) = listing { *flags } else { 0 };
            let (size, offset) = (listing.size(), self.written);
            self.locations.push(Location { size, offset, previews, ..self.strings.location(name) });
            self.names.push(name.clone());
            self.written += listing.size();
        }
        if version == Version::Previews {
            previews::mark(&self.names, &mut self.locations);
        }

        let tables = perfect_hash::tables(&self.names).ok_or(Problem::Image(ArchiveProblem::ImageHash))?;
        // Offset 0 means "no location", so a byte that nothing refers to occupies it.
        let mut locations = vec![0];
        let mut of_location = vec![0; self.locations.len()];
        let mut offsets = Vec::with_capacity(tables.order.len());
        for &in_slot in &tables.order {
            let offset = in_slot.map_or(0, |_| locations.len() as u32);
            offsets.push(offset);
            if let Some(index) = in_slot {
                of_location[index] = offset;
                self.locations[index].write(&mut locations);
            }
        }
        pad(&mut locations);

        let order = self.image.header.order;
        // As in jlink, the listing of the root folder is last. It has no location.
        let root = [b"/modules".as_slice(), b"/packages"]
            .into_iter()
            .filter_map(|top| listings.iter().position(|(name, _)| *name == top).map(Item::Listing));
        let root = Listing::Folder(root.collect());
        self.written += root.size();
        for listing in listings.iter().map(|(_, listing)| listing).chain([&root]) {
            match listing {
                Listing::Folder(items) => {
                    for &item in items {
                        let (Item::Resource(at) | Item::Listing(at)) = item;
                        let index = if matches!(item, Item::Listing(_)) { resources + at } else { at };
                        self.contents.write_all(&order.word(of_location[index]))?;
                    }
                }
                Listing::Package(links, _) => {
                    for link in links {
                        self.contents.write_all(&order.word(link.flags))?;
                        self.contents.write_all(&order.word(self.strings.offset_of(&link.module)))?;
                    }
                }
            }
        }
        self.contents.flush()?;

        let strings = self.strings.into_bytes();
        let too_large = |_| Problem::Image(ArchiveProblem::ImageTooLarge);
        let word = |len: usize| u32::try_from(len).map_err(too_large);
        let header = Header {
            order,
            version,
            resources: word(self.locations.len())?,
            slots: word(offsets.len())?,
            locations: word(locations.len())?,
            strings: word(strings.len())?,
        };
        if header.index_bytes().saturating_add(self.written) > MAX_IMAGE_BYTES {
            return Err(Problem::Image(ArchiveProblem::ImageTooLarge));
        }
        Ok((Index { header, redirect: tables.redirect, offsets, locations, strings }, self.contents))
    }
}

impl Index {
    /// Writes the index to the start of an image.
    pub(super) fn write(&self, mut out: impl Write) -> io::Result<()> {
        let order = self.header.order;
        out.write_all(&self.header.write())?;
        let redirect = self.redirect.iter().map(|value| value.cast_unsigned());
        for word in redirect.chain(self.offsets.iter().copied()) {
            out.write_all(&order.word(word))?;
        }
        out.write_all(&self.locations)?;
        out.write_all(&self.strings)
    }
}

/// Pads a table as jlink does, so that an unchanged image is written back byte for byte. The
/// padding aligns nothing, and no reader needs it.
fn pad(table: &mut Vec<u8>) {
    let padding = table.len().wrapping_sub(1) & 3;
    table.resize(table.len() + padding, 0);
}

/// The strings of the original image, and new ones.
struct StringTable<'i> {
    old: &'i [u8],
    /// The new strings, which follow the old ones.
    new: Vec<u8>,
    offsets: HashMap<Cow<'i, [u8]>, u32>,
}

impl<'i> StringTable<'i> {
    fn of(old: &'i [u8]) -> StringTable<'i> {
        let mut offsets = HashMap::new();
        let mut start = 0;
        // Bytes after the last zero byte are not a string.
        let ends = old.iter().enumerate().filter(|&(_, &byte)| byte == 0).map(|(end, _)| end);
        for end in ends {
            // In a location, offset 0 means "this part of the name is missing". So no name gets the
            // string there.
            if start > 0 {
                offsets.entry(Cow::Borrowed(&old[start..end])).or_insert(start as u32);
            }
            start = end + 1;
        }
        let mut new = Vec::new();
        if start < old.len() || old.is_empty() {
            new.push(0);
        }
        StringTable { old, new, offsets }
    }

    /// The offset of a part of a name; 0 if the part is empty.
    fn offset_of(&mut self, part: &[u8]) -> u32 {
        if part.is_empty() { 0 } else { self.offset_of_string(part) }
    }

    /// The offset of a name's base. Readers look up the base even if it is empty. So an empty base
    /// has offset 0 only if an empty string is there, as in all images of jlink.
    fn offset_of_base(&mut self, base: &[u8]) -> u32 {
        if self.old.first().is_none_or(|&first| first == 0) {
            return self.offset_of(base);
        }
        self.offset_of_string(base)
    }

    /// The offset of a string. Adds the string if the table lacks it.
    fn offset_of_string(&mut self, string: &[u8]) -> u32 {
        if let Some(&offset) = self.offsets.get(string) {
            return offset;
        }
        // If this overflows, the table is too large. `finish` checks that.
        let offset = (self.old.len() + self.new.len()) as u32;
        self.new.extend(string);
        self.new.push(0);
        self.offsets.insert(Cow::Owned(string.to_vec()), offset);
        offset
    }

    /// A location with the parts of a full name, split as jlink splits it.
    fn location(&mut self, name: &[u8]) -> Location {
        for own in [&b"modules"[..], b"packages"] {
            let rest = name.strip_prefix(b"/").and_then(|rest| rest.strip_prefix(own));
            if let Some(base) = rest.and_then(|rest| rest.strip_prefix(b"/")) {
                let (module, base) = (self.offset_of(own), self.offset_of_base(base));
                return Location { module, base, ..Location::default() };
            }
        }
        let last = |bytes: &[u8], wanted: u8| bytes.iter().rposition(|&byte| byte == wanted);
        let (mut module, mut rest) = (&b""[..], name);
        if let Some(end) = name.iter().skip(1).position(|&byte| byte == b'/') {
            (module, rest) = (&name[1..end + 1], &name[end + 2..]);
        }
        let (mut parent, mut base, mut extension) = (&b""[..], rest, &b""[..]);
        // jlink does not split off a parent of one letter: `a/X` is a base.
        if let Some(end) = last(rest, b'/').filter(|&end| end > 1) {
            (parent, base) = (&rest[..end], &rest[end + 1..]);
        }
        if let Some(end) = last(base, b'.') {
            (base, extension) = (&base[..end], &base[end + 1..]);
        }
        Location {
            module: self.offset_of(module),
            parent: self.offset_of(parent),
            base: self.offset_of_base(base),
            extension: self.offset_of(extension),
            ..Location::default()
        }
    }

    fn into_bytes(self) -> Vec<u8> {
        let mut bytes = self.old.to_vec();
        if !self.new.is_empty() {
            bytes.extend(self.new);
            pad(&mut bytes);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_shared_and_new_ones_follow() {
        let mut strings = StringTable::of(b"\0class\0java.base\0");
        assert_eq!(strings.offset_of(b"class"), 1);
        let location = strings.location(b"/java.base/a/p/X.y.class");
        let expected = Location { module: 7, parent: 17, base: 21, extension: 1, ..Location::default() };
        assert_eq!(location, expected);
        assert_eq!(strings.location(b"/java.base/a/X").base, strings.offset_of(b"a/X"));
        assert_eq!(strings.location(b"/modules").base, strings.offset_of(b"/modules"));
        let folder = strings.location(b"/modules/java.base/a.b");
        assert_eq!((folder.parent, folder.extension), (0, 0));
        let bytes = strings.into_bytes();
        assert!(bytes.starts_with(b"\0class\0java.base\0a/p\0X.y\0a/X\0"));
    }

    /// `/packages/` has an empty base. An image whose string at offset 0 is not empty was written
    /// with offset 0 for it, and the name was not found.
    #[test]
    fn an_empty_name_where_the_strings_begin_with_another() {
        let mut strings = StringTable::of(b"\x05a\0");
        let location = strings.location(b"/packages/");
        let bytes = strings.into_bytes();
        assert_eq!(bytes[location.base as usize], 0);
        assert_eq!(StringTable::of(b"\0a\0").location(b"/packages/").base, 0);
    }

    #[test]
    fn an_unfinished_string_is_not_run_into() {
        let mut strings = StringTable::of(b"\0ab");
        let offset = strings.offset_of(b"c") as usize;
        assert_eq!(&strings.into_bytes()[offset - 2..=offset + 1], b"b\0c\0");
    }
}
