//! Mutator for profiles: it changes sections and corrects their checksums.

use super::damage;
use crate::Dice;

/// Magic and version.
const HEAD: usize = 12;

/// A section: its tag and its payload.
type Section = ([u8; 4], Vec<u8>);

/// Changes a profile in one to three places.
pub fn profile(input: &[u8], dice: &mut Dice) -> Vec<u8> {
    let Some((head, mut sections)) = parse(input).filter(|(_, sections)| !sections.is_empty()) else {
        return super::bytes(input, dice);
    };
    for _ in 0..=dice.below(3) {
        let (at, other) = (dice.below(sections.len()), dice.below(sections.len()));
        match dice.below(10) {
            0 => sections.swap(at, other),
            1 => {
                let copy = sections[at].clone();
                sections.insert(other, copy);
            }
            2 if sections.len() > 1 => drop(sections.remove(at)),
            3 => {
                sections[at].0 = *dice
                    .pick(&[*b"META", *b"NOTE", *b"STRS", *b"METH", *b"THRD", *b"NODE", *b"DONE", *b"own "])
            }
            4 => {
                let payload = &mut sections[at].1;
                let place = dice.below(payload.len() + 1);
                payload.splice(place..place, varint(dice));
            }
            5 => {
                // A different number.
                let payload = &mut sections[at].1;
                let place = dice.below(payload.len());
                if place < payload.len() {
                    payload.splice(place..=place, varint(dice));
                }
            }
            _ => damage(&mut sections[at].1, dice),
        }
    }
    let mut bytes = head.to_vec();
    for (tag, payload) in &sections {
        bytes.extend_from_slice(tag);
        bytes.extend_from_slice(&(payload.len() as u64).to_be_bytes());
        bytes.extend_from_slice(payload);
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(tag);
        checksum.update(&(payload.len() as u64).to_be_bytes());
        checksum.update(payload);
        bytes.extend_from_slice(&checksum.finalize().to_be_bytes());
    }
    if dice.once_in(10) {
        damage(&mut bytes, dice);
    }
    bytes.truncate(super::MAX_BYTES);
    bytes
}

fn varint(dice: &mut Dice) -> Vec<u8> {
    let mut value = match dice.below(3) {
        0 => u64::MAX >> dice.below(8),
        1 => dice.below(4) as u64,
        _ => u64::from(dice.number()),
    };
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

fn parse(input: &[u8]) -> Option<(&[u8], Vec<Section>)> {
    let (head, mut rest) = input.split_at_checked(HEAD)?;
    let mut sections = Vec::new();
    while let Some((tag, behind)) = rest.split_first_chunk::<4>() {
        let (length, behind) = behind.split_first_chunk::<8>()?;
        let (payload, behind) =
            behind.split_at_checked(usize::try_from(u64::from_be_bytes(*length)).ok()?)?;
        sections.push((*tag, payload.to_vec()));
        rest = behind.get(4..)?;
    }
    Some((head, sections))
}
