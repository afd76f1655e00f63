//! Invocations: the probe before each one, checked against its callee.

use cct_classfile::{Instruction, MemberRef, opcode};
use cct_jdk::convention::OBJECT;

use super::Walk;
use crate::allocations;
use crate::convention::{HASH_CODE, foreign_id};
use crate::faults::ProbeFault;
use crate::finding::{Check, Finding, Problem};
use crate::links::{CalleeProbe, CountedCallee};
use crate::op::Callee;
use crate::probe::{Call, CalleeEntry, Carries};
use crate::sites::HandedOn;
use crate::values;

impl<'a> Walk<'_, '_, 'a> {
    /// Checks a probe before an invocation against the callee.
    pub(super) fn call(&mut self, original: &Instruction<'a>, handed_on: HandedOn, call: &Call<'a>) -> Check {
        let wrong = |at: &Self, what| Err(Finding::at(Problem::Probe(what), original.bci, at.bci()));
        if !opcode::is_invoke(original.opcode) {
            return wrong(self, ProbeFault::NoCall);
        }
        let site = self.site;
        self.site += 1;
        self.copies = match call {
            Call::Counted(id, ..) => Some(*id == allocations::clone_id()),
            // A class that is not recorded counts no call.
            Call::Stored { .. } => None,
            _ => Some(false),
        };
        let carries = self.pair.prologue.locals.carries;
        match (carries, &self.pair.values) {
            (Carries::Node, _) if handed_on != self.pair.sites.handed_on(site, original.bci) => {
                return wrong(self, ProbeFault::Slot);
            }
            (Carries::Value, Some(part)) if handed_on.offset != part.site(Some(original.bci)) => {
                return wrong(self, ProbeFault::CallSite);
            }
            _ => {}
        }
        if matches!(call, Call::Rooted { .. }) && self.pair.expectation.no_natives == Some(false) {
            return wrong(self, ProbeFault::LeavesOutNative);
        }
        if let (Call::Stored { held } | Call::Rooted { held }, Some(holds)) = (call, self.pair.holds_thread)
            && *held != holds
        {
            return wrong(self, ProbeFault::OtherThread);
        }
        if original.opcode == opcode::INVOKEDYNAMIC {
            return match call {
                Call::Stored { .. } => Ok(()),
                _ => wrong(self, ProbeFault::InvokeDynamic),
            };
        }
        let callee = original.pool_index().and_then(|index| self.pair.class.pool.member_constant(index).ok());
        let Some(reference) = callee.map(Callee::from) else {
            return wrong(self, ProbeFault::NoCallee);
        };
        let callee = reference.method;
        let is_static = original.opcode == opcode::INVOKESTATIC;
        match *call {
            Call::Extended(op, new, count) => {
                self.extended(original, &reference, op, &new, count)?;
            }
            Call::Stored { .. } | Call::Rooted { .. } => self.stored(callee, original),
            Call::Counted(..) | Call::HashCode(_) if self.pair.values.is_some() => {
                return wrong(self, ProbeFault::CountsAmongValues);
            }
            Call::Entered(_) | Call::EnteredHashCode(_) if self.pair.values.is_none() => {
                return wrong(self, ProbeFault::RecordsAmongCounts);
            }
            Call::Entered(entered) => self.entered(entered, callee, original)?,
            Call::EnteredHashCode(id) => {
                if is_static || callee.name_and_type() != HASH_CODE {
                    return wrong(self, ProbeFault::HashCode);
                }
                let entered = CalleeEntry { place: Some(id), site: None, stores: false };
                let method = HASH_CODE.of_class(OBJECT);
                let chosen = self.pair.values.map(|part| part.chosen);
                if let Some(what) = chosen.and_then(|chosen| values::wrong_for(chosen, &entered, method)) {
                    return wrong(self, what);
                }
                self.aligned.recorded += 1;
            }
            Call::Counted(id, bytecodes, calls_back) => {
                let is_object_init = callee.class == OBJECT && callee.name == b"<init>";
                // The callee executes nothing but its `return`.
                if i64::from(bytecodes) != i64::from(is_object_init) * i64::from(self.pair.return_cost) {
                    return wrong(self, ProbeFault::Bytecodes);
                }
                self.foreign(id, callee, usize::from(calls_back), original)?;
            }
            Call::HashCode(id) => {
                if is_static || callee.name_and_type() != HASH_CODE {
                    return wrong(self, ProbeFault::HashCode);
                }
                if id != foreign_id(HASH_CODE.of_class(OBJECT), 0) {
                    return wrong(self, ProbeFault::CountsOther);
                }
            }
            Call::Linked | Call::LinkedHashCode => {
                let is_linker = is_static && callee.class == b"java/lang/invoke/MethodHandle";
                let fits = match call {
                    Call::Linked => matches!(callee.name, b"linkToStatic" | b"linkToSpecial"),
                    _ => callee.name == b"linkToVirtual",
                };
                if !is_linker || !fits {
                    return wrong(self, ProbeFault::Linker);
                }
            }
        }
        Ok(())
    }

