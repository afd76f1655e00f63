//! A reader of an index in place: it finds classes by name and decodes them on demand.

use std::cmp::Ordering;

use xxhash_rust::xxh3::xxh3_64;

use crate::format::{CHECKSUM_MAGIC, CHECKSUM_SIZE, MAGIC, NONE, VERSION};
use crate::method_flags;
use crate::mid::{ClassHash, Mid, Shape};
use crate::positions::PackedPositions;
use crate::record::{ClassRecord, ForeignRecord, MethodRecord, NamedMethod};
use crate::treatment::Treatment;

/// An index that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The bytes are no index.
    #[error("not an index of cctrewrite")]
    NoIndex,
    /// A different version of cctrewrite wrote it.
    #[error("an index of version {0}, made by another cctrewrite; this one reads version {VERSION}")]
    Version(u32),
    /// It ends early, or its parts do not agree.
    #[error("a damaged index")]
    Damaged,
    /// The bytes have changed since they were written.
    #[error("a damaged index (its checksum differs)")]
    Checksum,
}

/// A reader over the bytes of an index.
#[derive(Debug, Clone, Copy)]
pub struct Index<B> {
    bytes: B,
    provenance: (usize, usize),
    strings: Table,
    classes: Table,
    foreign: Rows,
    methods: Rows,
    positions: Table,
}

/// A table of rows: a count, then rows of one size, sorted by the MID with which each begins.
#[derive(Debug, Clone, Copy)]
struct Rows {
    count: usize,
    first: usize,
    size: usize,
}

/// A table of items: a count, the offsets of all items and of the end, then the items.
#[derive(Debug, Clone, Copy)]
struct Table {
    count: usize,
    offsets: usize,
    items: usize,
}

/// The offsets of the parts of an index.
struct Parts {
    provenance: (usize, usize),
    strings: Table,
    classes: Table,
    foreign: Rows,
    methods: Rows,
    positions: Table,
}

impl Parts {
    /// The parts of these bytes, and the end of the last one; `None` if one exceeds the bytes.
    fn of(b: &[u8]) -> Option<(Parts, usize)> {
        let length = u4(b, 8)? as usize;
        let (strings, end) = Table::at(b, 12usize.checked_add(length)?)?;
        let (classes, end) = Table::at(b, end)?;
        let (foreign, end) = Rows::at(b, end, 20)?;
        let (methods, end) = Rows::at(b, end, 14)?;
        let (positions, end) = Table::at(b, end)?;
        Some((Parts { provenance: (12, 12 + length), strings, classes, foreign, methods, positions }, end))
    }
}

impl<B: AsRef<[u8]>> Index<B> {
    /// Opens an index.
    pub fn new(bytes: B) -> Result<Self, Error> {
        let b = bytes.as_ref();
        let head = |at| u4(b, at).ok_or(Error::NoIndex);
        if head(0)? != MAGIC {
            return Err(Error::NoIndex);
        }
        match head(4)? {
            VERSION => {}
            other => return Err(Error::Version(other)),
        }
        let (parts, _) = Parts::of(b).ok_or(Error::Damaged)?;
        let Parts { provenance, strings, classes, foreign, methods, positions } = parts;
        Ok(Index { bytes, provenance, strings, classes, foreign, methods, positions })
    }

    /// Opens an index after a check of all its bytes. An index without a checksum, by an earlier
    /// version, passes.
    pub fn checked(bytes: B) -> Result<Self, Error> {
        let index = Index::new(bytes)?;
        let b = index.bytes.as_ref();
        let (_, end) = Parts::of(b).ok_or(Error::Damaged)?;
        match b.len() - end {
            0 => Ok(index),
            CHECKSUM_SIZE if u4(b, end) == Some(CHECKSUM_MAGIC) => {
                if xxh3_64(&b[..end]).to_be_bytes() == b[end + 4..] {
                    Ok(index)
                } else {
                    Err(Error::Checksum)
                }
            }
            _ => Err(Error::Damaged),
        }
    }

    /// The provenance: `key=value` lines.
    pub fn provenance(&self) -> &[u8] {
        &self.bytes.as_ref()[self.provenance.0..self.provenance.1]
    }

    /// Number of classes.
    pub fn len(&self) -> usize {
        self.classes.count
    }

    /// Whether the index has no classes.
    pub fn is_empty(&self) -> bool {
        self.classes.count == 0
    }

