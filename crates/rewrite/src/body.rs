//! Instrumented bodies: the original code under the extended signature (ESI) or under the original one (OSI), with the passes applied.

mod analysis;
mod exits;
mod prologue;

use cct_classfile::edit::class_edit::MemberBuilder;
use cct_classfile::edit::frames::{Signature, VerificationType};
use cct_classfile::edit::moves::Move;
use cct_classfile::edit::{ClassEdit, CodeEdit, Finished};
use cct_classfile::{Code, ErrorKind, Member, Result, access};
use cct_index::mid::Mid;
use cct_index::positions::Form;
use cct_markers::{Beside, Slot};

use crate::carrier::{Constants, Context, Emitter, Sites};
use crate::convention::{self, EXTENSION_SLOTS, SLOTS_OFFSET};
use crate::local_names;
use crate::markers;
use crate::passes::{
    activation_counters, allocation_counts, bytecode_counts, call_sites, context_values, exact_counts,
    pinned_results, trace_events,
};

pub use analysis::{Analysis, Counts, Planners, blocks, exact_plan};
use prologue::Prologue;

/// What the passes know of a body.
#[derive(Debug)]
pub struct Body<'b, 'a> {
    /// The method.
    pub member: &'b Member<'a>,
    /// Its code.
    pub code: &'b Code<'a>,
    /// What it has for its callees.
    pub context: Context,
    /// How its call sites share the slots of its nodes.
    pub sites: Sites,
    /// The local with the thread that carries the context to its callees, if it holds on to that.
    pub thread: Option<u16>,
    /// Whether the label of bci 0 is reached other than by entering the method.
    pub entry_is_target: bool,
}

/// Locals that instrumentation adds, all in one place.
#[derive(Debug, Clone, Copy)]
struct Locals {
    /// Where they begin; everything from here on moves up.
    at: u16,
    /// The body's node.
    node: u16,
    /// The context that the thread carried on entry (OSI).
    saved: u16,
    /// The thread that was current on entry (OSI).
    thread: u16,
    /// Bytecodes that have not gone into the node yet, where they are counted exactly and a local is needed.
    pending: Option<u16>,
    /// What markers keep: objects, so many from here on.
    first_token: u16,
    tokens: u16,
}

impl Locals {
    /// Slots of all of them but those of markers, or of the extended form's parameters and what comes behind these.
    const MOST: u16 = 6;

    /// Where they begin that come behind those that each form has: what is pending, and what is markers'.
    fn behind(&self) -> Option<u16> {
        self.pending.or((self.tokens > 0).then_some(self.first_token))
    }
}

/// Markers that go into a body (docs/markers.md).
pub struct Weaving<'w, 'r, 'c, 'a> {
    /// Those of its class.
    pub beside: &'w mut Beside<'r, 'c, 'a>,
    /// The method's position.
    pub position: usize,
}

/// Writes a whole `method_info` with the instrumented body. `mid` is `None` where the body is not recorded.
#[allow(clippy::too_many_arguments)]
pub fn write(
    edit: &mut ClassEdit<'_, '_>,
    constants: &mut Constants,
    mut weaving: Option<Weaving<'_, '_, '_, '_>>,
    member: &Member<'_>,
    code: &Code<'_>,
    analysis: &Analysis<'_>,
    form: Form,
    mid: Option<Mid>,
    head: MemberBuilder,
    signature: &Signature<'_>,
    extended_descriptor: &[u8],
) -> Result<Written> {
    let at_arguments = signature.argument_slots();
    let mut attempt =
        |edit: &mut ClassEdit<'_, '_>, constants: &mut Constants, at: u16, head: MemberBuilder| {
            write_at(
                edit,
                constants,
                weaving.as_mut(),
                member,
                code,
                analysis,
                form,
                mid,
                head,
                extended_descriptor,
                signature,
                at,
            )
        };
    match attempt(edit, constants, at_arguments, head.clone()) {
        // Some local of two slots lies across the end of the arguments: put ours behind all others.
        Err(e) if matches!(e.kind(), ErrorKind::StraddlingLocal(_)) => {
            attempt(edit, constants, code.max_locals.max(at_arguments + EXTENSION_SLOTS), head)
        }
        result => result,
    }
}

