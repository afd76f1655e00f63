//! Big-endian reading with bounds checks, and writing.

use crate::error::{Error, ErrorKind, Result};

/// A reader over a part of the class file that knows its offset in the whole.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    position: usize,
    base: usize,
}

impl<'a> Cursor<'a> {
    /// A cursor over `bytes`, which begin at offset `base` of the class file.
    pub fn new(bytes: &'a [u8], base: usize) -> Self {
        Cursor { bytes, position: 0, base }
    }

    /// Offset in the class file of the next byte.
    pub fn offset(&self) -> usize {
        self.base + self.position
    }

    /// Bytes read so far.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Bytes not read yet.
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// Whether all bytes were read.
    pub fn is_empty(&self) -> bool {
        self.remaining() == 0
    }

    /// An error of this kind at the next byte.
    #[cold]
    pub fn error(&self, kind: ErrorKind) -> Error {
        Error::at(kind, self.offset())
    }

    /// The next `n` bytes.
    #[inline]
    pub fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        match self.bytes.get(self.position..).and_then(|rest| rest.get(..n)) {
            Some(slice) => {
                self.position += n;
                Ok(slice)
            }
            None => Err(self.error(ErrorKind::Truncated { needed: n, available: self.remaining() })),
        }
    }

    /// An unsigned byte.
    #[inline]
    pub fn u1(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    /// An unsigned 16-bit number.
    #[inline]
    pub fn u2(&mut self) -> Result<u16> {
        let b = self.take(2)?;
        Ok(u16::from_be_bytes([b[0], b[1]]))
    }

    /// An unsigned 32-bit number.
    #[inline]
    pub fn u4(&mut self) -> Result<u32> {
        let b = self.take(4)?;
        Ok(u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
    }

    /// Fails unless everything was read.
    pub fn finish(&self) -> Result<()> {
        if self.is_empty() { Ok(()) } else { Err(self.error(ErrorKind::TrailingBytes(self.remaining()))) }
    }
}

/// A big-endian `u2` at `at`; `at + 2` must lie inside `bytes` (callers checked it when they
/// parsed).
#[inline]
pub(crate) fn u2_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// A big-endian `u4` at `at`; `at + 4` must lie inside `bytes` (callers checked it when they
/// parsed).
#[inline]
pub(crate) fn u4_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Appending big-endian numbers to a byte vector.
pub trait PutBytes {
    /// Appends one byte.
    fn put1(&mut self, v: u8);
    /// Appends two bytes.
    fn put2(&mut self, v: u16);
    /// Appends four bytes.
    fn put4(&mut self, v: u32);
    /// Appends eight bytes.
    fn put8(&mut self, v: u64);
}

impl PutBytes for Vec<u8> {
    #[inline]
    fn put1(&mut self, v: u8) {
        self.push(v);
    }
    #[inline]
    fn put2(&mut self, v: u16) {
        self.extend_from_slice(&v.to_be_bytes());
    }
    #[inline]
    fn put4(&mut self, v: u32) {
        self.extend_from_slice(&v.to_be_bytes());
    }
    #[inline]
    fn put8(&mut self, v: u64) {
        self.extend_from_slice(&v.to_be_bytes());
    }
}
