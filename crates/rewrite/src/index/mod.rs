//! The output's index (docs/formats/index.md): its records, and writing them. [`read`] mirrors the writing.

pub mod read;

use cct_classfile::bytes::PutBytes;
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

use crate::allocation;
use crate::class_attribute::{ClassAttribute, MethodRow};
use crate::error::{Error, Result};
use crate::mid::{ClassHash, Mid, Shape};
use crate::plan::{Foreign, Treatment, lossy};
use crate::positions::Packed;
use crate::provenance::Provenance;

/// First bytes of an index.
pub const MAGIC: u32 = 0x4343_5449;

/// Version of the format.
pub const VERSION: u32 = 5;

/// Stands for a string that is missing.
const NONE: u32 = u32::MAX;

/// Flags of a method in index and attribute.
pub mod method_flags {
    /// A native.
    pub const NATIVE: u8 = 1;
    /// Concrete, with an extended form that an override in a class that was not rewritten would miss.
    pub const OVERRIDE_WOULD_MISS: u8 = 2;
    /// Not recorded.
    pub const NOT_RECORDED: u8 = 4;
    /// Neither public nor protected nor private: only its own package can override it.
    pub const PACKAGE_PRIVATE: u8 = 8;
}

/// A method of a rewritten class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodRecord {
    /// Name.
    pub name: Box<[u8]>,
    /// Original descriptor.
    pub descriptor: Box<[u8]>,
    /// Access flags.
    pub access: u16,
    /// What its id says beside the hash.
    pub shape: Shape,
    /// [`method_flags`].
    pub flags: u8,
    /// What was done to it.
    pub treatment: Treatment,
    /// Where its bytecodes were, if call sites are told apart.
    pub positions: Packed,
}

impl From<&MethodRecord> for MethodRow {
    fn from(m: &MethodRecord) -> Self {
        MethodRow { shape: m.shape, flags: m.flags, treatment: m.treatment, positions: m.positions.clone() }
    }
}

/// A rewritten class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassRecord {
    /// Internal name.
    pub name: Box<[u8]>,
    /// Superclass.
    pub super_name: Option<Box<[u8]>>,
    /// Direct superinterfaces.
    pub interfaces: Box<[Box<[u8]>]>,
    /// Access flags.
    pub access: u16,
    /// `major_version` of the original.
    pub major_version: u16,
    /// Hash of the original.
    pub hash: ClassHash,
    /// Original methods in class-file order.
    pub methods: Vec<MethodRecord>,
    /// Methods of others that its call sites count.
    pub foreign: Vec<ForeignRecord>,
}

/// A method counted by its callers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ForeignRecord {
    /// Its id.
    pub mid: Mid,
    /// Declaring class.
    pub class: Box<[u8]>,
    /// Name.
    pub name: Box<[u8]>,
    /// Descriptor.
    pub descriptor: Box<[u8]>,
}

impl ForeignRecord {
    /// Its name, and whether it is a native: what callers count are natives, Object's constructor, and types.
    pub fn named(&self) -> read::Named {
        read::Named {
            class: self.class.clone(),
            name: self.name.clone(),
            descriptor: self.descriptor.clone(),
            is_native: *self.name != *b"<init>" && *self.name != *allocation::NEW,
            positions: Packed::default(),
        }
    }
}

impl From<Foreign<'_>> for ForeignRecord {
    fn from(f: Foreign<'_>) -> Self {
        ForeignRecord {
            mid: f.mid(),
            class: f.class.into(),
            name: f.name.into(),
            descriptor: f.descriptor.into(),
        }
    }
}

impl ClassRecord {
    /// The class attribute.
    pub fn attribute(&self, provenance: &Provenance) -> ClassAttribute {
        let methods = self.methods.iter().map(MethodRow::from).collect();
        ClassAttribute { hash: self.hash, provenance: provenance.hash(), methods }
    }
}

/// Writes the index of one output. Fails if two methods got the same id.
pub fn write(provenance: &Provenance, classes: &[ClassRecord]) -> Result<Vec<u8>> {
    let mut classes: Vec<&ClassRecord> = classes.iter().collect();
    classes.sort_by(|a, b| (&a.name, a.hash).cmp(&(&b.name, b.hash)));
    classes.dedup_by(|a, b| a.hash == b.hash);
    let mut foreign: Vec<&ForeignRecord> = classes.iter().flat_map(|c| &c.foreign).collect();
    foreign.sort();
    foreign.dedup();
    check_collisions(&classes, &foreign)?;

    let (texts, strings) = string_table(&classes, &foreign);

    let mut out = Vec::new();
    out.put4(MAGIC);
    out.put4(VERSION);
    let lines = provenance.lines();
    out.put4(lines.len() as u32);
    out.extend_from_slice(lines.as_bytes());
    write_table(&mut out, texts.iter().map(|s| s.to_vec()));
    let records = classes.iter().map(|c| {
        let mut record = Vec::new();
        record.put4(strings[&*c.name]);
        record.put4(c.super_name.as_deref().map_or(NONE, |s| strings[s]));
        record.put8(c.hash.0);
        record.put2(c.access);
        record.put2(c.major_version);
        record.put2(c.interfaces.len() as u16);
        for name in &c.interfaces {
            record.put4(strings[&**name]);
        }
        record.put2(c.methods.len() as u16);
        for m in &c.methods {
            put_varint(&mut record, strings[&*m.name]);
            put_varint(&mut record, strings[&*m.descriptor]);
            put_varint(&mut record, u32::from(m.access));
            record.extend([m.shape.slots, m.shape.on_entry, m.flags, m.treatment.code()]);
        }
        record
    });
    write_table(&mut out, records);
    out.put4(foreign.len() as u32);
    for f in foreign {
        out.put8(f.mid.0);
        out.put4(strings[&*f.class]);
        out.put4(strings[&*f.name]);
        out.put4(strings[&*f.descriptor]);
    }
    // So that the names behind the few MIDs of a profile are found without going through all classes.
    let mut ids: Vec<(Mid, u32, u16)> = Vec::new();
    for (c, class) in classes.iter().enumerate() {
        let methods = class.methods.iter().enumerate();
        ids.extend(methods.map(|(k, m)| (class.hash.method(k, m.shape), c as u32, k as u16)));
    }
    ids.sort_unstable();
    out.put4(ids.len() as u32);
    for (mid, class, method) in ids {
        out.put8(mid.0);
        out.put4(class);
        out.put2(method);
    }
    write_positions(&mut out, &classes);
    seal(&mut out);
    Ok(out)
}