    /// The classes of that name, in the order of their hashes. A class that cannot be decoded ends
    /// the list.
    pub fn classes_named(&self, name: &[u8]) -> impl Iterator<Item = ClassRecord> + '_ {
        let b = self.bytes.as_ref();
        let key = self.find_string(name);
        let first = key.map_or(self.classes.count, |key| {
            partition(self.classes.count, |i| {
                let found = self.classes.item(b, i).and_then(|record| u4(record, 0));
                found.is_some_and(|found| (found as usize) < key)
            })
        });
        let is_named = move |record: &&[u8]| u4(record, 0).is_some_and(|n| Some(n as usize) == key);
        (first..self.classes.count)
            .map_while(move |i| self.classes.item(b, i).filter(is_named).map(|record| (i, record)))
            .map_while(|(i, record)| self.class(record, i))
    }

    /// The method with this id, declared by a class of the index or counted by call sites in one.
    pub fn method(&self, mid: Mid) -> Option<NamedMethod> {
        let b = self.bytes.as_ref();
        if let Some(row) = self.methods.find(b, mid) {
            return self.named(u4(row, 8)? as usize, u16::from_be_bytes([row[12], row[13]]));
        }
        let row = self.foreign.find(b, mid)?;
        let [class, name, descriptor] = [8, 12, 16].map(|at| self.string(u4(row, at)?));
        Some(ForeignRecord { mid, class: class?, name: name?, descriptor: descriptor? }.named())
    }

    /// The method of that number in a class. It skips the methods before it without decoding them,
    /// since profiles ask for thousands.
    fn named(&self, class_number: usize, number: u16) -> Option<NamedMethod> {
        let mut fields = Fields(self.classes.item(self.bytes.as_ref(), class_number)?);
        let class = self.string(fields.u4()?)?;
        fields.skip(16)?;
        let interfaces = fields.u2()?;
        fields.skip(4 * usize::from(interfaces))?;
        if number >= fields.u2()? {
            return None;
        }
        for _ in 0..number {
            for _ in 0..3 {
                fields.varint()?;
            }
            fields.skip(4)?;
        }
        let (name, descriptor, _) = (fields.varint()?, fields.varint()?, fields.varint()?);
        let (_, _, flags) = (fields.u1()?, fields.u1()?, fields.u1()?);
        Some(NamedMethod {
            class,
            name: self.string(name)?,
            descriptor: self.string(descriptor)?,
            is_native: flags & method_flags::NATIVE != 0,
            is_synchronized: flags & method_flags::SYNCHRONIZED != 0,
            positions: self.positions_of(class_number).nth(usize::from(number)).unwrap_or_default(),
        })
    }

    /// The positions of a class's methods, in order; empty if there are none.
    fn positions_of(&self, class_number: usize) -> impl Iterator<Item = PackedPositions> + '_ {
        let mut fields = Fields(self.positions.item(self.bytes.as_ref(), class_number).unwrap_or_default());
        std::iter::from_fn(move || {
            let length = fields.varint()? as usize;
            let (packed, rest) = fields.0.split_at_checked(length)?;
            fields.0 = rest;
            Some(packed.into())
        })
    }

    fn find_string(&self, text: &[u8]) -> Option<usize> {
        let b = self.bytes.as_ref();
        let is_less = |i| self.strings.item(b, i).is_some_and(|s| s.cmp(text) == Ordering::Less);
        let place = partition(self.strings.count, is_less);
        (self.strings.item(b, place)? == text).then_some(place)
    }

    fn string(&self, number: u32) -> Option<Box<[u8]>> {
        Some(self.strings.item(self.bytes.as_ref(), number as usize)?.into())
    }

    fn class(&self, record: &[u8], number: usize) -> Option<ClassRecord> {
        let mut fields = Fields(record);
        let name = self.string(fields.u4()?)?;
        let super_name = match fields.u4()? {
            NONE => None,
            number => Some(self.string(number)?),
        };
        let hash = ClassHash(u64::from(fields.u4()?) << 32 | u64::from(fields.u4()?));
        let (access, major_version) = (fields.u2()?, fields.u2()?);
        let interfaces = (0..fields.u2()?).map(|_| self.string(fields.u4()?)).collect::<Option<_>>()?;
        let mut positions = self.positions_of(number);
        let methods = (0..fields.u2()?).map(|_| {
            Some(MethodRecord {
                name: self.string(fields.varint()?)?,
                descriptor: self.string(fields.varint()?)?,
                access: fields.varint()? as u16,
                shape: Shape::checked(fields.u1()?, fields.u1()?)?,
                flags: fields.u1()?,
                treatment: Treatment::of_code(fields.u1()?)?,
                positions: positions.next().unwrap_or_default(),
            })
        });
        let methods = methods.collect::<Option<_>>()?;
        Some(ClassRecord {
            name,
            super_name,
            interfaces,
            access,
            major_version,
            hash,
            methods,
            foreign: Vec::new(),
        })
    }
}

