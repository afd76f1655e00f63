//! The constant pool (JVMS 4.4): read in place, kept in order, and extended only at its end.
//!
//! Indices into the pool occur throughout a class file, even in attributes that this crate does not
//! know. So an edited class keeps the old constants at their positions, byte for byte, and new ones
//! follow them.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::bytes::{Cursor, PutBytes, u2_at, u4_at};
use crate::error::{Error, ErrorKind, Result};
use crate::mutf8;
use crate::names::{MemberRef, NameAndType};

/// Index of a constant; 0 names no constant.
pub type Index = u16;

/// Constant-pool tags (JVMS table 4.4-A).
#[allow(missing_docs)]
pub mod tag {
    pub const UTF8: u8 = 1;
    pub const INTEGER: u8 = 3;
    pub const FLOAT: u8 = 4;
    pub const LONG: u8 = 5;
    pub const DOUBLE: u8 = 6;
    pub const CLASS: u8 = 7;
    pub const STRING: u8 = 8;
    pub const FIELDREF: u8 = 9;
    pub const METHODREF: u8 = 10;
    pub const INTERFACE_METHODREF: u8 = 11;
    pub const NAME_AND_TYPE: u8 = 12;
    pub const METHOD_HANDLE: u8 = 15;
    pub const METHOD_TYPE: u8 = 16;
    pub const DYNAMIC: u8 = 17;
    pub const INVOKE_DYNAMIC: u8 = 18;
    pub const MODULE: u8 = 19;
    pub const PACKAGE: u8 = 20;
}

/// Length in bytes of a constant after its tag, by tag; 0 for undefined tags. That of `Utf8` is
/// without its text.
const PAYLOAD: [u8; 21] = [0, 2, 0, 4, 4, 8, 8, 2, 2, 4, 4, 4, 4, 0, 0, 3, 2, 4, 4, 2, 2];

/// A `CONSTANT_Fieldref`, `CONSTANT_Methodref` or `CONSTANT_InterfaceMethodref`: what it names, and
/// the constants by which it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberConstant<'p> {
    /// The constant's tag.
    pub tag: u8,
    /// Index of the `CONSTANT_Class` of the owner.
    pub class_index: Index,
    /// Index of the name.
    pub name_index: Index,
    /// Index of the descriptor.
    pub descriptor_index: Index,
    /// The member.
    pub member: MemberRef<'p>,
}

/// The constants of one class file. Strings are modified UTF-8 bytes, borrowed from the file.
#[derive(Debug, Clone)]
pub struct ConstantPool<'a> {
    file: &'a [u8],
    /// Offset in `file` of each constant's tag; 0 for index 0 and for the unusable second halves of
    /// longs and doubles.
    offsets: Vec<u32>,
    end: usize,
}

impl<'a> ConstantPool<'a> {
    /// Parses the pool, including its count, at the cursor, which reads `file` from offset 0.
    pub(crate) fn parse(file: &'a [u8], cursor: &mut Cursor<'a>) -> Result<Self> {
        let count = cursor.u2()? as usize;
        if count == 0 {
            return Err(cursor.error(ErrorKind::Malformed("constant_pool_count is 0")));
        }
        let mut offsets = Vec::with_capacity(count);
        offsets.push(0);
        while offsets.len() < count {
            let at = cursor.offset();
            let (tag, payload) = match *cursor.rest() {
                [tag::UTF8, high, low, ..] => (tag::UTF8, 2 + usize::from(u16::from_be_bytes([high, low]))),
                [tag, ..] => match PAYLOAD.get(usize::from(tag)) {
                    Some(&length) if length > 0 => (tag, usize::from(length)),
                    _ => return Err(Error::at(ErrorKind::BadTag(tag), at)),
                },
                [] => (0, 0),
            };
            cursor.take(1 + payload)?;
            offsets.push(at as u32);
            if matches!(tag, tag::LONG | tag::DOUBLE) {
                if offsets.len() >= count {
                    return Err(Error::at(ErrorKind::Malformed("a long or double has no second index"), at));
                }
                offsets.push(0);
            }
        }
        Ok(ConstantPool { file, offsets, end: cursor.offset() })
    }

    /// `constant_pool_count`: one more than the largest index.
    pub fn count(&self) -> u16 {
        self.offsets.len() as u16
    }