/// First bytes of the checksum at the end of an index.
const CHECKSUM_MAGIC: u32 = 0x4343_5458;

/// Bytes of the checksum with its magic number.
const CHECKSUM_SIZE: usize = 12;

/// Adds the checksum of all bytes so far.
fn seal(out: &mut Vec<u8>) {
    let checksum = xxh3_64(out);
    out.put4(CHECKSUM_MAGIC);
    out.put8(checksum);
}

/// All strings of an index, sorted, and the place of each.
fn string_table<'t>(
    classes: &[&'t ClassRecord],
    foreign: &[&'t ForeignRecord],
) -> (Vec<&'t [u8]>, FxHashMap<&'t [u8], u32>) {
    let mut places: FxHashMap<&[u8], u32> = FxHashMap::default();
    for class in classes {
        places.insert(&class.name, 0);
        places.extend(class.super_name.iter().chain(&class.interfaces).map(|s| (&**s, 0)));
        places.extend(class.methods.iter().flat_map(|m| [(&*m.name, 0), (&*m.descriptor, 0)]));
    }
    places.extend(foreign.iter().flat_map(|f| [(&*f.class, 0), (&*f.name, 0), (&*f.descriptor, 0)]));
    let mut texts: Vec<&[u8]> = places.keys().copied().collect();
    texts.sort_unstable();
    for (i, &text) in texts.iter().enumerate() {
        places.insert(text, i as u32);
    }
    (texts, places)
}

/// A table with an item for each class: the positions of its methods one behind the other, each with its length in front. None where call sites are merged.
fn write_positions(out: &mut Vec<u8>, classes: &[&ClassRecord]) {
    let any = classes.iter().flat_map(|c| &c.methods).any(|m| !m.positions.is_empty());
    let classes = if any { classes } else { &[] };
    let items = classes.iter().map(|class| {
        let mut item = Vec::new();
        for method in &class.methods {
            put_varint(&mut item, method.positions.len() as u32);
            item.extend_from_slice(&method.positions);
        }
        item
    });
    write_table(out, items);
}

/// A count, the offsets of all items and of the end, then the items.
fn write_table(out: &mut Vec<u8>, items: impl ExactSizeIterator<Item = Vec<u8>>) {
    out.put4(items.len() as u32);
    let mut bytes = Vec::new();
    out.put4(0);
    for item in items {
        bytes.extend_from_slice(&item);
        out.put4(bytes.len() as u32);
    }
    out.extend_from_slice(&bytes);
}

fn put_varint(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.put1(value as u8 | 0x80);
        value >>= 7;
    }
    out.put1(value as u8);
}

/// Two methods with one id would share nodes in silence.
fn check_collisions(classes: &[&ClassRecord], foreign: &[&ForeignRecord]) -> Result<()> {
    let declared = classes.iter().enumerate().flat_map(|(c, class)| {
        class.methods.iter().enumerate().map(move |(k, m)| (class.hash.method(k, m.shape), c, k))
    });
    let foreign_ids = foreign.iter().enumerate().map(|(i, f)| (f.mid, usize::MAX, i));
    let mut ids: Vec<(Mid, usize, usize)> = declared.chain(foreign_ids).collect();
    ids.sort_unstable();
    let full = |&(_, c, k): &(Mid, usize, usize)| match classes.get(c) {
        Some(class) => format!(
            "{}.{}{}",
            lossy(&class.name),
            lossy(&class.methods[k].name),
            lossy(&class.methods[k].descriptor)
        ),
        None => format!(
            "{}.{}{}",
            lossy(&foreign[k].class),
            lossy(&foreign[k].name),
            lossy(&foreign[k].descriptor)
        ),
    };
    match ids.windows(2).find(|w| w[0].0 == w[1].0) {
        Some(w) => Err(Error::MidCollision(full(&w[0]), full(&w[1]))),
        None => Ok(()),
    }
}
