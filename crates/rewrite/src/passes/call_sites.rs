//! Call sites: the callee gets its context as an argument, from the thread, or is counted here (CCCP Fig. 4).

use cct_classfile::edit::{Asm, CodeEdit};
use cct_classfile::{Bci, Error, ErrorKind, Result, opcode};

use crate::body::Body;
use crate::carrier::Emitter;
use crate::convention::{self, EXTENSION_SLOTS};
use crate::plan::CallTarget;

/// Rewrites all invocations. Each bytecode of a callee that is counted here costs `return_cost`: none has more than its `return`.
pub fn apply(
    emitter: &mut Emitter<'_, '_, '_>,
    code_edit: &mut CodeEdit<'_, '_>,
    body: &Body<'_, '_>,
    calls: &[(Bci, CallTarget<'_>)],
    return_cost: u32,
) -> Result<()> {
    let mut asm = Asm::new();
    for (site, &(bci, target)) in calls.iter().enumerate() {
        asm.clear();
        match target {
            // The receiver, for its class; there are no arguments above it.
            CallTarget::Dispatched(_) => asm.op(opcode::DUP),
            // The last argument, which names the callee.
            CallTarget::Linked => asm.op(opcode::DUP),
            // Both, and so a word more than elsewhere.
            CallTarget::LinkedToHashCode => {
                code_edit.need_stack(6);
                asm.op(opcode::DUP2)
            }
            _ => &mut asm,
        };
        let store = match target {
            CallTarget::Stored { .. } | CallTarget::Rooted => Emitter::push_thread(&mut asm, body.thread),
            _ => convention::STORE,
        };
        emitter.push_context(&mut asm, body.context, body.sites, site, bci)?;
        match target {
            CallTarget::Extended => {
                asm.op(opcode::ACONST_NULL);
                invoke_extended(emitter, &mut asm, body, bci)?;
                code_edit.replace(bci, &asm);
                continue;
            }
            CallTarget::Rooted => {
                emitter.helper(&mut asm, convention::ROOT_OF)?;
                emitter.helper(&mut asm, store)?;
            }
            CallTarget::Stored { .. } => emitter.helper(&mut asm, store)?,
            CallTarget::Linked => emitter.helper(&mut asm, convention::LINK)?,
            CallTarget::LinkedToHashCode => emitter.helper(&mut asm, convention::LINK_HASH_CODE)?,
            CallTarget::Dispatched(callee) => {
                emitter.mid(&mut asm, callee.mid())?;
                emitter.helper(&mut asm, convention::HASH_CODE)?;
            }
            CallTarget::Counted(callee) => {
                emitter.mid(&mut asm, callee.mid())?;
                emitter.int(&mut asm, u32::from(callee.bytecodes) * return_cost)?;
                emitter
                    .helper(&mut asm, if callee.calls_back { convention::CALL } else { convention::LEAF })?;
            }
        }
        code_edit.before(bci, &asm);
    }
    Ok(())
}

/// The same invocation, of the extended form.
pub(super) fn invoke_extended(
    emitter: &mut Emitter<'_, '_, '_>,
    asm: &mut Asm,
    body: &Body<'_, '_>,
    bci: Bci,
) -> Result<()> {
    let instruction = body.code.instruction_at(bci).ok_or_else(|| Error::new(ErrorKind::BadTarget(bci)))?;
    let index = instruction.pool_index().ok_or_else(|| Error::new(ErrorKind::BadTarget(bci)))?;
    let extended = emitter.constants.extended_reference(index, emitter.edit)?;
    if instruction.opcode == opcode::INVOKEINTERFACE {
        // The plan extends no method with more than 252 argument slots.
        asm.invoke_interface(extended, instruction.bytes[3].saturating_add(EXTENSION_SLOTS as u8));
    } else {
        asm.indexed(instruction.opcode, extended);
    }
    Ok(())
}
