//! Exactness of counts: the bytecodes that a body adds to its node, compared with those that it
//! executes.
//!
//! The check follows the original's instructions along all edges. At each point it keeps two facts
//! that hold on every path: by how much *executed* is ahead of the *node*, and by how much it is
//! ahead of the node and the local together. Each instruction adds one to the executed count, or
//! its cost by the output's cost model. Probes add to the node or to the local, or move one to the
//! other. The rules (docs/internals/scheme.md, *Bytecodes*) are statements about these two facts.

use cct_classfile::constant_pool::tag;
use cct_classfile::{Bci, ClassFile, Code, Instruction, Member, MemberName, access, opcode};
use cct_jdk::convention::OBJECT;
use cct_tables::BlockEnds;

use crate::align::alignment::{Alignment, AppendedHandler};
use crate::faults::CountFault;
use crate::fields::Fields;
use crate::finding::{Check, Finding, Problem};
use crate::handlers::Handlers;
use crate::probe::Probe;
use crate::rule::Rule;
use crate::throws::may_throw;

/// The two facts at one point; `None` where paths disagree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Facts {
    /// The executed count, less the node's.
    node: Option<i64>,
    /// The executed count, less the node's and the local's.
    local: Option<i64>,
}

impl Facts {
    fn and(self, other: Facts) -> Facts {
        let both = |a: Option<i64>, b: Option<i64>| if a == b { a } else { None };
        Facts { node: both(self.node, other.node), local: both(self.local, other.local) }
    }

    /// The facts after a probe.
    fn after(self, probe: Probe<'_>) -> Facts {
        let less = |fact: Option<i64>, n: i32| fact.map(|f| f - i64::from(n));
        match probe {
            Probe::Count(n) | Probe::Loop(n) => {
                Facts { node: less(self.node, n), local: less(self.local, n) }
            }
            Probe::CountLocal(n) => Facts { node: less(self.local, n), local: None },
            Probe::Set(n) => Facts { node: self.node, local: less(self.node, n) },
            Probe::Add(n) => Facts { node: self.node, local: less(self.local, n) },
            Probe::Drain(n) => Facts { node: None, local: less(self.local, n) },
            Probe::Tick | Probe::Restore | Probe::Call(..) => self,
        }
    }

    /// The facts after an instruction of this cost.
    fn executed(self, cost: u32) -> Facts {
        let more = |fact: Option<i64>| fact.map(|f| f + i64::from(cost));
        Facts { node: more(self.node), local: more(self.local) }
    }
}

/// The effect that an instruction may have on control flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// It completes.
    Completes,
    /// It may throw.
    Throws,
    /// Other code may run, which may read the node or never return.
    Leaves,
    /// It ends the method.
    Ends,
}

/// The body to check.
pub struct Body<'b, 'a> {
    /// The original class.
    pub class: &'b ClassFile<'a>,
    /// The class's own fields.
    pub fields: &'b Fields<'a>,
    /// The original method.
    pub method: &'b Member<'a>,
    /// The method's original code.
    pub code: &'b Code<'a>,
    /// The method's own handlers.
    pub handlers: &'b Handlers,
    /// The rewritten code.
    pub aligned: &'b Alignment<'a>,
    /// The count of each instruction: one, or its cost.
    pub costs: &'b [u32],
    /// The instructions that end blocks by [`Rule::Precise`]; `None` for all that may throw.
    pub block_ends: Option<&'static BlockEnds>,
    /// The additional count of the method's entry.
    pub entry_cost: u32,
    /// The count that the node gets on entry.
    pub on_entry: i32,
    /// For each instruction, the handler of exceptions that the method does not catch.
    pub ways_out: &'b [Option<AppendedHandler>],
}

