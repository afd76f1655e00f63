//! The inverted tree of a method, one level at a time: who calls it, who calls these.
//!
//! [`crate::callers`] computes all levels at once. Here a level costs as much as the method has
//! contexts in it, so a user can go up step by step in a tree with millions of contexts.

use std::collections::BTreeMap;

use crate::Tree;

/// The caller of each context of a tree.
#[derive(Clone, Debug)]
pub struct CallerLevels {
    /// The position of the caller of each node; 0 for outermost frames and the root.
    callers: Vec<u32>,
}

/// A context of the method, and the frame above it that a chain of callers has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The context of the method.
    pub context: u32,
    /// The frame: the context itself, its caller, and so on.
    pub frame: u32,
    /// Whether the method is not on the stack above this context. The inclusive sums of other
    /// contexts are part of an outer one.
    pub is_outermost: bool,
}

impl CallerLevels {
    /// The callers in a tree.
    pub fn of(tree: &Tree) -> CallerLevels {
        let mut callers = vec![0u32; tree.nodes().len()];
        let mut open: Vec<u32> = Vec::new();
        for (index, caller) in (0u32..).zip(&mut callers).skip(1) {
            while open.pop_if(|above| tree.subtree(*above).end <= index).is_some() {}
            *caller = open.last().copied().unwrap_or(0);
            open.push(index);
        }
        CallerLevels { callers }
    }

    /// The contexts of a method. `methods` maps the labels of the tree to methods.
    pub fn occurrences(tree: &Tree, methods: &[u32], method: u32) -> Vec<Occurrence> {
        let mut counted_until = 0;
        let mut found = Vec::new();
        for (index, node) in (0u32..).zip(tree.nodes()).skip(1) {
            if methods.get(node.method as usize) == Some(&method) {
                let is_outermost = index >= counted_until;
                if is_outermost {
                    counted_until = tree.subtree(index).end;
                }
                found.push(Occurrence { context: index, frame: index, is_outermost });
            }
        }
        found
    }

    /// The next level: the methods that call the frames, each with its occurrences, sorted by
    /// method. Outermost frames have no caller.
    pub fn callers(&self, tree: &Tree, methods: &[u32], of: &[Occurrence]) -> BTreeMap<u32, Vec<Occurrence>> {
        let mut found: BTreeMap<u32, Vec<Occurrence>> = BTreeMap::new();
        for occurrence in of {
            let frame = self.callers[occurrence.frame as usize];
            let label = tree.nodes()[frame as usize].method;
            if frame > 0
                && let Some(&method) = methods.get(label as usize)
            {
                found.entry(method).or_default().push(Occurrence { frame, ..*occurrence });
            }
        }
        found
    }

    /// Whether a frame of these has a caller.
    pub fn have_callers(&self, of: &[Occurrence]) -> bool {
        of.iter().any(|occurrence| self.callers[occurrence.frame as usize] > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::callers::{Caller, Callers};
    use crate::testing::random;
    use crate::{Metric, Tree};

    /// All chains, as depth, method, calls and inclusive sum; methods in their order.
    fn levels(tree: &Tree, methods: &[u32], method: u32) -> Vec<(usize, u32, u64, u64)> {
        let sums = crate::prefix_sums::prefix_sums(tree, Metric::Bytecodes).expect("small");
        let callers = CallerLevels::of(tree);
        let first = CallerLevels::occurrences(tree, methods, method);
        let mut due = if first.is_empty() { Vec::new() } else { vec![(0, method, first)] };
        let mut lines = Vec::new();
        while let Some((depth, method, level)) = due.pop() {
            let calls = level.iter().map(|o| tree.nodes()[o.context as usize].calls).sum();
            let inclusive = level.iter().filter(|o| o.is_outermost).map(|o| {
                let range = tree.subtree(o.context);
                sums[range.end as usize] - sums[range.start as usize]
            });
            lines.push((depth, method, calls, inclusive.sum()));
            let next = callers.callers(tree, methods, &level);
            assert_eq!(callers.have_callers(&level), !next.is_empty());
            due.extend(next.into_iter().rev().map(|(method, level)| (depth + 1, method, level)));
        }
        lines
    }

    #[test]
    fn levels_are_those_of_the_whole_inverted_tree() {
        fn add(callers: &Callers, of: Vec<&Caller>, depth: usize, to: &mut Vec<(usize, u32, u64, u64)>) {
            let mut of = of;
            of.sort_by_key(|caller| caller.label);
            for caller in of {
                to.push((depth, caller.label, caller.calls, caller.inclusive));
                add(callers, callers.of_caller(caller), depth + 1, to);
            }
        }
        arbtest::arbtest(|u| {
            let p = random(u)?;
            let methods: Vec<u32> = (0..p.methods.len() as u32).collect();
            for thread in &p.threads {
                for &method in &methods {
                    let whole = Callers::of(&thread.tree, |label| label == method, Metric::Bytecodes, 99);
                    let (whole, mut expected) = (whole.expect("small"), Vec::new());
                    add(&whole, whole.methods(), 0, &mut expected);
                    assert_eq!(levels(&thread.tree, &methods, method), expected);
                }
            }
            Ok(())
        });
    }
}
