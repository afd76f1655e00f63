//! Updates and tests of a thread's activation counter in a method (JP section 5.2).
//!
//! Each thread calls the profiling agent after about as many bytecodes as the agent requested. To
//! know when, it keeps an upper bound of the bytecodes executed since the last call: the activation
//! counter, which falls from the agent's number to zero. Block-by-block updates would cost as much
//! as the profile itself. So only these points update the counter: the method's **entry**, the
//! entries of exception **handlers** and **subroutines**, and the heads of **loops**. Each update
//! subtracts the number of bytecodes on the longest path to the next update or the method's end.
//! Every cycle has a head and every handler updates, so the code between two updates has no cycle,
//! and one pass finds the longest path. A block's path is its own bytecodes plus the longest of its
//! successors' paths, where a successor with an update contributes nothing. In postorder the
//! successors come first.
//!
//! Why it is an upper bound: the number that a path subtracts covers each of its instructions up to
//! the next update. An exception only leaves the path earlier, for a handler with an update of its
//! own. A `jsr` leaves it for a subroutine with an update of its own, and returns to instructions
//! that are already covered.
//!
//! Every loop **tests** the counter, and so does the entry: neither iteration nor recursion escapes
//! the test. The entry needs no test if each path from there reaches its end or another test before
//! it invokes a method or constructor. So leaf methods need none, nor does a method whose calls all
//! follow the head of a loop. (A class initialiser or bootstrap method that an instruction triggers
//! is not an invocation in this sense: it runs once, so recursion cannot hide in it.)
//!
//! A handler or subroutine that is also the head of a loop counts as a loop. The handler of a
//! `synchronized` statement usually is one: it covers its own `monitorexit`, which may throw.

use cct_classfile::{Bci, Code, ConstantPool, opcode};

use crate::blocks::{BlockId, Blocks};
use crate::depth_first::DepthFirst;
use crate::graph::{Graph, TooManyExceptionEdges};
use cct_tables::BlockRule;

/// The reason for updating the counter at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UpdateKind {
    /// The method is entered: once per call.
    Entry,
    /// An exception handler begins.
    Handler,
    /// A subroutine begins (target of a `jsr`).
    Subroutine,
    /// The head of a loop: once per iteration.
    Loop,
}

/// A point where the counter is updated, before the instruction there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpdatePoint {
    /// The instruction.
    pub bci: Bci,
    /// The structure that begins here.
    pub kind: UpdateKind,
    /// The number of bytecodes to subtract: those on the longest path to the next update or the
    /// method's end.
    pub decrement: u32,
    /// Whether the counter is tested after the update.
    pub test: bool,
}

/// The updates of one method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivationPlan {
    /// The entry first; then the others by ascending bci, at most one each. One of them may also be
    /// at bci 0, if that is the target of a jump. The entry's update then runs once, with a
    /// decrement of 0, and the other one on every pass.
    pub points: Vec<UpdatePoint>,
}

impl ActivationPlan {
    /// The plan for a method. `pool` is the constant pool of its class.
    ///
    /// # Errors
    /// The errors of [`Graph::of`].
    pub fn of(code: &Code<'_>, pool: &ConstantPool<'_>) -> Result<Self, TooManyExceptionEdges> {
        ActivationPlanner::default().plan(code, pool)
    }
}

/// A planner that reuses its memory for one method after another.
#[derive(Debug, Clone, Default)]
pub struct ActivationPlanner {
    blocks: Blocks,
    graph: Graph,
    order: DepthFirst,
    /// The update at the start of each block, apart from the entry's own.
    updates: Vec<Option<UpdateKind>>,
    /// Bytecodes on the longest path from the start of each block.
    longest: Vec<u32>,
    visited: Vec<bool>,
    pending: Vec<BlockId>,
}

impl ActivationPlanner {
    /// The plan for a method. `pool` is the constant pool of its class.
    ///
    /// # Errors
    /// The errors of [`Graph::of`].
    pub fn plan(
        &mut self,
        code: &Code<'_>,
        pool: &ConstantPool<'_>,
    ) -> Result<ActivationPlan, TooManyExceptionEdges> {
        self.blocks.compute(code, pool, BlockRule::Default);
        self.graph.compute(code, pool, &self.blocks)?;
        self.order.compute(&self.graph);
        self.place_updates();
        self.find_longest_paths();

        let decrement = if self.updates[0].is_some() { 0 } else { self.longest[0] };
        let test = self.invokes_before_test(code);
        let mut points = vec![UpdatePoint { bci: 0, kind: UpdateKind::Entry, decrement, test }];
        for (block, (&kind, &decrement)) in self.blocks.iter().zip(self.updates.iter().zip(&self.longest)) {
            if let Some(kind) = kind {
                points.push(UpdatePoint {
                    bci: block.start,
                    kind,
                    decrement,
                    test: kind == UpdateKind::Loop,
                });
            }
        }
        Ok(ActivationPlan { points })
    }

