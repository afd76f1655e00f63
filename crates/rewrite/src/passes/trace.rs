//! Trace events of a body: its start and end, the starts of basic blocks, the progress of a block
//! that an exception left, calls of callees without events of their own, objects and monitors.

use cct_classfile::edit::Asm;
use cct_classfile::edit::asm::Kind;
use cct_classfile::{Bci, Result, access, opcode};
use cct_events::Event;
use cct_events::structure::{self as static_side, Recording};
use cct_jdk::convention::EXTENSION_SLOTS;
use cct_jdk::helpers::Helper;
use cct_jdk::natives;

use crate::allocation::{AllocatedType, Allocation};
use crate::carrier::{Context, Emitter};
use crate::pass::{BodyWriter, Entry, Guard, Level, LocalsNeeded, MethodContext, MethodPass, Pass};
use crate::plan::{CallTarget, Foreign};
use crate::structure;
use crate::tracing::TracePlan;

/// The pass that inserts trace events.
pub struct Trace;

impl Pass for Trace {
    fn plan<'m>(
        &self,
        method: &'m MethodContext<'m, '_>,
        level: &Level,
    ) -> Result<Option<Box<dyn MethodPass + 'm>>> {
        let Some(number) = method.number.filter(|_| method.part.is_none()) else { return Ok(None) };
        let recording = if method.recorded { level.recording } else { Recording::None };
        let MethodContext { class, own, member, code, .. } = *method;
        let plan = TracePlan::of(class, own, member, code, number, recording);
        let objects = method.settings.allocations && level.objects;
        Ok(Some(Box::new(MethodTrace { method, plan, objects })))
    }
}

/// The events of one method.
struct MethodTrace<'m, 'a> {
    method: &'m MethodContext<'m, 'a>,
    plan: TracePlan,
    /// Whether objects and monitors have events.
    objects: bool,
}

impl MethodPass for MethodTrace<'_, '_> {
    fn locals(&self) -> LocalsNeeded {
        let pending = self.method.recorded && self.plan.uses_local;
        LocalsNeeded { pending, ..LocalsNeeded::default() }
    }

    /// Writes the event of the method's start. The thread's record is the context that bodies pass
    /// on.
    fn context(
        &self,
        body: &mut BodyWriter<'_, '_, '_>,
        prologue: &mut Asm,
        incoming: u16,
        _entry: Entry<'_>,
    ) -> Result<Option<Context>> {
        if !self.method.recorded {
            return Ok(None);
        }
        let context = body.hand_on(prologue, incoming);
        let (member, record) = (self.method.member, context.local());
        let emitter = &mut body.emitter;
        if self.method.is_extent {
            extent(emitter, prologue, record, 1)?;
        }
        let start = Event::Start { method: self.plan.method, has_receiver: false, ends_at_once: false };
        // A constructor's receiver is not initialised yet, so it has no class to ask for.
        let has_receiver = !member.is(access::STATIC) && member.name != b"<init>";
        if has_receiver && start.words().len() == 1 {
            prologue.load(Kind::Reference, 0).load(Kind::Long, record);
            emitter.word(prologue, start)?;
            emitter.helper(prologue, Helper::Receiver)?;
        } else {
            emitter.event(prologue, record, None, start)?;
        }
        // The monitor of a static method is its class's, which readers infer.
        if self.objects && member.is(access::SYNCHRONIZED) && !member.is(access::STATIC) {
            prologue.load(Kind::Reference, 0).load(Kind::Long, record);
            emitter.word(prologue, Event::Locked(0))?;
            emitter.helper(prologue, Helper::Monitor)?;
        }
        Ok(Some(context))
    }

    fn insert(&self, body: &mut BodyWriter<'_, '_, '_>) -> Result<()> {
        if self.method.recorded {
            self.blocks(body)?;
        }
        for &(bci, target) in self.method.calls {
            self.call(body, bci, target)?;
        }
        if self.method.recorded && self.objects {
            self.allocations(body)?;
            self.monitors(body)?;
        }
        Ok(())
    }

