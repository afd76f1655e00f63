//! Mutators: each knows one format well enough to change an input while most of it stays valid.

mod arena;
mod class;
mod image;
mod index;
mod jar;
mod manifest;
mod profile;
mod trace;
mod values;

pub use arena::arena;
pub use class::class;
pub use image::image;
pub use index::index;
pub use jar::jar;
pub use manifest::manifest;
pub use profile::profile;
pub use trace::trace;
pub use values::values;

use crate::Dice;

/// Maximum length in bytes of inputs that mutators produce.
pub const MAX_BYTES: usize = 1 << 20;

/// Changes a few bytes, regardless of their meaning.
pub fn bytes(input: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..=dice.below(4) {
        damage(&mut bytes, dice);
    }
    bytes.truncate(MAX_BYTES);
    bytes
}

/// Makes one change of some bytes.
pub(crate) fn damage(bytes: &mut Vec<u8>, dice: &mut Dice) {
    if bytes.is_empty() {
        bytes.push(dice.any() as u8);
        return;
    }
    let at = dice.below(bytes.len());
    let some = |dice: &mut Dice, bytes: &[u8]| at..(at + 1 + dice.below(24)).min(bytes.len());
    match dice.below(8) {
        0 => bytes[at] = dice.any() as u8,
        1 => bytes[at] ^= 1 << dice.below(8),
        2 => bytes[at] = *dice.pick(&[0, 1, 0x7F, 0x80, 0xFF]),
        3 => {
            let number = dice.number().to_be_bytes();
            bytes[at..].iter_mut().zip(number).for_each(|(byte, new)| *byte = new);
        }
        4 => {
            let number = u32::from(dice.number()).to_le_bytes();
            bytes[at..].iter_mut().zip(number).for_each(|(byte, new)| *byte = new);
        }
        5 => drop(bytes.drain(some(dice, bytes))),
        6 => {
            let part = bytes[some(dice, bytes)].to_vec();
            let to = dice.below(bytes.len());
            bytes.splice(to..to, part);
        }
        _ => bytes.truncate(at),
    }
}

/// Changes characters, words or lines of a text.
pub fn text(input: &[u8], dice: &mut Dice) -> Vec<u8> {
    const PIECES: &[&str] = &[
        "*",
        "**",
        "?",
        "[",
        "]",
        "{",
        "}",
        ",",
        ".",
        "/",
        "\\",
        "(",
        ")",
        ";",
        ":",
        "$",
        "!",
        "-",
        "<init>",
        "(I)V",
        " ",
        "\t",
        "\n",
        "#",
        "0",
        "18446744073709551615",
        "18446744073709551616",
        "-1",
        "\u{0}",
        "\u{7F}",
        "é",
        "\u{1F600}",
        "{a,b}",
        "{{{{",
        "[a-",
        "[^",
        "[z-a]",
        "[main]",
        "# cctrewrite contexts ",
        "java/lang/Object.wait(J)V",
    ];
    let mut text = input.to_vec();
    for _ in 0..=dice.below(4) {
        match dice.below(4) {
            0 => damage(&mut text, dice),
            1 => {
                let at = dice.below(text.len() + 1);
                text.splice(at..at, dice.pick(PIECES).bytes());
            }
            2 => {
                let at = dice.below(text.len() + 1);
                text.splice(at..at, dice.pick(PIECES).repeat(1 + dice.below(40)).bytes());
            }
            _ => {
                let mut lines: Vec<&[u8]> = text.split(|&b| b == b'\n').collect();
                let line = lines[dice.below(lines.len())];
                lines.insert(dice.below(lines.len() + 1), line);
                text = lines.join(&b'\n');
            }
        }
    }
    text.truncate(MAX_BYTES);
    text
}