impl Body<'_, '_> {
    /// Checks that the body counts by a rule.
    pub fn follows(&self, rule: Rule) -> Check {
        if rule == Rule::None {
            return self.counts_nothing();
        }
        if rule == Rule::Exact
            && let Some(i) = self.aligned.originals.iter().find(|i| opcode::is_subroutine_call(i.opcode))
        {
            // The count of a subroutine at its return depends on its caller: such methods are
            // counted by the precise rule.
            return Err(Finding::at(Problem::Count(CountFault::Subroutines), i.bci, None));
        }
        let facts = self.flow(rule)?;
        if rule == Rule::Exact {
            self.drains(&facts)?;
        }
        Ok(())
    }

    /// Whether each instruction is reached, by number.
    pub fn reached(&self) -> Vec<bool> {
        let mut reached = vec![false; self.aligned.originals.len()];
        let mut work = vec![0];
        while let Some(number) = work.pop() {
            if std::mem::replace(&mut reached[number], true) {
                continue;
            }
            let i = &self.aligned.originals[number];
            work.extend(self.successors(number, i).into_iter().filter(|&n| !reached[n]));
            work.extend(self.handlers(number).0.filter(|&n| !reached[n]));
        }
        reached
    }

    fn counts_nothing(&self) -> Check {
        let is_count = |probe: &Probe<'_>| !matches!(probe, Probe::Loop(0));
        match self.aligned.effects.iter().find(|(_, probe)| is_count(probe)) {
            None if self.on_entry == 0 => Ok(()),
            None => Err(Finding::at(Problem::Count(CountFault::OnEntry), 0, None)),
            Some((number, _)) => {
                let bci = self.aligned.originals[*number].bci;
                Err(Finding::at(Problem::Count(CountFault::Counted), bci, None))
            }
        }
    }

    /// The instructions that may follow, apart from handlers.
    fn successors(&self, number: usize, i: &Instruction<'_>) -> Vec<usize> {
        let mut next = Vec::new();
        i.for_each_target(|t| next.extend(self.aligned.number(t)));
        if !opcode::ends_flow(i.opcode) && number + 1 < self.aligned.originals.len() {
            next.push(number + 1);
        }
        next
    }

    /// The handlers that may catch what an instruction throws, and whether they catch everything.
    fn handlers(&self, number: usize) -> (impl Iterator<Item = usize> + '_, bool) {
        let (targets, is_caught) = self.handlers.at(number);
        (targets.iter().map(|target| *target as usize), is_caught)
    }

    /// Computes the facts at each instruction, and checks the rule.
    fn flow(&self, rule: Rule) -> Check<Vec<Option<Facts>>> {
        let originals = &self.aligned.originals;
        let knows = MethodFacts::of(self);
        let is_label = self.labels();
        let entered = Some(i64::from(self.entry_cost) - i64::from(self.on_entry));
        let mut facts: Vec<Option<Facts>> = vec![None; originals.len()];
        // The local is 0 on entry.
        facts[0] = Some(Facts { node: entered, local: entered });
        let mut work = vec![0];
        let even = Facts { node: Some(0), local: None };
        while let Some(number) = work.pop() {
            let i = &originals[number];
            let (_, after) = self.step(number, facts[number]);
            let mut reach = |to: usize, with: Facts| {
                let now = facts[to].map_or(with, |old| old.and(with));
                if facts[to] != Some(now) {
                    facts[to] = Some(now);
                    work.push(to);
                }
            };
            for to in self.successors(number, i) {
                // The block may have counted instructions after a `jsr` that are still to be
                // executed when the subroutine begins.
                let calls = opcode::is_subroutine_call(i.opcode) && Some(to) != number.checked_add(1);
                reach(to, if calls && rule != Rule::Exact { even } else { after });
            }
            if knows.effect(rule, number) != Effect::Completes && !opcode::is_return(i.opcode) {
                for to in self.handlers(number).0 {
                    // By the default rule a block is counted whole. By a table it is too, unless it
                    // ends here, where node and execution agree.
                    let whole = rule == Rule::Default || rule == Rule::Precise && self.block_ends.is_some();
                    reach(to, if whole { even } else { after });
                }
            }
        }
        for number in 0..originals.len() {
            let (Some(_), i) = (facts[number], &originals[number]) else { continue };
            let (_, after) = self.step(number, facts[number]);
            let wrong = |what| Err(Finding::at(Problem::Count(what), i.bci, self.aligned.places[number]));
            let effect = knows.effect(rule, number);
            if rule == Rule::Exact {
                self.exact(number, effect, after)?;
                continue;
            }
            if after.node.is_none_or(|ahead| ahead > 0) {
                return wrong(CountFault::Late);
            }
            let jumps = opcode::is_conditional(i.opcode) || opcode::ends_flow(i.opcode);
            let falls_into_label = !jumps && is_label.get(number + 1) == Some(&true);
            let throws = rule == Rule::Precise && self.ends_block(i.opcode, effect);
            if (jumps || falls_into_label || throws) && after.node != Some(0) {
                return wrong(CountFault::Block);
            }
        }
        Ok(facts)
    }

