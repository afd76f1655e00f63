//! Trace events of a body: when a basic block begins, how far one came that an exception left, and around calls whose callees have no events of their own.

use cct_classfile::edit::asm::Kind;
use cct_classfile::edit::{Asm, CodeEdit};
use cct_classfile::{Bci, Error, ErrorKind, Result, opcode};
use cct_events::Event;

use crate::allocation::{Allocation, Made};
use crate::body::Body;
use crate::carrier::Emitter;
use crate::convention::{self, EXTENSION_SLOTS};
use crate::passes::call_sites;
use crate::plan::{CallTarget, Foreign};
use crate::tracing::{TracePlan, leaf_throws};

/// The events of blocks, and what the local says of how far they came. `local` is not named where there is none.
pub fn blocks(
    emitter: &mut Emitter<'_, '_, '_>,
    code_edit: &mut CodeEdit<'_, '_>,
    body: &Body<'_, '_>,
    plan: &TracePlan,
    local: Option<u16>,
) -> Result<()> {
    for (block, start) in plan.announced() {
        let event = Event::Block { method: plan.method, block };
        let mut asm = Asm::new();
        let partial = local.filter(|_| plan.handlers.contains(&start));
        emitter.event(&mut asm, body.context.local(), partial, event)?;
        code_edit.before(start, &asm);
    }
    for &(bci, place) in plan.marks.iter() {
        let Some(local) = local else { break };
        let mut asm = Asm::new();
        emitter.int(&mut asm, place)?;
        asm.store(Kind::Int, local);
        code_edit.before(bci, &asm);
    }
    Ok(())
}

/// The event of the method's end, in front of each return that does not follow from events before it.
pub fn returns(
    emitter: &mut Emitter<'_, '_, '_>,
    code_edit: &mut CodeEdit<'_, '_>,
    body: &Body<'_, '_>,
    plan: &TracePlan,
    is_extent: bool,
) -> Result<()> {
    let event = Event::End { method: plan.method, by_exception: false };
    for instruction in body.code.instructions().filter(|i| opcode::is_return(i.opcode)) {
        let says_end = plan.says_end(instruction.bci);
        let mut asm = Asm::new();
        if says_end {
            emitter.event(&mut asm, body.context.local(), None, event)?;
        }
        if is_extent {
            extent(emitter, &mut asm, body.context.local(), -1)?;
        }
        if says_end || is_extent {
            code_edit.before(instruction.bci, &asm);
        }
    }
    Ok(())
}

/// Objects that are made, behind the instructions that have made them, and monitors, in front of those that take them or give them back.
pub fn objects(
    emitter: &mut Emitter<'_, '_, '_>,
    code_edit: &mut CodeEdit<'_, '_>,
    body: &Body<'_, '_>,
    allocations: &[Allocation],
) -> Result<()> {
    let record = body.context.local();
    for Allocation { bci, made } in allocations {
        let mut asm = Asm::new();
        match made {
            Made::One(of) if of.first() == Some(&b'[') => array(emitter, &mut asm, record, *bci)?,
            Made::One(_) => emitter.event(&mut asm, record, None, Event::Made(*bci))?,
            Made::Arrays(types) => {
                array(emitter, &mut asm, record, *bci)?;
                for level in (1..).take(types.len().saturating_sub(1)) {
                    asm.op(opcode::DUP).load(Kind::Long, record);
                    emitter.word(&mut asm, Event::Arrays { bci: *bci, level, count: 0, length: 0 })?;
                    emitter.helper(&mut asm, convention::TRACE_ARRAYS)?;
                }
            }
            Made::Copy => {
                asm.op(opcode::DUP).load(Kind::Long, record);
                emitter.helper(&mut asm, convention::COPY_MADE)?;
            }
            Made::Nothing => continue,
        }
        let instruction =
            body.code.instruction_at(*bci).ok_or_else(|| Error::new(ErrorKind::BadTarget(*bci)))?;
        code_edit.after(&instruction, &asm);
    }
    for instruction in body.code.instructions() {
        let bci = instruction.bci;
        let event = match instruction.opcode {
            opcode::MONITORENTER => Event::Lock { bci, object: 0 },
            opcode::MONITOREXIT => Event::Unlock { bci, object: 0 },
            _ => continue,
        };
        let mut asm = Asm::new();
        asm.op(opcode::DUP).load(Kind::Long, record);
        emitter.word(&mut asm, event)?;
        emitter.helper(&mut asm, convention::TRACE_MONITOR)?;
        code_edit.before(bci, &asm);
    }
    Ok(())
}

