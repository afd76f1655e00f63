//! Instrumented bodies: the original code under the extended signature (ESI) or under the original one (OSI), with the passes applied.

use cct_classfile::edit::asm::Kind;
use cct_classfile::edit::class_edit::MemberBuilder;
use cct_classfile::edit::frames::{Frame, Signature, VerificationType};
use cct_classfile::edit::{Asm, ClassEdit, CodeEdit};
use cct_classfile::{Bci, Code, Error, ErrorKind, Member, Result, access, opcode};
use cct_flow::{ActivationPlan, ActivationPlanner, BlockRule, Blocks, UpdateKind};

use crate::carrier::{Constants, Context, Emitter};
use crate::convention::{EXTENSION_SLOTS, MAX_SLOTS};
use crate::hooks::{BodyHook, Place};
use crate::initialisation;
use crate::local_names;
use crate::mid::Mid;
use crate::passes::{activation_counters, bytecode_counts, call_sites, pinned_results};
use crate::pins::Clock;
use crate::plan::CallTarget;
use crate::rules;

/// Under which signature a body stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The extended one: the slot is a parameter.
    Extended,
    /// The original one: the slot is in the thread, which gets it back on every exit.
    Original,
}

/// What the passes know of a body.
#[derive(Debug)]
pub struct Body<'b, 'a> {
    /// The method.
    pub member: &'b Member<'a>,
    /// Its code.
    pub code: &'b Code<'a>,
    /// What it has for its callees.
    pub context: Context,
    /// Whether the label of bci 0 is reached other than by entering the method.
    pub entry_is_target: bool,
}

/// Analyses of a method that its bodies share.
#[derive(Debug)]
pub struct Analysis<'x> {
    /// Basic blocks; `None` when no bytecodes are counted.
    pub blocks: Option<Blocks>,
    /// Updates of the activation counter.
    pub activation: ActivationPlan,
    /// How each call site calls, in code order.
    pub calls: Vec<(Bci, CallTarget<'x>)>,
    /// Calls whose results are replaced.
    pub pinned: Vec<(Bci, Clock)>,
    /// Whether some jump or handler leads to bci 0.
    pub entry_is_target: bool,
    /// Locals behind the arguments that get names, since the JVM's messages would show their new numbers.
    pub unnamed_locals: Vec<u16>,
    /// Calls of the runtime at places of the class library.
    pub hooks: Vec<&'static BodyHook>,
}

