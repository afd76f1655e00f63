//! The ways out of a body: what the thread carried is put back, and what is pending goes into the node.

use cct_classfile::edit::frames::{Frame, VerificationType};
use cct_classfile::edit::{Asm, CodeEdit};
use cct_classfile::{Result, opcode};
use cct_events::Event;
use cct_flow::initialisation::{self, Region};
use cct_index::positions::Form;

use super::{Analysis, Body, Counts, Locals};
use crate::carrier::Emitter;
use crate::passes::{exact_counts, trace_events};
use crate::tracing::TracePlan;

/// OSI: what the thread carried on entry is put back on every exit; here on those by a return.
pub(super) fn restore_on_returns(
    emitter: &mut Emitter<'_, '_, '_>,
    code_edit: &mut CodeEdit<'_, '_>,
    body: &Body<'_, '_>,
    locals: Locals,
) -> Result<()> {
    let mut restore = Asm::new();
    emitter.restore_thread(&mut restore, locals.thread, locals.saved)?;
    for instruction in body.code.instructions().filter(|i| opcode::is_return(i.opcode)) {
        code_edit.before(instruction.bci, &restore);
    }
    Ok(())
}

/// What an exception does on its way out: where the local says how many bytecodes are pending they go into the node, an OSI gives the thread back
/// what it carried on entry, and then markers tell that their regions are left (`thrown`).
#[allow(clippy::too_many_arguments)]
pub(super) fn catch_all(
    emitter: &mut Emitter<'_, '_, '_>,
    code_edit: &mut CodeEdit<'_, '_>,
    body: &Body<'_, '_>,
    analysis: &Analysis<'_>,
    form: Form,
    is_constructor: bool,
    locals: Locals,
    thrown: Option<&Asm>,
) -> Result<()> {
    let guarded = match (&analysis.counts, locals.pending) {
        (Counts::Exact(plan), Some(pending)) => Some((&plan.guarded, pending)),
        _ => None,
    };
    if let Some(plan) = &analysis.trace {
        return trace_end(emitter, code_edit, body, (plan, analysis.is_extent), form, is_constructor, locals);
    }
    let is_guarded = guarded.is_some_and(|(guarded, _)| !guarded.is_empty());
    if form == Form::Extended && !is_guarded && thrown.is_none() {
        return Ok(());
    }
    let (regions, frames) = states(emitter, body, form, is_constructor, locals)?;
    let mut restore = Asm::new();
    if form == Form::Original {
        emitter.restore_thread(&mut restore, locals.thread, locals.saved)?;
    }
    // First those that count: the first entry that matches is taken (JVMS 2.10).
    if let Some((guarded, pending)) = guarded {
        let mut asm = Asm::new();
        exact_counts::count_pending(emitter, &mut asm, body.context, pending)?;
        asm.bytes.extend_from_slice(&restore.bytes);
        let mut handlers = [None, None];
        for (region, frame) in regions.iter().zip(&frames) {
            for &(start, end) in guarded {
                let (start, end) = (start.max(region.start), end.min(region.end));
                if start < end {
                    let slot = &mut handlers[usize::from(region.initialised)];
                    let id = *slot.get_or_insert_with(|| {
                        code_edit.handler(leaving(&asm, region, thrown), frame.clone())
                    });
                    code_edit.catch_all(start, end, id);
                }
            }
        }
    }
    let mut handlers = [None, None];
    for (region, frame) in regions.iter().zip(&frames) {
        if form == Form::Original || thrown.is_some() && region.initialised {
            let slot = &mut handlers[usize::from(region.initialised)];
            let id = *slot
                .get_or_insert_with(|| code_edit.handler(leaving(&restore, region, thrown), frame.clone()));
            code_edit.catch_all(region.start, region.end, id);
        }
    }
    Ok(())
}

/// A handler: what is ours, then markers, whose regions begin when `this` is an object, and on goes the exception.
fn leaving(ours: &Asm, region: &Region, thrown: Option<&Asm>) -> Asm {
    let mut asm = ours.clone();
    if let Some(thrown) = thrown.filter(|_| region.initialised) {
        asm.bytes.extend_from_slice(&thrown.bytes);
    }
    asm.op(opcode::ATHROW);
    asm
}

/// The parts of a body that a handler can cover, and what the locals are in it for each.
fn states(
    emitter: &mut Emitter<'_, '_, '_>,
    body: &Body<'_, '_>,
    form: Form,
    is_constructor: bool,
    locals: Locals,
) -> Result<(Vec<Region>, Vec<Frame>)> {
    use VerificationType as V;
    // In a constructor `this` is uninitialised up to the call of this() or super(), and a frame says which. So there each handler is there twice.
    let regions = match is_constructor {
        true => initialisation::regions(body.code, &emitter.edit.class().pool),
        false => vec![Region { start: 0, end: body.code.length(), initialised: true }],
    };
    let throwable = emitter.constants.throwable(emitter.edit)?;
    let object = match form {
        Form::Extended if locals.tokens == 0 => 0,
        _ => emitter.constants.object(emitter.edit)?,
    };
    let frame = |region: &Region| {
        let is_new = is_constructor && !region.initialised;
        let mut types = if is_new { vec![V::UninitializedThis] } else { Vec::new() };
        types.resize(usize::from(locals.at), V::Top);
        types.push(V::Long);
        // Between the node and what is behind: nothing, the parameter that is always null, or the saved context and the thread.
        match (form, locals.behind()) {
            (Form::Original, _) => types.extend([V::Long, V::Object(object)]),
            (Form::Extended, Some(behind)) if behind > locals.node + 2 => types.push(V::Top),
            (Form::Extended, _) => {}
        }
        if locals.pending.is_some() {
            types.push(V::Integer);
        }
        types.extend((0..locals.tokens).map(|_| V::Object(object)));
        Frame { locals: types, stack: vec![V::Object(throwable)] }
    };
    let frames = regions.iter().map(frame).collect();
    Ok((regions, frames))
}

/// In a trace: an exception that leaves the body is its end, and what was running came so far.
fn trace_end(
    emitter: &mut Emitter<'_, '_, '_>,
    code_edit: &mut CodeEdit<'_, '_>,
    body: &Body<'_, '_>,
    (plan, is_extent): (&TracePlan, bool),
    form: Form,
    is_constructor: bool,
    locals: Locals,
) -> Result<()> {
    let (regions, frames) = states(emitter, body, form, is_constructor, locals)?;
    let mut asm = Asm::new();
    let end = Event::End { method: plan.method, by_exception: true };
    emitter.event(&mut asm, body.context.local(), locals.pending, end)?;
    if is_extent {
        trace_events::extent(emitter, &mut asm, body.context.local(), -1)?;
    }
    if form == Form::Original {
        emitter.restore_thread(&mut asm, locals.thread, locals.saved)?;
    }
    asm.op(opcode::ATHROW);
    let mut handlers = [None, None];
    for (region, frame) in regions.iter().zip(frames) {
        let slot = &mut handlers[usize::from(region.initialised)];
        let id = *slot.get_or_insert_with(|| code_edit.handler(asm.clone(), frame));
        code_edit.catch_all(region.start, region.end, id);
    }
    Ok(())
}
