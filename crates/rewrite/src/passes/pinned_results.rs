//! Pinned results: what a clock says is replaced by a constant, behind the call or the read of the field, which stays and is counted
//! ([`crate::pins`]).

use cct_classfile::edit::{Asm, CodeEdit};
use cct_classfile::{Bci, Error, ErrorKind, Result, opcode};

use crate::body::Body;
use crate::carrier::Emitter;
use crate::pins::Clock;

/// Replaces the results of these instructions.
pub fn apply(
    emitter: &mut Emitter<'_, '_, '_>,
    code_edit: &mut CodeEdit<'_, '_>,
    body: &Body<'_, '_>,
    pinned: &[(Bci, Clock)],
) -> Result<()> {
    for &(bci, clock) in pinned {
        let read = body.code.instruction_at(bci).ok_or_else(|| Error::new(ErrorKind::BadTarget(bci)))?;
        let mut asm = Asm::new();
        asm.op(opcode::POP2);
        asm.indexed(opcode::LDC2_W, emitter.edit.additions.long(clock.constant())?);
        code_edit.after(&read, &asm);
    }
    Ok(())
}
