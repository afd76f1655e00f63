//! The original positions of the bytecodes in a method's bodies, and its source lines: facts about
//! methods whose call sites are kept separate (docs/reference/formats/index.md, *Positions*).

use cct_classfile::edit::moves::{Move, original_bci};
use cct_classfile::{Bci, Code};

/// The signature of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The extended one: the slot is a parameter.
    Extended,
    /// The original one: the slot is in the thread, which gets it back on every exit.
    Original,
}

/// The packed positions of a method; empty if there are none.
pub type PackedPositions = Box<[u8]>;

/// The positions of a method, to be [`PackedPositions`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Positions {
    /// The source line of the code from a bytecode index on, ascending.
    lines: Vec<(u16, u16)>,
    /// The moves of the body under the extended signature, and of that under the original one.
    moves: [Vec<Move>; 2],
}

impl Positions {
    /// The lines of a method.
    pub fn of(code: &Code<'_>) -> Self {
        let mut lines = Vec::new();
        for table in code.attributes.iter().filter(|attribute| attribute.name == b"LineNumberTable") {
            // An invalid entry names no line (JVMS 4.7.12).
            let mut cursor = table.cursor();
            let Ok(count) = cursor.u2() else { continue };
            for _ in 0..count {
                let (Ok(bci), Ok(line)) = (cursor.u2(), cursor.u2()) else { break };
                lines.push((bci, line));
            }
        }
        lines.sort_by_key(|&(bci, _)| bci);
        Positions { lines, moves: Default::default() }
    }

    /// Stores the moves of the instructions of a body.
    pub fn moved(&mut self, form: Form, moves: Vec<Move>) {
        self.moves[form as usize] = moves;
    }

    /// The packed form.
    pub fn pack(&self) -> PackedPositions {
        let mut out = Vec::new();
        put(&mut out, self.lines.len() as u32);
        let (mut bci, mut line) = (0, 0);
        for &(at, of) in &self.lines {
            put(&mut out, u32::from(at - bci));
            put(&mut out, zigzag(i32::from(of) - i32::from(line)));
            (bci, line) = (at, of);
        }
        for moves in &self.moves {
            put(&mut out, moves.len() as u32);
            let mut last = 0;
            for &moved in moves {
                let (at, from, bytes) = match moved {
                    Move::Inserted { before, bytes } => (before, None, bytes),
                    Move::Resized { at, from, to } => (at, Some(from), to),
                };
                put(&mut out, (at - last) << 1 | u32::from(from.is_some()));
                if let Some(from) = from {
                    put(&mut out, from);
                }
                put(&mut out, bytes);
                last = at;
            }
        }
        out.into()
    }
}

/// The source lines of a method's original code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines(Vec<(u32, u16)>);

impl Lines {
    /// The lines in packed positions.
    pub fn of(positions: &[u8]) -> Self {
        let mut reader = Reader(positions);
        let mut left = reader.varint().unwrap_or(0);
        let (mut bci, mut line) = (0u32, 0i32);
        let next = || {
            left = left.checked_sub(1)?;
            let (step, lines) = (reader.varint()?, reader.varint()?);
            bci = bci.saturating_add(step);
            line = line.wrapping_add(unzigzag(lines));
            Some((bci, u16::try_from(line).unwrap_or(0)))
        };
        Lines(std::iter::from_fn(next).collect())
    }

    /// The line of the bytecode at `bci`; 0 if it is unknown.
    pub fn at(&self, bci: u16) -> u16 {
        let behind = self.0.partition_point(|&(from, _)| from <= u32::from(bci));
        behind.checked_sub(1).map_or(0, |last| self.0[last].1)
    }
}

/// The original bytecode index of the instruction at `index` in one of a method's bodies; `None` if
/// its positions are unknown.
pub fn original(positions: &[u8], form: Form, index: Bci) -> Option<Bci> {
    let mut reader = Reader(positions);
    for _ in 0..2 * u64::from(reader.varint()?) {
        reader.varint()?;
    }
    if form == Form::Original {
        reader.moves().for_each(drop);
    }
    Some(original_bci(reader.moves(), index))
}

/// Packed positions. A damaged record ends early.
struct Reader<'p>(&'p [u8]);

impl Reader<'_> {
    fn varint(&mut self) -> Option<u32> {
        let mut value = 0;
        for shift in (0..32).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u32::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// The moves of the next body.
    fn moves(&mut self) -> impl Iterator<Item = Move> {
        let mut left = self.varint().unwrap_or(0);
        let mut last = 0u32;
        std::iter::from_fn(move || {
            left = left.checked_sub(1)?;
            let head = self.varint()?;
            last = last.saturating_add(head >> 1);
            let from = if head & 1 == 1 { Some(self.varint()?) } else { None };
            let bytes = self.varint()?;
            Some(match from {
                None => Move::Inserted { before: last, bytes },
                Some(from) => Move::Resized { at: last, from, to: bytes },
            })
        })
    }
}

fn put(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn zigzag(value: i32) -> u32 {
    (value << 1 ^ value >> 31) as u32
}

fn unzigzag(value: u32) -> i32 {
    (value >> 1) as i32 ^ -((value & 1) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_indices_come_back() {
        let positions = Positions {
            lines: vec![(0, 100), (5, 99), (300, 65_535)],
            moves: [
                vec![Move::Inserted { before: 0, bytes: 12 }, Move::Resized { at: 7, from: 3, to: 9 }],
                vec![Move::Inserted { before: 0, bytes: 200 }],
            ],
        };
        let packed = positions.pack();
        assert_eq!(
            [0, 4, 5, 299, 300, 60_000].map(|bci| Lines::of(&packed).at(bci)),
            [100, 100, 99, 99, 65_535, 65_535]
        );
        let of = |form, index| original(&packed, form, index);
        assert_eq!([12, 19, 27, 28].map(|i| of(Form::Extended, i)), [0, 7, 7, 10].map(Some));
        assert_eq!(of(Form::Original, 203), Some(3));
    }

    #[test]
    fn unknown_values_stay_unknown() {
        assert_eq!((Lines::of(&[]).at(3), original(&[], Form::Extended, 3)), (0, None));
        let later = Positions { lines: vec![(5, 7)], ..Positions::default() }.pack();
        assert_eq!(Lines::of(&later).at(4), 0);
    }

    #[test]
    fn damage_ends_early() {
        let positions = Positions {
            lines: vec![(0, 1), (9, 70)],
            moves: [
                vec![Move::Resized { at: 300, from: 3, to: 9 }],
                vec![Move::Inserted { before: 0, bytes: 5 }],
            ],
        };
        let good = positions.pack();
        for at in 0..good.len() {
            for bad in [0, 0x7F, 0xFF] {
                let mut bytes = good.to_vec();
                bytes[at] = bad;
                Lines::of(&bytes);
                original(&bytes, Form::Original, 65_535);
                original(&bytes[..at], Form::Extended, 65_535);
            }
        }
    }
}
