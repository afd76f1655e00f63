//! The attribute's record of original positions of bytecodes, if call sites are kept separate
//! (docs/reference/formats/index.md, *Positions*).

use cct_classfile::{Bci, Code};

/// Packed positions, read from the beginning. A damaged record ends early.
pub struct Positions<'p>(&'p [u8]);

impl<'p> Positions<'p> {
    /// The positions of a method.
    pub fn of(packed: &'p [u8]) -> Self {
        Positions(packed)
    }

    fn number(&mut self) -> Option<u32> {
        let mut value = 0u32;
        for shift in [0, 7, 14, 21, 28] {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u32::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// The source lines, each with its first bytecode index.
    fn lines(&mut self) -> Option<Vec<(u32, i32)>> {
        let count = self.number()?;
        let (mut bci, mut line) = (0u32, 0i32);
        let mut lines = Vec::new();
        for _ in 0..count {
            bci = bci.checked_add(self.number()?)?;
            let step = self.number()?;
            line = line.wrapping_add((step >> 1) as i32 ^ -((step & 1) as i32));
            lines.push((bci, line));
        }
        Some(lines)
    }

    /// Whether the lines equal the original's.
    pub fn has_lines_of(&mut self, code: &Code<'_>) -> bool {
        let mut wanted = Vec::new();
        for table in code.attributes.iter().filter(|a| a.name == b"LineNumberTable") {
            for row in table.data.get(2..).unwrap_or_default().chunks_exact(4) {
                let u2 = |at: usize| u16::from_be_bytes([row[at], row[at + 1]]);
                wanted.push((u32::from(u2(0)), i32::from(u2(2))));
            }
        }
        wanted.sort_by_key(|&(bci, _)| bci);
        self.lines() == Some(wanted)
    }

    /// Skips the positions of a body.
    pub fn skip_body(&mut self) -> bool {
        self.body_leads(&[], &[])
    }

    /// Whether the next body's moves lead from each of these places in it to the original's index.
    /// Both are in order.
    pub fn body_leads(&mut self, places: &[Bci], originals: &[Bci]) -> bool {
        let Some(count) = self.number() else { return false };
        let mut wanted = places.iter().zip(originals).peekable();
        let (mut at, mut shift) = (0u32, 0i64);
        for _ in 0..count {
            let Some(head) = self.number() else { return false };
            let from = match head & 1 {
                1 => self.number(),
                _ => Some(0),
            };
            let (Some(next), Some(from), Some(to)) = (at.checked_add(head >> 1), from, self.number()) else {
                return false;
            };
            at = next;
            let start = i64::from(at) + shift;
            while let Some((place, original)) = wanted.next_if(|(place, _)| i64::from(**place) < start) {
                if i64::from(*place) - shift != i64::from(*original) {
                    return false;
                }
            }
            let end = start + i64::from(to);
            while let Some((_, original)) = wanted.next_if(|(place, _)| i64::from(**place) < end) {
                if *original != at {
                    return false;
                }
            }
            shift += i64::from(to) - i64::from(from);
        }
        wanted.all(|(place, original)| i64::from(*place) - shift == i64::from(*original))
    }

    /// Whether the record is at its end.
    pub fn is_over(&self) -> bool {
        self.0.is_empty()
    }
}
