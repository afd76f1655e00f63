//! Trees with folded contexts: those that differ only by calls within a group, or by recursion, are
//! joined.

use crate::tree_sum::columns_of;
use crate::{MergeError, Node, ROOT, Tree, TreeBuilder};
use rustc_hash::FxHashMap;

/// Which calls stay in their caller's context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// Calls from a label to itself: calls within a group of methods belong to the group's context.
    Within,
    /// Calls to a label that is already on the stack: they return to its context, and their callees
    /// hang below it. Ammons, Ball and Larus define the calling-context tree in this way
    /// ("Exploiting hardware performance counters with flow and context sensitive profiling", PLDI
    /// 1997), and JP2 may keep it so (JP2, section 2). No label then occurs twice on a path.
    Recursion,
}

/// The folded sum of trees, each with the table that maps its methods to labels. In the result
/// [`crate::Node::method`] is the label, children are sorted by it, and no two siblings have the
/// same. No count is lost: a folded context has the counts of all contexts that it joins.
///
/// # Errors
/// Fails if counts overflow, or if a table is too short.
pub fn folded(trees: &[(&Tree, &[u32])], fold: Fold) -> Result<Tree, MergeError> {
    Forest::folded(trees, fold, |label| label)
}

/// The folded sum of trees, as [`folded`], for labels that are call sites of methods. `methods`
/// maps each label to its method. A call of a method that is already on the stack returns to the
/// context there, whatever its site.
///
/// # Errors
/// Fails as [`folded`]. A label that `methods` does not contain maps to itself.
pub fn folded_as(trees: &[(&Tree, &[u32])], fold: Fold, methods: &[u32]) -> Result<Tree, MergeError> {
    Forest::folded(trees, fold, |label| methods.get(label as usize).copied().unwrap_or(label))
}

/// A tree without the contexts of some methods: their callees hang below the nearest caller that
/// stays. `labels` maps the methods that stay to labels. Also returns how much was removed.
///
/// # Errors
/// Fails if counts overflow, or if the table is too short.
pub fn without(tree: &Tree, labels: &[Option<u32>]) -> Result<(Tree, LeftOut), MergeError> {
    let (mut forest, mut left_out) = (Forest::new(tree.columns()), LeftOut::default());
    let mut open: Vec<(u32, u32)> = Vec::new();
    for (index, node) in (0u32..).zip(tree.nodes()).skip(1) {
        while open.last().is_some_and(|&(end, _)| end <= index) {
            open.pop();
        }
        let caller = open.last().map_or(0, |&(_, became)| became);
        let label = labels.get(node.method as usize).copied();
        let label = label.ok_or(MergeError::NoSuchMethod { method: node.method, count: labels.len() })?;
        let became = match label {
            Some(label) => forest.child(caller, label)?,
            None => caller,
        };
        if label.is_some() {
            forest.count(became, node, tree.values(index))?;
        } else {
            left_out.contexts += 1;
            left_out.calls += u128::from(node.calls);
            left_out.bytecodes += u128::from(node.bytecodes);
        }
        open.push((tree.subtree(index).end, became));
    }
    Ok((forest.tree()?, left_out))
}

/// Size of the removed part of a profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Number of contexts.
    pub contexts: u128,
    /// Sum of their calls.
    pub calls: u128,
    /// Sum of their bytecodes.
    pub bytecodes: u128,
}

/// A tree that can grow at any node.
pub(crate) struct Forest {
    nodes: Vec<FoldedNode>,
    columns: usize,
    /// Numbers of the columns, as in [`Tree`].
    values: Vec<u64>,
    /// The child of a node with a label. Never iterated.
    children: FxHashMap<(u32, u32), u32>,
}

struct FoldedNode {
    label: u32,
    parent: u32,
    calls: u64,
    bytecodes: u64,
}

impl Forest {
    /// A tree without contexts: a root, which is node 0.
    pub(crate) fn new(columns: usize) -> Forest {
        let root = FoldedNode { label: ROOT, parent: 0, calls: 0, bytecodes: 0 };
        let (nodes, values) = (vec![root], vec![0; columns]);
        Forest { nodes, columns, values, children: FxHashMap::default() }
    }

    fn folded(
        trees: &[(&Tree, &[u32])],
        fold: Fold,
        method: impl Fn(u32) -> u32,
    ) -> Result<Tree, MergeError> {
        let mut forest = Forest::new(columns_of(trees));
        for &(tree, labels) in trees {
            forest.add(tree, labels, fold, &method)?;
        }
        forest.tree()
    }

