//! Mutator for manifests: it changes lines and corrects the hash in the last one.

use xxhash_rust::xxh3::xxh3_128;

use super::{damage, text};
use crate::Dice;

/// Prefix of the last line.
const END: &[u8] = b"end ";

/// Paths that lead elsewhere.
const PATHS: &[&str] = &[
    "..",
    "../",
    "/",
    "./",
    "//",
    "a/../../b",
    " ",
    "\t",
    "\u{0}",
    "\u{202E}",
    "lib/cctrewrite/manifest",
    "\u{7F}",
];

/// Changes a manifest in one to three places, or a record, which has no checksum.
pub fn manifest(input: &[u8], dice: &mut Dice) -> Vec<u8> {
    let Some(end) = input.windows(END.len()).rposition(|window| window == END) else {
        return text(input, dice);
    };
    let mut lines: Vec<Vec<u8>> =
        input[..end].split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    for _ in 0..=dice.below(3) {
        let (at, other) = (dice.below(lines.len()), dice.below(lines.len()));
        match dice.below(5) {
            _ if lines.is_empty() => lines.push(format!("{:032x} 1 a\n", dice.any()).into_bytes()),
            0 => lines.swap(at, other),
            1 => lines.insert(other, lines[at].clone()),
            2 => drop(lines.remove(at)),
            3 => {
                let piece = dice.pick(PATHS).repeat(1 + dice.below(3));
                let line = &mut lines[at];
                let at_its_end = dice.once_in(2);
                let place =
                    if at_its_end { line.len().saturating_sub(1) } else { dice.below(line.len() + 1) };
                line.splice(place..place, piece.bytes());
            }
            _ => damage(&mut lines[at], dice),
        }
    }
    let mut bytes = lines.concat();
    bytes.truncate(super::MAX_BYTES);
    let hash = xxh3_128(&bytes);
    bytes.extend(END);
    bytes.extend(format!("{hash:032x}\n").bytes());
    if dice.once_in(20) {
        damage(&mut bytes, dice);
    }
    bytes
}