    /// Offset in the class file of the first byte after the pool.
    pub fn end(&self) -> usize {
        self.end
    }

    /// The constants' bytes as in the file, without the count.
    pub fn raw(&self) -> &'a [u8] {
        &self.file[10..self.end]
    }

    /// Tag of a constant; `None` for index 0, indices out of range, and the second halves of longs
    /// and doubles.
    #[inline]
    pub fn tag(&self, index: Index) -> Option<u8> {
        match self.offsets.get(index as usize) {
            Some(&at) if at != 0 => Some(self.file[at as usize]),
            _ => None,
        }
    }

    #[inline]
    fn payload(&self, index: Index, wanted: u8, expected: &'static str) -> Result<usize> {
        match self.offsets.get(index as usize) {
            Some(&at) if at != 0 && self.file[at as usize] == wanted => Ok(at as usize + 1),
            _ => Err(bad_index(index, expected)),
        }
    }

    /// Bytes of a `CONSTANT_Utf8`: modified UTF-8, not checked (see [`crate::mutf8`]).
    #[inline]
    pub fn utf8(&self, index: Index) -> Result<&'a [u8]> {
        let at = self.offsets.get(index as usize).copied().unwrap_or_default() as usize;
        match &self.file[at..] {
            [tag::UTF8, high, low, rest @ ..] if at != 0 => {
                Ok(&rest[..usize::from(u16::from_be_bytes([*high, *low]))])
            }
            _ => Err(bad_index(index, "a CONSTANT_Utf8")),
        }
    }

    /// A `CONSTANT_Utf8`, decoded for people.
    pub fn utf8_lossy(&self, index: Index) -> Cow<'a, str> {
        self.utf8(index).map_or(Cow::Borrowed("?"), mutf8::decode_lossy)
    }

    /// Internal name (or array descriptor) of a `CONSTANT_Class`.
    #[inline]
    pub fn class(&self, index: Index) -> Result<&'a [u8]> {
        let at = self.payload(index, tag::CLASS, "a CONSTANT_Class")?;
        self.utf8(u2_at(self.file, at))
    }

    /// Name of a `CONSTANT_Module`.
    pub fn module(&self, index: Index) -> Result<&'a [u8]> {
        let at = self.payload(index, tag::MODULE, "a CONSTANT_Module")?;
        self.utf8(u2_at(self.file, at))
    }

    /// Name of a `CONSTANT_Package`.
    pub fn package(&self, index: Index) -> Result<&'a [u8]> {
        let at = self.payload(index, tag::PACKAGE, "a CONSTANT_Package")?;
        self.utf8(u2_at(self.file, at))
    }

    /// Text of a `CONSTANT_String`.
    pub fn string(&self, index: Index) -> Result<&'a [u8]> {
        let at = self.payload(index, tag::STRING, "a CONSTANT_String")?;
        self.utf8(u2_at(self.file, at))
    }

    /// Descriptor of a `CONSTANT_MethodType`.
    pub fn method_type(&self, index: Index) -> Result<&'a [u8]> {
        let at = self.payload(index, tag::METHOD_TYPE, "a CONSTANT_MethodType")?;
        self.utf8(u2_at(self.file, at))
    }

    /// Value of a `CONSTANT_Integer`.
    pub fn integer(&self, index: Index) -> Result<i32> {
        let at = self.payload(index, tag::INTEGER, "a CONSTANT_Integer")?;
        Ok(u4_at(self.file, at) as i32)
    }

    /// Value of a `CONSTANT_Float`.
    pub fn float(&self, index: Index) -> Result<f32> {
        let at = self.payload(index, tag::FLOAT, "a CONSTANT_Float")?;
        Ok(f32::from_bits(u4_at(self.file, at)))
    }

    /// Value of a `CONSTANT_Long`.
    pub fn long(&self, index: Index) -> Result<i64> {
        let at = self.payload(index, tag::LONG, "a CONSTANT_Long")?;
        Ok(((u64::from(u4_at(self.file, at)) << 32) | u64::from(u4_at(self.file, at + 4))) as i64)
    }

    /// Value of a `CONSTANT_Double`.
    pub fn double(&self, index: Index) -> Result<f64> {
        let at = self.payload(index, tag::DOUBLE, "a CONSTANT_Double")?;
        Ok(f64::from_bits((u64::from(u4_at(self.file, at)) << 32) | u64::from(u4_at(self.file, at + 4))))
    }

    /// Kind (1 to 9, JVMS table 5.4.3.5-A) and reference index of a `CONSTANT_MethodHandle`.
    pub fn method_handle(&self, index: Index) -> Result<(u8, Index)> {
        let at = self.payload(index, tag::METHOD_HANDLE, "a CONSTANT_MethodHandle")?;
        Ok((self.file[at], u2_at(self.file, at + 1)))
    }

    /// Bootstrap-method index, and name and descriptor, of a `CONSTANT_Dynamic` or
    /// `CONSTANT_InvokeDynamic`.
    pub fn dynamic(&self, index: Index) -> Result<(u16, NameAndType<'a>)> {
        let at = match self.tag(index) {
            Some(tag::DYNAMIC | tag::INVOKE_DYNAMIC) => self.offsets[index as usize] as usize + 1,
            _ => {
                let expected = "a CONSTANT_Dynamic or CONSTANT_InvokeDynamic";
                return Err(Error::new(ErrorKind::BadIndex { index, expected }));
            }
        };
        Ok((u2_at(self.file, at), self.name_and_type(u2_at(self.file, at + 2))?))
    }

    /// Name and descriptor of a `CONSTANT_NameAndType`.
    pub fn name_and_type(&self, index: Index) -> Result<NameAndType<'a>> {
        let at = self.payload(index, tag::NAME_AND_TYPE, "a CONSTANT_NameAndType")?;
        Ok(NameAndType::new(self.utf8(u2_at(self.file, at))?, self.utf8(u2_at(self.file, at + 2))?))
    }

    /// The member that a `CONSTANT_Fieldref`, `CONSTANT_Methodref` or `CONSTANT_InterfaceMethodref`
    /// names.
    #[inline]
    pub fn member_ref(&self, index: Index) -> Result<MemberRef<'a>> {
        self.member_constant(index).map(|constant| constant.member)
    }

    /// The owner of the member that a `CONSTANT_Fieldref`, `CONSTANT_Methodref` or
    /// `CONSTANT_InterfaceMethodref` names.
    #[inline]
    pub fn member_class(&self, index: Index) -> Result<&'a [u8]> {
        match self.tag(index) {
            Some(tag::FIELDREF | tag::METHODREF | tag::INTERFACE_METHODREF) => {
                self.class(u2_at(self.file, self.offsets[index as usize] as usize + 1))
            }
            _ => Err(bad_index(index, "a field or method reference")),
        }
    }

    /// A `CONSTANT_Fieldref`, `CONSTANT_Methodref` or `CONSTANT_InterfaceMethodref`, with its tag
    /// and its indices.
    #[inline]
    pub fn member_constant(&self, index: Index) -> Result<MemberConstant<'a>> {
        let tag = match self.tag(index) {
            Some(t @ (tag::FIELDREF | tag::METHODREF | tag::INTERFACE_METHODREF)) => t,
            _ => {
                let expected = "a field or method reference";
                return Err(Error::new(ErrorKind::BadIndex { index, expected }));
            }
        };
        let at = self.offsets[index as usize] as usize + 1;
        let class_index = u2_at(self.file, at);
        let nt = self.payload(u2_at(self.file, at + 2), tag::NAME_AND_TYPE, "a CONSTANT_NameAndType")?;
        let (name_index, descriptor_index) = (u2_at(self.file, nt), u2_at(self.file, nt + 2));
        let (class, name) = (self.class(class_index)?, self.utf8(name_index)?);
        let member = MemberRef::new(class, name, self.utf8(descriptor_index)?);
        Ok(MemberConstant { tag, class_index, name_index, descriptor_index, member })
    }

    /// Index of the first `CONSTANT_Utf8` with these bytes. The search is linear, meant for a
    /// handful of names per class.
    pub fn find_utf8(&self, bytes: &[u8]) -> Option<Index> {
        (1..self.count()).find(|&i| self.tag(i) == Some(tag::UTF8) && self.utf8(i) == Ok(bytes))
    }

    /// All usable indices in order.
    pub fn indices(&self) -> impl Iterator<Item = Index> + '_ {
        self.tags().map(|(index, _)| index)
    }

    /// All usable indices in order, with the tags of their constants.
    pub fn tags(&self) -> impl Iterator<Item = (Index, u8)> + '_ {
        let offsets = (0..=Index::MAX).zip(&self.offsets).filter(|(_, at)| **at != 0);
        offsets.map(|(index, &at)| (index, self.file[at as usize]))
    }

    /// Checks the properties that parsing leaves unchecked: constants point to constants of the
    /// right kind, and strings are modified UTF-8.
    pub fn validate(&self) -> Result<()> {
        for index in self.indices() {
            let at = self.offsets[index as usize] as usize;
            self.validate_one(index, at + 1).map_err(|e| Error::at(e.kind().clone(), at))?;
        }
        Ok(())
    }

    fn validate_one(&self, index: Index, at: usize) -> Result<()> {
        let refer = || u2_at(self.file, at);
        match self.file[at - 1] {
            tag::UTF8 if mutf8::is_valid(self.utf8(index)?) => Ok(()),
            tag::UTF8 => Err(ErrorKind::BadUtf8.into()),
            tag::CLASS | tag::STRING | tag::METHOD_TYPE | tag::MODULE | tag::PACKAGE => {
                self.utf8(refer()).map(drop)
            }
            tag::FIELDREF | tag::METHODREF | tag::INTERFACE_METHODREF => self.member_ref(index).map(drop),
            tag::NAME_AND_TYPE => self.name_and_type(index).map(drop),
            tag::DYNAMIC | tag::INVOKE_DYNAMIC => self.dynamic(index).map(drop),
            tag::METHOD_HANDLE => {
                let (kind, reference) = self.method_handle(index)?;
                if !(1..=9).contains(&kind) {
                    return Err(ErrorKind::Malformed(
                        "reference_kind of a CONSTANT_MethodHandle is not 1 to 9",
                    )
                    .into());
                }
                self.check_handle_reference(kind, reference)
            }
            _ => Ok(()),
        }
    }
}

