//! Insertions and replacements in a method's code.

use crate::code::{Bci, Code};
use crate::edit::asm::Asm;
use crate::edit::locals::LocalShift;

/// Code inserted at a position: `key` is twice the bci, plus one after the label.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) key: u64,
    start: u32,
    end: u32,
}

impl Piece {
    pub(crate) fn length(&self) -> u32 {
        self.end - self.start
    }
}

/// An instruction's replacement.
#[derive(Debug)]
pub(crate) struct Replacement {
    pub(crate) bci: Bci,
    start: u32,
    end: u32,
}

impl Replacement {
    pub(crate) fn length(&self) -> u32 {
        self.end - self.start
    }
}

/// All edits of a method, sorted before layout.
#[derive(Debug)]
pub(crate) struct Edits {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) replacements: Vec<Replacement>,
    pub(crate) shift: LocalShift,
    bytes: Vec<u8>,
}

impl Edits {
    /// No edits of `code`. Most are at invocations.
    pub(crate) fn new(shift: LocalShift, code: &Code<'_>) -> Self {
        let invocations = code.invocations.len();
        Edits {
            pieces: Vec::with_capacity(8 + invocations),
            replacements: Vec::with_capacity(invocations),
            shift,
            bytes: Vec::with_capacity(64 + code.bytes.len() + 12 * invocations),
        }
    }

    fn keep(&mut self, asm: &Asm) -> (u32, u32) {
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(&asm.bytes);
        (start, self.bytes.len() as u32)
    }

    /// Inserts code at a position, after the pieces already there.
    pub(crate) fn insert(&mut self, key: u64, asm: &Asm) {
        let (start, end) = self.keep(asm);
        self.pieces.push(Piece { key, start, end });
    }

    /// Replaces an instruction with code.
    pub(crate) fn replace(&mut self, bci: Bci, asm: &Asm) {
        let (start, end) = self.keep(asm);
        self.replacements.push(Replacement { bci, start, end });
    }

    /// Sorts the edits by position. Pieces at one position stay in the order of their insertion.
    pub(crate) fn sort(&mut self) {
        self.pieces.sort_by_key(|p| p.key);
        self.replacements.sort_by_key(|r| r.bci);
    }

    /// Total length of all edits in bytes.
    pub(crate) fn length(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn piece(&self, piece: &Piece) -> &[u8] {
        &self.bytes[piece.start as usize..piece.end as usize]
    }

    pub(crate) fn replacement(&self, replacement: &Replacement) -> &[u8] {
        &self.bytes[replacement.start as usize..replacement.end as usize]
    }
}
