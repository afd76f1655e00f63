//! Mutator for the memory of trees: it replaces words in use with words that lead elsewhere.

use super::damage;
use crate::Dice;

/// Offset of the words in the header, offset of its table of extents, and length of the header.
const WORDS: usize = 16;
const TABLE: usize = 1024;
const HEADER: usize = 1 << 16;

/// Changes such a file in one to four places.
pub fn arena(input: &[u8], dice: &mut Dice) -> Vec<u8> {
    if input.len() <= HEADER || dice.once_in(10) {
        return super::bytes(input, dice);
    }
    let mut bytes = input.to_vec();
    for _ in 0..=dice.below(4) {
        let behind = bytes.len() - HEADER;
        let at = match dice.below(8) {
            0 => WORDS + 8 * dice.below(13),
            1 => TABLE + 8 * dice.below(16),
            2 => {
                // The log, or the part after the header.
                let mut part = bytes.split_off(HEADER);
                damage(&mut part, dice);
                bytes.extend(part);
                bytes.resize(bytes.len().max(HEADER + 8), 0);
                continue;
            }
            _ => HEADER + 8 * dice.below(behind / 8),
        };
        let other = HEADER + 8 * dice.below(behind / 8);
        let word = |at: usize| {
            let bytes = bytes.get(at..).and_then(|bytes| bytes.first_chunk());
            bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
        };
        let value = match dice.below(7) {
            0 => word(other),
            1 => word(other).wrapping_neg(),
            2 => word(at).wrapping_add(8 * u64::from(dice.number())),
            3 => word(at) ^ 1 << dice.below(64),
            4 => u64::from(dice.number()),
            5 => *dice.pick(&[0, 1, 2, u64::MAX, 1 << 63, u64::MAX - 7, 0x7FFF_FFFF_FFFF_FFFF]),
            _ => word(at).wrapping_neg() | 1,
        };
        if let Some(place) = bytes.get_mut(at..at + 8) {
            place.copy_from_slice(&value.to_le_bytes());
        }
    }
    bytes.truncate(super::MAX_BYTES);
    bytes
}
