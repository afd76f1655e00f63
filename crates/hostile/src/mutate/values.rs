//! Mutator for files of values: it changes texts, places and numbers, and corrects length and
//! checksum.

use xxhash_rust::xxh3::xxh3_64;

use super::damage;
use crate::Dice;

/// Magic, version, and the length of the content.
const HEAD: usize = 20;

/// Length in bytes of the checksum after the content.
const CHECKSUM: usize = 8;

/// Pieces of patterns of `pcc-only`, names and notes.
const PIECES: &[&str] = &[
    "{",
    "}",
    "{a,b}",
    "[",
    "*",
    "**",
    "?",
    ".",
    "/",
    " ",
    "\nmain=",
    "\r",
    "\\n",
    "\\",
    "=",
    "\t",
    "\u{202E}",
    "\npcc-only=a.A.*\nmain=",
];

/// A place: its class, name and descriptor, then each value with its count.
type Place = ([Vec<u8>; 3], Vec<[u64; 2]>);

/// A file's parts.
struct Parts {
    head: Vec<u8>,
    texts: [Vec<u8>; 2],
    lost: u64,
    places: Vec<Place>,
}

/// Changes a file of values in one to three places.
pub fn values(input: &[u8], dice: &mut Dice) -> Vec<u8> {
    let Some(mut parts) = parse(input) else { return super::bytes(input, dice) };
    for _ in 0..=dice.below(3) {
        match dice.below(8) {
            0..=2 => text(dice.pick_mut(&mut parts.texts), dice),
            3 => parts.lost = number(dice),
            4 if !parts.places.is_empty() => {
                let copy = dice.pick(&parts.places).clone();
                parts.places.push(copy);
                text(&mut parts.places.last_mut().unwrap().0[1], dice);
            }
            _ if !parts.places.is_empty() => place(dice.pick_mut(&mut parts.places), dice),
            _ => text(&mut parts.texts[0], dice),
        }
    }
    let mut content = parts.content(dice);
    if dice.once_in(20) {
        damage(&mut content, dice);
    }
    content.truncate(super::MAX_BYTES);
    let mut bytes = parts.head;
    bytes.extend((content.len() as u64).to_le_bytes());
    bytes.extend(content);
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    if dice.once_in(40) {
        damage(&mut bytes, dice);
    }
    bytes
}

/// Changes a place: other names, or other values, more or fewer of them.
fn place((names, values): &mut Place, dice: &mut Dice) {
    let at = dice.below(values.len());
    match (dice.below(5), values.get_mut(at)) {
        (0, _) | (_, None) => text(dice.pick_mut(names), dice),
        (1, Some(value)) => value[1] = number(dice),
        (2, Some(value)) => value[0] = number(dice) | 1,
        (3, Some(_)) => drop(values.remove(at)),
        _ => values.push([dice.any() | 1, number(dice)]),
    }
}

/// Changes a text: adds a piece, perhaps many times, or changes bytes regardless of their meaning.
fn text(text: &mut Vec<u8>, dice: &mut Dice) {
    if dice.once_in(20) {
        return damage(text, dice);
    }
    let times = if dice.once_in(8) { 1 + dice.below(2000) } else { 1 };
    let place = dice.below(text.len() + 1);
    if dice.once_in(20) {
        // A well-formed glob that is deeper than any in use.
        let depth = 1 + dice.below(1000);
        text.extend(format!("\npcc-only=a.{}m{}\n", "{".repeat(depth), "}".repeat(depth)).bytes());
        return;
    }
    text.splice(place..place, dice.pick(PIECES).repeat(times).bytes());
}

fn number(dice: &mut Dice) -> u64 {
    match dice.below(3) {
        0 => u64::MAX >> dice.below(8),
        1 => dice.any(),
        _ => u64::from(dice.number()),
    }
}

impl Parts {
    /// The content, sometimes with a wrong number of following items.
    fn content(&self, dice: &mut Dice) -> Vec<u8> {
        let mut out = Vec::new();
        let lies = dice.once_in(8);
        let mut how_many = |n: usize| if lies && dice.once_in(20) { number(dice) } else { n as u64 };
        let put = |out: &mut Vec<u8>, text: &[u8], length: u64| {
            out.extend((length as u32).to_le_bytes());
            out.extend(text);
        };
        for text in &self.texts {
            put(&mut out, text, how_many(text.len()));
        }
        out.extend(self.lost.to_le_bytes());
        out.extend(how_many(self.places.len()).to_le_bytes());
        for (names, values) in &self.places {
            for name in names {
                put(&mut out, name, how_many(name.len()));
            }
            out.extend(how_many(values.len()).to_le_bytes());
            out.extend(values.iter().flatten().flat_map(|number| number.to_le_bytes()));
        }
        out
    }
}

fn parse(input: &[u8]) -> Option<Parts> {
    let end = input.len().checked_sub(CHECKSUM)?;
    let (head, mut rest) = (input.get(..HEAD - 8)?.to_vec(), input.get(HEAD..end)?);
    let texts = [take_text(&mut rest)?, take_text(&mut rest)?];
    let lost = take(&mut rest)?;
    let mut places = Vec::new();
    for _ in 0..take(&mut rest)? {
        let names = [take_text(&mut rest)?, take_text(&mut rest)?, take_text(&mut rest)?];
        let mut values = Vec::new();
        for _ in 0..take(&mut rest)? {
            values.push([take(&mut rest)?, take(&mut rest)?]);
        }
        places.push((names, values));
    }
    Some(Parts { head, texts, lost, places })
}

fn take(rest: &mut &[u8]) -> Option<u64> {
    let (number, behind) = rest.split_first_chunk::<8>()?;
    *rest = behind;
    Some(u64::from_le_bytes(*number))
}

fn take_text(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let (length, behind) = rest.split_first_chunk::<4>()?;
    let (text, behind) = behind.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    *rest = behind;
    Some(text.to_vec())
}
