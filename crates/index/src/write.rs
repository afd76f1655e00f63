//! The writer of an index (docs/reference/formats/index.md). [`read`](crate::read) mirrors it.

use cct_classfile::bytes::PutBytes;
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

use crate::format::{CHECKSUM_MAGIC, MAGIC, NONE, VERSION};
use crate::mid::Mid;
use crate::provenance::Provenance;
use crate::record::{ClassRecord, ForeignRecord};

/// Two methods with one id: the same nodes would count both.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0} and {1} have the same 57-bit method id; change either class file by a byte, or leave one out")]
pub struct MidCollision(String, String);

/// Writes the index of one output. Fails if two methods got the same id.
pub fn write(provenance: &Provenance, classes: &[ClassRecord]) -> Result<Vec<u8>, MidCollision> {
    let mut classes: Vec<&ClassRecord> = classes.iter().collect();
    classes.sort_by(|a, b| (&a.name, a.hash).cmp(&(&b.name, b.hash)));
    classes.dedup_by(|a, b| a.hash == b.hash);
    let mut foreign: Vec<&ForeignRecord> = classes.iter().flat_map(|c| &c.foreign).collect();
    foreign.sort();
    foreign.dedup();
    let ids = ids(&classes);
    check_collisions(&ids, &classes, &foreign)?;

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
            record.extend_from_slice(&[m.shape.slots, m.shape.on_entry, m.flags, m.treatment.code()]);
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

/// Appends the checksum of all bytes so far.
fn seal(out: &mut Vec<u8>) {
    let checksum = xxh3_64(out);
    out.put4(CHECKSUM_MAGIC);
    out.put8(checksum);
}

/// All strings of an index, sorted, and the position of each.
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

/// Writes a table with an item for each class: the positions of its methods in order, each after
/// its length. Writes none if call sites are merged.
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

/// Writes a table: a count, the offsets of all items and of the end, then the items.
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

/// The id of each method, with the positions of its class and of the method there: sorted, since
/// the names of a profile's few MIDs must be found without a search through all classes.
fn ids(classes: &[&ClassRecord]) -> Vec<(Mid, u32, u16)> {
    let mut ids = Vec::with_capacity(classes.iter().map(|class| class.methods.len()).sum());
    for (c, class) in classes.iter().enumerate() {
        let methods = class.methods.iter().enumerate();
        ids.extend(methods.map(|(k, m)| (class.hash.method(k, m.shape), c as u32, k as u16)));
    }
    ids.sort_unstable();
    ids
}

/// Fails if two methods have one id: they would share nodes without notice. Both lists are sorted
/// by id.
fn check_collisions(
    ids: &[(Mid, u32, u16)],
    classes: &[&ClassRecord],
    foreign: &[&ForeignRecord],
) -> Result<(), MidCollision> {
    let declared = |&(_, c, k): &(Mid, u32, u16)| {
        let class = classes[c as usize];
        class.methods[usize::from(k)].name_and_type().of_class(&class.name).to_string()
    };
    if let Some(w) = ids.windows(2).find(|w| w[0].0 == w[1].0) {
        return Err(MidCollision(declared(&w[0]), declared(&w[1])));
    }
    if let Some(w) = foreign.windows(2).find(|w| w[0].mid == w[1].mid) {
        return Err(MidCollision(w[0].member().to_string(), w[1].member().to_string()));
    }
    for f in foreign {
        if let Ok(at) = ids.binary_search_by_key(&f.mid, |&(mid, ..)| mid) {
            return Err(MidCollision(declared(&ids[at]), f.member().to_string()));
        }
    }
    Ok(())
}
