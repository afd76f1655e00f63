//! Basic blocks: sequences of code that one addition counts.
//!
//! The instrumented program does not count instruction by instruction: the start of a block adds
//! the number of its bytecodes. That number is exact if the block runs to its end. How often it
//! does depends on the rule for the ends of blocks, which JP (section 4) calls a *basic block
//! analysis*:
//!
//! - [`BlockRule::Default`]: a block ends after an instruction that may change the flow of control
//!   non-sequentially: a jump, a conditional branch, a switch, a return (`ret` from a subroutine
//!   included), `athrow`. Invocations and `jsr` do **not** end a block, as control is assumed to
//!   come back. Blocks are long and counting is cheap. When an instruction throws, the rest of its
//!   block has been counted without having run.
//! - [`BlockRule::Precise`]: a block also ends after each instruction that may throw
//!   ([`crate::throws`]). The instruction that throws counts, those after it do not, exactly as
//!   they ran. Blocks are short, 2.2 bytecodes on average in JDK 8's `rt.jar`, compared with 7.5 by
//!   the default rule, so counting costs more. `jsr` does not throw and does not end a block here
//!   either, as in the paper. Only class files below version 51 have it (JVMS 4.9.1). There the
//!   bytecodes between a `jsr` and the end of its block are counted even if the subroutine throws
//!   or jumps away.
//!
//! By either rule a block begins at bci 0, at every target of a jump, switch or `jsr`, at every
//! handler's entry, and after a block's end. Every instruction lies in exactly one block, dead code
//! included. `wide` and the instruction that it widens are one bytecode.
//!
//! With a [`CostModel`], a block adds the sum of the costs of its instructions ([`Block::cost`])
//! instead of their number.
//!
//! - [`BlockRule::Custom`]: a block also ends after the instructions that a table names
//!   ([`cct_tables::ends`]). A table of all instructions that may throw gives the precise rule, an
//!   empty one the default rule.
//!
//! A further rule is a further variant of [`BlockRule`] and its line in `ends_block`; nothing else
//! in this crate depends on the rule.

use cct_classfile::{Bci, BciSet, Code, ConstantPool, Instruction, opcode};

use cct_tables::{BlockRule, CostModel};

use crate::throws::may_throw;

/// Number of a block: its position in [`Blocks`], in code order. Block 0 is the method's entry.
pub type BlockId = u32;

/// Whether a block ends after this instruction, independent of the next one. `pool` is the constant
/// pool of its class.
#[inline]
fn ends_block(rule: BlockRule, instruction: &Instruction<'_>, pool: &ConstantPool<'_>) -> bool {
    let transfers = opcode::is_conditional(instruction.opcode) || opcode::ends_flow(instruction.opcode);
    match rule {
        BlockRule::Default => transfers,
        BlockRule::Precise | BlockRule::Exact => transfers || may_throw(instruction, pool),
        BlockRule::Custom(ends) => {
            transfers || ends.after(instruction.opcode) || ends.throwing() && may_throw(instruction, pool)
        }
    }
}

/// A basic block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// First bci of the block.
    pub start: Bci,
    /// The bci after its last instruction.
    pub end: Bci,
    /// Number of its bytecodes; at least one.
    pub bytecodes: u32,
    /// Sum of their costs: their number, unless there is a cost model.
    pub cost: u32,
}

impl Block {
    /// The instructions of the block, in order.
    pub fn instructions<'a>(&self, code: &Code<'a>) -> impl Iterator<Item = Instruction<'a>> {
        let end = self.end;
        let mut bci = self.start;
        std::iter::from_fn(move || {
            let instruction = if bci < end { code.instruction_at(bci)? } else { return None };
            bci = instruction.end();
            Some(instruction)
        })
    }
}

/// The basic blocks of a method, in code order.
#[derive(Debug, Clone, Default)]
pub struct Blocks {
    list: Vec<Block>,
}

impl Blocks {
    /// The blocks of `code` by `rule`. `pool` is the constant pool of its class.
    pub fn of(code: &Code<'_>, pool: &ConstantPool<'_>, rule: BlockRule) -> Self {
        let mut blocks = Blocks::default();
        blocks.compute(code, pool, rule);
        blocks
    }

