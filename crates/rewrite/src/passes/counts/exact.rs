//! Exact counts: the updates that [`cct_flow::exact`] plans.

use cct_classfile::edit::Asm;
use cct_classfile::edit::asm::Kind;
use cct_classfile::{Bci, ClassFile, Code, Member, Result, opcode};
use cct_flow::{ActivationPlan, CountPlan, CountPlanner, OwnMembers, Update, initialisation};
use cct_jdk::helpers::Helper;
use cct_tables::CostModel;

use crate::carrier::Emitter;
use crate::pass::BodyWriter;

/// The plan for counting a method exactly, by a model if there is one; `None` if it must be counted
/// block by block. The node is exact where the activation counter is tested, since the agent reads
/// it there.
pub fn exact_plan(
    class: &ClassFile<'_>,
    own: &OwnMembers,
    member: &Member<'_>,
    code: &Code<'_>,
    activation: Option<&ActivationPlan>,
    model: Option<&CostModel>,
    planner: &mut CountPlanner,
) -> Option<CountPlan> {
    // The first point is the entry's, where nothing is pending.
    let points = activation.map_or(&[][..], |activation| &activation.points[1..]);
    let observed: Vec<Bci> = points.iter().filter(|point| point.test).map(|point| point.bci).collect();
    let plan = planner.plan(class, own, member, code, &observed, model)?;
    // A handler's frame says whether `this` is initialised, which must be known.
    let has_frames = plan.guarded.is_empty()
        || member.name != b"<init>"
        || class.super_class == 0
        || !initialisation::regions(code, &class.pool).is_empty();
    has_frames.then_some(plan)
}

/// Inserts the updates.
pub fn insert(body: &mut BodyWriter<'_, '_, '_>, plan: &CountPlan) -> Result<()> {
    // Updates of a plan without a pending local do not name one.
    let pending = body.locals.pending.unwrap_or_default();
    let node = body.context.local();
    let emitter = &mut body.emitter;
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
                asm.load(Kind::Long, node);
                emitter.signed(&mut asm, n)?;
                emitter.helper(&mut asm, Helper::Count)?;
            }
            Update::CountLocal(n) => {
                asm.load(Kind::Long, node);
                push_sum(emitter, &mut asm, pending, n)?;
                emitter.helper(&mut asm, Helper::Count)?;
            }
            Update::Drain(n) => {
                asm.load(Kind::Long, node);
                push_sum(emitter, &mut asm, pending, n)?;
                emitter.helper(&mut asm, Helper::Drain)?;
                asm.store(Kind::Int, pending);
            }
        }
        body.edit.before(bci, &asm);
    }
    Ok(())
}

/// Adds the pending count to the node when an exception leaves the method.
pub fn count_pending(body: &mut BodyWriter<'_, '_, '_>, asm: &mut Asm) -> Result<()> {
    let Some(pending) = body.locals.pending else { return Ok(()) };
    asm.load(Kind::Long, body.context.local()).load(Kind::Int, pending);
    body.emitter.helper(asm, Helper::Count)
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
