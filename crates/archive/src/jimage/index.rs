//! Reader of the part before the contents, with checks against the contents.

use std::ops::Range;

use super::format::{Header, Location, damaged};
use super::perfect_hash::slot_of;
use crate::entry::{Entry, EntryKind};
use crate::error::ArchiveProblem;
use crate::jimage::strings::Strings;

/// The index of an image.
pub(super) struct Index {
    pub(super) header: Header,
    pub(super) entries: Vec<Entry>,
    /// Parallel to `entries`.
    pub(super) locations: Vec<Location>,
    /// The range of the strings in the file.
    pub(super) strings: Range<usize>,
    /// Start of the contents.
    pub(super) contents: usize,
}

/// Maximum length of a name in bytes. Longer ones count as damage: otherwise few strings could
/// unfold to any amount of names.
const MAX_NAME_BYTES: usize = 4096;

/// Maximum ratio of the total length of all resources' names to that of the file.
const MAX_NAMES_RATIO: usize = 16;

/// Maximum number of nested folders. More count as damage.
pub(super) const MAX_NAME_PARTS: usize = 256;

/// Offsets of the tables in the file. The contents begin at the end of the strings.
#[derive(Debug)]
pub(super) struct Tables<'b> {
    bytes: &'b [u8],
    pub(super) header: Header,
    pub(super) redirect: usize,
    offsets: usize,
    locations: Range<usize>,
    pub(super) strings: Range<usize>,
}

pub(super) fn read(bytes: &[u8]) -> Result<Index, ArchiveProblem> {
    let tables = Tables::of(bytes)?;
    let (header, contents) = (tables.header, tables.strings.end);
    let mut names_left = bytes.len().saturating_mul(MAX_NAMES_RATIO);
    let mut found = Vec::new();
    let mut extents = Vec::new();
    for slot in 0..header.slots {
        let Some((at, location)) = tables.location(slot)? else { continue };
        let name = tables.name(at, &location)?;
        names_left = names_left
            .checked_sub(name.len())
            .ok_or(damaged(at, "its names unfold to many times its size"))?;
        let find = |first| header.order.u32_at(bytes, tables.redirect + 4 * first);
        if slot_of(&name, header.slots, find) != Some(slot as usize) {
            return Err(damaged(at, "a resource cannot be found by its name"));
        }
        let room = (bytes.len() - contents) as u64;
        if location.offset.checked_add(location.stored()).is_none_or(|end| end > room) {
            return Err(damaged(at, "a resource extends beyond the end of the file"));
        }
        extents.push((location.offset, location.stored(), at));
        if let Some(path) = entry_path(&name, at)? {
            found.push((location, String::from_utf8_lossy(path).into_owned()));
        }
    }
    if extents.len() as u64 != u64::from(header.resources) {
        return Err(damaged(12, "there are not as many resources as its header announces"));
    }
    check_overlaps(extents)?;
    // In the order of their contents; empty resources precede those that start at the same offset.
    found.sort_by(|(a, name_a), (b, name_b)| {
        (a.offset, a.stored(), name_a).cmp(&(b.offset, b.stored(), name_b))
    });
    let entry = |(location, name): &(Location, String)| Entry {
        kind: EntryKind::of(name),
        name: name.as_str().into(),
        size: location.size,
    };
    let entries = found.iter().map(entry).collect();
    let locations = found.into_iter().map(|(location, _)| location).collect();
    Ok(Index { header, entries, locations, strings: tables.strings, contents })
}

impl<'b> Tables<'b> {
    /// The tables of an image.
    pub(super) fn of(bytes: &'b [u8]) -> Result<Self, ArchiveProblem> {
        let header = Header::read(bytes)?;
        let contents = usize::try_from(header.index_bytes()).ok().filter(|&end| end <= bytes.len());
        let contents =
            contents.ok_or(damaged(12, "the file ends before the tables that its header announces"))?;
        let strings = contents - header.strings as usize..contents;
        let locations = strings.start - header.locations as usize..strings.start;
        let offsets = locations.start - 4 * header.slots as usize;
        Ok(Tables { bytes, header, redirect: Header::SIZE, offsets, locations, strings })
    }

    /// The location in a slot, with its offset in the file; `None` for an empty slot.
    pub(super) fn location(&self, slot: u32) -> Result<Option<(usize, Location)>, ArchiveProblem> {
        let at = self.offsets + 4 * slot as usize;
        let offset = self.header.order.u32_at(self.bytes, at).unwrap_or_default();
        if offset == 0 {
            return Ok(None);
        }
        let start = self.locations.start.checked_add(offset as usize);
        let start = start.filter(|&start| start < self.locations.end);
        let start = start.ok_or(damaged(at, "it points outside the locations"))?;
        let location = Location::read(&self.bytes[start..self.locations.end], self.header.version)
            .ok_or(damaged(start, "no sound location starts here"))?;
        Ok(Some((start, location)))
    }

    /// The full name of a location at an offset of the file.
    fn name(&self, at: usize, location: &Location) -> Result<Vec<u8>, ArchiveProblem> {
        full_name(Strings(&self.bytes[self.strings.clone()]), location)
            .filter(|name| name.len() <= MAX_NAME_BYTES)
            .filter(|name| name.split(|&byte| byte == b'/').count() <= MAX_NAME_PARTS)
            .ok_or(damaged(at, "its name lies outside the strings, or is too long"))
    }
}

/// A resource's name, `/java.base/java/lang/Object.class`.
pub(super) fn full_name(strings: Strings<'_>, location: &Location) -> Option<Vec<u8>> {
    let mut name = Vec::new();
    if location.module != 0 {
        name.push(b'/');
        name.extend(strings.get(location.module)?);
        name.push(b'/');
    }
    if location.parent != 0 {
        name.extend(strings.get(location.parent)?);
        name.push(b'/');
    }
    name.extend(strings.get(location.base)?);
    if location.extension != 0 {
        name.push(b'.');
        name.extend(strings.get(location.extension)?);
    }
    Some(name)
}

/// The entry's name for a resource's full name; `None` for the image's own listings.
fn entry_path(name: &[u8], at: usize) -> Result<Option<&[u8]>, ArchiveProblem> {
    let Some(path) = name.strip_prefix(b"/") else {
        return Err(damaged(at, "its name does not start with a slash"));
    };
    let module = path.split(|&byte| byte == b'/').next().unwrap_or_default();
    match module {
        b"modules" | b"packages" => Ok(None),
        b"" => Err(damaged(at, "it belongs to no module")),
        _ if module.len() == path.len() => Err(damaged(at, "it belongs to no module")),
        _ => Ok(Some(path)),
    }
}

/// Checks for resources that share bytes: such images unfold to many times their size, and no tool
/// writes them.
fn check_overlaps(mut extents: Vec<(u64, u64, usize)>) -> Result<(), ArchiveProblem> {
    extents.sort_unstable();
    for pair in extents.windows(2) {
        let ((start, len, _), (next, _, at)) = (pair[0], pair[1]);
        if next < start + len {
            return Err(damaged(at, "a resource shares bytes with another"));
        }
    }
    Ok(())
}
