//! Exact counts: the updates that [`cct_flow::exact`] plans.

use cct_classfile::edit::asm::Kind;
use cct_classfile::edit::{Asm, CodeEdit};
use cct_classfile::{Result, opcode};
use cct_flow::{CountPlan, Update};

use crate::carrier::{Context, Emitter};
use crate::convention;

/// Puts the updates in. `pending` is the local for what is not in the node yet.
pub fn apply(
    emitter: &mut Emitter<'_, '_, '_>,
    code_edit: &mut CodeEdit<'_, '_>,
    context: Context,
    plan: &CountPlan,
    pending: u16,
) -> Result<()> {
    let mut asm = Asm::new();
    for &(bci, update) in &plan.updates {
        asm.clear();
        match update {
            Update::Set(n) => {
                emitter.signed(&mut asm, n)?;
                asm.store(Kind::Int, pending);
            }
            Update::Add(n) => add(emitter, &mut asm, pending, n)?,
            Update::Count(n) => {
                asm.load(Kind::Long, context.local());
                emitter.signed(&mut asm, n)?;
                emitter.helper(&mut asm, convention::COUNT)?;
            }
            Update::CountLocal(n) => {
                asm.load(Kind::Long, context.local());
                push_sum(emitter, &mut asm, pending, n)?;
                emitter.helper(&mut asm, convention::COUNT)?;
            }
            Update::Drain(n) => {
                asm.load(Kind::Long, context.local());
                push_sum(emitter, &mut asm, pending, n)?;
                emitter.helper(&mut asm, convention::DRAIN)?;
                asm.store(Kind::Int, pending);
            }
        }
        code_edit.before(bci, &asm);
    }
    Ok(())
}

/// What a handler does with an exception that leaves the method: the node gets what is pending.
pub fn count_pending(
    emitter: &mut Emitter<'_, '_, '_>,
    asm: &mut Asm,
    context: Context,
    pending: u16,
) -> Result<()> {
    asm.load(Kind::Long, context.local()).load(Kind::Int, pending);
    emitter.helper(asm, convention::COUNT)
}

fn push_sum(emitter: &mut Emitter<'_, '_, '_>, asm: &mut Asm, pending: u16, n: i32) -> Result<()> {
    asm.load(Kind::Int, pending);
    if n != 0 {
        emitter.signed(asm, n)?;
        asm.op(opcode::IADD);
    }
    Ok(())
}

fn add(emitter: &mut Emitter<'_, '_, '_>, asm: &mut Asm, pending: u16, n: i32) -> Result<()> {
    match i16::try_from(n) {
        Ok(small) => {
            asm.iinc(pending, small);
        }
        Err(_) => {
            push_sum(emitter, asm, pending, n)?;
            asm.store(Kind::Int, pending);
        }
    }
    Ok(())
}
