//! Writing of code that exceeds the reach of jumps, by its layout.

use crate::bytes::PutBytes;
use crate::code::{Bci, Code, Instruction};
use crate::edit::edits::Edits;
use crate::edit::layout::Layout;
use crate::edit::locals::write_shifted;
use crate::error::{ErrorKind, Result};
use crate::opcode;

/// Writes edited code by its layout.
pub(super) fn write(code: &Code<'_>, edits: &Edits, layout: &Layout, out: &mut Vec<u8>) -> Result<()> {
    let begin = out.len();
    let mut pieces = edits.pieces.iter().peekable();
    let mut replaced = edits.replacements.iter().peekable();
    let mut write_pieces = |out: &mut Vec<u8>, key: u64| {
        while let Some(p) = pieces.next_if(|p| p.key <= key) {
            out.extend_from_slice(edits.piece(p));
        }
    };
    for instruction in code.instructions() {
        let bci = instruction.bci;
        write_pieces(out, u64::from(bci) * 2);
        write_trampolines(code, bci, layout, out)?;
        write_pieces(out, u64::from(bci) * 2 + 1);
        match replaced.next_if(|r| r.bci == bci) {
            Some(r) => out.extend_from_slice(edits.replacement(r)),
            None => write_instruction(&instruction, edits, layout, begin, out)?,
        }
    }
    let end = code.length();
    write_pieces(out, u64::from(end) * 2);
    write_trampolines(code, end, layout, out)
}

fn write_trampolines(code: &Code<'_>, gap: Bci, layout: &Layout, out: &mut Vec<u8>) -> Result<()> {
    for far in &layout.far {
        if let Some((place, at)) = far.trampoline
            && place == gap
        {
            let jump = code.instruction_at(far.bci).and_then(|i| i.target());
            let target = layout.label(jump.ok_or(ErrorKind::BadTarget(far.bci))?)?;
            out.put1(opcode::GOTO_W);
            out.put4(target.wrapping_sub(at));
        }
    }
    Ok(())
}

fn write_instruction(
    instruction: &Instruction<'_>,
    edits: &Edits,
    layout: &Layout,
    begin: usize,
    out: &mut Vec<u8>,
) -> Result<()> {
    let at = (out.len() - begin) as u32;
    if let Some((local, two)) = instruction.local() {
        let new = edits.shift.apply(local, two)?;
        if new != local {
            write_shifted(instruction, new, out);
            return Ok(());
        }
    } else if let Some(target) = instruction.target() {
        return write_jump(instruction, target, at, layout, out);
    } else if let Some(switch) = instruction.switch() {
        out.put1(instruction.opcode);
        out.extend(std::iter::repeat_n(0, 3 - at as usize % 4));
        out.put4(layout.label(switch.default_target())?.wrapping_sub(at));
        match switch.low {
            Some(low) => {
                out.put4(low as u32);
                out.put4(low.wrapping_add(switch.len() as i32 - 1) as u32);
            }
            None => out.put4(switch.len() as u32),
        }
        for (case, target) in switch.cases() {
            if switch.low.is_none() {
                out.put4(case as u32);
            }
            out.put4(layout.label(target)?.wrapping_sub(at));
        }
        return Ok(());
    }
    out.extend_from_slice(instruction.bytes);
    Ok(())
}

fn write_jump(
    instruction: &Instruction<'_>,
    target: Bci,
    at: u32,
    layout: &Layout,
    out: &mut Vec<u8>,
) -> Result<()> {
    let mut to = layout.label(target)?;
    let mut opcode = instruction.opcode;
    if let Some(far) = layout.far_jump(instruction.bci) {
        match far.trampoline {
            Some((_, trampoline)) => to = trampoline,
            None => opcode = if opcode == opcode::GOTO { opcode::GOTO_W } else { opcode::JSR_W },
        }
    }
    out.put1(opcode);
    let offset = i64::from(to) - i64::from(at);
    if matches!(opcode, opcode::GOTO_W | opcode::JSR_W) {
        out.put4(offset as i32 as u32);
    } else {
        out.put2(i16::try_from(offset).map_err(|_| ErrorKind::JumpTooFar(instruction.bci))? as u16);
    }
    Ok(())
}
