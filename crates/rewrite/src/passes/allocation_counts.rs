//! Allocation counting (CCCP 5.1): behind each instruction that makes objects, when they are there, they are counted by their type.
//!
//! Behind and not before: an instruction that fails (no memory, no such class, a negative length) makes nothing. What `new` has made is still
//! uninitialised then, and stays on the stack below the probe, which does not touch it.

use cct_classfile::edit::asm::Kind;
use cct_classfile::edit::{Asm, CodeEdit};
use cct_classfile::{Error, ErrorKind, Result, opcode};
use cct_index::mid::Mid;

use crate::allocation::{self, Allocation, Made};
use crate::body::Body;
use crate::carrier::{Context, Emitter};
use crate::convention;

/// Counts what a recorded body makes. Their slots come behind those of the calls, of which there are so many.
pub fn apply(
    emitter: &mut Emitter<'_, '_, '_>,
    code_edit: &mut CodeEdit<'_, '_>,
    body: &Body<'_, '_>,
    allocations: &[Allocation],
    calls: usize,
) -> Result<()> {
    if !matches!(body.context, Context::Node(_)) {
        return Ok(());
    }
    let mut site = calls;
    for Allocation { bci, made } in allocations {
        let mut asm = Asm::new();
        match made {
            Made::One(of) => {
                emitter.push_context(&mut asm, body.context, body.sites, site, *bci)?;
                emitter.mid(&mut asm, Mid::of_type(of))?;
                emitter.helper(&mut asm, convention::OBJECT_MADE)?;
            }
            Made::Arrays(types) => {
                // The array, a context, an id, a level.
                code_edit.need_stack(6);
                for (level, of) in types.iter().enumerate() {
                    asm.op(opcode::DUP);
                    emitter.push_context(&mut asm, body.context, body.sites, site + level, *bci)?;
                    emitter.mid(&mut asm, Mid::of_type(of))?;
                    emitter.int(&mut asm, level as u32)?;
                    emitter.helper(&mut asm, convention::ARRAYS_MADE)?;
                }
            }
            Made::Copy => {
                asm.op(opcode::DUP);
                emitter.push_context(&mut asm, body.context, body.sites, site, *bci)?;
                emitter.helper(&mut asm, convention::COPY_MADE)?;
            }
            Made::Nothing => {}
        }
        site += made.slots();
        if !asm.bytes.is_empty() {
            let instruction =
                body.code.instruction_at(*bci).ok_or_else(|| Error::new(ErrorKind::BadTarget(*bci)))?;
            code_edit.after(&instruction, &asm);
        }
    }
    Ok(())
}

/// In the wrapper of a native, whose result is on the stack and whose node is in a local: what it has made.
pub fn of_native(
    emitter: &mut Emitter<'_, '_, '_>,
    asm: &mut Asm,
    makes: allocation::NativeMakes,
    node: u16,
) -> Result<()> {
    asm.op(opcode::DUP);
    match makes {
        allocation::NativeMakes::Result => {
            asm.load(Kind::Long, node);
            emitter.helper(asm, convention::RESULT_MADE)
        }
        allocation::NativeMakes::Arrays(lengths) => {
            asm.load(Kind::Reference, lengths).load(Kind::Long, node);
            emitter.helper(asm, convention::RESULT_ARRAYS_MADE)
        }
    }
}