impl Table {
    /// The table at an offset, and the offset of its end.
    fn at(b: &[u8], at: usize) -> Option<(Table, usize)> {
        let count = u4(b, at)? as usize;
        let offsets = at.checked_add(4)?;
        let items = offsets.checked_add(count.checked_add(1)?.checked_mul(4)?)?;
        let end = items.checked_add(u4(b, items.checked_sub(4)?)? as usize)?;
        (end <= b.len()).then_some((Table { count, offsets, items }, end))
    }

    fn item<'b>(&self, b: &'b [u8], i: usize) -> Option<&'b [u8]> {
        if i >= self.count {
            return None;
        }
        let at = self.offsets + 4 * i;
        let (from, to) = (u4(b, at)? as usize, u4(b, at + 4)? as usize);
        b.get(self.items + from..self.items.checked_add(to)?)
    }
}

impl Rows {
    /// The table at an offset, and the offset of its end.
    fn at(b: &[u8], at: usize, size: usize) -> Option<(Rows, usize)> {
        let count = u4(b, at)? as usize;
        let first = at.checked_add(4)?;
        let end = first.checked_add(count.checked_mul(size)?)?;
        (end <= b.len()).then_some((Rows { count, first, size }, end))
    }

    fn row<'b>(&self, b: &'b [u8], i: usize) -> Option<&'b [u8]> {
        let at = self.first + i * self.size;
        b.get(at..at + self.size)
    }

    /// The row that begins with this id.
    fn find<'b>(&self, b: &'b [u8], mid: Mid) -> Option<&'b [u8]> {
        let mid = mid.0.to_be_bytes();
        let is_less = |i| self.row(b, i).is_some_and(|row| row[..8] < mid[..]);
        let row = self.row(b, partition(self.count, is_less))?;
        (row[..8] == mid).then_some(row)
    }
}

/// The fields of a record, one after the other.
struct Fields<'b>(&'b [u8]);

impl Fields<'_> {
    fn u1(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    fn u2(&mut self) -> Option<u16> {
        Some(u16::from(self.u1()?) << 8 | u16::from(self.u1()?))
    }

    fn u4(&mut self) -> Option<u32> {
        Some(u32::from(self.u2()?) << 16 | u32::from(self.u2()?))
    }

    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.0 = self.0.get(bytes..)?;
        Some(())
    }

    fn varint(&mut self) -> Option<u32> {
        let mut value = 0;
        for shift in (0..32).step_by(7) {
            let b = self.u1()?;
            value |= u32::from(b & 0x7F) << shift;
            if b < 0x80 {
                return Some(value);
            }
        }
        None
    }
}

