//! Implied events, which follow from recorded ones and are not recorded themselves
//! (docs/reference/formats/trace.md, "What has no event"): blocks that only one known block can
//! precede, and ends of methods that no other event could precede.
//!
//! Both rest on *quiet* blocks, in which no instruction can throw, call, or make the VM run other
//! code: no event can occur between the start of such a block and its end. A block whose only
//! successor is quiet need not announce that successor. Where a quiet block ends in a return and
//! its start is known, the method's end is known too.

use cct_classfile::{ClassFile, Code, Instruction, Member, access, opcode};
use cct_events::structure::MOST_IMPLIED;
use cct_flow::{Block, Blocks, OwnMembers, may_throw};

/// The implied events of a body, by block number.
#[derive(Debug, Clone, Default)]
pub struct ImpliedEvents {
    /// Blocks without an event.
    pub is_implied: Vec<bool>,
    /// Blocks before whose return there is no event of the method's end.
    pub is_silent: Vec<bool>,
    /// Blocks after whose start the method has no further event.
    pub is_last: Vec<bool>,
    /// The only block that may follow.
    sole: Vec<Option<u32>>,
}

impl ImpliedEvents {
    /// The implied events of a body. Its first block has an event of its own if jumps lead there,
    /// as have all other blocks that are not implied.
    pub fn of(
        class: &ClassFile<'_>,
        own: &OwnMembers,
        method: &Member<'_>,
        code: &Code<'_>,
        blocks: &Blocks,
    ) -> ImpliedEvents {
        let count = blocks.len();
        let this_stays = !method.is(access::STATIC) && !code.instructions().any(|i| stores_this(&i));
        let takes_monitors = method.is(access::SYNCHRONIZED)
            || code.instructions().any(|i| matches!(i.opcode, opcode::MONITORENTER | opcode::MONITOREXIT));
        let is_quiet: Vec<bool> =
            blocks.iter().map(|block| is_quiet(class, own, code, block, this_stays)).collect();
        let mut implied = ImpliedEvents {
            is_implied: vec![false; count],
            is_silent: vec![false; count],
            is_last: vec![false; count],
            sole: vec![None; count],
        };
        // Blocks that are reached from blocks with one successor, and blocks that are reached from
        // others.
        let (mut by_sole, mut by_other) = (vec![false; count], vec![false; count]);
        for handler in &code.handlers {
            if let Some(block) = blocks.containing(handler.handler) {
                by_other[block as usize] = true;
            }
        }
        if let Some(first) = by_other.first_mut() {
            *first = true;
        }
        for (number, block) in blocks.iter().enumerate() {
            let Some(last) = block.instructions(code).last() else { continue };
            let mut targets = Vec::new();
            last.for_each_target(|target| targets.extend(blocks.containing(target)));
            let falls = !opcode::ends_flow(last.opcode) && number + 1 < count;
            match (&targets[..], falls) {
                (&[only], false) if !opcode::is_switch(last.opcode) => {
                    implied.sole[number] = Some(only);
                    by_sole[only as usize] = true;
                }
                ([], true) => {
                    implied.sole[number] = Some(number as u32 + 1);
                    by_sole[number + 1] = true;
                }
                _ => {
                    for target in targets {
                        by_other[target as usize] = true;
                    }
                    if falls {
                        by_other[number + 1] = true;
                    }
                }
            }
        }
        for number in 0..count {
            implied.is_implied[number] = by_sole[number] && !by_other[number] && is_quiet[number];
        }
        implied.break_cycles();
        implied.break_long_ways();
        if !takes_monitors {
            implied.find_ends(code, blocks, &is_quiet);
        }
        implied
    }

    /// The block that follows this one without an event.
    pub fn next(&self, block: usize) -> Option<u32> {
        let next = (*self.sole.get(block)?)?;
        self.is_implied.get(next as usize).copied().unwrap_or_default().then_some(next)
    }