    /// The id under which a caller counts its callee. It names the declaring class, which the
    /// reference need not name.
    pub(super) fn foreign(
        &mut self,
        id: i64,
        callee: MemberRef<'_>,
        slots: usize,
        call: &Instruction<'a>,
    ) -> Check {
        let is = |class: &[u8]| id == foreign_id(MemberRef { class, ..callee }, slots);
        let is_known = is(callee.class) || is(OBJECT);
        let is_none = || {
            // `Object` has no superclass.
            callee.class == OBJECT
                || callee.name == b"<init>"
                || id & 0x7F != slots as i64
                || allocations::is_type(self.pair.class, id)
        };
        if !is_known && is_none() {
            let problem = Problem::Probe(ProbeFault::CountsOther);
            return Err(Finding::at(problem, call.bci, self.bci()));
        }
        self.aligned.counted.push(CountedCallee {
            opcode: call.opcode,
            callee: callee.into(),
            means: CalleeProbe::Counted(id),
            is_known,
            sites: 1,
            place: Finding::at(Problem::CountedTwice, call.bci, self.bci()),
        });
        Ok(())
    }

    /// Where values represent contexts: checks the probe for a callee without an instrumented body.
    /// The declaring class decides, which the reference need not name.
    fn entered(&mut self, entered: CalleeEntry, callee: MemberRef<'a>, call: &Instruction<'a>) -> Check {
        let Some(chosen) = self.pair.values.map(|part| part.chosen) else { return Ok(()) };
        let wrong_for = |class: &[u8]| values::wrong_for(chosen, &entered, MemberRef { class, ..callee });
        let owner = values::declares(call, callee);
        if let Some(what) = owner.and_then(wrong_for) {
            return Err(Finding::at(Problem::Probe(what), call.bci, self.bci()));
        }
        let is_known = owner.is_some() || wrong_for(callee.class).is_none();
        self.aligned.recorded += u64::from(entered.place.is_some());
        self.ask(callee, call, is_known, CalleeProbe::Entered(chosen, entered));
        Ok(())
    }

    /// Where values represent contexts: checks a call without a probe. Its callee must have no
    /// instrumented body, call nothing back, and not be recorded.
    pub(super) fn silent(&mut self, call: &Instruction<'a>) -> Check {
        let missing = || Err(Finding::at(Problem::CallWithoutContext, call.bci, self.bci()));
        let callee = call.pool_index().filter(|_| call.opcode != opcode::INVOKEDYNAMIC);
        let callee = callee.and_then(|index| self.pair.class.pool.member_ref(index).ok());
        let (Some(_), Some(callee)) = (&self.pair.values, callee) else { return missing() };
        if !values::may_be_silent(self.pair.class.name(), call, callee) {
            return missing();
        }
        self.site += 1;
        self.entered(CalleeEntry { place: None, site: None, stores: false }, callee, call)
    }

    /// Where values represent contexts: asks whether callers must record the callee, which only all
    /// classes together show.
    fn stored(&mut self, callee: MemberRef<'a>, call: &Instruction<'a>) {
        if let Some(part) = self.pair.values {
            self.ask(callee, call, true, CalleeProbe::Nothing(Some(part.chosen)));
        }
    }

    /// Notes a question about a callee for the check of all classes together.
    pub(super) fn ask(
        &mut self,
        callee: MemberRef<'a>,
        call: &Instruction<'a>,
        is_known: bool,
        means: CalleeProbe,
    ) {
        self.aligned.counted.push(CountedCallee {
            opcode: call.opcode,
            callee: callee.into(),
            means,
            is_known,
            sites: 1,
            place: Finding::at(Problem::CountedTwice, call.bci, self.bci()),
        });
    }
}