#[cold]
fn bad_index(index: Index, expected: &'static str) -> Error {
    Error::new(ErrorKind::BadIndex { index, expected })
}

impl ConstantPool<'_> {
    /// Checks the reference of a method handle of each kind (JVMS 4.4.8; static and private methods
    /// of interfaces since version 52).
    fn check_handle_reference(&self, kind: u8, reference: Index) -> Result<()> {
        let allowed: &[u8] = match kind {
            1..=4 => &[tag::FIELDREF],
            5 | 8 => &[tag::METHODREF],
            6 | 7 => &[tag::METHODREF, tag::INTERFACE_METHODREF],
            _ => &[tag::INTERFACE_METHODREF],
        };
        let MemberConstant { tag, member, .. } = self.member_constant(reference)?;
        if !allowed.contains(&tag) || (kind == 8) != (member.name == b"<init>") {
            let expected = "what a method handle of this kind refers to";
            return Err(Error::new(ErrorKind::BadIndex { index: reference, expected }));
        }
        Ok(())
    }
}

/// A `CONSTANT_Utf8` among the additions.
#[derive(Debug, Clone, Copy)]
struct Text {
    index: Index,
    length: u16,
    /// Offset of its text in the additions.
    start: u32,
    hash: u64,
}

impl Text {
    fn of<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        &bytes[self.start as usize..][..usize::from(self.length)]
    }
}