impl<'x> Analysis<'x> {
    /// Analyses a method. `blocks` is `None` where bytecodes are not counted.
    pub fn of(
        code: &Code<'_>,
        pool: &cct_classfile::ConstantPool<'_>,
        planner: &mut ActivationPlanner,
        blocks: Option<BlockRule>,
        calls: Vec<(Bci, CallTarget<'x>)>,
        pinned: Vec<(Bci, Clock)>,
    ) -> Result<Self> {
        let activation = planner
            .plan(code, pool)
            .map_err(|_| Error::new(ErrorKind::TooMany("exception edges to analyse the method")))?;
        let mut entry_is_target = code.handlers.iter().any(|h| h.handler == 0);
        for instruction in code.instructions() {
            instruction.for_each_target(|t| entry_is_target |= t == 0);
        }
        let blocks = blocks.map(|rule| Blocks::of(code, pool, rule));
        Ok(Analysis {
            blocks,
            activation,
            calls,
            pinned,
            entry_is_target,
            unnamed_locals: Vec::new(),
            hooks: Vec::new(),
        })
    }
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
}

/// Writes a whole `method_info` with the instrumented body. `mid` is `None` where the body is not recorded.
#[allow(clippy::too_many_arguments)]
pub fn write(
    edit: &mut ClassEdit<'_, '_>,
    constants: &mut Constants,
    member: &Member<'_>,
    code: &Code<'_>,
    analysis: &Analysis<'_>,
    form: Form,
    mid: Option<Mid>,
    head: MemberBuilder,
    extended_descriptor: &[u8],
) -> Result<Written> {
    let signature = Signature::of(edit.class(), member)?;
    let at_arguments = signature.argument_slots();
    let attempt = |edit: &mut ClassEdit<'_, '_>, constants: &mut Constants, at: u16, head: MemberBuilder| {
        write_at(
            edit,
            constants,
            member,
            code,
            analysis,
            form,
            mid,
            head,
            extended_descriptor,
            &signature,
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
    let arguments = signature.argument_slots();
    let moved = at != arguments;
    let new_signature = match form {
        Form::Extended => Signature {
            descriptor: cct_classfile::descriptor::MethodDescriptor::parse(extended_descriptor)?,
            ..*signature
        },
        Form::Original => *signature,
    };
    let object = constants.object(edit)?;
    let added = match form {
        // The parameters themselves, as the descriptor implies them; or, moved, the node alone.
        Form::Extended if moved => vec![V::Long],
        Form::Extended => new_signature.initial_locals()[signature.initial_locals().len()..].to_vec(),
        Form::Original => vec![V::Long, V::Long, V::Object(object)],
    };
    let locals = Locals { at, node: at, saved: at + 2, thread: at + 4 };
    let mut code_edit = CodeEdit::new(code, at, &added);
    let mut emitter = Emitter { edit, constants };

    // Prologue: the slot becomes the node.
    let mut prologue = Asm::new();
    let incoming = match form {
        Form::Extended => arguments,
        Form::Original => {
            emitter.read_thread(&mut prologue, locals.thread, locals.saved)?;
            if rules::is_called_by_vm(emitter.edit.class().name(), member) {
                emitter.replay(&mut prologue, locals.thread, locals.saved, locals.node)?;
                locals.node
            } else {
                locals.saved
            }
        }
    };
    let entry = &analysis.activation.points[0];
    debug_assert_eq!(entry.kind, UpdateKind::Entry);
    let context = match mid {
        Some(mid) => {
            let count = match &analysis.blocks {
                Some(blocks) if !analysis.entry_is_target => blocks[0].bytecodes,
                _ => 0,
            };
            emitter.enter(&mut prologue, incoming, locals.node, mid, entry.decrement, count, entry.test)?;
            Context::Node(locals.node)
        }
        None => {
            if incoming != locals.node {
                prologue.load(Kind::Long, incoming).store(Kind::Long, locals.node);
            }
            Context::PassedThrough(locals.node)
        }
    };
    for hook in &analysis.hooks {
        insert_hook(&mut emitter, &mut code_edit, &mut prologue, code, signature, hook)?;
    }
    code_edit.prologue(&prologue);
    local_names::add(emitter.edit, &mut code_edit, &analysis.unnamed_locals)?;

    // The passes.
    let body = Body { member, code, context, entry_is_target: analysis.entry_is_target };
    if mid.is_some() {
        activation_counters::apply(&mut emitter, &mut code_edit, &body, analysis)?;
        bytecode_counts::apply(&mut emitter, &mut code_edit, &body, analysis)?;
    }
    call_sites::apply(&mut emitter, &mut code_edit, &body, &analysis.calls)?;
    pinned_results::apply(&mut emitter, &mut code_edit, &body, &analysis.pinned)?;
    if form == Form::Original {
        restore_on_exits(&mut emitter, &mut code_edit, &body, &signature.initial_locals(), locals, &added)?;
    }
    // Six words on the empty stack for the prologue; five above whatever is there for a counted call.
    code_edit.need_stack(if code.max_stack == 0 { 6 } else { 5 });

    let mut names = std::mem::take(&mut emitter.edit.names);
    let name = names.code(&mut emitter.edit.additions)?;
    let additions = &mut emitter.edit.additions;
    let dropped =
        head.attribute(name, |out| code_edit.finish(signature, &new_signature, &mut names, additions, out));
    emitter.edit.names = names;
    Ok(Written { method_info: head.finish(), dropped_attributes: dropped? })
}

/// The runtime is called at a single place of the class library.
fn insert_hook(
    emitter: &mut Emitter<'_, '_, '_>,
    code_edit: &mut CodeEdit<'_, '_>,
    prologue: &mut Asm,
    code: &Code<'_>,
    signature: &Signature<'_>,
    hook: &BodyHook,
) -> Result<()> {
    let mut call = Asm::new();
    match hook.place {
        Place::Entry | Place::Return => {}
        Place::EntryWith(local) => {
            call.load(Kind::Reference, local);
        }
        Place::ReturnWithThis | Place::Read(_) => {
            call.load(Kind::Reference, 0);
        }
        Place::Argument(_) => {
            call.load(Kind::Reference, 0);
            let mut local = 1;
            for t in signature.descriptor.arguments() {
                if let Some(kind) = Kind::of(t) {
                    call.load(kind, local);
                }
                local += t.slots();
            }
            code_edit.need_stack(local);
        }
    }
    emitter.runtime(&mut call, hook.call)?;
    match hook.place {
        Place::Entry | Place::EntryWith(_) => prologue.bytes.extend_from_slice(&call.bytes),
        Place::Argument(local) => {
            call.store(Kind::Int, local);
            prologue.bytes.extend_from_slice(&call.bytes);
        }
        Place::Return | Place::ReturnWithThis => code
            .instructions()
            .filter(|i| opcode::is_return(i.opcode))
            .for_each(|i| code_edit.before(i.bci, &call)),
        Place::Read(field) => {
            let class = emitter.edit.class();
            for read in code.instructions().filter(|i| i.opcode == opcode::GETFIELD) {
                let Some(index) = read.pool_index() else { continue };
                let read_field = class.pool.member_ref(index)?;
                if read_field.class == class.name() && read_field.name == field {
                    code_edit.after(&read, &call);
                }
            }
        }
    }
    Ok(())
}

/// A written body.
#[derive(Debug)]
pub struct Written {
    /// The whole `method_info`.
    pub method_info: Vec<u8>,
    /// Attributes of the code that are unknown, may hold bytecode indices, and are therefore left out.
    pub dropped_attributes: Vec<String>,
}

/// OSI: what the thread carried on entry is put back on every exit, exceptional ones too.
fn restore_on_exits(
    emitter: &mut Emitter<'_, '_, '_>,
    code_edit: &mut CodeEdit<'_, '_>,
    body: &Body<'_, '_>,
    initial_locals: &[VerificationType],
    locals: Locals,
    added: &[VerificationType],
) -> Result<()> {
    use VerificationType as V;
    let mut restore = Asm::new();
    emitter.restore_thread(&mut restore, locals.thread, locals.saved)?;
    for instruction in body.code.instructions().filter(|i| opcode::is_return(i.opcode)) {
        code_edit.before(instruction.bci, &restore);
    }
    let mut handler = restore;
    handler.op(opcode::ATHROW);
    let throwable = emitter.constants.throwable(emitter.edit)?;
    let frame = |first: &[VerificationType]| {
        let mut types = first.to_vec();
        types.resize(usize::from(locals.at), V::Top);
        types.extend_from_slice(added);
        Frame { locals: types, stack: vec![V::Object(throwable)] }
    };
    let end = body.code.length();
    if initial_locals.first() != Some(&V::UninitializedThis) {
        let id = code_edit.handler(handler, frame(&[]));
        code_edit.catch_all(0, end, id);
        return Ok(());
    }
    // A constructor: `this` is uninitialised up to the call of this() or super(), and a frame says which. So two handlers.
    let regions = initialisation::regions(body.code, &emitter.edit.class().pool);
    let mut handlers = [None, None];
    for region in regions {
        let slot = &mut handlers[usize::from(region.initialised)];
        let id = *slot.get_or_insert_with(|| {
            let first: &[V] = if region.initialised { &[] } else { &[V::UninitializedThis] };
            code_edit.handler(handler.clone(), frame(first))
        });
        code_edit.catch_all(region.start, region.end, id);
    }
    Ok(())
}

/// Number of slots that a body with these call sites uses.
pub fn slot_count(calls: &[(Bci, CallTarget<'_>)]) -> u8 {
    calls.len().min(usize::from(MAX_SLOTS)) as u8
}

/// Flags of the extended form of a method with a body.
pub fn extended_flags(flags: u16) -> u16 {
    // A varargs parameter would have to be the last one.
    flags & !access::VARARGS | access::SYNTHETIC
}