    /// Whether a block ends after an instruction, by the precise rule or by the table that replaces
    /// it.
    fn ends_block(&self, op: opcode::Opcode, effect: Effect) -> bool {
        let throws = effect != Effect::Completes;
        self.block_ends.map_or(throws, |ends| ends.after(op) || ends.throwing() && throws)
    }

    /// The facts before and after an instruction.
    fn step(&self, number: usize, facts: Option<Facts>) -> (Facts, Facts) {
        let mut now = facts.unwrap_or(Facts { node: None, local: None });
        for probe in self.effects(number) {
            now = now.after(probe);
        }
        (now, now.executed(self.costs[number]))
    }

    /// The probes before an instruction.
    fn effects(&self, number: usize) -> impl Iterator<Item = Probe<'_>> {
        let effects = &self.aligned.effects;
        let from = effects.partition_point(|(n, _)| *n < number);
        effects[from..].iter().take_while(move |(n, _)| *n == number).map(|(_, probe)| *probe)
    }

    /// Checks the exact rule after an instruction.
    fn exact(&self, number: usize, effect: Effect, after: Facts) -> Check {
        let (i, place) = (&self.aligned.originals[number], self.aligned.places[number]);
        let wrong = |what| Err(Finding::at(Problem::Count(what), i.bci, place));
        let is_true = after.node == Some(0);
        if matches!(effect, Effect::Leaves | Effect::Ends) && !is_true {
            return wrong(CountFault::Node);
        }
        let throws = effect != Effect::Completes && !opcode::is_return(i.opcode);
        if throws && !self.handlers(number).1 {
            let is_counted = if self.ways_out[number].is_some_and(|way| way.counts) {
                after.local == Some(0)
            } else {
                is_true
            };
            if !is_counted {
                return wrong(CountFault::Exception);
            }
        }
        let is_test = self.effects(number).any(|probe| matches!(probe, Probe::Loop(_)));
        if is_test && after.node != Some(self.costs[number].into()) && !is_true {
            return wrong(CountFault::Agent);
        }
        Ok(())
    }

    /// The targets of jumps, switches and handlers.
    fn labels(&self) -> Vec<bool> {
        let mut labels = vec![false; self.aligned.originals.len()];
        let mut mark = |bci: Bci| {
            if let Some(number) = self.aligned.number(bci) {
                labels[number] = true;
            }
        };
        for i in &self.aligned.originals {
            i.for_each_target(&mut mark);
        }
        self.code.handlers.iter().for_each(|h| mark(h.handler));
        labels
    }

    /// Checks that the local stays small: each cycle on which it grows must have a probe that
    /// empties it.
    fn drains(&self, facts: &[Option<Facts>]) -> Check {
        let count = self.aligned.originals.len();
        let (mut grows, mut is_emptied) = (vec![false; count], vec![false; count]);
        for (number, probe) in &self.aligned.effects {
            match probe {
                Probe::Add(_) => grows[*number] = true,
                Probe::Drain(_) | Probe::Set(_) | Probe::CountLocal(_) => is_emptied[*number] = true,
                _ => {}
            }
        }
        if !grows.contains(&true) {
            return Ok(());
        }
        // Remove instructions that are on no cycle of the rest, from both ends.
        let knows = MethodFacts::of(self);
        let is_there = |n: usize| facts[n].is_some() && !is_emptied[n];
        let mut edges: Vec<(usize, usize)> = Vec::new();
        for number in (0..count).filter(|&n| is_there(n)) {
            let i = &self.aligned.originals[number];
            let mut next = self.successors(number, i);
            // Structured locking has no `monitorexit` that throws (JVMS 2.11.10), although handlers
            // cover it.
            let throws = knows.effect(Rule::Exact, number) != Effect::Completes;
            if throws && i.opcode != opcode::MONITOREXIT {
                next.extend(self.handlers(number).0);
            }
            edges.extend(next.into_iter().filter(|&n| is_there(n)).map(|to| (number, to)));
        }
        for _ in 0..2 {
            edges = on_cycles(count, edges);
            edges.iter_mut().for_each(|(from, to)| std::mem::swap(from, to));
        }
        match edges.iter().find(|(from, _)| grows[*from]) {
            Some((number, _)) => {
                let bci = self.aligned.originals[*number].bci;
                Err(Finding::at(Problem::Count(CountFault::Loop), bci, None))
            }
            None => Ok(()),
        }
    }
}

