//! The bytes of a `.cct` file, below what they mean: sections with their checksums, and the fields inside them.

use crate::read::{Problem, ReadError};
use std::io::{self, Read, Write};

pub(crate) const MAGIC: [u8; 8] = *b"\x89CCT\r\n\x1A\n";
pub(crate) const VERSION: u32 = 1;

/// A section whose checksum is right.
pub(crate) struct Section {
    pub(crate) tag: [u8; 4],
    /// Where the section starts in the file.
    start: u64,
    payload: Vec<u8>,
}

/// Tag and length.
const SECTION_HEAD: u64 = 12;

impl Section {
    fn error(&self, offset: u64, problem: Problem) -> ReadError {
        ReadError::Section { section: self.tag.escape_ascii().to_string(), offset, problem }
    }

    pub(crate) fn at_start(&self, problem: Problem) -> ReadError {
        self.error(self.start, problem)
    }

    pub(crate) fn fields(&self) -> Fields<'_> {
        Fields { section: self, at: 0 }
    }
}

/// The sections of a file, one after the other.
pub(crate) struct Sections<R> {
    input: R,
    offset: u64,
}

impl<R: Read> Sections<R> {
    /// Checks the file's first bytes.
    pub(crate) fn of(input: R) -> Result<Sections<R>, ReadError> {
        let mut sections = Sections { input, offset: 0 };
        sections.start()?;
        Ok(sections)
    }

    /// How many bytes of the file have been read.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Up to `length` bytes; fewer only where the file ends.
    fn bytes(&mut self, length: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.input.by_ref().take(length).read_to_end(&mut bytes)?;
        self.offset += bytes.len() as u64;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> io::Result<Option<[u8; N]>> {
        Ok(self.bytes(N as u64)?.try_into().ok())
    }

    fn start(&mut self) -> Result<(), ReadError> {
        let magic = self.bytes(MAGIC.len() as u64)?;
        if magic != MAGIC {
            // CR LF to LF, or LF to CR LF: the byte behind "CCT" tells.
            let mangled = magic.starts_with(b"\x89CCT\n")
                || magic.starts_with(b"\x89CCT\r\r")
                || magic.starts_with(b"\x09CCT");
            return Err(if mangled { ReadError::TextMode } else { ReadError::NotAProfile });
        }
        match self.array()?.map(u32::from_be_bytes) {
            Some(VERSION) => Ok(()),
            Some(other) => Err(ReadError::Version(other)),
            None => Err(ReadError::NotAProfile),
        }
    }

    /// The next whole section; `None` at the end of the file, be it in the middle of a section.
    pub(crate) fn next(&mut self) -> Result<Option<Section>, ReadError> {
        let start = self.offset;
        let Some(tag) = self.array::<4>()? else { return Ok(None) };
        let Some(length) = self.array()?.map(u64::from_be_bytes) else { return Ok(None) };
        let payload = self.bytes(length)?;
        let Some(stored) = self.array()?.map(u32::from_be_bytes) else { return Ok(None) };
        let section = Section { tag, start, payload };
        let computed = checksum(tag, &section.payload);
        if stored != computed {
            return Err(section.at_start(Problem::Checksum { stored, computed }));
        }
        Ok(Some(section))
    }
}

/// CRC-32 over tag, length and payload.
fn checksum(tag: [u8; 4], payload: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&tag);
    crc.update(&(payload.len() as u64).to_be_bytes());
    crc.update(payload);
    crc.finalize()
}

/// The fields of one section, in their order.
pub(crate) struct Fields<'a> {
    section: &'a Section,
    at: usize,
}

impl<'a> Fields<'a> {
    pub(crate) fn error(&self, problem: Problem) -> ReadError {
        self.section.error(self.section.start + SECTION_HEAD + self.at as u64, problem)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.at == self.section.payload.len()
    }

    pub(crate) fn end(&self) -> Result<(), ReadError> {
        if self.is_empty() { Ok(()) } else { Err(self.error(Problem::TrailingBytes)) }
    }

    fn bytes(&mut self, length: u64) -> Result<&'a [u8], ReadError> {
        let rest = &self.section.payload[self.at..];
        let bytes = usize::try_from(length).ok().and_then(|length| rest.get(..length));
        let bytes = bytes.ok_or_else(|| self.error(Problem::ShortField))?;
        self.at += bytes.len();
        Ok(bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, ReadError> {
        Ok(self.bytes(8)?.iter().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    /// Unsigned LEB128.
    pub(crate) fn varint(&mut self) -> Result<u64, ReadError> {
        let mut value = 0;
        for (i, &byte) in self.section.payload[self.at..].iter().take(10).enumerate() {
            // The tenth byte holds bit 63 alone.
            if i == 9 && byte > 1 {
                return Err(self.error(Problem::NumberTooLarge));
            }
            value |= u64::from(byte & 0x7F) << (7 * i);
            if byte & 0x80 == 0 {
                self.at += i + 1;
                return Ok(value);
            }
        }
        Err(self.error(Problem::ShortField))
    }

    pub(crate) fn string(&mut self) -> Result<&'a str, ReadError> {
        let length = self.varint()?;
        let bytes = self.bytes(length)?;
        std::str::from_utf8(bytes).map_err(|_| self.error(Problem::NotUtf8))
    }

    /// A varint that is an index into `table`.
    pub(crate) fn entry<'t, T>(&mut self, what: &'static str, table: &'t [T]) -> Result<&'t T, ReadError> {
        let index = self.varint()?;
        let entry = usize::try_from(index).ok().and_then(|i| table.get(i));
        entry.ok_or_else(|| self.error(Problem::NoSuchEntry { what, index, count: table.len() }))
    }
}

/// Writes a section.
pub(crate) fn section(out: &mut dyn Write, tag: [u8; 4], payload: &[u8]) -> io::Result<()> {
    out.write_all(&tag)?;
    out.write_all(&(payload.len() as u64).to_be_bytes())?;
    out.write_all(payload)?;
    out.write_all(&checksum(tag, payload).to_be_bytes())
}

/// Appends a string field.
pub(crate) fn string(out: &mut Vec<u8>, string: &str) {
    varint(out, string.len() as u64);
    out.extend(string.as_bytes());
}

/// Appends an unsigned LEB128.
pub(crate) fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
