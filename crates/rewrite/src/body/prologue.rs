//! The prologue of a body: it turns the incoming context into the one for callees, and runs the
//! code that is due once for each entry.

use cct_classfile::Result;
use cct_classfile::edit::Asm;
use cct_classfile::edit::asm::Kind;
use cct_index::positions::Form;
use cct_jdk::helpers::Helper;
use cct_jdk::vm_calls;

use super::plans::Plans;
use crate::pass::{BodyWriter, Locals};

/// Writes the prologue and stores the body's context in the writer.
pub(super) fn write(body: &mut BodyWriter<'_, '_, '_>, plans: &Plans<'_>) -> Result<Asm> {
    let mut asm = Asm::new();
    if body.method.is_start {
        // First the start of recording, since this entry counts too.
        body.emitter.helper(&mut asm, Helper::StartAt)?;
    }
    let incoming = incoming(body, &mut asm)?;
    let mut context = None;
    for pass in plans.passes() {
        context = context.or(pass.context(body, &mut asm, incoming, plans.entry())?);
    }
    body.context = context.unwrap_or_else(|| body.hand_on(&mut asm, incoming));
    // Every frame declares the pending count as an int.
    if let Some(pending) = body.locals.pending {
        asm.int(0).store(Kind::Int, pending);
    }
    for pass in plans.passes() {
        pass.prologue(body, &mut asm)?;
    }
    Ok(asm)
}

/// Returns the local with the incoming context. Without a context parameter, writes the code that
/// reads the context from the thread.
fn incoming(body: &mut BodyWriter<'_, '_, '_>, asm: &mut Asm) -> Result<u16> {
    let Locals { thread, saved, node, .. } = body.locals;
    let method = body.method;
    if body.form == Form::Extended {
        return Ok(method.signature.argument_slots());
    }
    body.emitter.read_thread(asm, thread, saved)?;
    let mut context = saved;
    // A trace needs no replay: its events come in order, even if the VM is the caller.
    if vm_calls::is_called_by_vm(method.class.name(), method.member) && !method.settings.traces() {
        body.emitter.replay(asm, thread, context, node)?;
        context = node;
    }
    if method.is_extent {
        body.emitter.begin(asm, thread, context, node)?;
        context = node;
    }
    Ok(context)
}
