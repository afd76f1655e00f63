//! Implied events, which follow from others (docs/reference/formats/trace.md, "What has no event"),
//! recomputed from the original.

use std::ops::Range;

use cct_classfile::{ClassFile, Code, Instruction, Member, access, opcode};

use crate::fields::Fields;
use crate::throws::may_throw;

/// The implied events of a body.
#[derive(Debug, Default)]
pub struct SilentEvents {
    /// Whether each block begins without an event.
    pub implied: Vec<bool>,
    /// Whether the return of each block has no event of the method's end.
    pub silent: Vec<bool>,
    /// Whether the method has no further events after the start of each block.
    pub last: Vec<bool>,
    /// The block that follows each one without an event.
    pub next: Vec<Option<usize>>,
}

/// A body cut into blocks.
pub struct Cut<'q, 'a> {
    /// The class.
    pub class: &'q ClassFile<'a>,
    /// The class's own fields.
    pub fields: &'q Fields<'a>,
    /// The method.
    pub member: &'q Member<'a>,
    /// The method's code.
    pub code: &'q Code<'a>,
    /// The instructions.
    pub originals: &'q [Instruction<'a>],
    /// The numbers of the instructions of each block.
    pub blocks: &'q [Range<usize>],
}

impl SilentEvents {
    /// Computes the implied events from each block's instructions, and from the edges between
    /// blocks.
    pub fn of(cut: &Cut<'_, '_>) -> SilentEvents {
        let count = cut.blocks.len();
        let block_of = |bci| {
            let n = cut.originals.binary_search_by_key(&bci, |i: &Instruction<'_>| i.bci).ok()?;
            cut.blocks.partition_point(|block| block.start <= n).checked_sub(1)
        };
        let ways: Vec<Vec<usize>> = (0..count).map(|block| cut.ways(block, block_of)).collect();
        let keeps_this = !cut.member.is(access::STATIC) && !cut.originals.iter().any(stores_this);
        let quiet: Vec<bool> =
            cut.blocks.iter().map(|block| cut.is_quiet(block.clone(), keeps_this)).collect();

        // Whether a block has a predecessor, and whether it has one with another successor.
        let (mut is_met, mut is_chosen) = (vec![false; count], vec![false; count]);
        for handler in cut.code.handlers.iter().filter_map(|handler| block_of(handler.handler)) {
            is_chosen[handler] = true;
        }
        for way in &ways {
            for &to in way {
                is_met[to] = true;
                is_chosen[to] |= way.len() > 1;
            }
        }
        let mut implied: Vec<bool> =
            (0..count).map(|block| block > 0 && is_met[block] && !is_chosen[block] && quiet[block]).collect();
        let only = |block: usize| ways[block].first().copied().filter(|_| ways[block].len() == 1);
        open_loops(&mut implied, only);
        open_long_ways(&mut implied, only);
        let next: Vec<Option<usize>> =
            (0..count).map(|block| only(block).filter(|&to| implied[to])).collect();

        // The block after one that is not quiet is known late.
        let mut late = vec![false; count];
        for block in (0..count).filter(|&block| !quiet[block]) {
            let mut at = next[block];
            while let Some(to) = at.filter(|&to| !late[to]) {
                late[to] = true;
                at = next[to];
            }
        }
        let has_monitors = cut.member.is(access::SYNCHRONIZED)
            || cut.originals.iter().any(|i| matches!(i.opcode, opcode::MONITORENTER | opcode::MONITOREXIT));
        let returns = |block: &Range<usize>| {
            block.clone().next_back().is_some_and(|last| opcode::is_return(cut.originals[last].opcode))
        };
        let silent: Vec<bool> = (0..count)
            .map(|block| !has_monitors && quiet[block] && !late[block] && returns(&cut.blocks[block]))
            .collect();
        let mut last = silent.clone();
        let mut decided = silent.clone();
        for start in 0..count {
            let mut way = Vec::new();
            let mut at = Some(start);
            while let Some(block) = at.filter(|&block| !decided[block]) {
                decided[block] = true;
                way.push(block);
                at = next[block].filter(|_| quiet[block]);
            }
            let ends = at.is_some_and(|block| last[block]);
            way.into_iter().for_each(|block| last[block] = ends);
        }
        SilentEvents { implied, silent, last, next }
    }
}

/// Gives one block of each cycle its event: the first in the code.
fn open_loops(implied: &mut [bool], only: impl Fn(usize) -> Option<usize>) {
    let mut met_from: Vec<Option<usize>> = vec![None; implied.len()];
    for start in 0..implied.len() {
        let mut at = start;
        while implied[at] && met_from[at].is_none() {
            met_from[at] = Some(start);
            match only(at) {
                Some(to) => at = to,
                None => break,
            }
        }
        if implied[at] && met_from[at] == Some(start) && only(at).is_some() {
            // Go around once more: the cycle may have been entered from outside.
            let (mut first, mut round) = (at, at);
            loop {
                match only(round) {
                    Some(to) if implied[to] => round = to,
                    _ => break first = usize::MAX,
                }
                if round == at {
                    break;
                }
                first = first.min(round);
            }
            if let Some(first) = implied.get_mut(first) {
                *first = false;
            }
        }
    }
}

/// Maximum number of blocks in a row without an event.
const MOST: usize = 32;

/// Gives one block of each longer chain its event: the first whose longest path reaches the
/// maximum.
fn open_long_ways(implied: &mut [bool], only: impl Fn(usize) -> Option<usize>) {
    let behind = |implied: &[bool], block| only(block).filter(|&to| implied[to]);
    let mut not_seen = vec![0_usize; implied.len()];
    (0..implied.len()).filter_map(|block| behind(implied, block)).for_each(|to| not_seen[to] += 1);
    let mut depth = vec![0; implied.len()];
    let starts: Vec<usize> = (0..implied.len()).filter(|&block| !implied[block]).collect();
    for start in starts {
        // From each start, as far as all paths to a block have arrived.
        let mut at = Some(start);
        while let Some(block) = at {
            at = behind(implied, block).filter(|&to| {
                depth[to] = depth[to].max(depth[block] + 1);
                not_seen[to] -= 1;
                not_seen[to] == 0
            });
            if let Some(to) = at.filter(|&to| depth[to] > MOST) {
                (implied[to], depth[to]) = (false, 0);
            }
        }
    }
}

impl Cut<'_, '_> {
    /// The successors of a block, apart from handlers.
    fn ways(&self, block: usize, block_of: impl Fn(u32) -> Option<usize>) -> Vec<usize> {
        let Some(last) = self.blocks[block].clone().next_back() else { return Vec::new() };
        let last = &self.originals[last];
        let mut ways = Vec::new();
        last.for_each_target(|target| ways.extend(block_of(target)));
        if !opcode::ends_flow(last.opcode) && block + 1 < self.blocks.len() {
            ways.push(block + 1);
        }
        // A switch is a choice, even if all its cases lead to one block.
        if opcode::is_switch(last.opcode) {
            ways.extend(ways.first().copied());
        }
        ways
    }

