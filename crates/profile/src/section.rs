//! The container format of a `.cct` file: sections with their checksums, and the fields inside
//! them.

use crate::{Problem, ReadError};
use std::collections::VecDeque;
use std::io::{self, Read, Write};

pub(crate) const MAGIC: [u8; 8] = *b"\x89CCT\r\n\x1A\n";
/// Format version of files without call sites.
pub(crate) const VERSION: u32 = 1;
/// Format version of files with call sites; that is the only difference.
pub(crate) const SITES_SINCE: u32 = 2;
/// Format version of files with counted objects; types among the methods are the only difference.
/// Not 3: a single wrong bit would turn it into one of the others.
pub(crate) const TYPES_SINCE: u32 = 4;
/// Format version of files with columns besides calls and bytecodes: their cells are among the
/// nodes. It differs from each of the others by two bits.
pub(crate) const COLUMNS_SINCE: u32 = 7;

/// A section with a correct checksum.
pub(crate) struct Section {
    pub(crate) tag: [u8; 4],
    /// Offset of the section in the file.
    start: u64,
    payload: Vec<u8>,
}

/// Size of tag and length, in bytes.
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

/// The next thing in a file.
pub(crate) enum Step {
    /// A complete section.
    Section(Section),
    /// The file ends after a section.
    End,
    /// The file ends in the middle of the section at this offset.
    Cut(u64),
    /// A section with a wrong checksum: its offset, and the error to report if recovery fails.
    Damaged(u64, ReadError),
}

/// Reader of the sections of a file, in sequence.
pub(crate) struct Sections<R> {
    input: R,
    version: u32,
    offset: u64,
    /// Bytes that were read and will be read again, the first of them at `offset`.
    again: VecDeque<u8>,
    /// The bytes of the previous step, in which the search for sound sections starts.
    last: Vec<u8>,
}

/// Maximum size of a thread's section, in bytes: three numbers.
const LONGEST_THREAD: u64 = 30;

/// Maximum number of candidates for a large section in the search for sound ones: each costs as
/// much as reading it.
const LARGE_CANDIDATES: usize = 16;

impl<R: Read> Sections<R> {
    /// Checks the file's first bytes.
    pub(crate) fn of(input: R) -> Result<Sections<R>, ReadError> {
        let mut sections =
            Sections { input, version: 0, offset: 0, again: VecDeque::new(), last: Vec::new() };
        sections.start()?;
        Ok(sections)
    }

    /// The version of the file's format.
    pub(crate) fn version(&self) -> u32 {
        self.version
    }

    /// Number of bytes of the file read so far.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads up to `length` bytes; fewer only at the end of the file.
    fn bytes(&mut self, length: u64) -> io::Result<Vec<u8>> {
        let known = usize::try_from(length).map_or(self.again.len(), |length| length.min(self.again.len()));
        let mut bytes: Vec<u8> = self.again.drain(..known).collect();
        self.input.by_ref().take(length - known as u64).read_to_end(&mut bytes)?;
        self.offset += bytes.len() as u64;
        self.last.extend(&bytes);
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> io::Result<Option<[u8; N]>> {
        Ok(self.bytes(N as u64)?.try_into().ok())
    }

    fn start(&mut self) -> Result<(), ReadError> {
        let magic = self.bytes(MAGIC.len() as u64)?;
        if magic != MAGIC {
            // CR LF to LF, or LF to CR LF: the byte after "CCT" shows which.
            let mangled = magic.starts_with(b"\x89CCT\n")
                || magic.starts_with(b"\x89CCT\r\r")
                || magic.starts_with(b"\x09CCT");
            return Err(if mangled { ReadError::TextMode } else { ReadError::NotAProfile });
        }
        match self.array()?.map(u32::from_be_bytes) {
            Some(version @ (VERSION | SITES_SINCE | TYPES_SINCE | COLUMNS_SINCE)) => {
                self.version = version;
                Ok(())
            }
            Some(other) => Err(ReadError::Version(other)),
            None => Err(ReadError::NotAProfile),
        }
    }

    /// The next section, or the reason why there is none.
    pub(crate) fn next(&mut self) -> Result<Step, ReadError> {
        let start = self.offset;
        self.last.clear();
        let Some(tag) = self.array::<4>()? else {
            return Ok(if self.offset == start { Step::End } else { Step::Cut(start) });
        };
        let Some(length) = self.array()?.map(u64::from_be_bytes) else { return Ok(Step::Cut(start)) };
        let payload = self.bytes(length)?;
        let Some(stored) = self.array()?.map(u32::from_be_bytes) else { return Ok(Step::Cut(start)) };
        let section = Section { tag, start, payload };
        let computed = checksum(tag, &section.payload);
        if stored != computed {
            return Ok(Step::Damaged(start, section.at_start(Problem::Checksum { stored, computed })));
        }
        Ok(Step::Section(section))
    }

    /// Searches for the first sound section with one of these tags, in or after the bytes that
    /// [`Sections::next`] has just found damaged. A damaged length may be any number, so the bytes
    /// that it skipped are searched, too.
    pub(crate) fn find(&mut self, tags: &[&[u8; 4]]) -> Result<Option<Section>, ReadError> {
        let mut large = 0;
        self.step_back();
        // One byte further each time.
        while !self.bytes(1)?.is_empty() && self.seek(tags)? {
            let (head, _) = self.again.as_slices();
            let Some((tag, length)) = head.split_first_chunk::<4>() else { continue };
            let length = length.first_chunk().map(|length| u64::from_be_bytes(*length));
            let may_be = match (tag, length) {
                (_, None) => false,
                (b"THRD", Some(length)) => length <= LONGEST_THREAD,
                (b"DONE", Some(length)) => length == 0,
                _ => {
                    large += 1;
                    large <= LARGE_CANDIDATES
                }
            };
            if may_be {
                if let Step::Section(section) = self.next()? {
                    return Ok(Some(section));
                }
                self.step_back();
            }
        }
        Ok(None)
    }

    /// Moves to the next of these tags, with the length after it in memory; false at the end of the
    /// file.
    fn seek(&mut self, tags: &[&[u8; 4]]) -> io::Result<bool> {
        loop {
            let known = self.again.make_contiguous();
            let place = known.windows(4).position(|four| tags.iter().any(|tag| *tag == four));
            // The last three bytes may be the start of a tag.
            let passed = place.unwrap_or(known.len().saturating_sub(3));
            self.again.drain(..passed);
            self.offset += passed as u64;
            let is_enough = self.again.len() >= SECTION_HEAD as usize;
            let mut more = Vec::new();
            if place.is_none() || !is_enough {
                self.input.by_ref().take(READ_AHEAD).read_to_end(&mut more)?;
                self.again.extend(&more);
                self.again.make_contiguous();
            }
            if place.is_some() || more.is_empty() {
                return Ok(place.is_some());
            }
        }
    }

    /// Makes the bytes of the last step readable again.
    fn step_back(&mut self) {
        self.offset -= self.last.len() as u64;
        for byte in self.last.drain(..).rev() {
            self.again.push_front(byte);
        }
    }
}

/// Number of bytes read at once in the search for sound sections.
const READ_AHEAD: u64 = 1 << 16;

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