/// The next index, for a constant that takes this many.
fn claim(next: &mut usize, slots: usize) -> Result<Index> {
    // The last index is 65534: constant_pool_count itself must fit (JVMS 4.1).
    if *next + slots > 65535 {
        return Err(ErrorKind::PoolTooLarge.into());
    }
    let index = *next as Index;
    *next += slots;
    Ok(index)
}

/// Constants to be appended to a pool, each only once.
#[derive(Debug)]
pub struct PoolAdditions {
    first: u16,
    next: usize,
    bytes: Vec<u8>,
    /// Each `CONSTANT_Utf8`, found by its text, which only `bytes` holds.
    texts: HashTable<Text>,
    /// Index of each other constant, by its tag and content.
    others: FxHashMap<(u8, u64), Index>,
}

impl PoolAdditions {
    /// Additions to `pool`, at its end.
    pub fn new(pool: &ConstantPool<'_>) -> Self {
        let first = pool.count();
        PoolAdditions {
            first,
            next: first as usize,
            bytes: Vec::with_capacity(Self::USUAL_BYTES),
            texts: HashTable::with_capacity(Self::USUAL_TEXTS),
            others: FxHashMap::with_capacity_and_hasher(Self::USUAL_OTHERS, FxBuildHasher),
        }
    }

