//! The plan for tracing a body (docs/research/trace.md): its events and their locations.
//!
//! A basic block has one event, at its start. An exception in the middle of a block must not lose
//! information, so a local variable says how many of the block's bytecodes have started. It is set
//! before each instruction that may throw, which costs compiled code nothing, and read by handlers
//! alone.
//!
//! Where a handler is also reached without an exception, or there are subroutines, the local would
//! say nothing. There blocks end after instructions that may throw, as by the rule `precise`, and
//! every block that begins is executed whole.
//!
//! In the other bodies some blocks need no event: [`implied`].

pub mod implied_events;

use std::collections::BTreeSet;

use cct_classfile::{Bci, ClassFile, Code, Member, opcode};
use cct_events::structure::Recording;
use cct_flow::{Blocks, OwnMembers, may_throw};
use cct_tables::BlockRule;
use implied_events::ImpliedEvents;

/// The trace events of a body, and the details of their recording.
#[derive(Debug, Clone)]
pub struct TracePlan {
    /// The method's number.
    pub method: u32,
    /// The amount that is recorded.
    pub recording: Recording,
    /// The basic blocks of the body.
    pub blocks: Blocks,
    /// Whether jumps or handlers lead to its first block.
    pub entry_is_target: bool,
    /// The instructions before which the local changes, and its new values.
    pub marks: Vec<(Bci, u32)>,
    /// Blocks that are handlers, reached by exceptions alone.
    pub handlers: BTreeSet<Bci>,
    /// Whether the body has the local.
    pub uses_local: bool,
    /// Blocks and ends without an event, which follow from other events; empty where there is no
    /// local.
    pub implied: ImpliedEvents,
}

impl TracePlan {
    /// The plan for a body, by the amount that is recorded.
    pub fn of(
        class: &ClassFile<'_>,
        own: &OwnMembers,
        member: &Member<'_>,
        code: &Code<'_>,
        method: u32,
        recording: Recording,
    ) -> TracePlan {
        let entry_is_target = is_target(code, 0);
        let is_whole = recording == Recording::Full;
        let handlers: BTreeSet<Bci> = code.handlers.iter().map(|handler| handler.handler).collect();
        let is_plain = !has_subroutines(code) && !handlers.iter().any(|&handler| is_reached(code, handler));
        let rule = if is_plain || !is_whole { BlockRule::Default } else { BlockRule::Precise };
        let blocks = Blocks::of(code, &class.pool, rule);
        let uses_local = is_plain && is_whole;
        let mut marks = Vec::new();
        for block in blocks.iter().filter(|_| uses_local) {
            for (place, instruction) in (1..).zip(block.instructions(code)) {
                if may_throw(&instruction, &class.pool) {
                    marks.push((instruction.bci, place));
                }
            }
        }
        let handlers = if uses_local { handlers } else { BTreeSet::new() };
        let implied = if uses_local {
            ImpliedEvents::of(class, own, member, code, &blocks)
        } else {
            ImpliedEvents::default()
        };
        TracePlan { method, recording, blocks, entry_is_target, marks, handlers, uses_local, implied }
    }

    /// Blocks with an event of their own.
    pub fn announced(&self) -> impl Iterator<Item = (u32, Bci)> + '_ {
        let skipped = usize::from(!self.entry_is_target);
        let all = (0..).zip(self.blocks.iter()).map(|(number, block)| (number, block.start));
        let has_blocks = matches!(self.recording, Recording::Full | Recording::Blocks);
        let is_implied = |block: u32| self.implied.is_implied.get(block as usize) == Some(&true);
        all.skip(skipped).filter(move |&(block, _)| has_blocks && !is_implied(block))
    }

    /// Whether a return at `bci` has an event of its own for the method's end.
    pub fn says_end(&self, bci: Bci) -> bool {
        let block = self.blocks.containing(bci).unwrap_or_default();
        self.implied.is_silent.get(block as usize) != Some(&true)
    }
}

fn has_subroutines(code: &Code<'_>) -> bool {
    code.instructions().any(|i| opcode::is_subroutine_call(i.opcode) || i.opcode == opcode::RET)
}

/// Whether a jump or a handler leads to `bci`.
fn is_target(code: &Code<'_>, bci: Bci) -> bool {
    code.handlers.iter().any(|handler| handler.handler == bci) || is_jumped_to(code, bci)
}

fn is_jumped_to(code: &Code<'_>, bci: Bci) -> bool {
    let mut is_target = false;
    code.instructions().for_each(|i| i.for_each_target(|target| is_target |= target == bci));
    is_target
}

/// Whether control reaches `bci` without an exception.
fn is_reached(code: &Code<'_>, bci: Bci) -> bool {
    let before = code.instructions().take_while(|i| i.bci < bci).last();
    before.is_none_or(|before| !opcode::ends_flow(before.opcode)) || is_jumped_to(code, bci)
}

/// The numbers of a class and its methods in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers {
    /// Number of the class.
    pub class: u32,
    /// Number of its first method.
    pub first_method: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use cct_classfile::access;

    fn plan(code: &[u8], handlers: &[[u16; 3]]) -> TracePlan {
        let class = cct_test_classes::class("T").with_code(code.to_vec()).with_handlers(handlers.to_vec());
        let bytes = class.method(access::STATIC, "m", "()V").bytes();
        let class = ClassFile::parse(&bytes).unwrap();
        let code = Code::of(&class, &class.methods[0]).unwrap().unwrap();
        TracePlan::of(&class, &OwnMembers::of(&class), &class.methods[0], &code, 7, Recording::Full)
    }

    #[test]
    fn marks_stand_before_what_may_throw() {
        // iconst_1 iconst_0 idiv pop return, then a handler: pop return.
        let code = [4, 3, 0x6C, 0x57, 0xB1, 0x57, 0xB1];
        let plan = plan(&code, &[[0, 4, 5]]);
        assert_eq!(plan.marks, [(2, 3)]);
        assert_eq!(plan.handlers, BTreeSet::from([5]));
        assert_eq!(plan.announced().collect::<Vec<_>>(), [(1, 5)]);
    }

    #[test]
    fn blocks_end_after_instructions_that_may_throw_if_their_handler_has_other_entries() {
        // The handler is the next block: aconst_null, then iconst_1 iconst_0 idiv pop | aconst_null
        // | pop return.
        let code = [4, 3, 0x6C, 0x57, 1, 0x57, 0xB1];
        let plan = plan(&code, &[[0, 4, 5]]);
        assert!(!plan.uses_local && plan.marks.is_empty() && plan.handlers.is_empty());
        assert_eq!(plan.blocks.iter().map(|b| b.start).collect::<Vec<_>>(), [0, 3, 5]);
    }
}
