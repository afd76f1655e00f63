//! Moves: the original instruction of each instruction of edited code, which debug tables do not
//! state.

use super::edits::Edits;
use super::layout::Layout;
use crate::code::{Bci, Code};
use crate::error::Result;

/// A position after which bytecode indices change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// Code inserted before the instruction that was at this index.
    Inserted {
        /// The original index.
        before: Bci,
        /// Length of the code in bytes.
        bytes: u32,
    },
    /// An instruction with a new length, or a replacement.
    Resized {
        /// Original index of the instruction.
        at: Bci,
        /// Original length in bytes.
        from: u32,
        /// New length in bytes.
        to: u32,
    },
}

/// The original index of the instruction at `index`, of the one that it replaces, or of the one
/// before which it was inserted. `moves` are in order.
pub fn original_bci(moves: impl IntoIterator<Item = Move>, index: Bci) -> Bci {
    let mut shift: i64 = 0;
    let index = i64::from(index);
    for moved in moves {
        let (place, length) = match moved {
            Move::Inserted { before, bytes } => (before, bytes),
            Move::Resized { at, to, .. } => (at, to),
        };
        let start = i64::from(place) + shift;
        if index < start {
            break;
        }
        if index < start + i64::from(length) {
            return place;
        }
        shift += i64::from(length);
        if let Move::Resized { from, .. } = moved {
            shift -= i64::from(from);
        }
    }
    u32::try_from(index - shift).unwrap_or_default()
}

/// All moves, in order.
pub(super) fn of(code: &Code<'_>, edits: &Edits, layout: &Layout) -> Result<Vec<Move>> {
    let mut moves = Vec::new();
    let mut replaced = edits.replacements.iter().peekable();
    let mut end = 0;
    for instruction in code.instructions() {
        let at = instruction.bci;
        let new = layout.instruction(at)?;
        if new > end {
            moves.push(Move::Inserted { before: at, bytes: new - end });
        }
        let from = instruction.bytes.len() as u32;
        let to = match replaced.next_if(|r| r.bci == at) {
            Some(replacement) => replacement.length(),
            None => layout.length_of(&instruction, new, edits.shift)?,
        };
        if from != to {
            moves.push(Move::Resized { at, from, to });
        }
        end = new + to;
    }
    Ok(moves)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inserted_and_resized_code_belongs_to_its_instruction() {
        let moves = [
            Move::Inserted { before: 0, bytes: 10 },
            Move::Resized { at: 1, from: 3, to: 9 },
            Move::Inserted { before: 4, bytes: 2 },
            Move::Resized { at: 6, from: 4, to: 2 },
        ];
        let original = |index| original_bci(moves, index);
        assert_eq!([0, 9, 10].map(original), [0, 0, 0]);
        // The replacement, to its last byte.
        assert_eq!([11, 14, 19].map(original), [1, 1, 1]);
        assert_eq!([20, 21, 22, 23].map(original), [4, 4, 4, 5]);
        assert_eq!([24, 25, 26, 30].map(original), [6, 6, 10, 14]);
        assert_eq!(original_bci([], 7), 7);
    }
}
