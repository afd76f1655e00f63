//! Exact counting with few updates: a local variable accumulates bytecodes, and the node gets them
//! before it can be read.
//!
//! The precise rule ([`BlockRule::Precise`](crate::BlockRule)) updates the node in memory every 2.2
//! bytecodes. The same counts need fewer updates, since nobody can read the node while the method
//! runs on its own. The plan keeps one **invariant**: wherever control may leave for good or wait
//! (an invocation, `monitorenter`, the initialisation of a class, a return, `athrow`), the node's
//! count is exact, that instruction included. Between two such points bytecodes are *pending*:
//!
//! * where every path to an instruction has the same number pending, the number is a constant and
//!   needs no code at all;
//! * elsewhere it is in a local variable. Additions to it are free in compiled code: the compilers
//!   fold the additions of a path into one.
//!
//! **Exceptions.** An addition ends at an instruction that may throw. If the method catches the
//! exception, the handler continues with the pending number. If not, the exception passes a
//! catch-all that adds the local to the node. So after each instruction that may throw, the local
//! holds the pending number. The catch-all covers only such instructions ([`CountPlan::guarded`]),
//! since at others the local may be out of date.
//!
//! **Tests of the activation counter** ([`crate::activation`]) make the agent read the node, in
//! loops too: before each test the node is made exact.
//!
//! **Loops** without an invocation would never update the node. At the head of each, the local is
//! *drained*: when it has become large, the node gets it. So it does not overflow, and a reader of
//! a running thread's tree misses no more than that.
//!
//! **On entry** the node gets, in advance, the number that will have been executed when it must
//! first be exact ([`ahead`]). From there on the pending number is negative. If the guess was
//! right, no update is left.
//!
//! [`effects`] says which instructions may throw, or leave the method. Methods with `jsr` have no
//! plan: the pending number in a subroutine would depend on its caller.

mod ahead;
mod effects;

use std::cmp::Reverse;
use std::collections::BTreeSet;

use cct_classfile::opcode::Opcode;
use cct_classfile::{Bci, ClassFile, Code, Handler, Instruction, Member, access, opcode};
use cct_tables::CostModel;

pub use effects::OwnMembers;
use effects::{Effect, MethodFacts};

/// An update before an instruction. Numbers are of bytecodes, or of their costs by a [`CostModel`].
/// They are negative if the entry has counted bytecodes that are not executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Update {
    /// Sets the local to this number.
    Set(i32),
    /// Adds this number to the local.
    Add(i32),
    /// Adds this number to the node.
    Count(i32),
    /// Adds this number and the local to the node; the local is out of date from then on.
    CountLocal(i32),
    /// Adds this number to the local. If the local is large, adds it to the node and sets it to 0.
    Drain(i32),
}

/// The plan for counting the bytecodes of one method.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CountPlan {
    /// The number that the node gets on entry, part of it in advance.
    pub entry: u32,
    /// Updates before instructions, in code order. Two updates of one instruction apply in turn.
    pub updates: Vec<(Bci, Update)>,
    /// Ranges of code, in order. An exception that leaves the method from such a range adds the
    /// local to the node.
    pub guarded: Vec<(Bci, Bci)>,
}

impl CountPlan {
    /// Whether the method has the local. It must be 0 on entry only to be an `int` for the
    /// verifier.
    pub fn uses_local(&self) -> bool {
        self.updates.iter().any(|(_, update)| !matches!(update, Update::Count(_)))
    }
}

/// Instructions that run one after the other. Only the last one may have an effect, jump, or
/// precede a jump's target.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    start: Bci,
    last: Bci,
    end: Bci,
    /// Cost of its bytecodes: their number, unless there is a cost model.
    cost: i32,
    effect: Effect,
    /// Whether it is a jump's target or a handler, and so has predecessors besides the stretch
    /// before it.
    is_target: bool,
    /// Whether the node may be read at its start.
    is_observed: bool,
    /// Whether a handler of the method itself catches every exception of its last instruction.
    is_caught: bool,
    /// The opcode of its last instruction.
    opcode: Opcode,
}

impl Stretch {
    fn returns(&self) -> bool {
        opcode::is_return(self.opcode)
    }
}

/// The pending number at the start of a stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PendingCount {
    /// Not reached.
    Never,
    /// This many on every path; negative if the entry has counted them.
    Exactly(i32),
    /// The number in the local.
    Local,
}

impl PendingCount {
    fn and(self, more: i32) -> PendingCount {
        match self {
            PendingCount::Exactly(n) => PendingCount::Exactly(n + more),
            other => other,
        }
    }
}

