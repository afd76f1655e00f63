//! Big-endian reading with bounds checks, and writing.

use crate::error::{Error, ErrorKind, Result};

/// A reader over a part of the class file that knows its offset in the whole.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    /// The bytes not read yet.
    rest: &'a [u8],
    /// Offset in the class file of the end of `rest`.
    end: usize,
}

impl<'a> Cursor<'a> {
    /// A cursor over `bytes`, which begin at offset `base` of the class file.
    pub fn new(bytes: &'a [u8], base: usize) -> Self {
        Cursor { rest: bytes, end: base + bytes.len() }
    }

    /// Offset in the class file of the next byte.
    pub fn offset(&self) -> usize {
        self.end - self.rest.len()
    }

    /// The bytes not read yet.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Number of bytes not read yet.
    pub fn remaining(&self) -> usize {
        self.rest.len()
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
        match self.rest.split_at_checked(n) {
            Some((slice, rest)) => {
                self.rest = rest;
                Ok(slice)
            }
            None => Err(self.truncated(n)),
        }
    }

    /// The next `N` bytes, by value.
    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        match self.rest.split_first_chunk() {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(*bytes)
            }
            None => Err(self.truncated(N)),
        }
    }

    #[cold]
    fn truncated(&self, needed: usize) -> Error {
        self.error(ErrorKind::Truncated { needed, available: self.remaining() })
    }

    /// An unsigned byte.
    #[inline]
    pub fn u1(&mut self) -> Result<u8> {
        Ok(u8::from_be_bytes(self.array()?))
    }

    /// An unsigned 16-bit number.
    #[inline]
    pub fn u2(&mut self) -> Result<u16> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    /// An unsigned 32-bit number.
    #[inline]
    pub fn u4(&mut self) -> Result<u32> {
        Ok(u32::from_be_bytes(self.array()?))
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
