//! Instrumented bodies: the original code under the extended signature (ESI) or under the original one (OSI), with the passes applied.

mod exits;

use cct_classfile::edit::asm::Kind;
use cct_classfile::edit::class_edit::MemberBuilder;
use cct_classfile::edit::frames::{Signature, VerificationType};
use cct_classfile::edit::moves::Move;
use cct_classfile::edit::{Asm, ClassEdit, CodeEdit, Finished};
use cct_classfile::{Bci, ClassFile, Code, Error, ErrorKind, Member, Result, access, opcode};
use cct_events::Event;
use cct_flow::{ActivationPlan, ActivationPlanner, BlockRule, Blocks, CountPlan, CountPlanner, OwnMembers};
use cct_markers::{Beside, Slot};
use cct_tables::CostModel;

use crate::allocation::Allocation;
use crate::carrier::{Constants, Context, Emitter, Sites};
use crate::convention::{self, EXTENSION_SLOTS, SLOTS_OFFSET};
use crate::hooks::{self, BodyHook, Place};
use crate::local_names;
use crate::markers;
use crate::mid::{MAX_ON_ENTRY, Mid};
use crate::passes::{
    activation_counters, allocation_counts, bytecode_counts, call_sites, context_values, exact_counts,
    pinned_results, trace_events,
};
use crate::pcc::{self, Part};
use crate::pins::Clock;
use crate::plan::CallTarget;
use crate::rules;
use crate::tracing::TracePlan;
use cct_flow::initialisation;

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
    /// How its call sites share the slots of its nodes.
    pub sites: Sites,
    /// The local with the thread that carries the context to its callees, if it holds on to that.
    pub thread: Option<u16>,
    /// Whether the label of bci 0 is reached other than by entering the method.
    pub entry_is_target: bool,
}

/// How a method's bytecodes are counted.
#[derive(Debug)]
pub enum Counts {
    /// They are not.
    None,
    /// Block by block, each at its start.
    Blocks(Blocks),
    /// Exactly, with few updates.
    Exact(CountPlan),
}

/// What makes analyses; it keeps its memory from method to method.
#[derive(Debug, Default)]
pub struct Planners {
    activation: ActivationPlanner,
    counts: CountPlanner,
}

/// Analyses of a method that its bodies share.
#[derive(Debug)]
pub struct Analysis<'x> {
    /// How bytecodes are counted.
    pub counts: Counts,
    /// What it costs to enter the method, beside its bytecodes.
    pub entry_cost: u32,
    /// What a callee costs that does nothing but return.
    pub return_cost: u32,
    /// Updates of the activation counter, if there are such counters.
    pub activation: Option<ActivationPlan>,
    /// How each call site calls, in code order.
    pub calls: Vec<(Bci, CallTarget<'x>)>,
    /// How these share the slots of a node.
    pub sites: Sites,
    /// What makes objects, if these are counted, in code order.
    pub allocations: Vec<Allocation>,
    /// Calls whose results are replaced.
    pub pinned: Vec<(Bci, Clock)>,
    /// Whether some jump or handler leads to bci 0.
    pub entry_is_target: bool,
    /// Locals behind the arguments that get names, since the JVM's messages would show their new numbers.
    pub unnamed_locals: Vec<u16>,
    /// Calls of the runtime at places of the class library.
    pub hooks: Vec<&'static BodyHook>,
    /// Whether recording begins and ends with its body under the original signature.
    pub is_extent: bool,
    /// Whether everything is recorded from its first entry on.
    pub is_start: bool,
    /// What is traced, if that is what is done, and it is recorded.
    pub trace: Option<TracePlan>,
    /// Whether events are recorded at all, in the place of counts.
    pub traces: bool,
    /// Whether objects and monitors have events too.
    pub traces_objects: bool,
    /// Whether a body that takes its context from the thread holds on to that thread.
    pub holds_thread: bool,
    /// The method's part in values, if contexts are such.
    pub values: Option<Part>,
}

