//! Tests of count plans against their contract.

use std::ops::ControlFlow;

use cct_classfile::opcode::*;

use super::*;
use crate::testing::*;

fn plan(fixture: &Fixture) -> Option<CountPlan> {
    plan_observed(fixture, &[])
}

fn plan_observed(fixture: &Fixture, observed: &[Bci]) -> Option<CountPlan> {
    fixture.with_class(|class, code| {
        CountPlanner::default().plan(class, &OwnMembers::of(class), &class.methods[0], code, observed, None)
    })
}

fn ops(bytes: &[&[u8]]) -> Fixture {
    Fixture::new(&bytes.iter().map(|b| op(b)).collect::<Vec<_>>(), &[])
}

#[test]
fn a_straight_line_is_counted_on_entry() {
    let plan = plan(&ops(&[&[ICONST_1], &[ISTORE_1], &[RETURN]])).unwrap();
    assert_eq!(plan, CountPlan { entry: 3, updates: vec![], guarded: vec![] });
    assert!(!plan.uses_local());
}

#[test]
fn pending_bytecodes_are_counted_before_calls_and_returns() {
    let call = [INVOKESTATIC, 0, METHOD];
    let plan = plan(&ops(&[&[NOP], &call, &[NOP], &[NOP], &call, &[RETURN]])).unwrap();
    assert_eq!(plan.entry, 2);
    assert_eq!(plan.updates, [(6, Update::Count(3)), (9, Update::Count(1))]);
}

#[test]
fn a_throwing_instruction_finds_what_is_pending_in_the_local() {
    // iaload idiv return: both may throw, and nobody catches the exception.
    let plan = plan(&ops(&[&[IALOAD], &[IDIV], &[RETURN]])).unwrap();
    assert_eq!(plan.entry, 3, "in advance, for the way that ends by the return");
    assert_eq!(plan.updates, [(0, Update::Set(-2)), (1, Update::Add(1))]);
    assert_eq!(plan.guarded, [(0, 2)]);
}

/// The exception entry that the checker found was superfluous.
#[test]
fn an_exception_that_leaves_when_nothing_is_pending_is_not_caught() {
    // if (..) return; idiv: by then the executed number equals the entry's count.
    let code =
        [Op::Jump(IFEQ, 3), op(&[NOP]), op(&[RETURN]), op(&[NOP]), op(&[IDIV]), op(&[NOP]), op(&[RETURN])];
    let plan = plan(&Fixture::new(&code, &[])).unwrap();
    assert_eq!(plan, CountPlan { entry: 3, updates: vec![(8, Update::Count(2))], guarded: vec![] });
}

/// `if (..) throw; nop; return`: the return decides the count of the entry, and the throw corrects
/// the node.
#[test]
fn blocks_that_only_throw_do_not_change_the_entry_count() {
    let code = [Op::Jump(IFEQ, 3), op(&[ACONST_NULL]), op(&[ATHROW]), op(&[NOP]), op(&[NOP]), op(&[RETURN])];
    let unlikely = plan(&Fixture::new(&code, &[])).unwrap();
    assert_eq!((unlikely.entry, &*unlikely.updates), (4, &[(4, Update::Count(-1))][..]));
    let alone = plan(&ops(&[&[ACONST_NULL], &[ATHROW]])).unwrap();
    assert_eq!(alone, CountPlan { entry: 2, updates: vec![], guarded: vec![] });
}

/// Three paths that end after 3, 4 and 4 bytecodes.
#[test]
fn the_entry_counts_what_most_ways_have_executed() {
    let code = [
        Op::Jump(IFEQ, 4),
        Op::Jump(IFEQ, 6),
        op(&[NOP]),
        op(&[RETURN]),
        op(&[NOP]),
        op(&[RETURN]),
        op(&[NOP]),
        op(&[RETURN]),
    ];
    let plan = plan(&Fixture::new(&code, &[])).unwrap();
    assert_eq!(plan.entry, 4);
    assert_eq!(plan.updates.len(), 1, "{:?}", plan.updates);
    assert!(matches!(plan.updates[0].1, Update::Count(-1)), "{:?}", plan.updates);
}

#[test]
fn paths_that_meet_leave_the_number_to_the_local() {
    // if (..) nop; return
    let fixture = Fixture::new(&[Op::Jump(IFEQ, 2), op(&[NOP]), op(&[RETURN])], &[]);
    let plan = plan(&fixture).unwrap();
    assert_eq!(plan.updates, [(0, Update::Set(1)), (3, Update::Add(1)), (4, Update::CountLocal(1))]);
    assert_eq!(plan.guarded, []);
}