/// The entries of an exception table that cover an instruction, for one instruction after another.
/// A query does not visit all entries.
struct CoveringEntries<'c> {
    handlers: &'c [Handler],
    /// Positions of the entries, the last ones to begin first.
    to_begin: Vec<usize>,
    /// Entries that have begun, in table order, in which the VM searches (JVMS 2.10).
    begun: BTreeSet<usize>,
    /// Ends of the entries that have begun.
    ends: BTreeSet<(Bci, usize)>,
}

impl<'c> CoveringEntries<'c> {
    fn of(code: &'c Code<'_>) -> Self {
        let mut to_begin: Vec<usize> = (0..code.handlers.len()).collect();
        to_begin.sort_by_key(|&place| Reverse(code.handlers[place].start));
        CoveringEntries { handlers: &code.handlers, to_begin, begun: BTreeSet::new(), ends: BTreeSet::new() }
    }

    /// The entries that cover `bci`, which must exceed that of the previous call.
    fn at(&mut self, bci: Bci) -> impl Iterator<Item = &'c Handler> {
        while let Some(place) = self.to_begin.pop_if(|place| self.handlers[*place].start <= bci) {
            self.begun.insert(place);
            self.ends.insert((self.handlers[place].end, place));
        }
        while let Some(&(end, place)) = self.ends.first().filter(|(end, _)| *end <= bci) {
            self.ends.remove(&(end, place));
            self.begun.remove(&place);
        }
        let handlers = self.handlers;
        self.begun.iter().map(move |&place| &handlers[place])
    }
}

/// Maximum number of pairs of an instruction that may throw and a handler that covers it; beyond it
/// there is no plan.
const PAIR_LIMIT: usize = 1 << 22;

/// A planner that reuses its memory for one method after another.
#[derive(Debug, Clone, Default)]
pub struct CountPlanner {
    stretches: Vec<Stretch>,
    /// The edges of stretch `i` are `edges[edges_of[i]..edges_of[i + 1]]`.
    edges: Vec<usize>,
    edges_of: Vec<usize>,
    pending: Vec<PendingCount>,
    /// Whether the local is drained at a stretch's end.
    drains: Vec<bool>,
    work: Vec<usize>,
    /// The state of a walk for each stretch.
    seen: Vec<WalkState>,
    path: Vec<(usize, usize)>,
    /// Whether a return is reached from each stretch.
    returning: Vec<bool>,
}

/// The state of a stretch in a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WalkState {
    No,
    OnPath,
    Done,
}

impl CountPlanner {
    /// The plan for a method of a class with these members. Before the instructions in `observed`,
    /// ascending, the node is exact as well. With a model, bytecodes and the entry count their
    /// costs. `None` for a method with `jsr`, or with more handlers than any compiler generates.
    pub fn plan(
        &mut self,
        class: &ClassFile<'_>,
        own: &OwnMembers,
        method: &Member<'_>,
        code: &Code<'_>,
        observed: &[Bci],
        model: Option<&CostModel>,
    ) -> Option<CountPlan> {
        self.cut(class, own, method, code, observed, model)?;
        self.connect(code)?;
        self.flow(0);
        let ahead = self.ahead();
        if ahead != 0 {
            self.flow(-ahead);
        }
        self.find_drains();
        let mut plan = CountPlan { entry: ahead as u32, ..CountPlan::default() };
        plan.updates.reserve(self.stretches.len());
        self.write(&mut plan);
        plan.entry += model.map_or(0, |model| model.entry(code.length()));
        Some(plan)
    }

    /// Cuts the code into stretches.
    #[allow(clippy::too_many_arguments)]
    fn cut(
        &mut self,
        class: &ClassFile<'_>,
        own: &OwnMembers,
        method: &Member<'_>,
        code: &Code<'_>,
        observed: &[Bci],
        model: Option<&CostModel>,
    ) -> Option<()> {
        if code.calls_subroutines || code.has_ret {
            return None;
        }
        let mut targets = code.targets.clone();
        for handler in &code.handlers {
            targets.insert(handler.handler);
        }
        for &bci in observed {
            targets.insert(bci);
        }
        let this_stays = !method.is(access::STATIC) && !code.stores_first_local;
        let knows = MethodFacts {
            class,
            own,
            this_stays,
            initialises: matches!(method.name, b"<init>" | b"<clinit>"),
            in_initialised: method.is(access::STATIC) || method.name == b"<init>",
        };
        self.stretches.clear();
        // The two instructions before, the nearer one first, unless a jump leads in between.
        let mut before = [opcode::NOP; 2];
        let mut open: Option<(Bci, bool)> = None;
        let mut cost = 0;
        let mut last = None;
        for instruction in code.instructions() {
            let Instruction { bci, opcode, .. } = instruction;
            let is_target = targets.contains(bci);
            if is_target {
                before = [opcode::NOP; 2];
                if let (Some(start), Some(last)) = (open.take(), last) {
                    self.close(start, last, Effect::None, std::mem::take(&mut cost), observed);
                }
            }
            let effect = knows.effect(&instruction, before);
            let start = *open.get_or_insert((bci, is_target));
            cost += model.map_or(1, |model| model.of(&instruction, &class.pool, code.length()) as i32);
            if effect != Effect::None || opcode::is_conditional(opcode) || opcode::ends_flow(opcode) {
                self.close(start, instruction, effect, std::mem::take(&mut cost), observed);
                open = None;
            }
            before = [opcode, before[0]];
            last = Some(instruction);
        }
        if let (Some(start), Some(last)) = (open, last) {
            self.close(start, last, Effect::None, cost, observed);
        }
        Some(())
    }

