//! Mutator for zip archives: it finds the fields of headers by their signatures and changes one
//! copy of a field or both.

use super::damage;
use crate::Dice;

/// Offset and length of each field of a header.
type Fields = &'static [(usize, usize)];

/// Signature of a header, and offset and length of each of its fields (APPNOTE 4.3).
const HEADERS: &[(&[u8; 4], Fields)] = &[
    (b"PK\x03\x04", &[(4, 2), (6, 2), (8, 2), (14, 4), (18, 4), (22, 4), (26, 2), (28, 2)]),
    (
        b"PK\x01\x02",
        &[
            (4, 2),
            (6, 2),
            (8, 2),
            (10, 2),
            (16, 4),
            (20, 4),
            (24, 4),
            (28, 2),
            (30, 2),
            (32, 2),
            (34, 2),
            (38, 4),
            (42, 4),
        ],
    ),
    (b"PK\x05\x06", &[(4, 2), (6, 2), (8, 2), (10, 2), (12, 4), (16, 4), (20, 2)]),
    (b"PK\x06\x06", &[(4, 8), (16, 4), (20, 4), (24, 8), (32, 8), (40, 8), (48, 8)]),
    (b"PK\x06\x07", &[(4, 4), (8, 8), (16, 4)]),
    (b"PK\x07\x08", &[(4, 4), (8, 4), (12, 4)]),
];

/// Changes an archive in one to three places.
pub fn jar(input: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..=dice.below(3) {
        match dice.below(4) {
            0 => damage(&mut bytes, dice),
            1 => rename(&mut bytes, dice),
            _ => change_field(&mut bytes, dice),
        }
    }
    bytes.truncate(super::MAX_BYTES);
    bytes
}

/// Offsets where a header of any kind seems to begin.
fn headers(bytes: &[u8]) -> Vec<(usize, Fields)> {
    let at = |at: usize| {
        let found = HEADERS.iter().find(|(signature, _)| bytes[at..].starts_with(&signature[..]))?;
        Some((at, found.1))
    };
    (0..bytes.len()).filter_map(at).collect()
}

fn change_field(bytes: &mut [u8], dice: &mut Dice) {
    let headers = headers(bytes);
    if headers.is_empty() {
        return;
    }
    let &(header, fields) = dice.pick(&headers);
    let &(offset, length) = dice.pick(fields);
    let Some(field) = bytes.get_mut(header + offset..header + offset + length) else { return };
    let mut whole = [0; 8];
    whole[..length].copy_from_slice(field);
    let old = u64::from_le_bytes(whole);
    let new = match dice.below(6) {
        0 => old.wrapping_add(1),
        1 => old.wrapping_sub(1),
        2 => u64::MAX,
        3 => old ^ 1 << dice.below(8 * length),
        4 => dice.any(),
        _ => u64::from(dice.number()),
    };
    field.copy_from_slice(&new.to_le_bytes()[..length]);
}

/// Gives an entry another name of the same length, wherever the old one occurs.
fn rename(bytes: &mut [u8], dice: &mut Dice) {
    const NAMES: &[&str] = &[
        "../../../../../../etc/passwd",
        "/etc/passwd/////////////////",
        "C:\\windows\\system32\\a.class",
        "META-INF/MANIFEST.MF",
        "META-INF/A.SF",
        "module-info.class",
        "x.jar",
        "a/\0/b.class",
        "\u{202E}ssalc",
        "./././././a.class",
        "a//b.class",
        "\\\\server\\share",
        ".class",
        "/",
    ];
    let central: Vec<usize> = headers(bytes)
        .into_iter()
        .filter(|(at, _)| bytes[*at..].starts_with(b"PK\x01\x02"))
        .map(|(at, _)| at)
        .collect();
    if central.is_empty() {
        return;
    }
    let at = *dice.pick(&central);
    let Some(length) = bytes.get(at + 28..at + 30).map(|b| usize::from(u16::from_le_bytes([b[0], b[1]])))
    else {
        return;
    };
    let Some(old) = bytes.get(at + 46..at + 46 + length).map(<[u8]>::to_vec) else { return };
    if old.is_empty() {
        return;
    }
    let mut new = dice.pick(NAMES).as_bytes().to_vec();
    new.resize(length, b'a');
    let mut from = 0;
    while let Some(found) = bytes[from..].windows(length).position(|window| window == old) {
        bytes[from + found..from + found + length].copy_from_slice(&new);
        from += found + length;
    }
}
