//! Mutator for images of modules: words of header and tables, bytes of locations and strings.

use super::damage;
use crate::Dice;

/// Changes an image in one to three places, more often before its contents than in them.
pub fn image(input: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..=dice.below(3) {
        let words = bytes.len() / 4;
        match dice.below(4) {
            0 => damage(&mut bytes, dice),
            1 if words > 7 => set_word(&mut bytes, dice.below(7), dice),
            _ if words > 7 => set_word(&mut bytes, 7 + dice.below((words - 7).min(64)), dice),
            _ => damage(&mut bytes, dice),
        }
    }
    bytes.truncate(super::MAX_BYTES);
    bytes
}

fn set_word(bytes: &mut [u8], word: usize, dice: &mut Dice) {
    let Some(field) = bytes.get_mut(4 * word..4 * word + 4) else { return };
    let old = u32::from_le_bytes([field[0], field[1], field[2], field[3]]);
    let new = match dice.below(6) {
        0 => old.wrapping_add(1),
        1 => old.wrapping_sub(1),
        2 => old.swap_bytes(),
        3 => old ^ 1 << dice.below(32),
        4 => *dice.pick(&[0, 1, i32::MAX as u32, 1 << 31, u32::MAX]),
        _ => dice.below(256) as u32,
    };
    field.copy_from_slice(&new.to_le_bytes());
}