    fn add(
        &mut self,
        tree: &Tree,
        labels: &[u32],
        fold: Fold,
        method: &impl Fn(u32) -> u32,
    ) -> Result<(), MergeError> {
        // The open nodes of the tree: their ends, and their nodes in the forest.
        let mut open: Vec<(u32, u32)> = Vec::new();
        for (index, node) in (0u32..).zip(tree.nodes()).skip(1) {
            while open.last().is_some_and(|&(end, _)| end <= index) {
                open.pop();
            }
            let caller = open.last().map_or(0, |&(_, became)| became);
            let label = labels.get(node.method as usize).copied();
            let label = label.ok_or(MergeError::NoSuchMethod { method: node.method, count: labels.len() })?;
            let context = self.context(caller, label, fold, method)?;
            self.count(context, node, tree.values(index))?;
            open.push((tree.subtree(index).end, context));
        }
        Ok(())
    }

    /// Adds the counts of a node to a context.
    pub(crate) fn count(&mut self, context: u32, node: &Node, values: &[u64]) -> Result<(), MergeError> {
        let grown = &mut self.nodes[context as usize];
        grown.calls = grown.calls.checked_add(node.calls).ok_or(MergeError::Overflow)?;
        grown.bytecodes = grown.bytecodes.checked_add(node.bytecodes).ok_or(MergeError::Overflow)?;
        let of_context = &mut self.values[context as usize * self.columns..];
        for (sum, value) in of_context.iter_mut().zip(values) {
            *sum = sum.checked_add(*value).ok_or(MergeError::Overflow)?;
        }
        Ok(())
    }

    /// The context of a call of `label` from `caller`.
    fn context(
        &mut self,
        caller: u32,
        label: u32,
        fold: Fold,
        method: &impl Fn(u32) -> u32,
    ) -> Result<u32, MergeError> {
        let called = method(label);
        let mut above = caller;
        while above != 0 {
            let node = &self.nodes[above as usize];
            if method(node.label) == called {
                return Ok(above);
            }
            above = if fold == Fold::Within { 0 } else { node.parent };
        }
        self.child(caller, label)
    }

    /// The callee of a context with a label.
    pub(crate) fn child(&mut self, caller: u32, label: u32) -> Result<u32, MergeError> {
        if let Some(&child) = self.children.get(&(caller, label)) {
            return Ok(child);
        }
        let new = u32::try_from(self.nodes.len()).ok().filter(|&new| new < ROOT);
        let new = new.ok_or(crate::TreeTooLarge)?;
        self.nodes.push(FoldedNode { label, parent: caller, calls: 0, bytecodes: 0 });
        self.values.resize(self.nodes.len() * self.columns, 0);
        self.children.insert((caller, label), new);
        Ok(new)
    }