    /// Replaces the blocks with those of `code` by `rule`, reusing the memory. `pool` is the
    /// constant pool of its class.
    pub fn compute(&mut self, code: &Code<'_>, pool: &ConstantPool<'_>, rule: BlockRule) {
        let mut leaders = BciSet::new(code.bytes.len());
        for handler in &code.handlers {
            leaders.insert(handler.handler);
        }
        for instruction in code.instructions() {
            instruction.for_each_target(|target| {
                leaders.insert(target);
            });
            if ends_block(rule, &instruction, pool) {
                leaders.insert(instruction.end());
            }
        }
        self.list.clear();
        let mut current = Block { start: 0, end: 0, bytecodes: 0, cost: 0 };
        for instruction in code.instructions() {
            if current.bytecodes > 0 && leaders.contains(instruction.bci) {
                self.list.push(current);
                current = Block { start: instruction.bci, end: instruction.bci, bytecodes: 0, cost: 0 };
            }
            current.end = instruction.end();
            current.bytecodes += 1;
            current.cost += 1;
        }
        self.list.push(current);
    }

    /// Makes a block begin at the instruction at `bci`, by any rule.
    pub fn cut(&mut self, code: &Code<'_>, bci: Bci) {
        let Some(id) = self.containing(bci) else { return };
        let block = &mut self.list[id as usize];
        if block.start == bci {
            return;
        }
        let mut tail = Block { start: bci, end: block.end, bytecodes: 0, cost: 0 };
        tail.bytecodes = tail.instructions(code).count() as u32;
        tail.cost = tail.bytecodes;
        block.end = bci;
        block.bytecodes -= tail.bytecodes;
        block.cost = block.bytecodes;
        self.list.insert(id as usize + 1, tail);
    }

    /// Sets the cost of each block to the sum of its instructions' costs by a model.
    pub fn weigh(&mut self, code: &Code<'_>, pool: &ConstantPool<'_>, model: &CostModel) {
        for block in &mut self.list {
            block.cost = block.instructions(code).map(|i| model.of(&i, pool, code.length())).sum();
        }
    }

    /// The block that contains the instruction at `bci`; `None` beyond the code.
    #[inline]
    pub fn containing(&self, bci: Bci) -> Option<BlockId> {
        let id = self.list.partition_point(|block| block.end <= bci);
        (id < self.list.len()).then_some(id as BlockId)
    }
}

impl std::ops::Deref for Blocks {
    type Target = [Block];

