//! The bytes of a `.cct` file, below what they mean: sections with their checksums, and the fields
//! inside them.

use crate::read::{Problem, ReadError};
use std::collections::VecDeque;
use std::io::{self, Read, Write};

pub(crate) const MAGIC: [u8; 8] = *b"\x89CCT\r\n\x1A\n";
/// The version of the format of files without call sites.
pub(crate) const VERSION: u32 = 1;
/// The version of files that have some; what is new in it is nothing else.
pub(crate) const SITES_SINCE: u32 = 2;
/// The version of files of programs whose objects are counted; what is new in it are types among
/// the methods. Not 3: a single wrong bit would make it one of the others.
pub(crate) const TYPES_SINCE: u32 = 4;
/// The version of files with columns beside calls and bytecodes: their cells are among the nodes.
/// It differs from each of the others by two bits.
pub(crate) const COLUMNS_SINCE: u32 = 7;

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

/// What comes next in a file.
pub(crate) enum Step {
    /// A whole section.
    Section(Section),
    /// The file ends behind a section.
    End,
    /// The file ends in the middle of a section, which starts here.
    Cut(u64),
    /// A section whose checksum is wrong; where it starts, and what is to be said if nothing can be
    /// done.
    Damaged(u64, ReadError),
}

/// The sections of a file, one after the other.
pub(crate) struct Sections<R> {
    input: R,
    version: u32,
    offset: u64,
    /// Bytes that were read and are to be read again, the first of them at `offset`.
    again: VecDeque<u8>,
    /// The bytes of the step before, from which on sound sections may be looked for.
    last: Vec<u8>,
}

/// The most bytes that the section of a thread takes: three numbers.
const LONGEST_THREAD: u64 = 30;

/// How often the beginning of a large section is believed, where sound ones are looked for: each
/// time costs as much as reading it.
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

    /// How many bytes of the file have been read.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Up to `length` bytes; fewer only where the file ends.
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
            // CR LF to LF, or LF to CR LF: the byte behind "CCT" tells.
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

    /// The next section, or why there is none.
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

    /// The first sound section with one of these tags that begins within what [`Sections::next`]
    /// has just found to be damaged, or behind it. A length that was damaged leads anywhere, so
    /// what it led over is looked through, too.
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

    /// Goes to where one of the tags stands, with the length behind it at hand; false at the file's
    /// end.
    fn seek(&mut self, tags: &[&[u8; 4]]) -> io::Result<bool> {
        loop {
            let known = self.again.make_contiguous();
            let place = known.windows(4).position(|four| tags.iter().any(|tag| *tag == four));
            // The last three bytes may be the beginning of a tag.
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

    /// Has the bytes of the last step read again.
    fn step_back(&mut self) {
        self.offset -= self.last.len() as u64;
        for byte in self.last.drain(..).rev() {
            self.again.push_front(byte);
        }
    }
}

/// How much is read at once where sound sections are looked for.
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
