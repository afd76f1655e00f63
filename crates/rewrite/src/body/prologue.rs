//! The prologue of a body: from the context that comes in to the one that its callees get, and what
//! runs once for each entry.

use cct_classfile::Result;
use cct_classfile::edit::Asm;
use cct_classfile::edit::asm::Kind;
use cct_index::positions::Form;
use cct_jdk::helpers::Helper;

use super::plans::Plans;
use crate::pass::{BodyWriter, Locals};
use crate::rules;

/// Writes the prologue, and has the body know its context.
pub(super) fn write(body: &mut BodyWriter<'_, '_, '_>, plans: &Plans<'_>) -> Result<Asm> {
    let mut asm = Asm::new();
    if body.method.is_start {
        // Before its own entry, which is counted.
        body.emitter.helper(&mut asm, Helper::StartAt)?;
    }
    let incoming = incoming(body, &mut asm)?;
    let mut context = None;
    for pass in plans.passes() {
        context = context.or(pass.context(body, &mut asm, incoming, plans.entry())?);
    }
    body.context = context.unwrap_or_else(|| body.hand_on(&mut asm, incoming));
    // Every frame says that what is pending is an int.
    if let Some(pending) = body.locals.pending {
        asm.int(0).store(Kind::Int, pending);
    }
    for pass in plans.passes() {
        pass.prologue(body, &mut asm)?;
    }
    Ok(asm)
}

/// The local with the context that comes in: a parameter, or what the thread carries.
fn incoming(body: &mut BodyWriter<'_, '_, '_>, asm: &mut Asm) -> Result<u16> {
    let Locals { thread, saved, node, .. } = body.locals;
    let method = body.method;
    if body.form == Form::Extended {
        return Ok(method.signature.argument_slots());
    }
    body.emitter.read_thread(asm, thread, saved)?;
    let mut context = saved;
    // Events come in order, whoever calls.
    if rules::is_called_by_vm(method.class.name(), method.member) && !method.settings.traces() {
        body.emitter.replay(asm, thread, context, node)?;
        context = node;
    }
    if method.is_extent {
        body.emitter.begin(asm, thread, context, node)?;
        context = node;
    }
    Ok(context)
}