    /// Whether no instruction throws, calls, or makes the JVM run other code.
    fn is_quiet(&self, block: Range<usize>, keeps_this: bool) -> bool {
        let reads_this = |n: usize| {
            let i = &self.originals[n];
            let field = i.pool_index().and_then(|index| self.class.pool.member_ref(index).ok());
            let is_own = field.is_some_and(|field| {
                let flags = self.fields.get(&field.name_and_type());
                field.class == self.class.name() && flags.is_some_and(|flags| flags & access::STATIC == 0)
            });
            i.opcode == opcode::GETFIELD
                && n > block.start
                && self.originals[n - 1].opcode == opcode::ALOAD_0
                && is_own
        };
        block.clone().all(|n| !may_throw(self.class, &self.originals[n]) || keeps_this && reads_this(n))
    }
}

fn stores_this(i: &Instruction<'_>) -> bool {
    let is_load = matches!(i.opcode, opcode::ILOAD..=opcode::ALOAD_3);
    !is_load && i.local().is_some_and(|(local, _)| local == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_ways_have_an_event_now_and_then() {
        // 0 leads to 1 and so on, without a choice; 100 leads to 30, which is reached later by that
        // path.
        let only = |block: usize| match block {
            0..=98 => Some(block + 1),
            100 => Some(30),
            _ => None,
        };
        let mut implied = vec![true; 101];
        (implied[0], implied[100]) = (false, false);
        open_long_ways(&mut implied, only);
        let written: Vec<usize> = (0..101).filter(|&block| !implied[block]).collect();
        assert_eq!(written, [0, 33, 66, 99, 100]);
    }
}