    /// Ends a stretch whose start and kind of target are known.
    fn close(
        &mut self,
        (start, is_target): (Bci, bool),
        last: Instruction<'_>,
        effect: Effect,
        cost: i32,
        observed: &[Bci],
    ) {
        self.stretches.push(Stretch {
            start,
            last: last.bci,
            end: last.end(),
            cost,
            effect,
            is_target,
            is_observed: !observed.is_empty() && observed.binary_search(&start).is_ok(),
            is_caught: false,
            opcode: last.opcode,
        });
    }

    /// Finds the successors of each stretch.
    fn connect(&mut self, code: &Code<'_>) -> Option<()> {
        self.edges.clear();
        self.edges_of.clear();
        let mut pairs = 0;
        let mut covering = CoveringEntries::of(code);
        for i in 0..self.stretches.len() {
            self.edges_of.push(self.edges.len());
            let stretch = self.stretches[i];
            let (stretches, edges) = (&self.stretches, &mut self.edges);
            let at = |bci: Bci| stretches.binary_search_by_key(&bci, |s| s.start).ok();
            if opcode::has_targets(stretch.opcode) {
                let Some(last) = code.instruction_at(stretch.last) else { continue };
                last.for_each_target(|target| {
                    edges.extend(at(target));
                });
            }
            if !opcode::ends_flow(stretch.opcode) && i + 1 < stretches.len() {
                edges.push(i + 1);
            }
            let throws = match stretch.effect {
                _ if code.handlers.is_empty() => false,
                Effect::None => false,
                Effect::Throws | Effect::Leaves => true,
                Effect::Ends => stretch.opcode == opcode::ATHROW,
            };
            if !throws {
                continue;
            }
            let mut is_caught = false;
            for handler in covering.at(stretch.last) {
                pairs += 1;
                edges.extend(at(handler.handler));
                is_caught = handler.catch_type == 0;
                if is_caught {
                    break;
                }
            }
            if pairs > PAIR_LIMIT {
                return None;
            }
            self.stretches[i].is_caught = is_caught;
        }
        self.edges_of.push(self.edges.len());
        Some(())
    }

    fn edges(&self, stretch: usize) -> &[usize] {
        &self.edges[self.edges_of[stretch]..self.edges_of[stretch + 1]]
    }

    /// The pending number in a stretch before its bytecodes.
    fn after_start(&self, stretch: usize) -> PendingCount {
        match self.pending[stretch] {
            PendingCount::Never => PendingCount::Never,
            _ if self.stretches[stretch].is_observed => PendingCount::Exactly(0),
            pending => pending,
        }
    }

    /// Computes the pending number at the start of each stretch. Each becomes more general at most
    /// twice, so this terminates.
    fn flow(&mut self, on_entry: i32) {
        self.pending.clear();
        self.pending.resize(self.stretches.len(), PendingCount::Never);
        self.pending[0] = PendingCount::Exactly(on_entry);
        self.work.clear();
        self.work.push(0);
        while let Some(i) = self.work.pop() {
            let out = match self.stretches[i].effect {
                Effect::Leaves | Effect::Ends => PendingCount::Exactly(0),
                Effect::None | Effect::Throws => self.after_start(i).and(self.stretches[i].cost),
            };
            for &to in &self.edges[self.edges_of[i]..self.edges_of[i + 1]] {
                let now = match (self.pending[to], out) {
                    (PendingCount::Never, out) => out,
                    (old, out) if old == out => old,
                    _ => PendingCount::Local,
                };
                if now != self.pending[to] {
                    self.pending[to] = now;
                    self.work.push(to);
                }
            }
        }
    }

