//! Bodies with events (docs/research/trace.md). The code around each instruction follows from the
//! original, except for calls, where the checker recognises how they call.

use cct_classfile::{Instruction, opcode};
use cct_jdk::convention::{OBJECT, with_extension};
use cct_jdk::helpers::Helper;

use super::{Walk, is_same, mnemonic};
use crate::allocations::{self, AllocatedObjects};
use crate::convention::{HASH_CODE, foreign_id};
use crate::events::Event;
use crate::faults::{EventFault, ProbeFault};
use crate::finding::{Check, Finding, Problem};
use crate::links::CalleeProbe;
use crate::op::{Callee, Kind, Op};
use crate::probe::restoring;
use crate::traces::Plan;

impl<'a> Walk<'_, '_, 'a> {
    /// Compares one instruction of the original, with the events before it and the event of a call
    /// after it.
    pub(super) fn traced(&mut self, number: usize, original: &Instruction<'a>, plan: &Plan) -> Check {
        let (code, locals) = (self.pair.code, self.pair.prologue.locals);
        let before = plan.before(number, original, &locals, self.pair.prologue.is_extent);
        self.expect(&before, original, EventFault::Before)?;
        self.aligned.recorded += u64::from(!before.is_empty());
        let mut behind = Vec::new();
        if opcode::is_invoke(original.opcode) {
            self.site += 1;
            if self.traced_call(original, plan, &mut behind)? {
                return Ok(());
            }
        }
        if let (true, Some(restores)) = (opcode::is_return(original.opcode), restoring(&locals)) {
            self.expect(&restores, original, EventFault::NoRestore)?;
        }
        let Some(rewritten) = code.steps.get(self.at) else {
            let problem = Problem::Instruction("the end of the code", mnemonic(original));
            return Err(Finding::at(problem, original.bci, self.bci()));
        };
        if !is_same(original, rewritten, locals.at, locals.by) {
            let problem = Problem::Instruction(mnemonic(rewritten), mnemonic(original));
            return Err(Finding::at(problem, original.bci, self.bci()));
        }
        self.aligned.places.push(self.bci());
        self.at += 1;
        self.expect(&behind, original, EventFault::NoReturn)
    }

