//! Mutator for indexes: it changes bytes and corrects the checksum at the end.

use xxhash_rust::xxh3::xxh3_64;

use super::damage;
use crate::Dice;

/// The magic number before the checksum (docs/reference/formats/index.md).
const MAGIC: &[u8] = b"CCTX";

/// Length of the checksum in bytes, with the magic number.
const SIZE: usize = 12;

/// Offset of the provenance, which everything else follows.
const PROVENANCE: usize = 12;

/// Changes an index in one to four places.
pub fn index(input: &[u8], dice: &mut Dice) -> Vec<u8> {
    let content = input.len().checked_sub(SIZE).filter(|&end| input[end..].starts_with(MAGIC));
    let Some(end) = content else { return super::bytes(input, dice) };
    let mut bytes = input[..end].to_vec();
    for _ in 0..=dice.below(4) {
        match dice.below(4) {
            // Counts and offsets: a number that differs slightly.
            0 if bytes.len() >= PROVENANCE + 4 => {
                let at = dice.below(bytes.len() - 3);
                let word = bytes[at..at + 4].try_into().map_or(0, u32::from_be_bytes);
                let other = word.wrapping_add(*dice.pick(&[1, 2, 4, 14, 20, u32::MAX, u32::MAX - 3]));
                bytes[at..at + 4].copy_from_slice(&other.to_be_bytes());
            }
            // All parts are sorted: swap two of them.
            1 if bytes.len() > 40 => {
                let length = 1 + dice.below(20);
                let (a, b) = (dice.below(bytes.len() - length), dice.below(bytes.len() - length));
                (0..length).for_each(|offset| bytes.swap(a + offset, b + offset));
            }
            _ => damage(&mut bytes, dice),
        }
    }
    bytes.truncate(super::MAX_BYTES - SIZE);
    let checksum = xxh3_64(&bytes);
    bytes.extend(MAGIC);
    bytes.extend(checksum.to_be_bytes());
    if dice.once_in(20) {
        damage(&mut bytes, dice);
    }
    bytes
}
