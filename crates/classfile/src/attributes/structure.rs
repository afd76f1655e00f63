//! Reading and writing of the structures inside attributes, by one interface.

use crate::bytes::{Cursor, PutBytes};
use crate::constant_pool::{ConstantPool, Index};
use crate::error::{Error, ErrorKind, Result};

/// Maximum depth of nested annotations and arrays in an annotation's value. The JVMS sets no limit.
/// javac's own code nests two or three deep, and the limit keeps a hostile file from exhausting the
/// stack.
pub const MAX_VALUE_DEPTH: u16 = 250;

/// A part of an attribute. Writing a value that was read yields the same bytes.
pub trait Structure<'a>: Sized {
    /// Length in bytes of the shortest encoding. It bounds allocation: a larger announced count
    /// allocates nothing.
    const MIN_LENGTH: usize;
    /// Name of several of these in an error.
    const PLURAL: &'static str;

    /// Reads one value, checking its structure and the kinds of the constants that it names.
    fn read(r: &mut Reader<'a, '_>) -> Result<Self>;

    /// Appends its encoding.
    fn write(&self, out: &mut Vec<u8>) -> Result<()>;
}

/// A reader of one attribute's content.
#[derive(Debug)]
pub struct Reader<'a, 'p> {
    cursor: Cursor<'a>,
    pool: &'p ConstantPool<'a>,
    depth: u16,
}

impl<'a, 'p> Reader<'a, 'p> {
    /// A reader of the bytes of `cursor`, which looks up indices in `pool`.
    pub fn new(cursor: Cursor<'a>, pool: &'p ConstantPool<'a>) -> Self {
        Reader { cursor, pool, depth: 0 }
    }

    /// The next structure.
    pub fn read<T: Structure<'a>>(&mut self) -> Result<T> {
        T::read(self)
    }

    /// An unsigned byte.
    pub fn u1(&mut self) -> Result<u8> {
        self.cursor.u1()
    }

    /// An unsigned 16-bit number.
    pub fn u2(&mut self) -> Result<u16> {
        self.cursor.u2()
    }

    /// An unsigned 32-bit number.
    pub fn u4(&mut self) -> Result<u32> {
        self.cursor.u4()
    }

    /// The next `n` bytes.
    pub fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        self.cursor.take(n)
    }

    /// All bytes not read yet.
    pub fn rest(&mut self) -> &'a [u8] {
        // That many bytes exist.
        self.cursor.take(self.cursor.remaining()).unwrap_or_default()
    }

    /// Offset in the class file of the next byte.
    pub fn offset(&self) -> usize {
        self.cursor.offset()
    }

    /// An index of a constant that `check` accepts.
    pub fn index<T>(&mut self, check: impl FnOnce(&ConstantPool<'a>, Index) -> Result<T>) -> Result<Index> {
        let at = self.cursor.offset();
        let index = self.cursor.u2()?;
        match check(self.pool, index) {
            Ok(_) => Ok(index),
            Err(e) => Err(Error::at(e.kind().clone(), at)),
        }
    }

    /// An index that is 0, or that of a constant that `check` accepts.
    pub fn optional_index<T>(
        &mut self,
        check: impl FnOnce(&ConstantPool<'a>, Index) -> Result<T>,
    ) -> Result<Index> {
        self.index(|pool, index| if index == 0 { Ok(()) } else { check(pool, index).map(drop) })
    }

    /// An index of a constant with one of these tags.
    pub fn index_tagged(&mut self, tags: &[u8], expected: &'static str) -> Result<Index> {
        self.index(|pool, index| match pool.tag(index) {
            Some(tag) if tags.contains(&tag) => Ok(()),
            _ => Err(ErrorKind::BadIndex { index, expected }.into()),
        })
    }

    /// `count` structures, one after the other.
    pub fn list<T: Structure<'a>>(&mut self, count: usize) -> Result<Vec<T>> {
        let mut list = Vec::with_capacity(count.min(self.cursor.remaining() / T::MIN_LENGTH));
        for _ in 0..count {
            list.push(T::read(self)?);
        }
        Ok(list)
    }

    /// Runs `read` one level deeper in an annotation's value.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == MAX_VALUE_DEPTH {
            let kind = ErrorKind::Malformed("annotation values are nested more than 250 levels deep");
            return Err(self.cursor.error(kind));
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    /// Fails unless everything was read.
    pub fn finish(&self) -> Result<()> {
        self.cursor.finish()
    }
}

/// A table after its `u2` count, as most tables are.
impl<'a, T: Structure<'a>> Structure<'a> for Vec<T> {
    const MIN_LENGTH: usize = 2;
    const PLURAL: &'static str = "tables";

    fn read(r: &mut Reader<'a, '_>) -> Result<Self> {
        let count = r.u2()?;
        r.list(usize::from(count))
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        let count = u16::try_from(self.len()).map_err(|_| ErrorKind::TooMany(T::PLURAL))?;
        out.put2(count);
        self.iter().try_for_each(|item| item.write(out))
    }
}

/// A plain number, such as flags.
impl Structure<'_> for u16 {
    const MIN_LENGTH: usize = 2;
    const PLURAL: &'static str = "numbers";

    fn read(r: &mut Reader<'_, '_>) -> Result<Self> {
        r.u2()
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        out.put2(*self);
        Ok(())
    }
}
