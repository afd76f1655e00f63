//! Writing of code in which every jump reaches its target, in one pass without a layout: jumps are
//! filled in once all labels are known. That is nearly all code; longer code gets a layout first
//! ([`Layout::compute`]).

use crate::bytes::PutBytes;
use crate::code::{Bci, Code, Instruction};
use crate::edit::edits::{Edits, Piece};
use crate::edit::layout::{Layout, Place};
use crate::edit::locals::write_shifted;
use crate::error::Result;
use crate::opcode;

/// Maximum length of code in which every jump of 16 bits reaches its target.
pub(super) const REACH: usize = 0x7FFF;

/// A jump or a switch's entry whose target had no label yet.
struct Jump {
    /// The new index from which the offset counts.
    from: Bci,
    /// Position of the offset in the code.
    at: Bci,
    /// Whether it has four bytes.
    is_wide: bool,
    target: Bci,
}

/// Appends the edited code to `out`, and returns the layout. Returns `None`, with `out` unchanged,
/// if the code is too long.
pub(super) fn write(code: &Code<'_>, edits: &Edits, out: &mut Vec<u8>) -> Result<Option<Layout>> {
    let begin = out.len();
    let mut writing = Writing { code, out, begin, copied: 0, jumps: Vec::new() };
    let mut layout = Layout::unknown(code);
    let mut pieces = &edits.pieces[..];
    let mut replacements = &edits.replacements[..];
    for instruction in code.instructions() {
        let bci = instruction.bci;
        let key = u64::from(bci) * 2;
        let mut label = writing.at(bci);
        let mut new = label;
        if pieces.first().is_some_and(|piece| piece.key <= key + 1) {
            writing.copy_up_to(bci);
            writing.pieces(&mut pieces, key, edits);
            label = writing.at(bci);
            writing.pieces(&mut pieces, key + 1, edits);
            new = writing.at(bci);
        }
        layout.set(bci, Place { label, instruction: new });
        match replacements {
            [first, rest @ ..] if first.bci == bci => {
                replacements = rest;
                writing.copy_up_to(bci);
                writing.out.extend_from_slice(edits.replacement(first));
                writing.copied = instruction.end();
            }
            _ if opcode::has_local(instruction.opcode) => {
                if let Some((local, two)) = instruction.local() {
                    let new = edits.shift.apply(local, two)?;
                    if new != local {
                        writing.copy_up_to(bci);
                        write_shifted(&instruction, new, writing.out);
                        writing.copied = instruction.end();
                    }
                }
            }
            _ if opcode::has_targets(instruction.opcode) => writing.jump(&instruction),
            _ => {}
        }
    }
    let end = code.length();
    writing.copy_up_to(end);
    writing.pieces(&mut pieces, u64::from(end) * 2, edits);
    layout.set_end(end, writing.at(end));
    if layout.length as usize > REACH {
        out.truncate(begin);
        return Ok(None);
    }
    let Writing { out, jumps, .. } = writing;
    for Jump { from, at, is_wide, target } in jumps {
        let offset = layout.label(target)?.wrapping_sub(from).to_be_bytes();
        let offset = if is_wide { &offset[..] } else { &offset[2..] };
        let at = begin + at as usize;
        out[at..at + offset.len()].copy_from_slice(offset);
    }
    Ok(Some(layout))
}

struct Writing<'w, 'a> {
    code: &'w Code<'a>,
    out: &'w mut Vec<u8>,
    /// Offset in `out` where the code begins.
    begin: usize,
    /// End of the original code that has been copied. The rest is copied when an edit follows.
    copied: Bci,
    jumps: Vec<Jump>,
}

impl Writing<'_, '_> {
    /// The new index of `bci` if everything up to there is copied.
    fn at(&self, bci: Bci) -> Bci {
        (self.out.len() - self.begin) as Bci + (bci - self.copied)
    }

    fn copy_up_to(&mut self, bci: Bci) {
        self.out.extend_from_slice(&self.code.bytes[self.copied as usize..bci as usize]);
        self.copied = bci;
    }

    #[inline]
    fn pieces(&mut self, pieces: &mut &[Piece], key: u64, edits: &Edits) {
        while let [first, rest @ ..] = *pieces
            && first.key <= key
        {
            self.out.extend_from_slice(edits.piece(first));
            *pieces = rest;
        }
    }

    /// Writes a jump or a switch, unchanged except for its targets.
    fn jump(&mut self, instruction: &Instruction<'_>) {
        self.copy_up_to(instruction.bci);
        self.copied = instruction.end();
        let from = (self.out.len() - self.begin) as Bci;
        if let Some(target) = instruction.target() {
            let is_wide = instruction.bytes.len() > 3;
            self.out.extend_from_slice(instruction.bytes);
            self.jumps.push(Jump { from, at: from + 1, is_wide, target });
        } else if let Some(switch) = instruction.switch() {
            self.out.put1(instruction.opcode);
            self.out.extend(std::iter::repeat_n(0, 3 - from as usize % 4));
            self.entry(from, switch.default_target());
            match switch.low {
                Some(low) => {
                    self.out.put4(low as u32);
                    self.out.put4(low.wrapping_add(switch.len() as i32 - 1) as u32);
                }
                None => self.out.put4(switch.len() as u32),
            }
            for (case, target) in switch.cases() {
                if switch.low.is_none() {
                    self.out.put4(case as u32);
                }
                self.entry(from, target);
            }
        }
    }

    /// Writes a switch's entry.
    fn entry(&mut self, from: Bci, target: Bci) {
        let at = (self.out.len() - self.begin) as Bci;
        self.jumps.push(Jump { from, at, is_wide: true, target });
        self.out.put4(0);
    }
}