fn u4(b: &[u8], at: usize) -> Option<u32> {
    let bytes = b.get(at..at.checked_add(4)?)?;
    Some(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

/// The first of `count` positions for which `is_before` is false.
fn partition(count: usize, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use cct_classfile::MemberRef;

    use super::*;
    use crate::mid::{MAX_ON_ENTRY, MAX_SLOTS};
    use crate::provenance::Provenance;
    use crate::write::write;

    const LINES: &str = "format=1\nscheme=5\ntool=test\n";

    const SHAPE: Shape = Shape { slots: 3, on_entry: 9 };

    fn class(name: &str, hash: u64) -> ClassRecord {
        let method = |name: &str, treatment| MethodRecord {
            name: name.as_bytes().into(),
            descriptor: (*b"(IJ)V").into(),
            access: 0x1041,
            shape: SHAPE,
            flags: 2,
            treatment,
            positions: PackedPositions::default(),
        };
        ClassRecord {
            name: name.as_bytes().into(),
            super_name: (name != "java/lang/Object").then(|| (*b"java/lang/Object").into()),
            interfaces: [(*b"I").into(), (*b"J").into()].into(),
            access: 0x21,
            major_version: 52,
            hash: ClassHash(hash),
            methods: vec![method("m", Treatment::Wrapped), method("n", Treatment::Untouched)],
            foreign: Vec::new(),
        }
    }

    fn index(classes: &[ClassRecord]) -> Vec<u8> {
        write(&Provenance::of_lines(LINES), classes).unwrap()
    }

    #[test]
    fn written_data_reads_back() {
        let mut classes = [class("B", 7), class("java/lang/Object", 1), class("A", u64::MAX), class("B", 3)];
        classes[0].foreign.push(ForeignRecord {
            mid: Mid::foreign(MemberRef::new(b"F", b"f", b"()V"), 0),
            class: (*b"F").into(),
            name: (*b"f").into(),
            descriptor: (*b"()V").into(),
        });
        let index = Index::new(index(&classes)).unwrap();
        classes[0].foreign.clear();
        let named = |name: &str| index.classes_named(name.as_bytes()).collect::<Vec<_>>();
        assert_eq!(named("A"), [classes[2].clone()]);
        assert_eq!(named("B"), [classes[3].clone(), classes[0].clone()]);
        assert_eq!(named("java/lang/Object"), [classes[1].clone()]);
        assert_eq!(named("I"), []);
        assert_eq!(named("nowhere"), []);
        for class in &classes {
            let found = index.method(class.hash.method(1, SHAPE)).unwrap();
            let method = &class.methods[1];
            assert_eq!((found.class, found.name), (class.name.clone(), method.name.clone()));
        }
        let foreign = index.method(Mid::foreign(MemberRef::new(b"F", b"f", b"()V"), 0)).unwrap();
        assert!(foreign.is_native && *foreign.class == *b"F" && *foreign.descriptor == *b"()V");
        assert_eq!(index.method(ClassHash(7).method(2, SHAPE)), None);
        assert_eq!(index.provenance(), LINES.as_bytes());
    }

    #[test]
    fn two_methods_with_one_id_are_an_error() {
        let foreign = |name: &str, mid| ForeignRecord {
            mid,
            class: (*b"F").into(),
            name: name.as_bytes().into(),
            descriptor: (*b"()V").into(),
        };
        let with = |name: &str, hash, foreign| ClassRecord { foreign, ..class(name, hash) };
        let written = |classes: &[ClassRecord]| write(&Provenance::of_lines(LINES), classes);
        let (mid, declared) =
            (Mid::foreign(MemberRef::new(b"F", b"f", b"()V"), 0), ClassHash(1).method(0, SHAPE));
        for (classes, methods) in [
            // The second method of A, and the first of B.
            (vec![class("A", 1), class("B", 1 + 0x9E37_79B9_7F4A_7C15)], ["A.n(IJ)V", "B.m(IJ)V"]),
            (vec![with("A", 1, vec![foreign("f", mid), foreign("g", mid)])], ["F.f()V", "F.g()V"]),
            (vec![with("A", 1, vec![foreign("f", declared)])], ["A.m(IJ)V", "F.f()V"]),
        ] {
            let collision = written(&classes).unwrap_err().to_string();
            assert!(methods.iter().all(|method| collision.contains(method)), "{methods:?}: {collision}");
        }
        // A method that two classes count is one.
        let both = ["A", "B"].map(|name| with(name, name.as_bytes()[0].into(), vec![foreign("f", mid)]));
        written(&both).unwrap();
    }

    /// An id has room for as many slots as a node has, and for a limited number of bytecodes.
    #[test]
    fn a_method_that_does_not_fit_into_an_id_ends_the_list() {
        let mut class = class("A", 1);
        let largest = Shape { slots: MAX_SLOTS as u8, on_entry: MAX_ON_ENTRY };
        class.methods[1].shape = largest;
        let good = index(&[class]);
        assert_eq!(Index::new(&good[..]).unwrap().classes_named(b"A").count(), 1);
        let at = good.windows(2).position(|two| two == [largest.slots, largest.on_entry]).unwrap();
        for byte in [at, at + 1] {
            let mut bad = good.clone();
            bad[byte] += 1;
            assert_eq!(Index::new(bad).unwrap().classes_named(b"A").count(), 0);
        }
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_found() {
        let good = index(&[class("A", 1), class("B", 2)]);
        assert!(Index::checked(&good[..]).is_ok());
        // An earlier version wrote no checksum.
        assert!(Index::checked(&good[..good.len() - CHECKSUM_SIZE]).is_ok());
        for length in (0..good.len()).filter(|length| *length != good.len() - CHECKSUM_SIZE) {
            assert!(Index::checked(&good[..length]).is_err(), "{length}");
        }
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(Index::checked(&bad[..]).is_err(), "bit {bit}");
        }
        assert!(Index::checked([&good[..], b"x"].concat()).is_err());
    }

    #[test]
    fn damage_is_an_error_or_a_missing_class_and_never_a_panic() {
        let good = index(&[class("A", 1), class("B", 2)]);
        assert_eq!(Index::new(b"PK").map(|_| ()), Err(Error::NoIndex));
        for length in 0..good.len() {
            if let Ok(index) = Index::new(&good[..length]) {
                index.classes_named(b"A").count();
                index.method(ClassHash(2).method(0, SHAPE));
            }
        }
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0xFF;
            if let Ok(index) = Index::new(&bad) {
                index.classes_named(b"A").count();
                index.method(ClassHash(2).method(0, SHAPE));
            }
        }
    }
}