    /// The tree, with children sorted by label.
    pub(crate) fn tree(self) -> Result<Tree, MergeError> {
        let Forest { nodes, columns, values, children } = self;
        drop(children);
        // Children of a node are consecutive, in the order of their labels.
        let mut order: Vec<u32> = (1..nodes.len() as u32).collect();
        order.sort_unstable_by_key(|&node| (nodes[node as usize].parent, nodes[node as usize].label));
        let mut first = vec![0u32; nodes.len() + 1];
        for node in &nodes[1..] {
            first[node.parent as usize + 1] += 1;
        }
        for parent in 0..nodes.len() {
            first[parent + 1] += first[parent];
        }
        let root = &nodes[0];
        let mut builder = TreeBuilder::with_root(root.calls, root.bytecodes).with_columns(columns);
        builder.numbers().copy_from_slice(&values[..columns]);
        // The next and the last child of every open node.
        let mut open = vec![(first[0], first[1])];
        while let Some((next, end)) = open.last_mut() {
            if next == end {
                open.pop();
                builder.leave();
                continue;
            }
            let child = order[*next as usize] as usize;
            *next += 1;
            builder.enter(nodes[child].label, nodes[child].calls, nodes[child].bytecodes)?;
            builder.numbers().copy_from_slice(&values[child * columns..(child + 1) * columns]);
            open.push((first[child], first[child + 1]));
        }
        Ok(builder.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{deep, random, tree};
    use crate::tree_sum::joined;
    use std::collections::BTreeMap;

    const SAME: [u32; 4] = [0, 1, 2, 3];

    fn fold(t: &Tree, labels: &[u32], fold: Fold) -> Tree {
        folded(&[(t, labels)], fold).expect("small")
    }

    #[test]
    fn callees_of_dropped_contexts_hang_below_kept_callers() {
        // 0 calls 1 and 2; 1, which is removed, calls 2 and 3; 3 calls 1, which calls 0.
        let t = tree(&[
            (1, 0, 1, 10),
            (2, 1, 2, 20),
            (3, 2, 3, 30),
            (3, 3, 4, 40),
            (4, 1, 5, 50),
            (5, 0, 6, 60),
            (2, 2, 7, 70),
        ]);
        let (found, left_out) = without(&t, &[Some(0), None, Some(1), Some(2)]).expect("small");
        let expected = tree(&[(1, 0, 1, 10), (2, 1, 3 + 7, 30 + 70), (2, 2, 4, 40), (3, 0, 6, 60)]);
        assert_eq!(found, expected);
        assert_eq!(left_out, LeftOut { contexts: 2, calls: 2 + 5, bytecodes: 20 + 50 });
        let nothing = without(&t, &[None; 4]).expect("small");
        assert_eq!((nothing.0.contexts(), nothing.1.contexts), (0, 7));
        assert!(without(&t, &[None; 3]).is_err());
    }

    #[test]
    fn recursion_goes_back_to_its_context() {
        // f -> g -> f -> h, and f -> h; g -> g.
        let t = tree(&[
            (1, 0, 1, 1),
            (2, 1, 1, 2),
            (3, 0, 1, 4),
            (4, 2, 1, 8),
            (2, 2, 1, 16),
            (1, 1, 1, 32),
            (2, 1, 1, 64),
        ]);
        let expected = tree(&[(1, 0, 2, 5), (2, 1, 1, 2), (2, 2, 2, 24), (1, 1, 2, 96)]);
        assert_eq!(fold(&t, &SAME, Fold::Recursion), expected);
        // Only g -> g is within a label.
        let within = fold(&t, &SAME, Fold::Within);
        assert_eq!(within.contexts(), 6);
        assert_eq!(within.nodes()[6].bytecodes, 96);
    }

    #[test]
    fn calls_within_a_group_belong_to_the_group() {
        // Methods 0 and 1 are in group 7, 2 is in group 3, where a callee leads back to group 7.
        let t = tree(&[(1, 0, 1, 1), (2, 1, 2, 2), (3, 2, 3, 4), (4, 0, 4, 8), (2, 2, 5, 16), (1, 1, 6, 32)]);
        let labels = [7, 7, 3];
        let expected = tree(&[(1, 7, 9, 35), (2, 3, 8, 20), (3, 7, 4, 8)]);
        assert_eq!(fold(&t, &labels, Fold::Within), expected);
        assert_eq!(fold(&t, &labels, Fold::Recursion), tree(&[(1, 7, 13, 43), (2, 3, 8, 20)]));
    }

    /// The folded paths, computed naively.
    fn plain(t: &Tree, rule: Fold) -> BTreeMap<Vec<u32>, (u64, u64)> {
        let mut sums = BTreeMap::new();
        let mut open: Vec<(u32, Vec<u32>)> = Vec::new();
        for (index, node) in (0u32..).zip(t.nodes()).skip(1) {
            open.retain(|&(end, _)| end > index);
            let mut path = open.last().map_or(Vec::new(), |(_, path)| path.clone());
            let back = match rule {
                Fold::Within => (path.last() == Some(&node.method)).then(|| path.len() - 1),
                Fold::Recursion => path.iter().position(|&label| label == node.method),
            };
            path.truncate(back.unwrap_or(path.len()));
            path.push(node.method);
            let sum: &mut (u64, u64) = sums.entry(path.clone()).or_default();
            *sum = (sum.0 + node.calls, sum.1 + node.bytecodes);
            open.push((t.subtree(index).end, path));
        }
        sums
    }

    #[test]
    fn folding_is_folding_paths() {
        arbtest::arbtest(|u| {
            let p = random(u)?;
            let labels: Vec<u32> = (0..p.methods.len() as u32).collect();
            for thread in &p.threads {
                for rule in [Fold::Within, Fold::Recursion] {
                    let folded = fold(&thread.tree, &labels, rule);
                    let expected = plain(&thread.tree, rule);
                    assert_eq!(plain(&folded, rule), expected);
                    assert_eq!(folded.contexts(), expected.len(), "every path once");
                    assert_eq!(joined(&[(&folded, &labels)]).expect("small"), folded, "sorted");
                }
            }
            Ok(())
        });
    }

    #[test]
    fn deep_recursion_becomes_two_contexts() {
        let p = deep(100_000);
        let t = fold(&p.threads[0].tree, &SAME, Fold::Recursion);
        assert_eq!(t, tree(&[(1, 0, 50_000, 100_000), (2, 1, 50_000, 100_000)]));
    }
}
