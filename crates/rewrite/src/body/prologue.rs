//! The prologue of a body: from the context that comes in to the one that its callees get, and what runs once for each entry.

use cct_classfile::descriptor::MethodDescriptor;
use cct_classfile::edit::asm::Kind;
use cct_classfile::edit::frames::Signature;
use cct_classfile::edit::{Asm, CodeEdit};
use cct_classfile::{Code, Member, Result, access, opcode};
use cct_events::Event;
use cct_index::mid::Mid;
use cct_index::positions::Form;

use super::{Analysis, Locals};
use crate::carrier::{Context, Emitter};
use crate::convention;
use crate::hooks::{BodyHook, Place};
use crate::passes::trace_events;
use crate::pcc::{self, Part};
use crate::rules;
use crate::tracing::TracePlan;

/// What a prologue is made of.
pub(super) struct Prologue<'p, 'a, 'x> {
    pub(super) member: &'p Member<'a>,
    pub(super) code: &'p Code<'a>,
    pub(super) analysis: &'p Analysis<'x>,
    pub(super) form: Form,
    pub(super) signature: &'p Signature<'p>,
    pub(super) locals: Locals,
    /// `None` where the body is not recorded.
    pub(super) mid: Option<Mid>,
}

impl Prologue<'_, '_, '_> {
    /// Writes it; with what the body has for its callees then.
    pub(super) fn write(
        &self,
        emitter: &mut Emitter<'_, '_, '_>,
        code_edit: &mut CodeEdit<'_, '_>,
    ) -> Result<(Context, Asm)> {
        let mut asm = Asm::new();
        if self.analysis.is_start {
            // Before its own entry, which is counted.
            emitter.helper(&mut asm, convention::START_AT)?;
        }
        let incoming = self.incoming(emitter, &mut asm)?;
        let context = match (self.mid, &self.analysis.values, &self.analysis.trace) {
            (_, Some(part), _) => self.value(emitter, &mut asm, incoming, part)?,
            (Some(_), None, Some(plan)) => self.event(emitter, &mut asm, incoming, plan)?,
            (Some(mid), None, None) => self.node(emitter, &mut asm, incoming, mid)?,
            (None, None, _) => self.handed_on(&mut asm, incoming),
        };
        for hook in &self.analysis.hooks {
            self.hook(emitter, code_edit, &mut asm, hook)?;
        }
        Ok((context, asm))
    }

    /// The local with the context that comes in: a parameter, or what the thread carries.
    fn incoming(&self, emitter: &mut Emitter<'_, '_, '_>, asm: &mut Asm) -> Result<u16> {
        let Locals { thread, saved, node, .. } = self.locals;
        if self.form == Form::Extended {
            return Ok(self.signature.argument_slots());
        }
        emitter.read_thread(asm, thread, saved)?;
        let mut context = saved;
        // Events come in order, whoever calls.
        if rules::is_called_by_vm(emitter.edit.class().name(), self.member) && !self.analysis.traces {
            emitter.replay(asm, thread, context, node)?;
            context = node;
        }
        if self.analysis.is_extent {
            emitter.begin(asm, thread, context, node)?;
            context = node;
        }
        Ok(context)
    }

    /// What comes in is what callees get.
    fn handed_on(&self, asm: &mut Asm, incoming: u16) -> Context {
        let node = self.locals.node;
        if incoming != node {
            asm.load(Kind::Long, incoming).store(Kind::Long, node);
        }
        Context::PassedThrough(node)
    }

    /// Every frame says that what is pending is an int.
    fn nothing_is_pending(&self, asm: &mut Asm) {
        if let Some(pending) = self.locals.pending {
            asm.int(0).store(Kind::Int, pending);
        }
    }

    /// The method is entered: its node.
    fn node(
        &self,
        emitter: &mut Emitter<'_, '_, '_>,
        asm: &mut Asm,
        incoming: u16,
        mid: Mid,
    ) -> Result<Context> {
        let (analysis, node) = (self.analysis, self.locals.node);
        // What the id does not count.
        let count = if analysis.on_entry_by_id() == 0 { analysis.on_entry() } else { 0 };
        let on_entry = analysis.activation.as_ref().map(|activation| &activation.points[0]);
        emitter.enter(asm, incoming, node, mid, count, on_entry)?;
        self.nothing_is_pending(asm);
        Ok(Context::Node(node))
    }

    /// The method's start as an event. What travels is the thread's record, from hand to hand.
    fn event(
        &self,
        emitter: &mut Emitter<'_, '_, '_>,
        asm: &mut Asm,
        incoming: u16,
        plan: &TracePlan,
    ) -> Result<Context> {
        let (analysis, member, node) = (self.analysis, self.member, self.locals.node);
        let context = self.handed_on(asm, incoming);
        if analysis.is_extent {
            trace_events::extent(emitter, asm, node, 1)?;
        }
        let start = Event::Start { method: plan.method, has_receiver: false, ends_at_once: false };
        // What a constructor makes is not initialised yet, and so has no class to be asked for.
        let has_receiver = !member.is(access::STATIC) && member.name != b"<init>";
        if has_receiver && start.words().len() == 1 {
            asm.load(Kind::Reference, 0).load(Kind::Long, node);
            emitter.word(asm, start)?;
            emitter.helper(asm, convention::TRACE_RECEIVER)?;
        } else {
            emitter.event(asm, node, None, start)?;
        }
        if analysis.traces_objects && member.is(access::SYNCHRONIZED) && !member.is(access::STATIC) {
            trace_events::synchronized(emitter, asm, node)?;
        }
        self.nothing_is_pending(asm);
        Ok(context)
    }

    /// The value of the context, which is recorded here or made ready for all calls.
    fn value(
        &self,
        emitter: &mut Emitter<'_, '_, '_>,
        asm: &mut Asm,
        incoming: u16,
        part: &Part,
    ) -> Result<Context> {
        let node = self.locals.node;
        pcc::record(emitter, asm, incoming, part.place)?;
        if part.caller.is_some() && !self.analysis.calls.is_empty() {
            asm.load(Kind::Long, incoming);
            pcc::triple(emitter, asm)?;
            asm.store(Kind::Long, node);
            return Ok(Context::PassedThrough(node));
        }
        Ok(self.handed_on(asm, incoming))
    }

    /// The runtime is called at a single place of the class library.
    fn hook(
        &self,
        emitter: &mut Emitter<'_, '_, '_>,
        code_edit: &mut CodeEdit<'_, '_>,
        asm: &mut Asm,
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
                for t in self.signature.descriptor.arguments() {
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
            Place::Entry | Place::EntryWith(_) => asm.bytes.extend_from_slice(&call.bytes),
            Place::Argument(local) => {
                if let Some(kind) = Kind::of(MethodDescriptor::parse(hook.call.descriptor)?.result) {
                    call.store(kind, local);
                }
                asm.bytes.extend_from_slice(&call.bytes);
            }
            Place::Return | Place::ReturnWithThis => self
                .code
                .instructions()
                .filter(|i| opcode::is_return(i.opcode))
                .for_each(|i| code_edit.before(i.bci, &call)),
            Place::Read(field) => {
                let class = emitter.edit.class();
                for read in self.code.instructions().filter(|i| i.opcode == opcode::GETFIELD) {
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
}
