//! The parts of an image file: byte order, header, hash, location attributes.
//!
//! An image consists of a header of seven words; the redirect table and the table of location
//! offsets, a word for each slot; the locations; the strings; the contents. Words have the byte
//! order of the image's platform. Everything is found by name: its hash gives a slot of the
//! redirect table, which gives the slot of the offset of its location.

use crate::error::ArchiveProblem;

/// First word of an image.
pub(super) const MAGIC: u32 = 0xCAFE_DADA;

/// Major version, in the upper half of the version word.
const MAJOR_VERSION: u32 = 1;

/// Properties of an image's minor version, in the lower half of the version word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Version {
    /// 1.0: JDK 9 to 26.
    Plain,
    /// 1.1: JDK 27 and later. Resources may have other versions for `--enable-preview`, in
    /// `META-INF/preview` of their module; flags of locations and packages say so.
    Previews,
}

impl Version {
    fn of(word: u32) -> Result<Version, ArchiveProblem> {
        match (word >> 16, word & 0xFFFF) {
            (MAJOR_VERSION, 0) => Ok(Version::Plain),
            (MAJOR_VERSION, 1) => Ok(Version::Previews),
            (major, minor) => Err(ArchiveProblem::ImageVersion { major, minor }),
        }
    }

    fn word(self) -> u32 {
        MAJOR_VERSION << 16 | self as u32
    }

    /// The highest number of a location's attribute, counted from 1.
    fn attributes(self) -> u8 {
        match self {
            Version::Plain => 7,
            Version::Previews => 8,
        }
    }
}

/// First multiplier and first seed of the hash (FNV).
pub(super) const HASH_MULTIPLIER: u32 = 0x0100_0193;

/// The JDK's reader keeps offsets in Java ints.
pub(super) const MAX_IMAGE_BYTES: u64 = i32::MAX as u64;

/// Byte order of an image's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

impl Order {
    /// The order in which the first word is the magic number.
    pub(super) fn of(bytes: &[u8]) -> Option<Order> {
        [Order::Little, Order::Big].into_iter().find(|order| order.u32_at(bytes, 0) == Some(MAGIC))
    }

    pub(super) fn u32_at(self, bytes: &[u8], at: usize) -> Option<u32> {
        let word = *bytes.get(at..)?.first_chunk()?;
        Some(match self {
            Order::Little => u32::from_le_bytes(word),
            Order::Big => u32::from_be_bytes(word),
        })
    }

    pub(super) fn u64_at(self, bytes: &[u8], at: usize) -> Option<u64> {
        let word = *bytes.get(at..)?.first_chunk()?;
        Some(match self {
            Order::Little => u64::from_le_bytes(word),
            Order::Big => u64::from_be_bytes(word),
        })
    }

    pub(super) fn word(self, value: u32) -> [u8; 4] {
        match self {
            Order::Little => value.to_le_bytes(),
            Order::Big => value.to_be_bytes(),
        }
    }
}

/// The header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) order: Order,
    pub(super) version: Version,
    /// Number of locations.
    pub(super) resources: u32,
    /// Number of slots of each table.
    pub(super) slots: u32,
    /// Size of the locations, in bytes.
    pub(super) locations: u32,
    /// Size of the strings, in bytes.
    pub(super) strings: u32,
}

impl Header {
    pub(super) const SIZE: usize = 28;

    /// Reads the header. The caller checks whether the announced sizes fit into the file.
    pub(super) fn read(bytes: &[u8]) -> Result<Header, ArchiveProblem> {
        let order = Order::of(bytes).ok_or(damaged(0, "an image's magic number is missing"))?;
        let word = |slot: usize| {
            order.u32_at(bytes, 4 * slot).ok_or(damaged(4 * slot, "the file ends in the header"))
        };
        let version = Version::of(word(1)?)?;
        if word(2)? != 0 {
            return Err(damaged(8, "unknown flags are set"));
        }
        let (resources, slots, locations, strings) = (word(3)?, word(4)?, word(5)?, word(6)?);
        let header = Header { order, version, resources, slots, locations, strings };
        if header.resources > header.slots {
            return Err(damaged(12, "there are more resources than slots"));
        }
        Ok(header)
    }

    pub(super) fn write(&self) -> [u8; Header::SIZE] {
        let version = self.version.word();
        let words = [MAGIC, version, 0, self.resources, self.slots, self.locations, self.strings];
        let mut bytes = [0; Header::SIZE];
        for (field, word) in bytes.chunks_exact_mut(4).zip(words) {
            field.copy_from_slice(&self.order.word(word));
        }
        bytes
    }

    /// Size of the part before the contents, in bytes.
    pub(super) fn index_bytes(&self) -> u64 {
        Header::SIZE as u64 + 8 * u64::from(self.slots) + u64::from(self.locations) + u64::from(self.strings)
    }
}

pub(super) fn damaged(offset: usize, what: &'static str) -> ArchiveProblem {
    ArchiveProblem::Image { offset, what }
}

/// Continues a hash with further bytes of a name (in modified UTF-8).
pub(super) fn hash_more(hash: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(hash, |hash, &byte| hash.wrapping_mul(HASH_MULTIPLIER) ^ u32::from(byte))
}

