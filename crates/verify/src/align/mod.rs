//! Comparison of original and rewritten code: without its probes, the rewritten code must be the
//! original, instruction for instruction.

pub(crate) mod alignment;
mod calls;
mod events;
pub(crate) mod same;

use cct_classfile::descriptor::MethodDescriptor;
use cct_classfile::{Bci, ClassFile, Instruction, MemberName, NameAndType, opcode};
use cct_columns::Column;
use cct_jdk::body_hooks::{BodyHook, Place};
use cct_jdk::helpers::Helper;
use cct_jdk::pins::Clock;

use crate::align::alignment::{Alignment, AppendedHandler};
use crate::allocations::{self, AllocatedObjects};
use crate::columns;
use crate::expectation::Expectation;
use crate::faults::{MethodPart, ProbeFault, RuntimeFault};
use crate::finding::{Check, Finding, Problem};
use crate::hooks;
use crate::marked::SkippedPieces;
use crate::op::{Kind, Op};
use crate::pins;
use crate::probe::{Call, Probe, Reader, restoring};
use crate::prologue::Prologue;
use crate::sites::Sites;
use crate::traces::Plan;
use crate::values::Part;
pub(crate) use same::mnemonic;
use same::{is_same, jumps};

/// The two codes to compare, with the facts that the comparison needs.
pub struct Pair<'p, 'a> {
    /// The original class.
    pub class: &'p ClassFile<'a>,
    /// The method.
    pub method: NameAndType<'a>,
    /// The rewritten code.
    pub code: &'p Reader<'p, 'a>,
    /// The prologue of the rewritten code.
    pub prologue: Prologue,
    /// The known facts about its rewriting.
    pub expectation: &'p Expectation,
    /// The call sites of the method, followed by the sites of allocations.
    pub sites: Sites,
    /// Whether the rewritten code stores contexts into the thread that it has read on entry; `None`
    /// if unknown.
    pub holds_thread: Option<bool>,
    /// The count of a callee that executes nothing but its return.
    pub return_cost: u32,
    /// Number of the sites that are calls.
    pub calls: usize,
    /// Whether objects are counted.
    pub counts_objects: bool,
    /// The columns that its code counts.
    pub columns: &'p [Column],
    /// The site of the first column, after calls and allocations.
    pub first_column: usize,
    /// The method's events, if the run records events instead of counts.
    pub events: Option<&'p Plan>,
    /// The method's part in values, if values represent contexts.
    pub values: Option<Part<'p>>,
    /// The method's markers, if it has some.
    pub told: Option<SkippedPieces<'p, 'p, 'a>>,
}

/// Removes the probes and the pieces of markers, and notes the notifications of the markers.
pub fn align<'p, 'a>(
    mut pair: Pair<'p, 'a>,
    originals: Vec<Instruction<'a>>,
) -> Check<(Alignment<'a>, Option<SkippedPieces<'p, 'p, 'a>>)> {
    let told = pair.told.take();
    let pair = &pair;
    let mut walk = Walk {
        pair,
        told,
        hooks: hooks::of_body(pair.method.of_class(pair.class.name()), pair.expectation).collect(),
        clocks: match pair.expectation.reproducible {
            Some(false) => Vec::new(),
            _ => pins::clocks(pair.class, pair.method.name),
        },
        at: pair.prologue.end,
        site: 0,
        aligned: Alignment {
            labels: Vec::with_capacity(originals.len() + 1),
            places: Vec::with_capacity(originals.len()),
            ..Alignment::empty()
        },
        place: pair.calls,
        copies: None,
    };
    walk.hooks_on_entry()?;
    if let Some(told) = &mut walk.told {
        walk.at = told.prologue(walk.at)?;
    }
    for (number, original) in originals.iter().enumerate() {
        let before = number.checked_sub(1).map(|n| originals[n]);
        walk.trampolines(before.as_ref(), Some((number, original)));
        walk.aligned.labels.push(walk.bci());
        match pair.events {
            Some(plan) => {
                walk.hooks_on_return(original)?;
                walk.traced(number, original, plan)?;
                walk.traced_objects(original, plan)?;
            }
            None => walk.instruction(number, original)?,
        }
        walk.behind(number, original, originals.get(number + 1))?;
    }
    walk.trampolines(originals.last(), None);
    walk.aligned.labels.push(walk.bci());
    walk.handlers()?;
    let Walk { mut aligned, told, .. } = walk;
    aligned.originals = originals;
    jumps(&aligned, pair.code)?;
    Ok((aligned, told))
}