    fn place_updates(&mut self) {
        self.updates.clear();
        self.updates.resize(self.blocks.len(), None);
        // If several coincide, the last one wins: a loop must be tested.
        for (kind, entries) in [
            (UpdateKind::Subroutine, self.graph.subroutine_entries()),
            (UpdateKind::Handler, self.graph.handler_entries()),
            (UpdateKind::Loop, self.order.heads()),
        ] {
            for &entry in entries {
                self.updates[entry as usize] = Some(kind);
            }
        }
    }

    fn find_longest_paths(&mut self) {
        let Self { blocks, graph, order, updates, longest, .. } = self;
        longest.clear();
        longest.resize(blocks.len(), 0);
        for &block in order.postorder() {
            // Exceptional successors are handlers, which update the counter.
            let onward = (graph.normal_successors(block).iter().map(|&next| next as usize))
                .filter(|&next| updates[next].is_none())
                .map(|next| longest[next]);
            longest[block as usize] = blocks[block as usize].bytecodes + onward.max().unwrap_or(0);
        }
    }

    /// Whether some path from the entry invokes a method before it has passed a test.
    fn invokes_before_test(&mut self, code: &Code<'_>) -> bool {
        let Self { blocks, graph, updates, visited, pending, .. } = self;
        visited.clear();
        visited.resize(blocks.len(), false);
        pending.clear();
        let mut visit = |block: BlockId, pending: &mut Vec<BlockId>| {
            let tested = updates[block as usize] == Some(UpdateKind::Loop);
            if !tested && !std::mem::replace(&mut visited[block as usize], true) {
                pending.push(block);
            }
        };
        visit(0, pending);
        while let Some(block) = pending.pop() {
            if blocks[block as usize].instructions(code).any(|i| opcode::is_invoke(i.opcode)) {
                return true;
            }
            graph.successors(block).for_each(|next| visit(next, pending));
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::testing::*;
    use cct_classfile::opcode::*;

    fn points(ops: &[Op], handlers: &[(usize, usize, usize, u8)]) -> Vec<(Bci, UpdateKind, u32, bool)> {
        let plan = Fixture::new(ops, handlers).with(ActivationPlan::of).unwrap();
        plan.points.iter().map(|p| (p.bci, p.kind, p.decrement, p.test)).collect()
    }

    #[test]
    fn paper_figure_8() {
        let plan = paper_method().with(ActivationPlan::of).unwrap();
        let entry = UpdatePoint { bci: 0, kind: UpdateKind::Entry, decrement: 2, test: false };
        let head = UpdatePoint { bci: 2, kind: UpdateKind::Loop, decrement: 10, test: true };
        assert_eq!(plan.points, [entry, head]);
    }

    #[test]
    fn a_leaf_needs_no_test_and_a_caller_does() {
        assert_eq!(points(&[op(&[NOP]), op(&[RETURN])], &[]), [(0, UpdateKind::Entry, 2, false)]);
        let ops = [op(&[INVOKESTATIC, 0, METHOD]), op(&[RETURN])];
        assert_eq!(points(&ops, &[]), [(0, UpdateKind::Entry, 2, true)]);
        // One branch loops first, the other one invokes at once.
        let ops = [
            Op::Jump(IFEQ, 3),
            Op::Jump(IFEQ, 1),
            op(&[RETURN]),
            op(&[INVOKESTATIC, 0, METHOD]),
            op(&[RETURN]),
        ];
        assert_eq!(points(&ops, &[]), [(0, UpdateKind::Entry, 3, true), (3, UpdateKind::Loop, 2, true)]);
    }

    #[test]
    fn a_loop_at_the_entry_is_counted_once_per_iteration() {
        let ops = [op(&[INVOKESTATIC, 0, METHOD]), Op::Jump(IFEQ, 0), op(&[RETURN])];
        assert_eq!(points(&ops, &[]), [(0, UpdateKind::Entry, 0, false), (0, UpdateKind::Loop, 3, true)]);
    }

    #[test]
    fn handlers_and_subroutines_update_without_a_test() {
        // idiv; jsr 5; return | 3: pop; athrow | 5: astore_1; ret 1
        let ops = [
            op(&[IDIV]),
            Op::Jump(JSR, 5),
            op(&[RETURN]),
            op(&[POP]),
            op(&[INVOKESTATIC, 0, METHOD]),
            op(&[ASTORE_1]),
            op(&[RET, 1]),
        ];
        let expected = [
            (0, UpdateKind::Entry, 3, true), // the handler may invoke
            (5, UpdateKind::Handler, 2, false),
            (9, UpdateKind::Subroutine, 2, false),
        ];
        assert_eq!(points(&ops, &[(0, 1, 3, CLASS)]), expected);
    }

    #[test]
    fn a_handler_that_covers_itself_is_a_loop() {
        // javac's code for synchronized: the handler covers its own monitorexit.
        let ops = [op(&[MONITOREXIT]), op(&[RETURN]), op(&[ALOAD_1]), op(&[MONITOREXIT]), op(&[ATHROW])];
        let expected = [(0, UpdateKind::Entry, 2, false), (2, UpdateKind::Loop, 3, true)];
        assert_eq!(points(&ops, &[(0, 1, 2, 0), (2, 4, 2, 0)]), expected);
    }

    /// The longest path from an instruction, instruction by instruction.
    fn longest(code: &Code<'_>, bci: Bci, plan: &ActivationPlan, known: &mut BTreeMap<Bci, u32>) -> u32 {
        if let Some(&length) = known.get(&bci) {
            return length;
        }
        let i = code.instruction_at(bci).unwrap();
        let onward = next_instructions(code, &i).into_iter().filter(|&next| update_at(plan, next).is_none());
        let length = 1 + onward.map(|next| longest(code, next, plan, known)).max().unwrap_or(0);
        known.insert(bci, length);
        length
    }

    #[test]
    fn decrements_are_the_longest_paths() {
        arbtest::arbtest(|u| {
            let fixture = any_method(u)?;
            fixture.with(|code, pool| {
                let plan = ActivationPlan::of(code, pool).unwrap();
                let entry = plan.points[0];
                assert_eq!((entry.bci, entry.kind), (0, UpdateKind::Entry));
                assert!(plan.points[1..].is_sorted_by(|a, b| a.bci < b.bci));
                let mut known = BTreeMap::new();
                for p in &plan.points[1..] {
                    assert_eq!(p.test, p.kind == UpdateKind::Loop);
                    assert_eq!(p.decrement, longest(code, p.bci, &plan, &mut known), "at {}", p.bci);
                }
                match update_at(&plan, 0) {
                    Some(_) => assert_eq!(entry.decrement, 0),
                    None => assert_eq!(entry.decrement, longest(code, 0, &plan, &mut known)),
                }
                for h in &code.handlers {
                    assert!(update_at(&plan, h.handler).is_some());
                }
            });
            Ok(())
        });
    }

    #[test]
    fn the_entry_test_is_left_out_exactly_when_it_may_be() {
        arbtest::arbtest(|u| {
            let fixture = any_method(u)?;
            fixture.with(|code, pool| {
                let plan = ActivationPlan::of(code, pool).unwrap();
                // Everything that runs before a test, instruction by instruction.
                let tested = |bci| update_at(&plan, bci).is_some_and(|p| p.test);
                let mut seen: Vec<Bci> = Vec::from_iter((!tested(0)).then_some(0));
                let mut next = 0;
                let mut invokes = false;
                while let Some(&bci) = seen.get(next) {
                    let i = code.instruction_at(bci).unwrap();
                    invokes |= i.opcode == INVOKESTATIC;
                    for to in next_instructions(code, &i).into_iter().chain(handlers_of(code, pool, &i)) {
                        if !tested(to) && !seen.contains(&to) {
                            seen.push(to);
                        }
                    }
                    next += 1;
                }
                assert_eq!(plan.points[0].test, invokes);
            });
            Ok(())
        });
    }

    #[test]
    fn the_counter_is_an_upper_bound_at_every_moment() {
        arbtest::arbtest(|u| {
            let fixture = any_method(u)?;
            let mut dice = Dice::new(u.arbitrary()?);
            fixture.with(|code, pool| {
                let plan = ActivationPlan::of(code, pool).unwrap();
                (0..20).for_each(|_| run(code, pool, &plan, &mut dice));
            });
            Ok(())
        });
    }
}
