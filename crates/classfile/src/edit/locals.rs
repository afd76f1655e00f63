//! Local variables that move up, and the instructions that name them.

use crate::bytes::PutBytes;
use crate::code::Instruction;
use crate::error::{ErrorKind, Result};
use crate::opcode;

/// Locals with an index of `from` or more move up by `by`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LocalShift {
    pub(crate) from: u16,
    pub(crate) by: u16,
}

impl LocalShift {
    /// The new index of a local of one or two slots.
    #[inline]
    pub(crate) fn apply(self, local: u16, two: bool) -> Result<u16> {
        if local >= self.from {
            return local.checked_add(self.by).ok_or_else(|| ErrorKind::TooMany("local variables").into());
        }
        if two && local + 1 >= self.from && self.by > 0 {
            return Err(ErrorKind::StraddlingLocal(local).into());
        }
        Ok(local)
    }
}

/// Length in bytes of an instruction whose local variable becomes `new`.
pub(super) fn shifted_length(instruction: &Instruction<'_>, new: u16) -> u32 {
    let wide = new > 255
        || (instruction.is_wide() && instruction.opcode == opcode::IINC && !iinc_is_short(instruction));
    match instruction.opcode {
        opcode::IINC => {
            if wide {
                6
            } else {
                3
            }
        }
        opcode::RET => {
            if wide {
                4
            } else {
                2
            }
        }
        _ => match new {
            0..=3 => 1,
            4..=255 => 2,
            _ => 4,
        },
    }
}

/// Whether a `wide iinc`'s constant would fit the short form.
fn iinc_is_short(instruction: &Instruction<'_>) -> bool {
    !instruction.is_wide() || {
        let constant = i16::from_be_bytes([instruction.bytes[4], instruction.bytes[5]]);
        i8::try_from(constant).is_ok()
    }
}

/// Writes an instruction with a different local variable.
pub(super) fn write_shifted(instruction: &Instruction<'_>, new: u16, out: &mut Vec<u8>) {
    use opcode::*;
    let short = |general: Opcode, short: Opcode, op: Opcode| {
        if op >= short { general + (op - short) / 4 } else { op }
    };
    let general = match instruction.opcode {
        op @ ILOAD..=ALOAD_3 => short(ILOAD, ILOAD_0, op),
        op @ ISTORE..=ASTORE_3 => short(ISTORE, ISTORE_0, op),
        op => op,
    };
    match general {
        IINC => {
            let constant = if instruction.is_wide() {
                i16::from_be_bytes([instruction.bytes[4], instruction.bytes[5]])
            } else {
                i16::from(instruction.bytes[2] as i8)
            };
            if new <= 255 && iinc_is_short(instruction) {
                out.extend_from_slice(&[IINC, new as u8, constant as i8 as u8]);
            } else {
                out.extend_from_slice(&[WIDE, IINC]);
                out.put2(new);
                out.put2(constant as u16);
            }
        }
        _ if new <= 3 && general != RET => {
            let (base, first) = if general >= ISTORE { (ISTORE, ISTORE_0) } else { (ILOAD, ILOAD_0) };
            out.put1(first + 4 * (general - base) + new as u8);
        }
        _ if new <= 255 => out.extend_from_slice(&[general, new as u8]),
        _ => {
            out.extend_from_slice(&[WIDE, general]);
            out.put2(new);
        }
    }
}