#[test]
fn a_loop_without_calls_drains_and_one_with_calls_does_not() {
    let endless = plan(&Fixture::new(&[op(&[NOP]), Op::Jump(GOTO, 0)], &[])).unwrap();
    assert_eq!(endless.updates, [(1, Update::Drain(2))]);
    let calling = plan(&Fixture::new(&[op(&[INVOKESTATIC, 0, METHOD]), Op::Jump(GOTO, 0)], &[])).unwrap();
    assert!(calling.updates.iter().all(|(_, update)| !matches!(update, Update::Drain(_))), "{calling:?}");
}

/// C1 does not compile a method whose handler covers a call in its own first block.
#[test]
fn a_handler_that_unlocks_and_covers_itself_is_no_loop() {
    // synchronized (..) { idiv } return; the handler: astore, aload, monitorexit, aload, athrow
    let code = [&[ALOAD_0], &[MONITORENTER], &[IDIV], &[ALOAD_0], &[MONITOREXIT], &[RETURN]];
    let handler = [&[ASTORE_1], &[ALOAD_0], &[MONITOREXIT], &[ALOAD_1], &[ATHROW]];
    let all: Vec<Op> = code.iter().chain(&handler).map(|bytes| op(&bytes[..])).collect();
    let plan = plan(&Fixture::new(&all, &[(2, 5, 6, 0), (6, 9, 6, 0)])).unwrap();
    assert!(!plan.updates.iter().any(|(_, update)| matches!(update, Update::Drain(_))), "{plan:?}");
    // Two exceptions meet there, so the local holds the pending number.
    assert!(plan.updates.contains(&(8, Update::Add(3))), "{plan:?}");
}

#[test]
fn where_somebody_looks_in_a_loop_the_node_is_true() {
    let fixture = Fixture::new(&[op(&[NOP]), Op::Jump(GOTO, 0)], &[]);
    let observed = plan_observed(&fixture, &[0]).unwrap();
    assert_eq!(observed.updates, [(0, Update::CountLocal(0)), (1, Update::Set(2))]);
}

#[test]
fn a_handler_goes_on_with_what_is_pending() {
    // try { idiv; return } catch (all) { return }
    let fixture = Fixture::new(&[op(&[NOP]), op(&[IDIV]), op(&[RETURN]), op(&[RETURN])], &[(0, 2, 3, 0)]);
    let plan = plan(&fixture).unwrap();
    // On both paths the number is known: no local, and no catch-all, since the method has one
    // itself.
    assert_eq!(plan, CountPlan { entry: 3, updates: vec![], guarded: vec![] });
}

/// Instructions that cannot throw need no update; each of these reads does if one of the conditions
/// fails.
#[test]
fn own_fields_of_this_and_the_constructor_of_object_do_not_throw() {
    let field = |op| [op, 0, OWN_FIELD];
    // Instructions that may throw need a local for the catchers.
    let counted_on_entry = |bytes: &[&[u8]]| plan(&ops(bytes)).unwrap().updates.is_empty();
    assert!(counted_on_entry(&[&[ALOAD_0], &field(GETFIELD), &[IRETURN]]));
    assert!(!counted_on_entry(&[&[ALOAD_1], &field(GETFIELD), &[IRETURN]]), "another object");
    assert!(
        !counted_on_entry(&[&[ACONST_NULL], &[ASTORE_0], &[ALOAD_0], &field(GETFIELD), &[IRETURN]]),
        "another this"
    );
    assert!(!counted_on_entry(&[&[ALOAD_0], &[NOP], &field(GETFIELD), &[IRETURN]]), "not seen to be this");
    assert!(counted_on_entry(&[&[ALOAD_0], &[ILOAD_1], &field(PUTFIELD), &[RETURN]]));
    assert!(!counted_on_entry(&[&[ALOAD_1], &[ILOAD_1], &field(PUTFIELD), &[RETURN]]), "another object");
    assert!(!counted_on_entry(&[&[ALOAD_0], &[DUP], &field(PUTFIELD), &[RETURN]]), "not seen to be this");
    assert!(
        !counted_on_entry(&[&field(GETSTATIC), &[IRETURN]]),
        "an instance method may run before the class is initialised"
    );
    assert!(counted_on_entry(&[&[ALOAD_0], &[INVOKESPECIAL, 0, OBJECT_INIT], &[RETURN]]));
    assert!(!counted_on_entry(&[&[ALOAD_0], &[INVOKESPECIAL, 0, METHOD], &[RETURN]]), "another constructor");
    // A jump in between may arrive with another object.
    let jump = Fixture::new(
        &[op(&[ALOAD_1]), Op::Jump(IFEQ, 3), op(&[ALOAD_0]), op(&field(GETFIELD)), op(&[IRETURN])],
        &[],
    );
    assert!(!plan(&jump).unwrap().guarded.is_empty());
}

