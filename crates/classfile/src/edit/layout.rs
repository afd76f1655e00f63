//! The layout of edited code: new bytecode indices for old ones, and far jumps.
//!
//! `goto` and `jsr` out of reach become `goto_w` and `jsr_w`. A conditional jump has no wide form.
//! Its inversion (`if<not> next; goto_w target; next:`) would make `next` a join point, for which
//! no frame is known. So it jumps to a **trampoline** instead: a `goto_w target` in a gap that
//! control cannot fall into (after a `goto`, return, `athrow` or switch) and that is near enough.
//! The state there is the state at the jump's target, for which there is a frame.

use crate::code::{Bci, Code, Instruction};
use crate::edit::edits::Edits;
use crate::edit::locals::{LocalShift, shifted_length};
use crate::error::{ErrorKind, Result};
use crate::opcode;

const NOWHERE: u32 = u32::MAX;

/// The map from old bytecode indices to new ones.
#[derive(Debug)]
pub(crate) struct Layout {
    /// The new place of each old index.
    places: Vec<Place>,
    /// Length of the original part of the code; appended code follows.
    pub(crate) length: Bci,
    /// Far jumps, in order of bytecode index.
    pub(crate) far: Vec<FarJump>,
}

/// The new place of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// The new target of jumps to it: before the code inserted before the instruction.
    pub(crate) label: Bci,
    /// The new index of the instruction itself.
    pub(crate) instruction: Bci,
}

const NO_PLACE: Place = Place { label: NOWHERE, instruction: NOWHERE };

/// A jump whose target is out of reach for 16 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FarJump {
    /// The jump (old index).
    pub(crate) bci: Bci,
    /// For conditional jumps, the gap (old index of the instruction after it) and, once placed, the
    /// trampoline's new index.
    pub(crate) trampoline: Option<(Bci, Bci)>,
}

/// Length of a trampoline in bytes: one `goto_w`.
pub(crate) const TRAMPOLINE: u32 = 5;

impl Layout {
    /// A layout without any positions.
    pub(crate) fn unknown(code: &Code<'_>) -> Layout {
        let size = code.bytes.len() + 1;
        Layout { places: vec![NO_PLACE; size], length: 0, far: Vec::new() }
    }

    /// Sets the new place of the instruction at `bci`.
    pub(crate) fn set(&mut self, bci: Bci, new: Place) {
        self.places[bci as usize] = new;
    }

    /// Sets the new index of the code's end, which is also the code's length.
    pub(crate) fn set_end(&mut self, bci: Bci, new: Bci) {
        self.places[bci as usize].label = new;
        self.length = new;
    }

    /// Computes the layout of edited code, widening jumps until all reach their targets.
    pub(crate) fn compute(code: &Code<'_>, edits: &Edits) -> Result<Layout> {
        let mut layout = Layout::unknown(code);
        loop {
            layout.place(code, edits)?;
            // It only gets longer from here.
            if layout.length > 65535 {
                return Err(ErrorKind::MethodTooLarge(layout.length as usize).into());
            }
            // Every target is in reach in code this short.
            if layout.length <= 0x7FFF || !layout.widen(code)? {
                return Ok(layout);
            }
        }
    }

    /// The new index of a jump target, range boundary or frame.
    pub(crate) fn label(&self, bci: Bci) -> Result<Bci> {
        self.known(bci, |place| place.label)
    }

    /// The new index of an instruction.
    pub(crate) fn instruction(&self, bci: Bci) -> Result<Bci> {
        self.known(bci, |place| place.instruction)
    }

    /// The new index of a label, where an index inside an instruction counts as that instruction;
    /// for debug tables.
    pub(crate) fn label_around(&self, bci: Bci) -> Result<Bci> {
        let upto = self.places.get(..=bci as usize).ok_or(ErrorKind::BadTarget(bci))?;
        upto.iter()
            .rev()
            .map(|place| place.label)
            .find(|&new| new != NOWHERE)
            .ok_or_else(|| ErrorKind::BadTarget(bci).into())
    }

