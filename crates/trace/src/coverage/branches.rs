//! Execution counts within blocks, and branches taken at conditional jumps and switches.

use std::collections::BTreeMap;

use cct_events::Method;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::executions::Executions;
use crate::found::TracedMethod;
use crate::program::Callee;
use crate::replay::Visitor;

/// Execution counts, and successions of blocks.
#[derive(Debug, Default)]
pub struct Ways {
    /// Execution counts.
    pub executions: Executions,
    /// By method: a block, and a block that directly followed it.
    went: FxHashSet<(u32, u32, u32)>,
    /// By method and block: after how many bytecodes an exception, or the end of the trace, has
    /// left it, and how often.
    left: FxHashMap<(u32, u32), BTreeMap<u32, u64>>,
    /// A frame's node is its index here plus one.
    frames: Vec<Frame>,
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    /// The frame's node in the execution counts.
    of_executions: u32,
    last: Option<Last>,
}

/// The last begun block of a frame, if it has not been left.
#[derive(Debug, Clone, Copy)]
struct Last {
    method: u32,
    block: u32,
    bytecodes: u32,
}

impl Ways {
    /// Adds the counts of another thread.
    pub fn add(&mut self, other: Ways) {
        self.executions.add(other.executions);
        self.went.extend(other.went);
        self.add_left(other.left);
    }

    #[allow(clippy::iter_over_hash_type)] // Sums.
    fn add_left(&mut self, others: FxHashMap<(u32, u32), BTreeMap<u32, u64>>) {
        for (block, left) in others {
            let of = self.left.entry(block).or_default();
            left.into_iter().for_each(|(behind, times)| *of.entry(behind).or_default() += times);
        }
    }

    /// Number of executions of a bytecode, by its index in its block.
    pub fn times(&self, number: u32, block: usize, place: u32) -> u64 {
        let began = self.executions.of_method(number).and_then(|counts| counts.blocks.get(block));
        let left = self.left.get(&(number, block as u32));
        let before: u64 = left.map_or(0, |left| left.range(..=place).map(|(_, times)| times).sum());
        began.copied().unwrap_or(0).saturating_sub(before)
    }

    /// Number of a block's bytecodes that were executed at least once. It does not visit each one:
    /// `bytecodes` comes from a file and may be huge.
    pub fn reached(&self, number: u32, block: usize, bytecodes: u32) -> u32 {
        let began = self.executions.of_method(number).and_then(|counts| counts.blocks.get(block)).copied();
        let left = self.left.get(&(number, block as u32));
        let in_the_middle: u64 = left.map_or(0, |left| left.values().sum());
        match began.unwrap_or(0) {
            0 => 0,
            began if began > in_the_middle => bytecodes,
            _ => left
                .and_then(|left| left.keys().next_back())
                .map_or(bytecodes, |&behind| behind.min(bytecodes)),
        }
    }

    fn of_executions(&self, node: u32) -> u32 {
        let frame = (node as usize).checked_sub(1).and_then(|place| self.frames.get(place));
        frame.map_or(0, |frame| frame.of_executions)
    }

    fn frame(&mut self, node: u32) -> Option<&mut Frame> {
        self.frames.get_mut((node as usize).checked_sub(1)?)
    }

    /// Number of branches of a block that ends in a choice, and number of those taken.
    pub fn of_block(&self, number: u32, method: &Method, block: usize) -> (u64, u64) {
        let targets = targets(method, block);
        let was_taken = |target: &&u32| {
            let next = method.blocks.partition_point(|block| block.start <= **target).checked_sub(1);
            next.is_some_and(|next| self.went.contains(&(number, block as u32, next as u32)))
        };
        (targets.len() as u64, targets.iter().filter(was_taken).count() as u64)
    }
}

impl Visitor for Ways {
    fn enter(&mut self, caller: u32, callee: Callee, method: Option<TracedMethod<'_>>) -> u32 {
        let of_executions = self.executions.enter(self.of_executions(caller), callee, method);
        self.frames.push(Frame { of_executions, last: None });
        self.frames.len() as u32
    }

    fn leave(&mut self, _: u32, _: bool) {
        self.frames.pop();
    }

    fn block(&mut self, node: u32, method: TracedMethod<'_>, block: u32, bytecodes: u32) {
        let last = Last { method: method.number(), block, bytecodes };
        if let Some(before) = self.frame(node).and_then(|frame| frame.last.replace(last)) {
            self.went.insert((before.method, before.block, block));
        }
        self.executions.block(self.of_executions(node), method, block, bytecodes);
    }

    fn bytecodes(&mut self, _: u32, _: u32) {}

    fn take_back(&mut self, node: u32, bytecodes: u32) {
        // The next event does not follow this block's end.
        if let Some(last) = self.frame(node).and_then(|frame| frame.last.take()) {
            let behind = last.bytecodes.saturating_sub(bytecodes);
            *self.left.entry((last.method, last.block)).or_default().entry(behind).or_default() += 1;
        }
        self.executions.take_back(self.of_executions(node), bytecodes);
    }
}