    /// Writes the event of the method's end before each return, unless readers can infer it from
    /// earlier events.
    fn before_returns(&self, body: &mut BodyWriter<'_, '_, '_>) -> Result<()> {
        if !self.method.recorded {
            return Ok(());
        }
        let (record, is_extent) = (body.context.local(), self.method.is_extent);
        let event = Event::End { method: self.plan.method, by_exception: false };
        for instruction in self.method.code.instructions().filter(|i| opcode::is_return(i.opcode)) {
            let says_end = self.plan.says_end(instruction.bci);
            let mut asm = Asm::new();
            if says_end {
                body.emitter.event(&mut asm, record, None, event)?;
            }
            if is_extent {
                extent(&mut body.emitter, &mut asm, record, -1)?;
            }
            if says_end || is_extent {
                body.edit.before(instruction.bci, &asm);
            }
        }
        Ok(())
    }

    fn guard(&self, _body: &BodyWriter<'_, '_, '_>) -> Guard<'_> {
        if self.method.recorded { Guard::Body } else { Guard::Nowhere }
    }

    /// Writes the event of the method's end for an exception that leaves the body. The local says
    /// how far the running block came.
    fn leave(&self, body: &mut BodyWriter<'_, '_, '_>, handler: &mut Asm) -> Result<()> {
        let record = body.context.local();
        let end = Event::End { method: self.plan.method, by_exception: true };
        body.emitter.event(handler, record, body.locals.pending, end)?;
        if self.method.is_extent {
            extent(&mut body.emitter, handler, record, -1)?;
        }
        Ok(())
    }

    fn describe(&self, description: &mut static_side::Method) -> Result<()> {
        let MethodContext { class, code, calls, allocations, .. } = *self.method;
        structure::describe(description, class, code, &self.plan, calls)?;
        if self.objects {
            description.makes = structure::makes(allocations);
        }
        Ok(())
    }
}

impl MethodTrace<'_, '_> {
    /// Writes the events of blocks, and the stores of a block's progress to the local.
    fn blocks(&self, body: &mut BodyWriter<'_, '_, '_>) -> Result<()> {
        let record = body.context.local();
        for (block, start) in self.plan.announced() {
            let event = Event::Block { method: self.plan.method, block };
            let mut asm = Asm::new();
            let partial = body.locals.pending.filter(|_| self.plan.handlers.contains(&start));
            body.emitter.event(&mut asm, record, partial, event)?;
            body.edit.before(start, &asm);
        }
        for &(bci, place) in &self.plan.marks {
            let Some(local) = body.locals.pending else { break };
            let mut asm = Asm::new();
            body.emitter.int(&mut asm, place)?;
            asm.store(Kind::Int, local);
            body.edit.before(bci, &asm);
        }
        Ok(())
    }

    /// Writes the events of an invocation. The thread carries its record for every caller, so calls
    /// by original signatures need no store before them. If the body is not recorded, ids name the
    /// callees, since there is no call site to name.
    fn call(&self, body: &mut BodyWriter<'_, '_, '_>, bci: Bci, target: CallTarget<'_>) -> Result<()> {
        let record = body.context.local();
        let mut asm = Asm::new();
        match target {
            CallTarget::Extended => {
                debug_assert_eq!(EXTENSION_SLOTS, 3);
                asm.load(Kind::Long, record).op(opcode::ACONST_NULL);
                body.invoke_extended(&mut asm, bci)?;
                body.edit.replace(bci, &asm);
                return Ok(());
            }
            CallTarget::Stored { .. } | CallTarget::Rooted => return Ok(()),
            CallTarget::Counted(callee) => {
                let may_call = callee.calls_back || natives::leaf_throws(callee.method.member_name());
                if !self.method.recorded {
                    by_id(&mut body.emitter, &mut asm, record, &callee)?;
                } else if may_call {
                    body.emitter.event(&mut asm, record, None, Event::Call(bci))?;
                    returned(body, bci)?;
                } else {
                    body.emitter.event(&mut asm, record, None, Event::Leaf(bci))?;
                }
            }
            CallTarget::Dispatched(callee) => {
                // The receiver, for its class; there are no arguments above it.
                asm.op(opcode::DUP).load(Kind::Long, record);
                if self.method.recorded {
                    body.emitter.word(&mut asm, Event::Leaf(bci))?;
                } else {
                    asm.int(0);
                }
                body.emitter.mid(&mut asm, callee.mid())?;
                body.edit.need_stack(6);
                body.emitter.helper(&mut asm, Helper::TraceHashCode)?;
            }
            CallTarget::Linked | CallTarget::LinkedToHashCode => {
                let helper = if target == CallTarget::Linked {
                    asm.op(opcode::DUP);
                    Helper::TraceLink
                } else {
                    asm.op(opcode::DUP2);
                    Helper::TraceLinkHashCode
                };
                asm.load(Kind::Long, record);
                body.emitter.helper(&mut asm, helper)?;
                body.edit.before(bci, &asm);
                return returned(body, bci);
            }
        }
        body.edit.before(bci, &asm);
        Ok(())
    }