    /// Skips operations that must be there.
    fn expect(&mut self, ops: &[Op<'_>], original: &Instruction<'_>, what: EventFault) -> Check {
        if !self.pair.code.has(self.at, ops) {
            return Err(Finding::at(Problem::Event(what), original.bci, self.bci()));
        }
        self.at += ops.len();
        Ok(())
    }

    /// Checks the code before a call and notes the code that must follow it. Returns whether the
    /// call itself is checked too: one by the extended signature.
    fn traced_call(
        &mut self,
        call: &Instruction<'a>,
        plan: &Plan,
        behind: &mut Vec<Op<'static>>,
    ) -> Check<bool> {
        let code = self.pair.code;
        let record = Op::Load(Kind::Long, self.pair.prologue.locals.node);
        let node = self.pair.prologue.locals.node;
        let callee = call.pool_index().filter(|_| call.opcode != opcode::INVOKEDYNAMIC);
        let callee = callee.and_then(|index| self.pair.class.pool.member_constant(index).ok());
        self.copies = Some(false);
        let Some(reference) = callee.map(Callee::from) else { return Ok(false) };
        let callee = reference.method;
        let wrong = |at: &Self, what| Err(Finding::at(Problem::Event(what), call.bci, at.bci()));
        if code.has(self.at, &[record, Op::Null])
            && let Op::Invoke(op, new, count) = code.op(self.at + 2)
        {
            self.extended(call, &reference, op, &new, count)?;
            self.aligned.places.push(code.bci(self.at + 2));
            self.at += 3;
            return Ok(true);
        }
        let returned = || Event::Returned(call.bci).ops(node, None);
        let is_linker =
            call.opcode == opcode::INVOKESTATIC && callee.class == b"java/lang/invoke/MethodHandle";
        for (name, copied, helper) in [
            (&[&b"linkToStatic"[..], b"linkToSpecial"][..], Op::Dup, Helper::TraceLink),
            (&[&b"linkToVirtual"[..]], Op::Dup2, Helper::TraceLinkHashCode),
        ] {
            if code.has(self.at, &[copied, record, Op::Helper(helper)]) {
                if !is_linker || !name.contains(&callee.name) {
                    return wrong(self, EventFault::Linker);
                }
                self.at += 3;
                *behind = returned();
                return Ok(false);
            }
        }
        if let (true, Op::Long(id), Op::Helper(Helper::TraceHashCode)) =
            (code.has(self.at, &[Op::Dup, record]), code.op(self.at + 3), code.op(self.at + 4))
        {
            let of_method = plan.method.map_or(Op::Int(0), |_| Event::Leaf(call.bci).word());
            let is_static = call.opcode == opcode::INVOKESTATIC;
            if is_static
                || callee.name_and_type() != HASH_CODE
                || code.op(self.at + 2) != of_method
                || id != foreign_id(HASH_CODE.of_class(OBJECT), 0)
            {
                return wrong(self, EventFault::HashCode);
            }
            self.at += 5;
            self.aligned.telling.push((call.bci, true));
            return Ok(false);
        }
        if plan.method.is_none() {
            if let (true, Op::Long(id), Op::Helper(Helper::LeafById)) =
                (code.op(self.at) == record, code.op(self.at + 1), code.op(self.at + 2))
            {
                self.foreign(id, callee, (id & 1) as usize, call)?;
                self.at += 3;
                return Ok(false);
            }
        } else if let Some(calls_back) = [false, true].into_iter().find(|calls_back| {
            let event = if *calls_back { Event::Call(call.bci) } else { Event::Leaf(call.bci) };
            code.has(self.at, &event.ops(node, None))
        }) {
            let ops = Event::Leaf(call.bci).ops(node, None);
            self.at += ops.len();
            if calls_back {
                *behind = returned();
            }
            self.copies = Some(!calls_back);
            self.aligned.telling.push((call.bci, false));
            self.ask(callee, call, true, CalleeProbe::Traced { calls_back });
            return Ok(false);
        }
        // The context of this call is the thread's, which already has it.
        self.copies = None;
        self.ask(callee, call, true, CalleeProbe::Nothing(None));
        Ok(false)
    }

    /// Checks that a call by the extended signature calls the same method.
    pub(super) fn extended(
        &self,
        original: &Instruction<'_>,
        callee: &Callee<'_>,
        op: u8,
        new: &Callee<'_>,
        count: u8,
    ) -> Check {
        let is_twin = op == original.opcode
            && (new.tag, new.method.member_name()) == (callee.tag, callee.method.member_name())
            && new.method.descriptor == with_extension(callee.method.descriptor)
            && (op != opcode::INVOKEINTERFACE || count == original.bytes[3].saturating_add(3));
        if is_twin {
            Ok(())
        } else {
            let problem = Problem::Probe(ProbeFault::CallsOther);
            Err(Finding::at(problem, original.bci, self.bci()))
        }
    }

    /// Checks the events of the objects that an instruction has allocated.
    pub(super) fn traced_objects(&mut self, original: &Instruction<'a>, plan: &Plan) -> Check {
        let Some(makes) = allocations::of(self.pair.class, original).filter(|_| plan.objects) else {
            return Ok(());
        };
        let record = Op::Load(Kind::Long, self.pair.prologue.locals.node);
        let bci = original.bci;
        let array = [Op::Dup, Op::ArrayLength, record, Event::Array(bci).word(), Op::Helper(Helper::Array)];
        let ops = match &makes {
            AllocatedObjects::One(of) if of.first() == Some(&b'[') => array.to_vec(),
            AllocatedObjects::One(_) => Event::Made(bci).ops(self.pair.prologue.locals.node, None),
            AllocatedObjects::Arrays(types) => {
                let inner = (1..types.len() as u32).flat_map(|level| {
                    [Op::Dup, record, Event::Arrays(bci, level).word(), Op::Helper(Helper::TraceArrays)]
                });
                array.into_iter().chain(inner).collect()
            }
            AllocatedObjects::Copy => {
                let ops = [Op::Dup, record, Op::Helper(Helper::Copy)];
                let is_there = self.pair.code.has(self.at, &ops);
                if self.copies == Some(false) || self.copies.is_none() && !is_there {
                    return Ok(());
                }
                ops.to_vec()
            }
        };
        self.expect(&ops, original, EventFault::NoObject)?;
        self.aligned.objects.made += 1;
        Ok(())
    }
}