    /// The new indices of trampolines, in order.
    pub(crate) fn trampolines(&self) -> Vec<Bci> {
        let mut trampolines: Vec<Bci> = self.far.iter().filter_map(|f| Some(f.trampoline?.1)).collect();
        trampolines.sort_unstable();
        trampolines
    }

    fn known(&self, bci: Bci, of: impl Fn(&Place) -> Bci) -> Result<Bci> {
        match self.places.get(bci as usize).map(of) {
            Some(new) if new != NOWHERE => Ok(new),
            _ => Err(ErrorKind::BadTarget(bci).into()),
        }
    }

    /// The far jump at `bci`, if it is one.
    pub(crate) fn far_jump(&self, bci: Bci) -> Option<&FarJump> {
        self.far.binary_search_by_key(&bci, |f| f.bci).ok().map(|i| &self.far[i])
    }

    /// Places the code in one pass, with the far jumps known so far.
    fn place(&mut self, code: &Code<'_>, edits: &Edits) -> Result<()> {
        let mut at: u32 = 0;
        let mut pieces = edits.pieces.iter().peekable();
        let mut replaced = edits.replacements.iter().peekable();
        let mut skip_pieces = |at: &mut u32, key: u64| {
            while let Some(piece) = pieces.next_if(|p| p.key <= key) {
                *at += piece.length();
            }
        };
        for instruction in code.instructions() {
            let bci = instruction.bci;
            skip_pieces(&mut at, u64::from(bci) * 2);
            self.place_trampolines(bci, &mut at);
            let label = at;
            skip_pieces(&mut at, u64::from(bci) * 2 + 1);
            self.set(bci, Place { label, instruction: at });
            at += match replaced.next_if(|r| r.bci == bci) {
                Some(replacement) => replacement.length(),
                None => self.length_of(&instruction, at, edits.shift)?,
            };
        }
        let end = code.length();
        skip_pieces(&mut at, u64::from(end) * 2);
        self.place_trampolines(end, &mut at);
        self.set_end(end, at);
        Ok(())
    }

    fn place_trampolines(&mut self, gap: Bci, at: &mut u32) {
        for far in &mut self.far {
            if let Some((place, new)) = &mut far.trampoline
                && *place == gap
            {
                *new = *at;
                *at += TRAMPOLINE;
            }
        }
    }

    /// The length that an instruction has at the new index `at`, unless it is replaced.
    pub(crate) fn length_of(&self, instruction: &Instruction<'_>, at: u32, shift: LocalShift) -> Result<u32> {
        let old = instruction.bytes.len() as u32;
        if let Some((local, two)) = instruction.local() {
            let new = shift.apply(local, two)?;
            return Ok(if new == local { old } else { shifted_length(instruction, new) });
        }
        if opcode::is_switch(instruction.opcode) {
            let padding = |at: u32| 3 - at % 4;
            return Ok(old - padding(instruction.bci) + padding(at));
        }
        let widened = matches!(instruction.opcode, opcode::GOTO | opcode::JSR)
            && self.far_jump(instruction.bci).is_some();
        Ok(if widened { 5 } else { old })
    }

