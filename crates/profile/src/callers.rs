//! The inverted tree of a method: who calls it, who calls these, and how much of the method is due
//! to each.

use crate::prefix_sums::prefix_sums;
use crate::{MergeError, Metric, Tree};
use std::collections::BTreeMap;

/// A method's callers, and theirs.
#[derive(Debug)]
pub struct Callers {
    /// The first one stands for nothing: its callers are the methods that were asked for.
    nodes: Vec<Caller>,
}

/// A chain of callers.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The label of the last one in the chain.
    pub label: u32,
    /// How often the method was called through this chain.
    pub calls: u64,
    /// The metric's sum over the method and its callees, where it was called through this chain. A
    /// recursive call is part of the outermost one.
    pub inclusive: u64,
    /// Whether chains go on beyond this caller, and are cut here.
    pub is_cut: bool,
    /// Positions of the chains that are longer by one caller, by their labels.
    callers: BTreeMap<u32, usize>,
}

impl Callers {
    /// The callers of methods with some labels in a tree, in chains of at most `depth` callers.
    /// Methods with different labels stand apart.
    ///
    /// # Errors
    /// Fails if a sum exceeds 64 bits.
    pub fn of(
        tree: &Tree,
        is_asked_for: impl Fn(u32) -> bool,
        metric: Metric,
        depth: usize,
    ) -> Result<Callers, MergeError> {
        let sums = prefix_sums(tree, metric)?;
        let mut callers = Callers { nodes: vec![Caller::default()] };
        // The stack of the node: labels, and the ends of their subtrees.
        let mut stack: Vec<(u32, u32)> = Vec::new();
        for (index, node) in (0u32..).zip(tree.nodes()).skip(1) {
            while stack.pop_if(|(_, end)| *end <= index).is_some() {}
            let subtree = tree.subtree(index);
            if is_asked_for(node.method) {
                let is_outermost = stack.iter().all(|(label, _)| *label != node.method);
                let inclusive = sums[subtree.end as usize] - sums[subtree.start as usize];
                let inclusive = if is_outermost { inclusive } else { 0 };
                let chain = stack.iter().rev().take(depth).map(|(label, _)| *label);
                let last = callers.add([node.method].into_iter().chain(chain), node.calls, inclusive)?;
                callers.nodes[last].is_cut |= stack.len() > depth;
            }
            stack.push((node.method, subtree.end));
        }
        Ok(callers)
    }

    /// Adds to a chain; returns the position of its last caller.
    fn add(
        &mut self,
        chain: impl Iterator<Item = u32>,
        calls: u64,
        inclusive: u64,
    ) -> Result<usize, MergeError> {
        let mut at = 0;
        for label in chain {
            let new = self.nodes.len();
            let next = *self.nodes[at].callers.entry(label).or_insert(new);
            if next == new {
                self.nodes.push(Caller { label, ..Caller::default() });
            }
            at = next;
            let caller = &mut self.nodes[at];
            caller.calls = caller.calls.checked_add(calls).ok_or(MergeError::Overflow)?;
            caller.inclusive = caller.inclusive.checked_add(inclusive).ok_or(MergeError::Overflow)?;
        }
        Ok(at)
    }

    /// The methods that were asked for, those with the largest sums first.
    pub fn methods(&self) -> Vec<&Caller> {
        self.of_caller(&self.nodes[0])
    }

    /// The chains that are longer by one caller, those with the largest sums first.
    pub fn of_caller(&self, caller: &Caller) -> Vec<&Caller> {
        let mut callers: Vec<&Caller> = caller.callers.values().map(|&at| &self.nodes[at]).collect();
        callers.sort_by_key(|caller| std::cmp::Reverse((caller.inclusive, caller.calls)));
        callers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::tree;

    /// `main` (0) calls `a` (1) and `b` (2), which call `get` (3); `get` calls itself once below
    /// `b`.
    fn example() -> Tree {
        tree(&[(1, 0, 1, 5), (2, 1, 2, 10), (3, 3, 4, 100), (2, 2, 3, 20), (3, 3, 30, 1000), (4, 3, 7, 50)])
    }

    fn lines(callers: &Callers) -> Vec<(usize, u32, u64, u64)> {
        fn add(callers: &Callers, of: Vec<&Caller>, depth: usize, to: &mut Vec<(usize, u32, u64, u64)>) {
            for caller in of {
                to.push((depth, caller.label, caller.calls, caller.inclusive));
                add(callers, callers.of_caller(caller), depth + 1, to);
            }
        }
        let mut all = Vec::new();
        add(callers, callers.methods(), 0, &mut all);
        all
    }

    #[test]
    fn a_method_is_charged_to_its_callers() {
        let callers = Callers::of(&example(), |label| label == 3, Metric::Bytecodes, 9).expect("small");
        let expected = [
            (0, 3, 41, 1150),
            // Through b: 1,050 with the recursive call, which is part of the outer one.
            (1, 2, 30, 1050),
            (2, 0, 30, 1050),
            (1, 1, 4, 100),
            (2, 0, 4, 100),
            (1, 3, 7, 0),
            (2, 2, 7, 0),
            (3, 0, 7, 0),
        ];
        assert_eq!(lines(&callers), expected);
    }

    #[test]
    fn chains_end_at_a_depth_and_methods_stand_apart() {
        let callers = Callers::of(&example(), |label| label > 0, Metric::Calls, 1).expect("small");
        let expected = [
            (0, 3, 41, 41),
            (1, 2, 30, 37),
            (1, 1, 4, 4),
            (1, 3, 7, 0),
            (0, 2, 3, 40),
            (1, 0, 3, 40),
            (0, 1, 2, 6),
            (1, 0, 2, 6),
        ];
        assert_eq!(lines(&callers), expected);
        // `main` calls `a` and `b`, and nobody calls `main`.
        let is_cut =
            |of: &Caller| callers.of_caller(of).iter().map(|caller| caller.is_cut).collect::<Vec<_>>();
        assert_eq!(is_cut(callers.methods()[0]), [true, true, true]);
        assert_eq!(is_cut(callers.methods()[1]), [false]);
    }
}