struct Walk<'w, 'p, 'a> {
    pair: &'w Pair<'p, 'a>,
    /// The removed pieces of markers, if the class may have some.
    told: Option<SkippedPieces<'p, 'p, 'a>>,
    /// Calls of the runtime that the body may have, each with whether it must.
    hooks: Vec<(&'static BodyHook, bool)>,
    /// Clocks whose answers may be replaced in the body.
    clocks: Vec<Clock>,
    /// Number of the next instruction of the rewritten code.
    at: usize,
    /// Number of the next call site.
    site: usize,
    /// Number of the next allocation.
    place: usize,
    /// Whether the last call was one of `Object.clone`; `None` if unknown.
    copies: Option<bool>,
    aligned: Alignment<'a>,
}

impl<'a> Walk<'_, '_, 'a> {
    fn bci(&self) -> Bci {
        self.pair.code.bci(self.at)
    }

    /// Skips calls of the runtime before the first instruction.
    fn hooks_on_entry(&mut self) -> Check {
        for (hook, is_certain) in self.hooks.clone() {
            let mut ops = Vec::new();
            match hook.place {
                Place::Entry => {}
                Place::EntryWith(local) => ops.push(Op::Load(Kind::Reference, local)),
                Place::Argument(_) => {
                    let descriptor = MethodDescriptor::parse(self.pair.method.descriptor);
                    let descriptor =
                        descriptor.map_err(|_| Finding::of(Problem::Head(MethodPart::Descriptors)))?;
                    ops.push(Op::Load(Kind::Reference, 0));
                    let mut local = 1;
                    for t in descriptor.arguments() {
                        ops.extend(Kind::of(t).map(|kind| Op::Load(kind, local)));
                        local += t.slots();
                    }
                }
                _ => continue,
            }
            ops.push(Op::runtime(hook.call));
            if let Place::Argument(local) = hook.place {
                let given = MethodDescriptor::parse(hook.call.member.descriptor)
                    .ok()
                    .and_then(|given| Kind::of(given.result));
                ops.extend(given.map(|kind| Op::Store(kind, local)));
            }
            self.hook(&ops, is_certain, 0)?;
        }
        Ok(())
    }