    // Room for the additions to most classes of a class library. It takes 4 KB for each class that
    // is being rewritten, and saves a hundredth of all instructions.
    const USUAL_BYTES: usize = 1024;
    const USUAL_TEXTS: usize = 28;
    const USUAL_OTHERS: usize = 56;

    /// `constant_pool_count` with the additions.
    pub fn count(&self) -> Result<u16> {
        u16::try_from(self.next).map_err(|_| ErrorKind::PoolTooLarge.into())
    }

    /// The added constants' bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether there are no additions.
    pub fn is_empty(&self) -> bool {
        self.next == self.first as usize
    }

    /// Index of a `CONSTANT_Utf8`, added if needed.
    pub fn utf8(&mut self, text: &[u8]) -> Result<Index> {
        let hash = FxBuildHasher.hash_one(text);
        if let Some(known) = self.texts.find(hash, |known| known.of(&self.bytes) == text) {
            return Ok(known.index);
        }
        let length = u16::try_from(text.len())
            .map_err(|_| Error::new(ErrorKind::TooMany("bytes in a name or descriptor")))?;
        let index = claim(&mut self.next, 1)?;
        self.bytes.put1(tag::UTF8);
        self.bytes.put2(length);
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(text);
        self.texts.insert_unique(hash, Text { index, length, start, hash }, |known| known.hash);
        Ok(index)
    }

    fn fixed(&mut self, tag: u8, value: u64, slots: usize) -> Result<Index> {
        let unclaimed = match self.others.entry((tag, value)) {
            Entry::Occupied(known) => return Ok(*known.get()),
            Entry::Vacant(unclaimed) => unclaimed,
        };
        let index = claim(&mut self.next, slots)?;
        unclaimed.insert(index);
        self.bytes.put1(tag);
        match PAYLOAD[tag as usize] {
            2 => self.bytes.put2(value as u16),
            4 => self.bytes.put4(value as u32),
            _ => self.bytes.put8(value),
        }
        Ok(index)
    }

    /// Index of a `CONSTANT_Class` whose name is at `name`, added if needed.
    pub fn class(&mut self, name: Index) -> Result<Index> {
        self.fixed(tag::CLASS, u64::from(name), 1)
    }

    /// Index of a `CONSTANT_Class` of this name, added if needed.
    pub fn class_named(&mut self, name: &[u8]) -> Result<Index> {
        let name = self.utf8(name)?;
        self.class(name)
    }

    /// Index of a `CONSTANT_Integer`, added if needed.
    pub fn integer(&mut self, value: i32) -> Result<Index> {
        self.fixed(tag::INTEGER, u64::from(value as u32), 1)
    }

    /// Index of a `CONSTANT_Long`, added if needed.
    pub fn long(&mut self, value: i64) -> Result<Index> {
        self.fixed(tag::LONG, value as u64, 2)
    }

    /// Index of a `CONSTANT_String` whose text is at `text`, added if needed.
    pub fn string(&mut self, text: Index) -> Result<Index> {
        self.fixed(tag::STRING, u64::from(text), 1)
    }

    /// Index of a `CONSTANT_NameAndType`, added if needed.
    pub fn name_and_type(&mut self, name: Index, descriptor: Index) -> Result<Index> {
        self.fixed(tag::NAME_AND_TYPE, u64::from(name) << 16 | u64::from(descriptor), 1)
    }

    /// Index of a reference with this tag to a member of the class at `class`, added if needed.
    pub fn member_of(&mut self, tag: u8, class: Index, member: NameAndType<'_>) -> Result<Index> {
        let (name, descriptor) = (self.utf8(member.name)?, self.utf8(member.descriptor)?);
        self.member_ref(tag, class, name, descriptor)
    }

    /// Index of a member reference with this tag, added if needed.
    pub fn member_ref(&mut self, tag: u8, class: Index, name: Index, descriptor: Index) -> Result<Index> {
        debug_assert!(matches!(tag, tag::FIELDREF | tag::METHODREF | tag::INTERFACE_METHODREF));
        let name_and_type = self.name_and_type(name, descriptor)?;
        self.fixed(tag, u64::from(class) << 16 | u64::from(name_and_type), 1)
    }
}