    fn deref(&self) -> &[Block] {
        &self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;
    use crate::throws::may_throw;
    use cct_classfile::opcode::*;
    use cct_tables::BlockEnds;

    fn lengths(fixture: &Fixture, rule: BlockRule) -> Vec<u32> {
        fixture.with(|code, pool| Blocks::of(code, pool, rule).iter().map(|block| block.bytecodes).collect())
    }

    #[test]
    fn a_cut_divides_a_block_and_no_other() {
        let cut = |bci| {
            paper_method().with(|code, pool| {
                let mut blocks = Blocks::of(code, pool, BlockRule::Default);
                blocks.cut(code, bci);
                blocks.iter().map(|block| (block.start, block.end, block.bytecodes)).collect::<Vec<_>>()
            })
        };
        let whole = cut(0);
        let [.., (start, end, 7), _] = whole[..] else { panic!("{whole:?}") };
        let second = paper_method().with(|code, _| code.instruction_at(start).unwrap().end());
        let divided = cut(second);
        assert_eq!(divided[2..4], [(start, second, 1), (second, end, 6)]);
        assert_eq!((&divided[..2], &divided[4..]), (&whole[..2], &whole[3..]));
        assert_eq!(cut(start), whole);
    }

    #[test]
    fn a_table_may_say_what_the_other_rules_do() {
        let rule = |name| {
            let rule = BlockEnds::parse(BlockEnds::shipped(name).unwrap()).unwrap();
            BlockRule::Custom(rule.interned())
        };
        arbtest::arbtest(|u| {
            any_method(u)?.with(|code, pool| {
                let of = |rule| Blocks::of(code, pool, rule).to_vec();
                assert_eq!(of(rule("like-default")), of(BlockRule::Default));
                assert_eq!(of(rule("like-precise")), of(BlockRule::Precise));
                // Between the two.
                assert!(
                    (of(BlockRule::Default).len()..=of(BlockRule::Precise).len())
                        .contains(&of(rule("calls")).len())
                );
            });
            Ok(())
        });
        let calls = rule("calls");
        // aload_0 invokevirtual | aload_0 iload_1 invokevirtual | iinc goto.
        assert_eq!(lengths(&paper_method(), calls), [2, 3, 2, 3, 2, 1]);
    }

    #[test]
    fn paper_figure_5() {
        assert_eq!(lengths(&paper_method(), BlockRule::Default), [2, 3, 7, 1]);
        // "If the Precise BBA was used, there would be 3 blocks within the if() statement": aload_0
        // invokevirtual | aload_0 iload_1 invokevirtual | iinc goto.
        assert_eq!(lengths(&paper_method(), BlockRule::Precise), [2, 3, 2, 3, 2, 1]);
    }

    #[test]
    fn wide_is_one_bytecode_and_a_wide_ret_ends_a_block() {
        let ops =
            [op(&[WIDE, ILOAD, 0, 1]), op(&[WIDE, RET, 0, 1]), op(&[WIDE, IINC, 0, 1, 0, 1]), op(&[RETURN])];
        let blocks = Fixture::new(&ops, &[]).with(|code, pool| Blocks::of(code, pool, BlockRule::Default));
        let expected = [(0, 8, 2), (8, 15, 2)].map(|(start, end, bytecodes)| Block {
            start,
            end,
            bytecodes,
            cost: bytecodes,
        });
        assert_eq!(blocks[..], expected);
    }

    #[test]
    fn jsr_goes_on_and_its_target_begins_a_block() {
        // nop; jsr 4; nop; return | astore_1; ret 1 -- by either rule, since nothing throws.
        let ops = [op(&[NOP]), Op::Jump(JSR, 4), op(&[NOP]), op(&[RETURN]), op(&[ASTORE_1]), op(&[RET, 1])];
        assert_eq!(lengths(&Fixture::new(&ops, &[]), BlockRule::Default), [4, 2]);
        assert_eq!(lengths(&Fixture::new(&ops, &[]), BlockRule::Precise), [4, 2]);
    }

    #[test]
    fn a_handler_begins_a_block() {
        let ops = [op(&[NOP]), op(&[NOP]), op(&[IDIV]), op(&[NOP]), op(&[RETURN])];
        let fixture = Fixture::new(&ops, &[(1, 3, 3, 0)]);
        assert_eq!(lengths(&fixture, BlockRule::Default), [3, 2], "a range's start does not begin one");
        let fixture = Fixture::new(&ops, &[(0, 3, 4, 0)]);
        assert_eq!(lengths(&fixture, BlockRule::Default), [4, 1]);
        assert_eq!(lengths(&fixture, BlockRule::Precise), [3, 1, 1]);
    }

    #[test]
    fn blocks_are_as_defined() {
        arbtest::arbtest(|u| {
            let fixture = any_method(u)?;
            fixture.with(|code, pool| {
                for rule in [BlockRule::Default, BlockRule::Precise] {
                    let blocks = Blocks::of(code, pool, rule);
                    // The starts of blocks, by the definition.
                    let mut begins = vec![0];
                    begins.extend(code.handlers.iter().map(|h| h.handler));
                    for i in code.instructions() {
                        i.for_each_target(|t| begins.push(t));
                        let jsr = matches!(i.opcode, JSR | JSR_W);
                        let jumps = !jsr && i.target().is_some() || i.switch().is_some();
                        let leaves = matches!(i.opcode, RETURN | ATHROW | RET);
                        let throws = rule == BlockRule::Precise && may_throw(&i, pool);
                        if (jumps || leaves || throws) && i.end() < code.length() {
                            begins.push(i.end());
                        }
                    }
                    begins.sort_unstable();
                    begins.dedup();
                    assert_eq!(blocks.iter().map(|b| b.start).collect::<Vec<_>>(), begins);
                    begins.push(code.length());
                    assert_eq!(blocks.iter().map(|b| b.end).collect::<Vec<_>>(), begins[1..]);
                    for (id, block) in (0..).zip(blocks.iter()) {
                        assert_eq!(block.instructions(code).count(), block.bytecodes as usize);
                        for i in block.instructions(code) {
                            assert_eq!(blocks.containing(i.bci), Some(id));
                        }
                    }
                    assert_eq!(blocks.containing(code.length()), None);
                }
            });
            Ok(())
        });
    }
}