/// The hash of a name, never negative as a Java int.
pub(super) fn hash(seed: u32, name: &[u8]) -> u32 {
    hash_more(seed, name) & 0x7FFF_FFFF
}

/// The offset of a resource's contents, and its name in four strings. The name is
/// `/module/parent/base.extension`; the separator of an empty string (offset 0) is missing too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Location {
    pub(super) module: u32,
    pub(super) parent: u32,
    pub(super) base: u32,
    pub(super) extension: u32,
    /// Offset of the contents from the end of the index.
    pub(super) offset: u64,
    /// Size in the file in bytes; 0 if not compressed.
    pub(super) compressed: u64,
    /// Size of the contents, in bytes.
    pub(super) size: u64,
    /// Flags of other versions, for `--enable-preview` or without it ([`Version::Previews`]).
    pub(super) previews: u32,
}

impl Location {
    /// Reads a location. A byte gives the attribute and the number of bytes that follow, the
    /// highest first. 0 ends the location.
    pub(super) fn read(bytes: &[u8], version: Version) -> Option<Location> {
        let mut values = [0u64; 9];
        let mut rest = bytes;
        loop {
            let (&tag, more) = rest.split_first()?;
            let (kind, len) = (tag >> 3, usize::from(tag & 7) + 1);
            if kind == 0 {
                break;
            }
            if kind > version.attributes() {
                return None;
            }
            let (value, more) = more.split_at_checked(len)?;
            let slot = values.get_mut(usize::from(kind))?;
            *slot = value.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
            rest = more;
        }
        let word = |kind: usize| u32::try_from(values[kind]).ok();
        Some(Location {
            module: word(1)?,
            parent: word(2)?,
            base: word(3)?,
            extension: word(4)?,
            offset: values[5],
            compressed: values[6],
            size: values[7],
            previews: word(8)?,
        })
    }

    /// Appends the location: each attribute that is not 0, in as few bytes as possible.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let strings = [self.module, self.parent, self.base, self.extension].map(u64::from);
        let values =
            strings.into_iter().chain([self.offset, self.compressed, self.size, self.previews.into()]);
        for (kind, value) in (1u8..).zip(values) {
            if value != 0 {
                let len = (71 - value.leading_zeros() as usize) / 8;
                out.push(kind << 3 | (len as u8 - 1));
                out.extend_from_slice(&value.to_be_bytes()[8 - len..]);
            }
        }
        out.push(0);
    }

    /// Size of the contents in the file, in bytes.
    pub(super) fn stored(&self) -> u64 {
        if self.compressed == 0 { self.size } else { self.compressed }
    }
}

/// Modified UTF-8, without the encoding of U+0000, which no name may contain: characters beyond
/// U+FFFF are two surrogates of three bytes each (JVMS 4.4.7).
pub(super) fn modified_utf8(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        if u32::from(c) <= 0xFFFF {
            bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        } else {
            for &mut unit in c.encode_utf16(&mut [0; 2]) {
                let six = |shift: u32| 0x80 | (unit >> shift) as u8 & 0x3F;
                bytes.extend([0xE0 | (unit >> 12) as u8, six(6), six(0)]);
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_read_as_they_are_written() {
        let location = Location {
            module: 1,
            parent: 0,
            base: 0x1234,
            extension: 0xFF,
            offset: 0x100,
            compressed: 0,
            size: u64::MAX,
            previews: 0,
        };
        let mut bytes = Vec::new();
        location.write(&mut bytes);
        assert_eq!(bytes[..7], [1 << 3, 1, 3 << 3 | 1, 0x12, 0x34, 4 << 3, 0xFF]);
        assert_eq!(Location::read(&bytes, Version::Plain), Some(location));
        for len in 0..bytes.len() {
            assert_eq!(Location::read(&bytes[..len], Version::Plain), None, "cut to {len} bytes");
        }
        assert_eq!(Location::read(&[9 << 3, 1, 0], Version::Previews), None);
    }

    #[test]
    fn versions_of_resources_are_known_since_1_1() {
        let location = Location { module: 1, previews: 6, ..Location::default() };
        let mut bytes = Vec::new();
        location.write(&mut bytes);
        assert_eq!(bytes, [1 << 3, 1, 8 << 3, 6, 0]);
        assert_eq!(Location::read(&bytes, Version::Previews), Some(location));
        assert_eq!(Location::read(&bytes, Version::Plain), None);
    }

    #[test]
    fn headers_are_read_as_they_are_written_in_either_order() {
        for order in [Order::Little, Order::Big] {
            for version in [Version::Plain, Version::Previews] {
                let header = Header { order, version, resources: 1, slots: 2, locations: 3, strings: 4 };
                assert_eq!(Header::read(&header.write()), Ok(header));
                assert_eq!(header.index_bytes(), 28 + 16 + 3 + 4);
            }
        }
    }

    #[test]
    fn supplementary_characters_are_two_surrogates() {
        assert_eq!(modified_utf8("a/\u{e9}"), "a/\u{e9}".as_bytes());
        assert_eq!(modified_utf8("\u{1F600}"), [0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80]);
    }
}
