//! Activation counters (JP 5.2): each thread has an upper bound of its executed bytecodes, which
//! says when its profiling agent is due.

use cct_classfile::edit::Asm;
use cct_classfile::edit::asm::Kind;
use cct_classfile::{Bci, Result};
use cct_flow::{ActivationPlan, UpdateKind};
use cct_jdk::helpers::Helper;

use crate::pass::BodyWriter;

/// Inserts the updates at handlers, subroutines and loop heads. (The update of the entry, with its
/// test, belongs to the prologue.) Where a basic block starts at a loop head, the same call counts
/// the block too; `block_cost` is the cost of that block.
pub fn insert(
    body: &mut BodyWriter<'_, '_, '_>,
    plan: &ActivationPlan,
    block_cost: impl Fn(Bci) -> u32,
) -> Result<()> {
    for point in plan.points.iter().skip(1) {
        let mut asm = Asm::new();
        asm.load(Kind::Long, body.context.local());
        body.emitter.int(&mut asm, point.decrement)?;
        if point.kind == UpdateKind::Loop {
            body.emitter.int(&mut asm, block_cost(point.bci))?;
            body.emitter.helper(&mut asm, Helper::Loop)?;
        } else {
            body.emitter.helper(&mut asm, Helper::Tick)?;
        }
        body.edit.before(point.bci, &asm);
    }
    Ok(())
}

/// Whether the counter is updated at `bci` for a loop.
pub fn is_loop(plan: &ActivationPlan, bci: Bci) -> bool {
    let points = &plan.points[1..];
    points.binary_search_by_key(&bci, |p| p.bci).is_ok_and(|i| points[i].kind == UpdateKind::Loop)
}