    /// Skips calls of the runtime before a return.
    fn hooks_on_return(&mut self, original: &Instruction<'a>) -> Check {
        for (hook, is_certain) in self.hooks.clone() {
            let is_return = opcode::is_return(original.opcode);
            match hook.place {
                Place::Return if is_return => {
                    self.hook(&[Op::runtime(hook.call)], is_certain, original.bci)?
                }
                Place::ReturnWithThis if is_return => {
                    let ops = [Op::Load(Kind::Reference, 0), Op::runtime(hook.call)];
                    self.hook(&ops, is_certain, original.bci)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Skips a call of the runtime. `is_certain` is whether it must be there.
    fn hook(&mut self, ops: &[Op<'_>], is_certain: bool, original: Bci) -> Check {
        if self.pair.code.has(self.at, ops) {
            self.at += ops.len();
            self.aligned.hooks += 1;
        } else if is_certain {
            return Err(Finding::at(Problem::Runtime(RuntimeFault::Missing), original, self.bci()));
        }
        Ok(())
    }

    /// Skips intermediate jumps of far jumps, which control cannot fall into.
    fn trampolines(&mut self, before: Option<&Instruction<'a>>, next: Option<(usize, &Instruction<'a>)>) {
        if !before.is_some_and(|i| opcode::ends_flow(i.opcode)) {
            return;
        }
        let code = self.pair.code;
        let is_far = |at: usize| code.steps.get(at).is_some_and(|i| i.opcode == opcode::GOTO_W);
        let is_jump = |op: u8| matches!(op, opcode::GOTO | opcode::GOTO_W);
        while is_far(self.at) {
            // It may be the original's own jump; then no intermediate one follows.
            if let Some((number, next)) = next.filter(|(_, i)| is_jump(i.opcode)) {
                let mut behind = self.at + 1;
                if let Some(plan) = self.pair.events {
                    let events = plan.before(number, next, &self.pair.prologue.locals, false);
                    behind += if code.has(behind, &events) { events.len() } else { 0 };
                }
                if let Some(told) = &self.told {
                    behind = told.skip(behind);
                }
                while let Some((_, next)) = code.probe(behind, &self.pair.prologue.locals) {
                    behind = next;
                }
                if !code.steps.get(behind).is_some_and(|i| is_jump(i.opcode)) {
                    return;
                }
            }
            let Some(target) = code.steps[self.at].target() else { return };
            self.aligned.trampolines.push((self.bci(), target));
            self.at += 1;
        }
    }

    /// Compares one instruction of the original, with the probes before it.
    fn instruction(&mut self, number: usize, original: &Instruction<'a>) -> Check {
        let locals = self.pair.prologue.locals;
        let wrong = |at: &Self, problem| Err(Finding::at(problem, original.bci, at.bci()));
        let (mut is_called, mut is_restored) = (false, false);
        self.hooks_on_return(original)?;
        if let Some(told) = &mut self.told {
            self.at = told.before(self.at, number, original)?;
        }
        while let Some((probe, next)) = self.pair.code.probe(self.at, &locals) {
            // After these, the probe is no longer there to compare: its effect must still hold when
            // the instruction runs.
            if is_called || is_restored {
                return wrong(self, Problem::Probe(ProbeFault::NotLast));
            }
            match probe {
                Probe::Call(handed_on, call) => {
                    self.call(original, handed_on, &call)?;
                    is_called = true;
                    if let Call::Extended(..) = call {
                        self.aligned.places.push(self.pair.code.bci(next - 1));
                        self.at = next;
                        return Ok(());
                    }
                }
                Probe::Restore if opcode::is_return(original.opcode) => is_restored = true,
                Probe::Restore => {
                    return wrong(self, Problem::Probe(ProbeFault::RestoresEarly));
                }
                Probe::Tick => {}
                effect => self.aligned.effects.push((number, effect)),
            }
            self.at = next;
        }
        if opcode::is_invoke(original.opcode) && !is_called {
            self.silent(original)?;
        }
        self.columns(original);
        if opcode::is_return(original.opcode) && !is_restored && locals.thread.is_some() {
            return wrong(self, Problem::Probe(ProbeFault::NoRestore));
        }
        let Some(rewritten) = self.pair.code.steps.get(self.at) else {
            return wrong(self, Problem::Instruction("the end of the code", mnemonic(original)));
        };
        if !is_same(original, rewritten, locals.at, locals.by) {
            return wrong(self, Problem::Instruction(mnemonic(rewritten), mnemonic(original)));
        }
        self.aligned.places.push(self.bci());
        self.at += 1;
        Ok(())
    }

    /// Skips the code after an instruction that replaces the result of a clock or field.
    fn behind(&mut self, number: usize, original: &Instruction<'a>, next: Option<&Instruction<'a>>) -> Check {
        let class = self.pair.class;
        if let Some(told) = &mut self.told {
            self.at = told.behind(self.at, number, original)?;
        }
        self.made(original);
        if let Some(clock) = pins::read(&self.clocks, class, original) {
            // Then the program's own `pop2` follows the constant.
            let is_own = next.is_some_and(|i| i.opcode == opcode::POP2);
            if self.pair.code.has(self.at, &[Op::Pop2, Op::Long(clock.constant())])
                && (!is_own || self.pair.code.op(self.at + 2) == Op::Pop2)
            {
                self.at += 2;
                self.aligned.pinned += 1;
            } else {
                self.aligned.unpinned.get_or_insert(original.bci);
            }
        }
        for (hook, is_certain) in self.hooks.clone() {
            let Place::Read(field) = hook.place else { continue };
            let read = original.pool_index().filter(|_| original.opcode == opcode::GETFIELD);
            let member = read.and_then(|index| class.pool.member_ref(index).ok());
            if member.is_some_and(|m| m.member_name() == MemberName::new(class.name(), field)) {
                let ops = [Op::Load(Kind::Reference, 0), Op::runtime(hook.call)];
                self.hook(&ops, is_certain, original.bci)?;
            }
        }
        Ok(())
    }

    /// Skips the probe that counts the objects of the instruction.
    fn made(&mut self, original: &Instruction<'a>) {
        if !self.pair.counts_objects {
            return;
        }
        let Some(makes) = allocations::of(self.pair.class, original) else { return };
        let first = self.place;
        self.place += makes.places();
        let locals = self.pair.prologue.locals;
        if !locals.has_node() || (makes == AllocatedObjects::Copy && self.copies == Some(false)) {
            return;
        }
        let sites = self.pair.sites;
        let probe = makes.probe(locals.node, |place| sites.handed_on(first + place, original.bci));
        if self.pair.code.has(self.at, &probe) {
            self.at += probe.len();
            self.aligned.objects.made += 1;
        } else if makes != AllocatedObjects::Copy || self.copies == Some(true) {
            self.aligned.objects.unmade.get_or_insert(original.bci);
        }
    }

    /// Skips the probes that count the instruction for columns.
    fn columns(&mut self, original: &Instruction<'a>) {
        let locals = self.pair.prologue.locals;
        if !locals.has_node() {
            return;
        }
        for (place, &column) in self.pair.columns.iter().enumerate() {
            if !columns::counts(column, original) {
                continue;
            }
            let slot = self.pair.sites.handed_on(self.pair.first_column + place, original.bci);
            let probe = columns::probe(column, locals.node, slot.offset);
            if self.pair.code.has(self.at, &probe) {
                self.at += probe.len();
                self.aligned.columns.counted += 1;
            } else {
                self.aligned.columns.missed.get_or_insert(original.bci);
            }
        }
    }

    /// Checks the handlers after the code: they add the pending count, give the thread back its
    /// context, and rethrow.
    fn handlers(&mut self) -> Check {
        let locals = self.pair.prologue.locals;
        let code = self.pair.code;
        while self.at < code.steps.len() {
            let begin = self.bci();
            let counts = locals.pending.is_some_and(|pending| {
                let ops = [
                    Op::Load(Kind::Long, locals.node),
                    Op::Load(Kind::Int, pending),
                    Op::Helper(Helper::Count),
                ];
                code.has(self.at, &ops)
            });
            self.at += if counts { 3 } else { 0 };
            let end = self
                .pair
                .events
                .map_or(Vec::new(), |plan| plan.end(&locals, self.pair.prologue.is_extent, true));
            let ends = !end.is_empty() && code.has(self.at, &end);
            self.at += if ends { end.len() } else { 0 };
            let restores = restoring(&locals).is_some_and(|ops| code.has(self.at, &ops));
            self.at += if restores { 3 } else { 0 };
            let told = self.told.as_mut().and_then(|told| told.thrown(self.at));
            let tells = told.is_some();
            self.at = told.unwrap_or(self.at);
            if code.op(self.at) != Op::Throw || !(counts || restores || ends || tells) {
                return Err(Finding::at(Problem::Tail, None, begin));
            }
            self.at += 1;
            self.aligned.appended.push(AppendedHandler { at: begin, counts, restores, ends, tells });
        }
        Ok(())
    }
}