/// The possible targets of a block that ends in a conditional jump or a switch, as bytecode
/// indices, each once; empty for other blocks.
fn targets(method: &Method, block: usize) -> Vec<u32> {
    let Some(start) = method.blocks.get(block).map(|block| block.start) else { return Vec::new() };
    let end = method.blocks.get(block + 1).map_or(method.code.len() as u32, |next| next.start);
    let (mut at, mut last) = (start, None);
    while at < end {
        let Some(&opcode) = method.code.get(at as usize) else { break };
        last = Some((at, opcode));
        match crate::position::length(opcode, method.code.get(at as usize + 1).copied()) {
            Some(length) => at += length as u32,
            None => break,
        }
    }
    let Some((at, opcode)) = last else { return Vec::new() };
    let mut targets = match opcode {
        153..=166 | 198 | 199 => {
            let offset = method.code.get(at as usize + 1..).and_then(|rest| rest.first_chunk());
            let target = offset.map(|offset| at.wrapping_add_signed(i16::from_be_bytes(*offset).into()));
            target.into_iter().chain([at + 3]).collect()
        }
        170 | 171 => switch(method, at, opcode).unwrap_or_default(),
        _ => Vec::new(),
    };
    targets.sort_unstable();
    targets.dedup();
    targets
}

/// The targets of a switch.
fn switch(method: &Method, at: u32, opcode: u8) -> Option<Vec<u32>> {
    let word = |place: u32| -> Option<i32> {
        Some(i32::from_be_bytes(*method.code.get(place as usize..)?.first_chunk()?))
    };
    let first = (at + 1).next_multiple_of(4);
    let (places, step) = match opcode {
        170 => (first + 12, 4),
        _ => (first + 12, 8),
    };
    let count = match opcode {
        170 => i64::from(word(first + 8)?) - i64::from(word(first + 4)?) + 1,
        _ => i64::from(word(first + 4)?),
    };
    let mut targets = vec![at.wrapping_add_signed(word(first)?)];
    // No more entries than there is code.
    for place in (places..method.code.len() as u32).step_by(step).take(usize::try_from(count).ok()?) {
        targets.push(at.wrapping_add_signed(word(place)?));
    }
    Some(targets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cct_events::Block;

    fn method(code: &[u8], starts: &[u32]) -> Method {
        let blocks = starts.iter().map(|&start| Block { start, ..Block::default() }).collect();
        Method { code: code.into(), blocks, ..Method::default() }
    }

    #[test]
    fn ways_of_a_jump_and_of_a_switch() {
        // iload_0, ifeq +4, nop | return
        let jump = method(&[26, 153, 0, 4, 0, 177], &[0, 4, 5]);
        assert_eq!((targets(&jump, 0), targets(&jump, 1)), (vec![4, 5], vec![]));
        // iload_0, tableswitch 0 to 1: 20, 21, default 21 | return | return; then the same as
        // lookupswitch.
        let words = |words: &[i32]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>();
        let table = [&[26, 170, 0, 0][..], &words(&[20, 0, 1, 19, 20]), &[177, 177]].concat();
        assert_eq!(targets(&method(&table, &[0, 24]), 0), [20, 21]);
        let lookup = [&[26, 171, 0, 0][..], &words(&[20, 1, 7, 19]), &[177, 177]].concat();
        assert_eq!(targets(&method(&lookup, &[0, 20]), 0), [20, 21]);
        // Truncated code: no panic.
        for length in 0..table.len() {
            let _ = targets(&method(&table[..length], &[0]), 0);
        }
    }

    #[test]
    fn code_after_an_exception_was_not_executed() {
        let mut ways = Ways::default();
        let add = |ways: &mut Ways, left: &[(u32, u64)]| {
            ways.add_left([((7, 0), left.iter().copied().collect())].into_iter().collect());
        };
        ways.executions.began(7, 0, 10);
        assert_eq!([0, 1, 2, 3].map(|place| ways.times(7, 0, place)), [10; 4]);
        // Seven times after the first bytecode, three times after the third.
        add(&mut ways, &[(1, 7)]);
        add(&mut ways, &[(3, 2)]);
        add(&mut ways, &[(3, 1)]);
        assert_eq!([0, 1, 2, 3].map(|place| ways.times(7, 0, place)), [10, 3, 3, 0]);
        assert_eq!((ways.times(7, 1, 0), ways.times(8, 0, 0)), (0, 0));
        assert_eq!([(7, 0), (7, 1), (8, 0)].map(|(method, block)| ways.reached(method, block, 4)), [3, 0, 0]);
        ways.executions.began(7, 0, 1);
        assert_eq!((ways.times(7, 0, 3), ways.reached(7, 0, 4)), (1, 4));
    }

    #[test]
    fn taken_memory_is_counted() {
        let jump = method(&[26, 153, 0, 4, 0, 177], &[0, 4, 5]);
        let mut ways = Ways::default();
        assert_eq!(ways.of_block(7, &jump, 0), (2, 0));
        ways.went.insert((7, 0, 2));
        assert_eq!((ways.of_block(7, &jump, 0), ways.of_block(8, &jump, 0)), ((2, 1), (2, 0)));
        assert_eq!(ways.of_block(7, &jump, 2), (0, 0));
    }
}