impl<'x> Analysis<'x> {
    /// Analyses a method of a class, which has these members of its own. `rule` is `None` where bytecodes are not counted; they count what they cost by
    /// `model`, if there is one; `activation` is whether there are activation counters.
    #[allow(clippy::too_many_arguments)]
    pub fn of(
        class: &ClassFile<'_>,
        own: &OwnMembers,
        member: &Member<'_>,
        code: &Code<'_>,
        planners: &mut Planners,
        rule: Option<BlockRule>,
        model: Option<&CostModel>,
        activation: bool,
        calls: Vec<(Bci, CallTarget<'x>)>,
        pinned: Vec<(Bci, Clock)>,
    ) -> Result<Self> {
        let too_many = |_| Error::new(ErrorKind::TooMany("exception edges to analyse the method"));
        let activation = match activation {
            true => Some(planners.activation.plan(code, &class.pool).map_err(too_many)?),
            false => None,
        };
        let mut entry_is_target = code.handlers.iter().any(|h| h.handler == 0);
        for instruction in code.instructions() {
            instruction.for_each_target(|t| entry_is_target |= t == 0);
        }
        let planner = &mut planners.counts;
        let counts = match rule {
            None => Counts::None,
            Some(BlockRule::Exact) => {
                match exact_plan(class, own, member, code, activation.as_ref(), model, planner) {
                    Some(plan) => Counts::Exact(plan),
                    // The same numbers, with more updates.
                    None => Counts::Blocks(self::blocks(code, &class.pool, BlockRule::Precise, model)),
                }
            }
            Some(rule) => Counts::Blocks(self::blocks(code, &class.pool, rule, model)),
        };
        Ok(Analysis {
            counts,
            entry_cost: model.map_or(0, |model| model.entry(code.length())),
            return_cost: model.map_or(1, CostModel::bare_return),
            activation,
            sites: Sites::Merged(calls.len()),
            calls,
            allocations: Vec::new(),
            pinned,
            entry_is_target,
            unnamed_locals: Vec::new(),
            hooks: Vec::new(),
            is_extent: false,
            is_start: false,
            trace: None,
            traces: false,
            traces_objects: false,
            holds_thread: false,
            values: None,
        })
    }

    /// What entering the method counts.
    fn on_entry(&self) -> u32 {
        match &self.counts {
            Counts::Blocks(blocks) if !self.entry_is_target => blocks[0].cost + self.entry_cost,
            Counts::Exact(plan) => plan.entry,
            Counts::Blocks(_) => self.entry_cost,
            Counts::None => 0,
        }
    }

    /// As much of it as the method's id says, so that the node need not be told each time: all or, where it is too much for an id, nothing. Events and values count nothing.
    pub fn on_entry_by_id(&self) -> u8 {
        let is_counted = !self.traces && self.values.is_none();
        let all = u8::try_from(self.on_entry()).ok().filter(|all| *all <= MAX_ON_ENTRY);
        all.filter(|_| is_counted).unwrap_or(0)
    }
}

/// The plan for counting a method exactly, by a model if there is one; `None` if it is counted block by block. Where the activation counter is tested the agent looks.
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

/// The blocks of a method by a rule, with what they cost by a model. What comes behind a switch of the recording is counted behind it, by whatever rule.
pub fn blocks(
    code: &Code<'_>,
    pool: &cct_classfile::ConstantPool<'_>,
    rule: BlockRule,
    model: Option<&CostModel>,
) -> Blocks {
    let mut blocks = Blocks::of(code, pool, rule);
    for call in code.instructions().filter(|i| i.opcode == opcode::INVOKESTATIC) {
        let callee = call.pool_index().and_then(|index| pool.member_ref(index).ok());
        if callee.is_some_and(|c| hooks::switch(c.class, c.name, c.descriptor).is_some()) {
            blocks.cut(code, call.end());
        }
    }
    if let Some(model) = model {
        blocks.weigh(code, pool, model);
    }
    blocks
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
    extended_descriptor: &[u8],
) -> Result<Written> {
    let signature = Signature::of(edit.class(), member)?;
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
            descriptor: cct_classfile::descriptor::MethodDescriptor::parse(extended_descriptor)?,
            ..*signature
        },
        Form::Original => *signature,
    };
    let object = constants.object(edit)?;
    let (mut added, behind) = match form {
        // The parameters themselves, as the descriptor implies them; or, moved, the node alone.
        Form::Extended if moved => (vec![V::Long], at + 2),
        Form::Extended => (
            new_signature.initial_locals()[signature.initial_locals().len()..].to_vec(),
            at + EXTENSION_SLOTS,
        ),
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

    // Prologue: the slot becomes the node.
    let mut prologue = Asm::new();
    if analysis.is_start {
        // Before its own entry, which is counted.
        emitter.helper(&mut prologue, convention::START_AT)?;
    }
    let incoming = match form {
        Form::Extended => arguments,
        Form::Original => {
            emitter.read_thread(&mut prologue, locals.thread, locals.saved)?;
            let mut context = locals.saved;
            // Events come in order, whoever calls.
            if rules::is_called_by_vm(emitter.edit.class().name(), member) && !analysis.traces {
                emitter.replay(&mut prologue, locals.thread, context, locals.node)?;
                context = locals.node;
            }
            if analysis.is_extent {
                emitter.begin(&mut prologue, locals.thread, context, locals.node)?;
                context = locals.node;
            }
            context
        }
    };
    let context = match mid {
        _ if let Some(part) = &analysis.values => {
            pcc::record(&mut emitter, &mut prologue, incoming, part.place)?;
            let makes_values = part.caller.is_some() && !analysis.calls.is_empty();
            if makes_values || incoming != locals.node {
                prologue.load(Kind::Long, incoming);
                if makes_values {
                    // Once for all calls.
                    pcc::triple(&mut emitter, &mut prologue)?;
                }
                prologue.store(Kind::Long, locals.node);
            }
            Context::PassedThrough(locals.node)
        }
        Some(_) if trace.is_some() => {
            // What travels is the thread's record, from hand to hand.
            if incoming != locals.node {
                prologue.load(Kind::Long, incoming).store(Kind::Long, locals.node);
            }
            if let Some(plan) = trace {
                if analysis.is_extent {
                    trace_events::extent(&mut emitter, &mut prologue, locals.node, 1)?;
                }
                let start = Event::Start { method: plan.method, has_receiver: false, ends_at_once: false };
                // What a constructor makes is not initialised yet, and so has no class to be asked for.
                let has_receiver = !member.is(access::STATIC) && member.name != b"<init>";
                if has_receiver && start.words().len() == 1 {
                    prologue.load(Kind::Reference, 0).load(Kind::Long, locals.node);
                    emitter.word(&mut prologue, start)?;
                    emitter.helper(&mut prologue, convention::TRACE_RECEIVER)?;
                } else {
                    emitter.event(&mut prologue, locals.node, None, start)?;
                }
            }
            if analysis.traces_objects && member.is(access::SYNCHRONIZED) && !member.is(access::STATIC) {
                trace_events::synchronized(&mut emitter, &mut prologue, locals.node)?;
            }
            if let Some(local) = pending {
                prologue.int(0).store(Kind::Int, local);
            }
            Context::PassedThrough(locals.node)
        }
        Some(mid) => {
            // What the id does not count.
            let count = if analysis.on_entry_by_id() == 0 { analysis.on_entry() } else { 0 };
            let on_entry = analysis.activation.as_ref().map(|activation| &activation.points[0]);
            emitter.enter(&mut prologue, incoming, locals.node, mid, count, on_entry)?;
            if let Some(pending) = pending {
                // Every frame says that it is an int.
                prologue.int(0).store(Kind::Int, pending);
            }
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
        &signature.initial_locals(),
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
    /// Where its instructions have gone, if call sites are told apart.
    pub moves: Vec<Move>,
}

/// Flags of the extended form of a method with a body.
pub fn extended_flags(flags: u16) -> u16 {
    // A varargs parameter would have to be the last one.
    flags & !access::VARARGS | access::SYNTHETIC
}