    /// Writes the events of objects, after the instructions that allocate them.
    fn allocations(&self, body: &mut BodyWriter<'_, '_, '_>) -> Result<()> {
        let record = body.context.local();
        for Allocation { bci, made } in self.method.allocations {
            let emitter = &mut body.emitter;
            let mut asm = Asm::new();
            match made {
                AllocatedType::One(of) if of.first() == Some(&b'[') => {
                    array(emitter, &mut asm, record, *bci)?
                }
                AllocatedType::One(_) => emitter.event(&mut asm, record, None, Event::Made(*bci))?,
                AllocatedType::Arrays(types) => {
                    array(emitter, &mut asm, record, *bci)?;
                    for level in (1..).take(types.len().saturating_sub(1)) {
                        asm.op(opcode::DUP).load(Kind::Long, record);
                        emitter.word(&mut asm, Event::Arrays { bci: *bci, level, count: 0, length: 0 })?;
                        emitter.helper(&mut asm, Helper::TraceArrays)?;
                    }
                }
                AllocatedType::Copy => {
                    asm.op(opcode::DUP).load(Kind::Long, record);
                    emitter.helper(&mut asm, Helper::Copy)?;
                }
                AllocatedType::Nothing => continue,
            }
            body.after(*bci, &asm)?;
        }
        Ok(())
    }

    /// Writes the events of monitors, before the instructions that lock or unlock them.
    fn monitors(&self, body: &mut BodyWriter<'_, '_, '_>) -> Result<()> {
        let record = body.context.local();
        for instruction in self.method.code.instructions() {
            let bci = instruction.bci;
            let event = match instruction.opcode {
                opcode::MONITORENTER => Event::Lock { bci, object: 0 },
                opcode::MONITOREXIT => Event::Unlock { bci, object: 0 },
                _ => continue,
            };
            let mut asm = Asm::new();
            asm.op(opcode::DUP).load(Kind::Long, record);
            body.emitter.word(&mut asm, event)?;
            body.emitter.helper(&mut asm, Helper::Monitor)?;
            body.edit.before(bci, &asm);
        }
        Ok(())
    }
}

/// Writes the event of a callee's return, after the call at `bci`.
fn returned(body: &mut BodyWriter<'_, '_, '_>, bci: Bci) -> Result<()> {
    let mut asm = Asm::new();
    body.emitter.event(&mut asm, body.context.local(), None, Event::Returned(bci))?;
    body.after(bci, &asm)
}

/// Writes the event of an array, which is on the stack, with its length.
fn array(emitter: &mut Emitter<'_, '_, '_>, asm: &mut Asm, record: u16, bci: Bci) -> Result<()> {
    asm.op(opcode::DUP).op(opcode::ARRAYLENGTH).load(Kind::Long, record);
    emitter.word(asm, Event::Array { bci, length: 0 })?;
    emitter.helper(asm, Helper::Array)
}

/// Writes the event of an extent: the thread has entered one (1) or left one (-1).
fn extent(emitter: &mut Emitter<'_, '_, '_>, asm: &mut Asm, record: u16, deeper: i16) -> Result<()> {
    asm.load(Kind::Long, record).int(deeper);
    emitter.helper(asm, Helper::Extent)
}

/// Writes the event of a callee that returns at once, by the callee's id.
fn by_id(emitter: &mut Emitter<'_, '_, '_>, asm: &mut Asm, record: u16, callee: &Foreign<'_>) -> Result<()> {
    asm.load(Kind::Long, record);
    emitter.mid(asm, callee.mid())?;
    emitter.helper(asm, Helper::LeafById)
}