    /// Gives one block of each cycle an event: the first in the code.
    fn break_cycles(&mut self) {
        let mut seen = vec![0; self.sole.len()];
        for start in 0..self.sole.len() {
            let mut at = Some(start as u32).filter(|_| self.is_implied[start]);
            while let Some(block) = at {
                if seen[block as usize] == start + 1 {
                    self.break_cycle(block);
                }
                if seen[block as usize] != 0 {
                    break;
                }
                seen[block as usize] = start + 1;
                at = self.next(block as usize);
            }
        }
    }

    /// Gives one block of the cycle that contains this block an event.
    fn break_cycle(&mut self, block: u32) {
        let mut first = block;
        let mut at = self.next(block as usize);
        while let Some(other) = at.filter(|&other| other != block) {
            first = first.min(other);
            at = self.next(other as usize);
        }
        self.is_implied[first as usize] = false;
    }

    /// Limits chains of implied blocks: where more than [`MOST_IMPLIED`] would follow each other
    /// without an event, one gets an event. The search visits a block after all its predecessors,
    /// so the choice does not depend on the order of visits.
    fn break_long_ways(&mut self) {
        let next: Vec<Option<u32>> = (0..self.sole.len()).map(|block| self.next(block)).collect();
        let mut leading = vec![0_u32; next.len()];
        for &to in next.iter().flatten() {
            leading[to as usize] += 1;
        }
        // Longest chain of blocks without an event that ends at each block.
        let mut length = vec![0; next.len()];
        let mut ready: Vec<usize> = (0..next.len()).filter(|&block| leading[block] == 0).collect();
        while let Some(block) = ready.pop() {
            if length[block] > MOST_IMPLIED {
                self.is_implied[block] = false;
                length[block] = 0;
            }
            let Some(to) = next[block].map(|to| to as usize) else { continue };
            length[to] = length[to].max(length[block] + 1);
            leading[to] -= 1;
            if leading[to] == 0 {
                ready.push(to);
            }
        }
    }

    /// Finds ends that need no event: on every path to them, the last event is the start of a quiet
    /// block that only implied blocks follow.
    fn find_ends(&mut self, code: &Code<'_>, blocks: &Blocks, is_quiet: &[bool]) {
        let count = blocks.len();
        // Implied blocks whose start is unknown before the next event, since other events may
        // precede them.
        let mut is_open = vec![false; count];
        for (start, &is_quiet) in is_quiet.iter().enumerate() {
            let mut at = if is_quiet { None } else { self.next(start) };
            while let Some(block) = at.map(|block| block as usize).filter(|&block| !is_open[block]) {
                is_open[block] = true;
                at = self.next(block);
            }
        }
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); count];
        for (number, &is_quiet) in is_quiet.iter().enumerate() {
            if let Some(next) = self.next(number).filter(|_| is_quiet) {
                before[next as usize].push(number as u32);
            }
        }
        let mut left = Vec::new();
        for (number, block) in blocks.iter().enumerate() {
            let returns = block.instructions(code).last().is_some_and(|last| opcode::is_return(last.opcode));
            self.is_silent[number] = returns && is_quiet[number] && !is_open[number];
            if self.is_silent[number] {
                left.push(number as u32);
            }
        }
        while let Some(block) = left.pop() {
            self.is_last[block as usize] = true;
            left.append(&mut before[block as usize]);
        }
    }
}

fn stores_this(i: &Instruction<'_>) -> bool {
    let stores = matches!(i.opcode, opcode::ISTORE..=opcode::ASTORE | opcode::ISTORE_0..=opcode::ASTORE_3);
    (stores || i.opcode == opcode::IINC) && i.local().is_some_and(|(local, _)| local == 0)
}