/// The array on the stack, by its length.
fn array(emitter: &mut Emitter<'_, '_, '_>, asm: &mut Asm, record: u16, bci: Bci) -> Result<()> {
    asm.op(opcode::DUP).op(opcode::ARRAYLENGTH).load(Kind::Long, record);
    emitter.word(asm, Event::Array { bci, length: 0 })?;
    emitter.helper(asm, convention::TRACE_ARRAY)
}

/// In the prologue of a synchronized method with a receiver: whose monitor it has. That of a static one is its class's, which nobody need say.
pub fn synchronized(emitter: &mut Emitter<'_, '_, '_>, asm: &mut Asm, record: u16) -> Result<()> {
    asm.load(Kind::Reference, 0).load(Kind::Long, record);
    emitter.word(asm, Event::Locked(0))?;
    emitter.helper(asm, convention::TRACE_MONITOR)
}

/// The thread is one extent deeper in what is to be recorded (1), or has left it (-1).
pub fn extent(emitter: &mut Emitter<'_, '_, '_>, asm: &mut Asm, record: u16, deeper: i16) -> Result<()> {
    asm.load(Kind::Long, record).int(deeper);
    emitter.helper(asm, convention::TRACE_EXTENT)
}

/// Invocations. The thread carries its record, whoever calls; so nothing is stored in front of calls by original signatures. Where the body itself is not recorded
/// there is no `plan`, and callees are given by their ids, since there is no call site to name.
pub fn calls(
    emitter: &mut Emitter<'_, '_, '_>,
    code_edit: &mut CodeEdit<'_, '_>,
    body: &Body<'_, '_>,
    calls: &[(Bci, CallTarget<'_>)],
    plan: Option<&TracePlan>,
) -> Result<()> {
    let record = body.context.local();
    for &(bci, target) in calls {
        let mut asm = Asm::new();
        match target {
            CallTarget::Extended => {
                debug_assert_eq!(EXTENSION_SLOTS, 3);
                asm.load(Kind::Long, record).op(opcode::ACONST_NULL);
                call_sites::invoke_extended(emitter, &mut asm, body, bci)?;
                code_edit.replace(bci, &asm);
            }
            CallTarget::Stored { .. } | CallTarget::Rooted => {}
            CallTarget::Counted(callee) => {
                match plan {
                    Some(_) if callee.calls_back || leaf_throws(callee.class, callee.name) => {
                        emitter.event(&mut asm, record, None, Event::Call(bci))?;
                        let mut returned = Asm::new();
                        emitter.event(&mut returned, record, None, Event::Returned(bci))?;
                        let call = body.code.instruction_at(bci);
                        let call = call.ok_or_else(|| Error::new(ErrorKind::BadTarget(bci)))?;
                        code_edit.after(&call, &returned);
                    }
                    Some(_) => emitter.event(&mut asm, record, None, Event::Leaf(bci))?,
                    None => by_id(emitter, &mut asm, record, &callee)?,
                }
                code_edit.before(bci, &asm);
            }
            CallTarget::Dispatched(callee) => {
                // The receiver, for its class; there are no arguments above it.
                asm.op(opcode::DUP).load(Kind::Long, record);
                match plan {
                    Some(_) => emitter.word(&mut asm, Event::Leaf(bci))?,
                    None => {
                        asm.int(0);
                    }
                }
                emitter.mid(&mut asm, callee.mid())?;
                code_edit.need_stack(6);
                emitter.helper(&mut asm, convention::TRACE_HASH_CODE)?;
                code_edit.before(bci, &asm);
            }
            CallTarget::Linked | CallTarget::LinkedToHashCode => {
                let helper = match target {
                    CallTarget::Linked => {
                        asm.op(opcode::DUP);
                        convention::TRACE_LINK
                    }
                    _ => {
                        asm.op(opcode::DUP2);
                        convention::TRACE_LINK_HASH_CODE
                    }
                };
                asm.load(Kind::Long, record);
                emitter.helper(&mut asm, helper)?;
                code_edit.before(bci, &asm);
                let mut returned = Asm::new();
                emitter.event(&mut returned, record, None, Event::Returned(bci))?;
                let call =
                    body.code.instruction_at(bci).ok_or_else(|| Error::new(ErrorKind::BadTarget(bci)))?;
                code_edit.after(&call, &returned);
            }
        }
    }
    Ok(())
}

/// A callee that is over at once, by its id.
fn by_id(emitter: &mut Emitter<'_, '_, '_>, asm: &mut Asm, record: u16, callee: &Foreign<'_>) -> Result<()> {
    asm.load(Kind::Long, record);
    emitter.mid(asm, callee.mid())?;
    emitter.helper(asm, convention::TRACE_LEAF)
}
