//! Instrumented bodies: the original code under the extended signature (ESI) or under the original
//! one (OSI), with the code of the passes.

mod exits;
mod plans;
mod prologue;

use cct_classfile::edit::class_edit::MemberBuilder;
use cct_classfile::edit::frames::{Signature, VerificationType};
use cct_classfile::edit::moves::Move;
use cct_classfile::edit::{ClassEdit, CodeChanges, CodeEdit};
use cct_classfile::{ErrorKind, Result, access};
use cct_index::mid::Mid;
use cct_index::positions::Form;
use cct_jdk::convention::{self, EXTENSION_SLOTS};

use crate::carrier::{Constants, Context, Emitter, Sites};
use crate::markers::{self, Weaver};
use crate::pass::{BodyWriter, Locals, MethodContext, MethodPass};

pub use plans::Plans;

/// The class that gains a body.
pub struct ClassParts<'w, 'c, 'a> {
    /// The edits of the class.
    pub edit: &'w mut ClassEdit<'c, 'a>,
    /// The constants of the class that inserted code uses.
    pub constants: &'w mut Constants,
    /// The markers of the class; `None` if it cannot have any.
    pub markers: Option<&'w mut dyn Weaver>,
}

/// Writes a whole `method_info` with the instrumented body. `mid` is `None` where the body is not
/// recorded.
///
/// # Errors
/// If the class has no room for the body or its constants, or the body exceeds the maximum size of
/// a method.
pub fn write<'a>(
    mut class: ClassParts<'_, '_, 'a>,
    method: &MethodContext<'_, 'a>,
    plans: &Plans<'_>,
    form: Form,
    mid: Option<Mid>,
    head: MemberBuilder,
) -> Result<WrittenBody> {
    let at_arguments = method.signature.argument_slots();
    match write_at(&mut class, method, plans, form, mid, head.clone(), at_arguments) {
        // A local of two slots lies across the end of the arguments. Append the added locals after
        // all others.
        Err(e) if matches!(e.kind(), ErrorKind::StraddlingLocal(_)) => {
            let at_end = method.code.max_locals.max(at_arguments + EXTENSION_SLOTS);
            write_at(&mut class, method, plans, form, mid, head, at_end)
        }
        result => result,
    }
}

/// Writes a body whose added locals begin at slot `at`.
fn write_at<'a>(
    class: &mut ClassParts<'_, '_, 'a>,
    method: &MethodContext<'_, 'a>,
    plans: &Plans<'_>,
    form: Form,
    mid: Option<Mid>,
    mut head: MemberBuilder,
    at: u16,
) -> Result<WrittenBody> {
    let MethodContext { code, signature, .. } = *method;
    let object = class.constants.object(class.edit)?;
    let (locals, added) = locals(method, plans, form, at, object)?;
    let new_signature = match form {
        Form::Extended => Signature {
            descriptor: signature.descriptor.extended(method.extended_descriptor, EXTENSION_SLOTS)?,
            ..*signature
        },
        Form::Original => *signature,
    };
    let mut edit = CodeEdit::new(code, at, &added);
    if matches!(method.sites, Sites::Apart(_)) {
        edit.report_moves();
    }
    let mut body = BodyWriter {
        emitter: Emitter { edit: &mut *class.edit, constants: &mut *class.constants },
        edit,
        method,
        form,
        mid,
        locals,
        context: Context::PassedThrough(locals.node),
        markers: match &mut class.markers {
            Some(weaver) => Some(&mut **weaver),
            None => None,
        },
        thrown: None,
    };
    let prologue = prologue::write(&mut body, plans)?;
    body.edit.prologue(&prologue);
    plans.passes().try_for_each(|pass| pass.insert(&mut body))?;
    plans.passes().try_for_each(|pass| pass.before_returns(&mut body))?;
    if form == Form::Original {
        exits::restore_on_returns(&mut body)?;
    }
    exits::catch_all(&mut body, plans)?;
    let BodyWriter { edit: mut code_edit, emitter: Emitter { edit, .. }, .. } = body;
    // The prologue needs six words on an empty stack. A counted call needs five words on top of the
    // program's stack.
    code_edit.need_stack(if code.max_stack == 0 { 6 } else { 5 });

    let mut names = std::mem::take(&mut edit.names);
    let name = names.code(&mut edit.additions)?;
    let additions = &mut edit.additions;
    let finished =
        head.attribute(name, |out| code_edit.finish(signature, &new_signature, &mut names, additions, out));
    edit.names = names;
    let CodeChanges { dropped, moves, length } = finished?;
    if method.marker_tokens.is_some() && markers::limit(code.length()).is_some_and(|limit| length > limit) {
        return Err(ErrorKind::MethodTooLarge(length as usize).into());
    }
    Ok(WrittenBody { method_info: head.finish(), dropped_attributes: dropped, moves })
}

/// The locals that a body gets from slot `at` on, and their types in stack map frames.
fn locals(
    method: &MethodContext<'_, '_>,
    plans: &Plans<'_>,
    form: Form,
    at: u16,
    object: u16,
) -> Result<(Locals, Vec<VerificationType>)> {
    use VerificationType as V;
    let needed: Vec<_> = plans.passes().map(MethodPass::locals).collect();
    let tokens = needed.iter().filter_map(|needed| needed.tokens).sum::<u16>();
    if at > u16::MAX - Locals::MOST.saturating_add(tokens) {
        return Err(ErrorKind::TooMany("local variables").into());
    }
    let signature = method.signature;
    let (mut added, next) = match form {
        // If the added locals do not directly follow the arguments, only the node is added, since
        // the context parameters are in other slots. Otherwise the first added locals are the
        // context parameters, whose types follow from the descriptor.
        Form::Extended if at != signature.argument_slots() => (vec![V::Long], at + 2),
        Form::Extended => {
            (vec![V::Long, V::Argument((signature.arguments() + 1) as u8)], at + EXTENSION_SLOTS)
        }
        Form::Original => (vec![V::Long, V::Long, V::Object(object)], at + 5),
    };
    let uses_pending = needed.iter().any(|needed| needed.pending);
    if uses_pending {
        added.push(V::Integer);
    }
    added.extend((0..tokens).map(|_| V::Object(object)));
    let locals = Locals {
        at,
        node: at,
        saved: at + 2,
        thread: at + 4,
        pending: uses_pending.then_some(next),
        first_token: next + u16::from(uses_pending),
        tokens,
    };
    Ok((locals, added))
}

/// A written body.
#[derive(Debug)]
pub struct WrittenBody {
    /// The whole `method_info`.
    pub method_info: Vec<u8>,
    /// Omitted attributes of the code: unknown ones that may hold bytecode indices.
    pub dropped_attributes: Vec<String>,
    /// New positions of its instructions, if call sites are kept separate.
    pub moves: Vec<Move>,
}

/// Flags of the extended form of a method of this class.
///
/// The extended form of a final method is not final. A class rewritten without knowledge of its
/// superclass may get a tie break for that method, and the JVM refuses a class that overrides a
/// final method. The tie break calls the original virtually, so the final method still runs.
/// `java/lang/Object` is the exception: HotSpot fixes the length of its virtual table, and its
/// final methods have no entry there. Every class knows `java/lang/Object`, so no tie break is
/// added for its methods.
pub fn extended_flags(class: &[u8], flags: u16) -> u16 {
    let kept = if class == convention::OBJECT { flags } else { flags & !access::FINAL };
    // A varargs parameter would have to be the last one.
    kept & !access::VARARGS | access::SYNTHETIC
}