#[allow(clippy::too_many_arguments)]
fn write_at(
    edit: &mut ClassEdit<'_, '_>,
    constants: &mut Constants,
    mut weaving: Option<&mut Weaving<'_, '_, '_, '_>>,
    member: &Member<'_>,
    code: &Code<'_>,
    analysis: &Analysis<'_>,
    form: Form,
    mid: Option<Mid>,
    mut head: MemberBuilder,
    extended_descriptor: &[u8],
    signature: &Signature<'_>,
    at: u16,
) -> Result<Written> {
    use VerificationType as V;
    let tokens = weaving.as_mut().and_then(|weaving| weaving.beside.locals(weaving.position));
    let ours = Locals::MOST.saturating_add(tokens.unwrap_or_default());
    if at > u16::MAX - ours {
        return Err(ErrorKind::TooMany("local variables").into());
    }
    let arguments = signature.argument_slots();
    let moved = at != arguments;
    let new_signature = match form {
        Form::Extended => Signature {
            descriptor: signature.descriptor.extended(extended_descriptor, EXTENSION_SLOTS)?,
            ..*signature
        },
        Form::Original => *signature,
    };
    let object = constants.object(edit)?;
    let (mut added, behind) = match form {
        // The parameters themselves, as the descriptor implies them; or, moved, the node alone.
        Form::Extended if moved => (vec![V::Long], at + 2),
        Form::Extended => {
            (vec![V::Long, V::Argument((signature.arguments() + 1) as u8)], at + EXTENSION_SLOTS)
        }
        Form::Original => (vec![V::Long, V::Long, V::Object(object)], at + 5),
    };
    let trace = analysis.trace.as_ref();
    let uses_pending = matches!(&analysis.counts, Counts::Exact(plan) if plan.uses_local()) && mid.is_some()
        || trace.is_some_and(|plan| plan.uses_local);
    if uses_pending {
        added.push(V::Integer);
    }
    let pending = uses_pending.then_some(behind);
    let first_token = behind + u16::from(uses_pending);
    added.extend((0..tokens.unwrap_or_default()).map(|_| V::Object(object)));
    let locals = Locals {
        at,
        node: at,
        saved: at + 2,
        thread: at + 4,
        pending,
        first_token,
        tokens: tokens.unwrap_or_default(),
    };
    let mut code_edit = CodeEdit::new(code, at, &added);
    if matches!(analysis.sites, Sites::Apart(_)) {
        code_edit.tell_moves();
    }
    let mut emitter = Emitter { edit, constants };

    let (context, prologue) = Prologue { member, code, analysis, form, signature, locals, mid }
        .write(&mut emitter, &mut code_edit)?;
    code_edit.prologue(&prologue);
    local_names::add(emitter.edit, &mut code_edit, &analysis.unnamed_locals)?;

    // Markers: what they need is in front of what counts at each instruction, where the operand stack is still the program's.
    let slot = match context {
        Context::Node(local) => Slot { local, offset: SLOTS_OFFSET },
        Context::PassedThrough(local) => Slot { local, offset: 0 },
    };
    let thrown = match weaving {
        Some(weaving) if tokens.is_some() => weaving.beside.weave(
            emitter.edit,
            &mut code_edit,
            weaving.position,
            signature,
            locals.first_token,
            slot,
        )?,
        _ => None,
    };

    // The passes.
    let (sites, entry_is_target) = (analysis.sites, analysis.entry_is_target);
    let thread = (form == Form::Original && analysis.holds_thread).then_some(locals.thread);
    let body = Body { member, code, context, sites, thread, entry_is_target };
    if mid.is_some() {
        if let Counts::Exact(plan) = &analysis.counts {
            // In front of the tests of the activation counter. The local is not named where there is none.
            exact_counts::apply(&mut emitter, &mut code_edit, context, plan, pending.unwrap_or_default())?;
        }
        activation_counters::apply(&mut emitter, &mut code_edit, &body, analysis)?;
        bytecode_counts::apply(&mut emitter, &mut code_edit, &body, analysis)?;
    }
    if let Some(plan) = trace {
        trace_events::blocks(&mut emitter, &mut code_edit, &body, plan, pending)?;
    }
    match (analysis.traces, &analysis.values) {
        (_, Some(part)) => {
            context_values::apply(&mut emitter, &mut code_edit, &body, &analysis.calls, part)?;
        }
        (true, None) => trace_events::calls(&mut emitter, &mut code_edit, &body, &analysis.calls, trace)?,
        (false, None) => {
            call_sites::apply(&mut emitter, &mut code_edit, &body, &analysis.calls, analysis.return_cost)?
        }
    }
    match analysis.traces {
        true if analysis.traces_objects && trace.is_some() => {
            trace_events::objects(&mut emitter, &mut code_edit, &body, &analysis.allocations)?;
        }
        true => {}
        false => {
            let calls = analysis.calls.len();
            allocation_counts::apply(&mut emitter, &mut code_edit, &body, &analysis.allocations, calls)?;
        }
    }
    pinned_results::apply(&mut emitter, &mut code_edit, &body, &analysis.pinned)?;
    if let Some(plan) = trace {
        trace_events::returns(&mut emitter, &mut code_edit, &body, plan, analysis.is_extent)?;
    }
    if form == Form::Original {
        exits::restore_on_returns(&mut emitter, &mut code_edit, &body, locals)?;
    }
    exits::catch_all(
        &mut emitter,
        &mut code_edit,
        &body,
        analysis,
        form,
        !signature.is_static && signature.is_constructor,
        locals,
        thrown.as_ref(),
    )?;
    // Six words on the empty stack for the prologue; five above whatever is there for a counted call.
    code_edit.need_stack(if code.max_stack == 0 { 6 } else { 5 });

    let mut names = std::mem::take(&mut emitter.edit.names);
    let name = names.code(&mut emitter.edit.additions)?;
    let additions = &mut emitter.edit.additions;
    let finished =
        head.attribute(name, |out| code_edit.finish(signature, &new_signature, &mut names, additions, out));
    emitter.edit.names = names;
    let Finished { dropped, moves, length } = finished?;
    if tokens.is_some() && markers::limit(code.length()).is_some_and(|limit| length > limit) {
        return Err(ErrorKind::MethodTooLarge(length as usize).into());
    }
    Ok(Written { method_info: head.finish(), dropped_attributes: dropped, moves })
}

/// A written body.
#[derive(Debug)]
pub struct Written {
    /// The whole `method_info`.
    pub method_info: Vec<u8>,
    /// Attributes of the code that are unknown, may hold bytecode indices, and are therefore left out.
    pub dropped_attributes: Vec<String>,
    /// Where its instructions have gone, if call sites are told apart.
    pub moves: Vec<Move>,
}

/// Flags of the extended form of a method of this class.
///
/// The extended form of a final method is not final. A class rewritten without knowledge of its superclass may get a tie break for that
/// method, and the JVM refuses a class that overrides a final method. The tie break calls the original virtually, so the final method
/// still runs. `java/lang/Object` is the exception: HotSpot fixes the length of its virtual table, and its final methods have no entry
/// there. Every class knows it, so no tie break is added for them.
pub fn extended_flags(class: &[u8], flags: u16) -> u16 {
    let kept = if class == convention::OBJECT { flags } else { flags & !access::FINAL };
    // A varargs parameter would have to be the last one.
    kept & !access::VARARGS | access::SYNTHETIC
}
