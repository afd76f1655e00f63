//! Writer of the rewriter's outputs, in their simplest valid form: indexes, rewritten classes,
//! patched classes.

use std::collections::BTreeSet;
use xxhash_rust::xxh3::xxh3_64;

/// A method of a class: name, descriptor, shape, flags of the index.
pub type Method = (&'static str, &'static str, Shape, u8);

/// The part of an id besides the hash: slots, and the bytecodes that each entry counts.
pub type Shape = (u8, u8);

/// A class of an index or of a class file.
pub struct Class {
    pub name: &'static str,
    pub super_name: &'static str,
    pub hash: u64,
    pub methods: Vec<Method>,
}

/// A method id; see docs/reference/formats/index.md.
pub fn mid(hash: u64, k: u64, (slots, entry): Shape) -> u64 {
    let mut z = hash.wrapping_add((k + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    (z ^ z >> 31) & !0xFFF | u64::from(entry) << 7 | u64::from(slots)
}

/// An index of these classes and one foreign method.
pub fn index(provenance: &str, classes: &[Class], foreign: (u64, &str, &str, &str)) -> Vec<u8> {
    let mut strings = BTreeSet::from([foreign.1, foreign.2, foreign.3]);
    for class in classes {
        strings.extend([class.name, class.super_name]);
        strings.extend(class.methods.iter().flat_map(|m| [m.0, m.1]));
    }
    let strings: Vec<&str> = strings.into_iter().collect();
    let number = |s: &str| u32::try_from(strings.binary_search(&s).unwrap()).unwrap();

    let mut out = b"CCTI".to_vec();
    u4(&mut out, 5);
    u4(&mut out, provenance.len() as u32);
    out.extend(provenance.as_bytes());
    table(&mut out, &strings.iter().map(|s| s.as_bytes().to_vec()).collect::<Vec<_>>());
    let mut records: Vec<(u32, Vec<u8>)> = classes
        .iter()
        .map(|class| {
            let mut r = Vec::new();
            u4(&mut r, number(class.name));
            u4(&mut r, number(class.super_name));
            r.extend(class.hash.to_be_bytes());
            // public, super; version 52; no interfaces
            r.extend([0, 0x21, 0, 52, 0, 0]);
            r.extend((class.methods.len() as u16).to_be_bytes());
            for (name, descriptor, (slots, entry), flags) in &class.methods {
                varint(&mut r, number(name));
                varint(&mut r, number(descriptor));
                varint(&mut r, 0x401);
                r.extend([*slots, *entry, *flags, 0]);
            }
            (number(class.name), r)
        })
        .collect();
    records.sort();
    table(&mut out, &records.into_iter().map(|r| r.1).collect::<Vec<_>>());
    u4(&mut out, 1);
    out.extend(foreign.0.to_be_bytes());
    for name in [foreign.1, foreign.2, foreign.3] {
        u4(&mut out, number(name));
    }
    let mut sorted: Vec<&Class> = classes.iter().collect();
    sorted.sort_by_key(|class| (class.name, class.hash));
    let mut ids: Vec<(u64, u32, u16)> = Vec::new();
    for (c, class) in sorted.into_iter().enumerate() {
        let methods = class.methods.iter().enumerate();
        ids.extend(methods.map(|(k, m)| (mid(class.hash, k as u64, m.2), c as u32, k as u16)));
    }
    ids.sort_unstable();
    u4(&mut out, ids.len() as u32);
    for (mid, class, method) in ids {
        out.extend(mid.to_be_bytes());
        u4(&mut out, class);
        out.extend(method.to_be_bytes());
    }
    // No positions: call sites are not distinguished.
    table(&mut out, &[]);
    out
}

/// Appends a table: count, offsets, bytes.
fn table(out: &mut Vec<u8>, items: &[Vec<u8>]) {
    u4(out, items.len() as u32);
    let mut offset = 0;
    u4(out, 0);
    for item in items {
        offset += item.len() as u32;
        u4(out, offset);
    }
    out.extend(items.iter().flatten());
}

fn u4(out: &mut Vec<u8>, value: u32) {
    out.extend(value.to_be_bytes());
}

fn varint(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// An abstract class with abstract methods with these access flags; with the class attribute of
/// cctrewrite if `provenance` is given.
pub fn class_file(class: &Class, access: u16, provenance: Option<&str>) -> Vec<u8> {
    let mut constants = Vec::new();
    let mut count = 1u16;
    let mut utf8 = |text: &str| {
        constants.push(1);
        constants.extend((text.len() as u16).to_be_bytes());
        constants.extend(text.as_bytes());
        count += 1;
        count - 1
    };
    let (this, parent, attribute) = (utf8(class.name), utf8(class.super_name), utf8("cctrewrite"));
    let methods: Vec<[u16; 4]> = class.methods.iter().map(|m| [access, utf8(m.0), utf8(m.1), 0]).collect();
    for name in [this, parent] {
        constants.push(7);
        constants.extend(name.to_be_bytes());
    }
    let mut out = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 52];
    out.extend((count + 2).to_be_bytes());
    out.extend(constants);
    // public abstract, this, super, interfaces, fields
    for value in [0x0421, count, count + 1, 0, 0, methods.len() as u16] {
        out.extend(value.to_be_bytes());
    }
    out.extend(methods.iter().flatten().flat_map(|value| value.to_be_bytes()));
    let Some(provenance) = provenance else {
        out.extend([0, 0]);
        return out;
    };
    out.extend([0, 1]);
    out.extend(attribute.to_be_bytes());
    u4(&mut out, 20 + 4 * methods.len() as u32);
    out.extend([0, 4]);
    out.extend(class.hash.to_be_bytes());
    out.extend(xxh3_64(provenance.as_bytes()).to_be_bytes());
    out.extend((methods.len() as u16).to_be_bytes());
    out.extend(class.methods.iter().flat_map(|m| [m.2.0, m.2.1, m.3, 0]));
    out
}

/// A class file with one string replaced in its names and descriptors.
pub fn rename(class: &[u8], from: &str, to: &str) -> Vec<u8> {
    let (constants, rest) = constants(class);
    let mut out = class[..10].to_vec();
    for constant in constants {
        if constant[0] == 1 {
            let text = String::from_utf8_lossy(&constant[3..]).replace(from, to);
            if text.contains(to) {
                out.push(1);
                out.extend((text.len() as u16).to_be_bytes());
                out.extend(text.as_bytes());
                continue;
            }
        }
        out.extend(constant);
    }
    out.extend(rest);
    out
}

/// A class file with one more field, after the others.
pub fn add_field(class: &[u8], name: &str, descriptor: &str) -> Vec<u8> {
    let (constants, rest) = constants(class);
    let count = u16::from_be_bytes([class[8], class[9]]);
    let mut out = class[..8].to_vec();
    out.extend((count + 2).to_be_bytes());
    out.extend(constants.concat());
    for text in [name, descriptor] {
        out.push(1);
        out.extend((text.len() as u16).to_be_bytes());
        out.extend(text.as_bytes());
    }
    let word = |at: usize| usize::from(u16::from_be_bytes([rest[at], rest[at + 1]]));
    let fields_at = 8 + 2 * word(6);
    let mut end = fields_at + 2;
    for _ in 0..word(fields_at) {
        let attributes = word(end + 6);
        end += 8;
        for _ in 0..attributes {
            end += 6 + (word(end + 2) << 16 | word(end + 4));
        }
    }
    out.extend(&rest[..fields_at]);
    out.extend((word(fields_at) as u16 + 1).to_be_bytes());
    out.extend(&rest[fields_at + 2..end]);
    for value in [0, count, count + 1, 0] {
        out.extend(value.to_be_bytes());
    }
    out.extend(&rest[end..]);
    out
}

/// The constants of a class file, including their tags, and the rest of the file.
fn constants(class: &[u8]) -> (Vec<&[u8]>, &[u8]) {
    let count = u16::from_be_bytes([class[8], class[9]]);
    let mut at = 10;
    let mut all = Vec::new();
    let mut number = 1;
    while number < count {
        let size = match class[at] {
            1 => 3 + usize::from(u16::from_be_bytes([class[at + 1], class[at + 2]])),
            7 | 8 | 16 | 19 | 20 => 3,
            15 => 4,
            5 | 6 => 9,
            _ => 5,
        };
        number += if matches!(class[at], 5 | 6) { 2 } else { 1 };
        all.push(&class[at..at + size]);
        at += size;
    }
    (all, &class[at..])
}
