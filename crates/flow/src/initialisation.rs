//! Regions of a constructor in which `this` is initialised (JVMS 4.10.1.9, `invokespecial`).

use std::ops::Range;

use cct_classfile::{Bci, Code, ConstantPool, Handler, opcode};

/// A range of code in which `this` is, or is not yet, initialised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// First bci.
    pub start: Bci,
    /// The bci after its last instruction.
    pub end: Bci,
    /// Whether `this` is initialised.
    pub initialised: bool,
}

/// State before an instruction: the number of uninitialised objects from `new`, and whether `this`
/// is initialised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    pending: u32,
    initialised: bool,
}

/// The regions of a constructor, in order. Unreachable code belongs to none, nor does the
/// initialising call itself, which no handler may cover.
///
/// The search follows control flow and pairs each call of an `<init>` with the latest `new`; one
/// without such a `new` initialises `this`. Where paths with different states meet (no compiler
/// generates such code), nothing is certain, and there are no regions.
pub fn regions(code: &Code<'_>, pool: &ConstantPool<'_>) -> Vec<Region> {
    of(code, pool).0
}

/// The calls that initialise a constructor's `this`: the call of this() or super() on each path.
/// None if there are no [`regions`].
pub fn initialising_calls(code: &Code<'_>, pool: &ConstantPool<'_>) -> Vec<Bci> {
    of(code, pool).1
}

fn of(code: &Code<'_>, pool: &ConstantPool<'_>) -> (Vec<Region>, Vec<Bci>) {
    let mut states: Vec<Option<State>> = vec![None; code.bytes.len()];
    let mut initialising = vec![false; code.bytes.len()];
    let mut torn = false;
    let mut work = Vec::new();
    // Each instruction is queued once, when its state becomes known.
    let mut reach =
        |bci: Bci, state: State, states: &mut Vec<Option<State>>, work: &mut Vec<Bci>| match states
            .get_mut(bci as usize)
        {
            None => {}
            Some(Some(old)) => torn |= old.initialised != state.initialised,
            Some(slot) => {
                *slot = Some(state);
                work.push(bci);
            }
        };
    // The state of a handler depends on one fact alone, so each handler is visited once for each.
    let mut unreported = [RemainingEntries::of(&code.handlers), RemainingEntries::of(&code.handlers)];
    reach(0, State { pending: 0, initialised: false }, &mut states, &mut work);
    while let Some(bci) = work.pop() {
        let at = bci as usize;
        let (Some(state), Some(instruction)) = (states[at], code.instruction_at(bci)) else { continue };
        let mut after = state;
        match instruction.opcode {
            opcode::NEW => after.pending += 1,
            opcode::INVOKESPECIAL => {
                let name = instruction.pool_index().and_then(|i| pool.member_ref(i).ok()).map(|m| m.name);
                if name == Some(b"<init>") {
                    match after.pending.checked_sub(1) {
                        Some(left) => after.pending = left,
                        None => {
                            after.initialised = true;
                            initialising[at] = true;
                        }
                    }
                }
            }
            _ => {}
        }
        while let Some(handler) = unreported[usize::from(state.initialised)].take(bci) {
            // The operand stack is gone, with the objects on it.
            let caught = State { pending: 0, initialised: state.initialised };
            reach(code.handlers[handler].handler, caught, &mut states, &mut work);
        }
        instruction.for_each_target(|t| reach(t, after, &mut states, &mut work));
        if !opcode::ends_flow(instruction.opcode) {
            reach(instruction.end(), after, &mut states, &mut work);
        }
    }
    if torn {
        return (Vec::new(), Vec::new());
    }
    let calls = (0..).zip(&initialising).filter(|(_, is)| **is).map(|(bci, _)| bci).collect();
    let mut regions: Vec<Region> = Vec::new();
    for instruction in code.instructions() {
        let at = instruction.bci as usize;
        let Some(state) = states[at].filter(|_| !initialising[at]) else { continue };
        match regions.last_mut() {
            Some(r) if r.end == instruction.bci && r.initialised == state.initialised => {
                r.end = instruction.end()
            }
            _ => regions.push(Region {
                start: instruction.bci,
                end: instruction.end(),
                initialised: state.initialised,
            }),
        }
    }
    (regions, calls)
}

/// Entries of an exception table that have not been taken yet. A search for one that covers an
/// instruction does not visit all of them: there may be 65,535 of each.
struct RemainingEntries {
    /// Starts of the entries, ascending, with their positions.
    starts: Vec<(Bci, usize)>,
    /// A binary tree over the same entries: the root at 1, the children of `n` at `2 n` and
    /// `2 n + 1`, the entries as leaves. Each node knows the largest end below it; the end of a
    /// taken entry is 0.
    ends: Vec<Bci>,
}

impl RemainingEntries {
    fn of(handlers: &[Handler]) -> Self {
        let mut starts: Vec<(Bci, usize)> = handlers.iter().map(|h| h.start).zip(0..).collect();
        starts.sort_unstable();
        let leaves = starts.len().next_power_of_two();
        let mut ends = vec![0; 2 * leaves];
        for (place, (_, handler)) in starts.iter().enumerate() {
            ends[leaves + place] = handlers[*handler].end;
        }
        let mut unreported = RemainingEntries { starts, ends };
        (1..leaves).rev().for_each(|node| unreported.sum_up(node));
        unreported
    }

    fn sum_up(&mut self, node: usize) {
        self.ends[node] = self.ends[2 * node].max(self.ends[2 * node + 1]);
    }

    /// Takes an entry that covers `bci`.
    fn take(&mut self, bci: Bci) -> Option<usize> {
        let leaves = self.ends.len() / 2;
        let begun = self.starts.partition_point(|(start, _)| *start <= bci);
        let place = self.first(1, 0..leaves, begun, bci)?;
        let mut node = leaves + place;
        self.ends[node] = 0;
        while node > 1 {
            node /= 2;
            self.sum_up(node);
        }
        Some(self.starts[place].1)
    }

    /// The first of the first `begun` leaves below `node` that ends after `bci`.
    fn first(&self, node: usize, below: Range<usize>, begun: usize, bci: Bci) -> Option<usize> {
        if below.start >= begun || self.ends[node] <= bci {
            return None;
        }
        if below.len() == 1 {
            return Some(below.start);
        }
        let middle = usize::midpoint(below.start, below.end);
        let left = self.first(2 * node, below.start..middle, begun, bci);
        left.or_else(|| self.first(2 * node + 1, middle..below.end, begun, bci))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_entry_is_taken_once_where_it_covers() {
        let ranges = [(0, 4), (10, 20), (2, 30), (5, 5), (12, 13)];
        let handlers = ranges.map(|(start, end)| Handler { start, end, handler: 0, catch_type: 0 });
        let mut unreported = RemainingEntries::of(&handlers);
        let mut all = |bci| {
            let mut taken: Vec<usize> = std::iter::from_fn(|| unreported.take(bci)).collect();
            taken.sort_unstable();
            taken
        };
        assert_eq!(all(3), [0, 2]);
        assert_eq!(all(12), [1, 4]);
        assert!(all(5).is_empty() && all(12).is_empty() && all(0).is_empty());
        assert_eq!(RemainingEntries::of(&[]).take(0), None);
    }
}