/// The edges that can be reached from a cycle: nodes without a predecessor are removed repeatedly.
fn on_cycles(count: usize, edges: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    let mut entering = vec![0usize; count];
    let mut leaving: Vec<Vec<usize>> = vec![Vec::new(); count];
    for &(from, to) in &edges {
        entering[to] += 1;
        leaving[from].push(to);
    }
    let mut work: Vec<usize> = (0..count).filter(|&n| entering[n] == 0).collect();
    let mut is_gone = vec![false; count];
    while let Some(n) = work.pop() {
        is_gone[n] = true;
        for &to in &leaving[n] {
            entering[to] -= 1;
            if entering[to] == 0 {
                work.push(to);
            }
        }
    }
    edges.into_iter().filter(|(from, to)| !is_gone[*from] && !is_gone[*to]).collect()
}

/// The facts of a method that decide about the effects of its instructions.
struct MethodFacts<'k, 'a> {
    body: &'k Body<'k, 'a>,
    this_stays: bool,
    is_label: Vec<bool>,
}

impl<'k, 'a> MethodFacts<'k, 'a> {
    fn of(body: &'k Body<'k, 'a>) -> Self {
        let stores = |i: &Instruction<'_>| {
            (opcode::ISTORE..=opcode::ASTORE_3).contains(&i.opcode) && i.local().is_some_and(|(l, _)| l == 0)
        };
        let this_stays = !body.method.is(access::STATIC) && !body.aligned.originals.iter().any(stores);
        let mut is_label = body.labels();
        // Also where the agent reads the counts.
        for (number, probe) in &body.aligned.effects {
            is_label[*number] |= matches!(probe, Probe::Loop(_));
        }
        MethodFacts { body, this_stays, is_label }
    }

    fn effect(&self, rule: Rule, number: usize) -> Effect {
        let i = &self.body.aligned.originals[number];
        if opcode::is_return(i.opcode) || i.opcode == opcode::ATHROW {
            return Effect::Ends;
        }
        let throws = may_throw(self.body.class, i);
        if !throws || rule == Rule::Exact && self.is_harmless(number, i) {
            return Effect::Completes;
        }
        match i.opcode {
            op if opcode::is_invoke(op) => Effect::Leaves,
            opcode::MONITORENTER | opcode::NEW | opcode::GETSTATIC | opcode::PUTSTATIC => Effect::Leaves,
            opcode::LDC | opcode::LDC_W | opcode::LDC2_W => Effect::Leaves,
            _ => Effect::Throws,
        }
    }

    /// Whether the exact rule knows that an instruction does not throw: a call of `Object.<init>`;
    /// access to a field of the class through `this`; access to a static field of the class in code
    /// that runs only after its initialisation has begun.
    fn is_harmless(&self, number: usize, i: &Instruction<'_>) -> bool {
        let constant = i.pool_index().and_then(|index| self.body.class.pool.member_constant(index).ok());
        let Some(constant) = constant else { return false };
        let member = constant.member;
        if i.opcode == opcode::INVOKESPECIAL {
            return member.member_name() == MemberName::new(OBJECT, b"<init>");
        }
        if constant.tag != tag::FIELDREF || member.class != self.body.class.name() {
            return false;
        }
        let Some(flags) = self.body.fields.get(&member.name_and_type()) else { return false };
        let declared_is = |flag: u16| flags & flag != 0;
        let name = self.body.method.name;
        let assigns = matches!(i.opcode, opcode::PUTFIELD | opcode::PUTSTATIC);
        if assigns && declared_is(access::FINAL) && name != b"<init>" && name != b"<clinit>" {
            return false;
        }
        let is_initialised = self.body.method.is(access::STATIC) || name == b"<init>";
        match i.opcode {
            opcode::GETSTATIC | opcode::PUTSTATIC => declared_is(access::STATIC) && is_initialised,
            opcode::GETFIELD => !declared_is(access::STATIC) && self.is_this(number, 1),
            opcode::PUTFIELD => {
                let pushes =
                    |i: &Instruction<'_>| (opcode::ACONST_NULL..=opcode::ALOAD_3).contains(&i.opcode);
                !declared_is(access::STATIC)
                    && self.is_this(number, 2)
                    && pushes(&self.body.aligned.originals[number - 1])
            }
            _ => false,
        }
    }

    /// Whether the instruction `before` steps earlier pushes `this`, and no jump leads in between.
    fn is_this(&self, number: usize, before: usize) -> bool {
        let Some(from) = number.checked_sub(before) else { return false };
        self.this_stays
            && self.body.aligned.originals[from].opcode == opcode::ALOAD_0
            && !self.is_label[from + 1..=number].contains(&true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVEN: Facts = Facts { node: Some(0), local: Some(0) };

    #[test]
    fn probes_change_what_is_known() {
        let ahead = EVEN.executed(1).executed(1);
        assert_eq!(ahead, Facts { node: Some(2), local: Some(2) });
        assert_eq!(ahead.after(Probe::Count(3)), Facts { node: Some(-1), local: Some(-1) });
        assert_eq!(ahead.after(Probe::Add(2)), Facts { node: Some(2), local: Some(0) });
        assert_eq!(ahead.after(Probe::Set(5)), Facts { node: Some(2), local: Some(-3) });
        // The local's count is added to the node here, and the local loses it only at the next
        // `Set`.
        assert_eq!(
            ahead.after(Probe::Add(2)).after(Probe::CountLocal(0)),
            Facts { node: Some(0), local: None }
        );
        assert_eq!(ahead.after(Probe::Drain(2)), Facts { node: None, local: Some(0) });
        assert_eq!(ahead.after(Probe::Tick), ahead);
    }

    #[test]
    fn paths_that_disagree_know_nothing() {
        let other = Facts { node: Some(1), local: Some(0) };
        assert_eq!(EVEN.and(other), Facts { node: None, local: Some(0) });
        assert_eq!(EVEN.and(EVEN), EVEN);
    }

    #[test]
    fn cycles_are_what_is_left() {
        // 0 -> 1 -> 2 -> 1, 2 -> 3
        let edges = vec![(0, 1), (1, 2), (2, 1), (2, 3)];
        let mut left = on_cycles(4, edges);
        assert_eq!(left, [(1, 2), (2, 1), (2, 3)]);
        left.iter_mut().for_each(|(from, to)| std::mem::swap(from, to));
        assert_eq!(on_cycles(4, left), [(2, 1), (1, 2)]);
    }
}