#[test]
fn subroutines_have_no_plan() {
    assert_eq!(plan(&Fixture::new(&[Op::Jump(JSR, 1), op(&[RETURN])], &[])), None);
}

/// Executes a plan along with the code, with random decisions, and compares it with the exact count
/// wherever the node may be read.
struct Machine<'p> {
    plan: &'p CountPlan,
    observed: &'p [Bci],
    node: i32,
    local: i32,
    truth: i32,
    largest: i32,
    /// Whether a `monitorexit` has thrown: the locking is not structured.
    unlocking_threw: bool,
}

impl Machine<'_> {
    fn updates(&mut self, bci: Bci) {
        // Of two updates, the first may be the one for the reader.
        let mut is_true = self.node == self.truth;
        for (_, update) in self.plan.updates.iter().filter(|(at, _)| *at == bci) {
            match *update {
                Update::Set(n) => self.local = n,
                Update::Add(n) => self.local += n,
                Update::Count(n) => self.node += n,
                // The local keeps a number without meaning.
                Update::CountLocal(n) => self.node += self.local + n,
                Update::Drain(n) => {
                    self.node += self.local + n;
                    self.local = 0;
                }
            }
            is_true |= self.node == self.truth;
        }
        if self.observed.contains(&bci) {
            assert!(is_true, "the node when somebody looks, at {bci}");
        }
        self.largest = self.largest.max(self.local);
    }

    fn step(
        &mut self,
        code: &Code<'_>,
        pool: &cct_classfile::ConstantPool<'_>,
        bci: Bci,
        dice: &mut Dice,
    ) -> ControlFlow<(), Bci> {
        let i = code.instruction_at(bci).unwrap();
        self.updates(bci);
        self.truth += 1;
        let leaves = is_invoke(i.opcode)
            || matches!(i.opcode, MONITORENTER | GETSTATIC | PUTSTATIC | NEW)
            || matches!(i.opcode, LDC | LDC_W | LDC2_W) && crate::may_throw(&i, pool);
        if leaves || is_return(i.opcode) || i.opcode == ATHROW {
            assert_eq!(self.node, self.truth, "the node at {bci}");
        }
        let throws = crate::may_throw(&i, pool) && (i.opcode == ATHROW || dice.below(3) == 0);
        self.unlocking_threw |= throws && i.opcode == MONITOREXIT;
        if throws {
            for h in code.handlers.iter().filter(|h| (h.start..h.end).contains(&bci)) {
                if h.catch_type == 0 || dice.below(2) == 0 {
                    return ControlFlow::Continue(h.handler);
                }
            }
            if self.plan.guarded.iter().any(|(start, end)| (*start..*end).contains(&bci)) {
                self.node += self.local;
            }
            assert_eq!(self.node, self.truth, "the node behind an exception at {bci}");
            return ControlFlow::Break(());
        }
        let next = next_instructions(code, &i);
        if next.is_empty() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(next[dice.below(next.len())])
        }
    }
}

#[test]
fn the_node_is_true_wherever_somebody_may_look() {
    let mut seen = 0;
    arbtest::arbtest(|u| {
        let fixture = any_method_of_today(u)?;
        let mut dice = Dice::new(u.arbitrary()?);
        let observed: Vec<Bci> = fixture.with(|code, _| {
            let some = u.arbitrary::<bool>().unwrap_or(false);
            let chosen = code.instructions().map(|i| i.bci).filter(|_| some && dice.below(4) == 0);
            chosen.collect()
        });
        let plan = plan_observed(&fixture, &observed).unwrap();
        fixture.with(|code, pool| {
            for _ in 0..20 {
                let mut machine = Machine {
                    plan: &plan,
                    observed: &observed,
                    node: plan.entry as i32,
                    local: 0,
                    truth: 0,
                    largest: 0,
                    unlocking_threw: false,
                };
                let mut bci = 0;
                while machine.truth < 300 && bci < code.length() {
                    match machine.step(code, pool, bci, &mut dice) {
                        ControlFlow::Continue(next) => bci = next,
                        ControlFlow::Break(()) => break,
                    }
                }
                // Without a drain the local would grow with the length of the run. Cycles that only
                // a throwing `monitorexit` closes have none.
                let is_small = machine.largest <= 2 * code.length() as i32;
                assert!(is_small || machine.unlocking_threw, "{} pending", machine.largest);
                seen += machine.truth;
            }
        });
        Ok(())
    });
    assert!(seen > 1000);
}