    /// Finds jumps that do not reach their targets; returns whether there were new ones.
    fn widen(&mut self, code: &Code<'_>) -> Result<bool> {
        let mut found = Vec::new();
        let gaps = self.gaps(code)?;
        for instruction in code.instructions() {
            let Some(target) = instruction.target() else { continue };
            if matches!(instruction.opcode, opcode::GOTO_W | opcode::JSR_W) {
                continue;
            }
            let from = self.instruction(instruction.bci)?;
            let far = self.far_jump(instruction.bci);
            let to = match far {
                Some(FarJump { trampoline: None, .. }) => continue,
                Some(FarJump { trampoline: Some((_, new)), .. }) => *new,
                None => self.label(target)?,
            };
            if i16::try_from(i64::from(to) - i64::from(from)).is_ok() {
                continue;
            }
            if far.is_some() {
                // The trampoline itself is out of reach although its gap was the nearest one.
                return Err(ErrorKind::JumpTooFar(instruction.bci).into());
            }
            let trampoline = if opcode::is_conditional(instruction.opcode) {
                Some((nearest_gap(&gaps, from).ok_or(ErrorKind::JumpTooFar(instruction.bci))?, 0))
            } else {
                None
            };
            found.push(FarJump { bci: instruction.bci, trampoline });
        }
        let any = !found.is_empty();
        self.far.extend(found);
        self.far.sort_by_key(|f| f.bci);
        Ok(any)
    }

    /// The gaps in the layout so far: new and old index, in order.
    fn gaps(&self, code: &Code<'_>) -> Result<Vec<(Bci, Bci)>> {
        let ends = code.instructions().filter(|i| opcode::ends_flow(i.opcode)).map(|i| i.end());
        ends.map(|gap| Ok((self.label(gap)?, gap))).collect()
    }
}

/// The gap nearest to a jump at the new index `from`; the first of two equally near ones.
fn nearest_gap(gaps: &[(Bci, Bci)], from: Bci) -> Option<Bci> {
    let behind = gaps.partition_point(|&(at, _)| at < from);
    let around = &gaps[behind.saturating_sub(1)..(behind + 1).min(gaps.len())];
    around.iter().min_by_key(|(at, _)| at.abs_diff(from)).map(|&(_, gap)| gap)
}

/// Cuts trampolines out of a range of new indices. A trampoline's state is that of its jump's
/// target, which does not fit the handlers around it; and it cannot throw.
pub(crate) fn ranges_without(
    trampolines: &[Bci],
    start: Bci,
    end: Bci,
    mut range: impl FnMut(Bci, Bci) -> Result<()>,
) -> Result<()> {
    let mut from = start;
    let first = trampolines.partition_point(|&at| at < start);
    for &at in trampolines[first..].iter().take_while(|&&at| at < end) {
        if from < at {
            range(from, at)?;
        }
        from = at + TRAMPOLINE;
    }
    if from < end { range(from, end) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trampolines_are_in_no_exception_range() {
        let cut = |start, end| {
            let mut ranges = Vec::new();
            let push = |from, to| {
                ranges.push((from, to));
                Ok(())
            };
            ranges_without(&[20, 40], start, end, push).unwrap();
            ranges
        };
        assert_eq!(cut(0, 60), [(0, 20), (25, 40), (45, 60)]);
        assert_eq!(cut(0, 45), [(0, 20), (25, 40)], "a range that ends behind a trampoline");
        assert_eq!(cut(20, 40), [(25, 40)]);
        assert_eq!(cut(50, 60), [(50, 60)]);
    }

    #[test]
    fn the_nearest_gap_is_on_either_side() {
        let gaps = [(10, 1), (20, 2), (40, 3)];
        let nearest = [0, 10, 14, 16, 30, 31, 99].map(|from| nearest_gap(&gaps, from));
        assert_eq!(nearest, [1, 1, 1, 2, 2, 3, 3].map(Some));
        assert_eq!(nearest_gap(&[], 5), None);
    }

    #[test]
    fn an_index_inside_an_instruction_counts_as_that_instruction() {
        let place = |new| Place { label: new, instruction: new };
        let places = vec![place(3), NO_PLACE, NO_PLACE, place(9)];
        let layout = Layout { places, length: 0, far: Vec::new() };
        assert_eq!(layout.label_around(2).unwrap(), 3);
        assert_eq!(layout.label_around(3).unwrap(), 9);
        assert!(layout.label(2).is_err() && layout.label_around(4).is_err());
    }
}