/// Whether nothing in a block throws, calls, or makes the VM run other code. Reads of fields of
/// `this` that the class declares itself are allowed: they need no other class.
fn is_quiet(
    class: &ClassFile<'_>,
    own: &OwnMembers,
    code: &Code<'_>,
    block: &Block,
    this_stays: bool,
) -> bool {
    let mut is_this = false;
    block.instructions(code).all(|i| {
        let reads_this = is_this
            && i.opcode == opcode::GETFIELD
            && i.pool_index().is_some_and(|index| own.is_instance_field(index));
        is_this = this_stays && i.opcode == opcode::ALOAD_0;
        reads_this || !may_throw(&i, &class.pool)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cct_tables::BlockRule;

    fn of(code: &[u8], flags: u16) -> ImpliedEvents {
        let class = cct_test_classes::class("T").with_code(code.to_vec());
        let bytes = class.method(flags, "m", "(I)I").bytes();
        let class = ClassFile::parse(&bytes).unwrap();
        let code = Code::of(&class, &class.methods[0]).unwrap().unwrap();
        let blocks = Blocks::of(&code, &class.pool, BlockRule::Default);
        ImpliedEvents::of(&class, &OwnMembers::of(&class), &class.methods[0], &code, &blocks)
    }

    fn numbers(which: &[bool]) -> Vec<usize> {
        (0..which.len()).filter(|&number| which[number]).collect()
    }

    #[test]
    fn where_two_ways_meet_nothing_need_be_said() {
        // 0: iload_0 ifeq 8 | 4: iconst_1 goto 9 | 8: iconst_0 | 9: ireturn
        let code = [0x1A, 0x99, 0, 7, 4, 0xA7, 0, 4, 3, 0xAC];
        let implied = of(&code, access::STATIC);
        assert_eq!(numbers(&implied.is_implied), [3]);
        assert_eq!((implied.next(0), implied.next(1), implied.next(2)), (None, Some(3), Some(3)));
        assert_eq!((numbers(&implied.is_silent), numbers(&implied.is_last)), (vec![3], vec![1, 2, 3]));
        // The return may have to unlock a monitor.
        let implied = of(&code, access::STATIC | access::SYNCHRONIZED);
        assert_eq!((numbers(&implied.is_implied), numbers(&implied.is_silent)), (vec![3], vec![]));
    }

    #[test]
    fn the_end_is_written_after_instructions_that_may_throw() {
        // Bytecodes as above, with idiv on one of the paths.
        let code = [0x1A, 0x99, 0, 9, 4, 4, 0x6C, 0xA7, 0, 4, 3, 0xAC];
        let implied = of(&code, access::STATIC);
        assert_eq!(numbers(&implied.is_implied), [3]);
        assert_eq!((numbers(&implied.is_silent), numbers(&implied.is_last)), (vec![], vec![]));
    }

    #[test]
    fn the_head_of_a_loop_is_implied_and_an_endless_one_is_not() {
        // 0: iload_0 | 1: iload_0 ifle 11 | 5: iinc 0 -1, goto 1 | 11: iload_0 ireturn
        let code = [0x1A, 0x1A, 0x9E, 0, 10, 0x84, 0, 0xFF, 0xA7, 0xFF, 0xF9, 0, 0x1A, 0xAC];
        let implied = of(&code, access::STATIC);
        assert_eq!(numbers(&implied.is_implied), [1]);
        assert_eq!((implied.next(0), implied.next(2)), (Some(1), Some(1)));
        // nop | goto itself
        let implied = of(&[0, 0xA7, 0, 0], access::STATIC);
        assert_eq!(numbers(&implied.is_implied), []);
    }

    #[test]
    fn an_event_stands_for_so_many_blocks_at_most() {
        // 0: iload_0 ifeq 7 | 4: goto 7 | 7: goto 10 ... | iconst_1 ireturn
        let jumps = 110;
        let mut code = vec![0x1A, 0x99, 0, 6];
        code.extend([0xA7, 0, 3].repeat(jumps));
        code.extend([4, 0xAC]);
        let implied = of(&code, access::STATIC);
        let written: Vec<usize> = (0..=jumps + 1).filter(|&block| !implied.is_implied[block]).collect();
        // The first blocks because there is a choice, others to limit the chain.
        let more = MOST_IMPLIED + 1;
        assert_eq!(written, [0, 1, 2, 2 + more, 2 + 2 * more, 2 + 3 * more]);
        // The method's end is known nevertheless.
        assert_eq!(numbers(&implied.is_silent), [jumps + 1]);
        assert!(implied.is_last[jumps]);
    }
}