    /// Finds the heads of cycles that count nothing, where a depth-first walk that stops at
    /// counting instructions meets its own path.
    ///
    /// The walk does not follow exceptions of `monitorexit`. javac lets the handler that unlocks
    /// cover its own `monitorexit`, so such an edge closes a cycle that structured locking (JVMS
    /// 2.11.10) never takes. A call there would keep C1 from compiling the method: its handlers may
    /// not cover a call in their first block (`exception handler covers itself`).
    fn find_drains(&mut self) {
        self.drains.clear();
        self.drains.resize(self.stretches.len(), false);
        let leads_back = |i: usize| self.edges(i).iter().any(|to| *to <= i);
        if !(0..self.stretches.len()).any(leads_back) {
            return;
        }
        self.seen.clear();
        self.seen.resize(self.stretches.len(), WalkState::No);
        let (seen, path) = (&mut self.seen, &mut self.path);
        for root in 0..self.stretches.len() {
            if seen[root] != WalkState::No || self.pending[root] == PendingCount::Never {
                continue;
            }
            seen[root] = WalkState::OnPath;
            path.push((root, self.edges_of[root]));
            while let Some((stretch, next)) = path.last_mut() {
                let counts = matches!(self.stretches[*stretch].effect, Effect::Leaves | Effect::Ends);
                if counts || *next == self.edges_of[*stretch + 1] {
                    seen[*stretch] = WalkState::Done;
                    path.pop();
                    continue;
                }
                let (from, to) = (*stretch, self.edges[*next]);
                *next += 1;
                let is_unlocking = self.stretches[from].opcode == opcode::MONITOREXIT && to != from + 1;
                if self.stretches[to].is_observed || is_unlocking {
                    continue;
                }
                match seen[to] {
                    WalkState::No => {
                        seen[to] = WalkState::OnPath;
                        path.push((to, self.edges_of[to]));
                    }
                    WalkState::OnPath => self.drains[to] = true,
                    WalkState::Done => {}
                }
            }
        }
    }

    /// Writes the updates that [`CountPlanner::flow`] requires.
    fn write(&self, plan: &mut CountPlan) {
        // The known value of the local.
        let mut held = None;
        let mut guard: Option<(Bci, Bci)> = None;
        for (i, stretch) in self.stretches.iter().enumerate() {
            let Stretch { start, last, end, cost, effect, is_target, is_observed, is_caught, .. } = *stretch;
            if is_observed {
                match self.pending[i] {
                    PendingCount::Never | PendingCount::Exactly(0) => {}
                    PendingCount::Exactly(n) => plan.updates.push((start, Update::Count(n))),
                    PendingCount::Local => plan.updates.push((start, Update::CountLocal(0))),
                }
                plan.guarded.extend(guard.take());
            }
            let pending = self.after_start(i);
            let mut update = |update| plan.updates.push((last, update));
            if is_target || pending == PendingCount::Local {
                held = None;
            }
            let wants_local = self.edges(i).iter().any(|&to| self.pending[to] == PendingCount::Local);
            // If nothing is pending, an exception that leaves adds nothing to the node.
            let leaves_even = pending.and(cost) == PendingCount::Exactly(0);
            let may_leave = effect == Effect::Throws && !is_caught;
            let is_guarded = may_leave && !leaves_even;
            let mut says_what_is_pending = true;
            match (pending, effect) {
                (PendingCount::Never, _) => says_what_is_pending = false,
                (pending, Effect::Leaves | Effect::Ends) => {
                    match pending {
                        PendingCount::Exactly(n) if n + cost == 0 => {}
                        PendingCount::Exactly(n) => update(Update::Count(n + cost)),
                        _ => {
                            update(Update::CountLocal(cost));
                            held = None;
                        }
                    }
                    if wants_local && held != Some(0) {
                        update(Update::Set(0));
                        held = Some(0);
                    }
                    says_what_is_pending = held == Some(0);
                }
                (PendingCount::Exactly(n), _) => {
                    let now = n + cost;
                    if wants_local || is_guarded {
                        match held {
                            Some(before) if before < now => update(Update::Add(now - before)),
                            Some(before) if before == now => {}
                            _ => update(Update::Set(now)),
                        }
                        held = Some(now);
                    } else if may_leave {
                        says_what_is_pending = held == Some(0);
                    }
                }
                (PendingCount::Local, _) if self.drains[i] => update(Update::Drain(cost)),
                (PendingCount::Local, _) if cost == 0 => {}
                (PendingCount::Local, _) => update(Update::Add(cost)),
            }
            if is_guarded && says_what_is_pending {
                guard = Some((guard.map_or(last, |(start, _)| start), end));
            } else if !says_what_is_pending {
                plan.guarded.extend(guard.take());
            }
        }
        plan.guarded.extend(guard);
    }
}

#[cfg(test)]
mod tests;
