//! The walk that adds up trees.
//!
//! All merging is this walk ([`joined`]): it visits several trees in parallel and unites the
//! children that have the same label. Labels are indices into a table of the caller: methods for
//! profiles, frames for reports.

use crate::{MergeError, Tree, TreeBuilder};

/// The sum of trees, each with the table that maps its methods to labels. In the result
/// [`crate::Node::method`] is the label, children are sorted by it, and no two siblings have the
/// same.
///
/// # Errors
/// Fails if counts overflow, or if a table is too short.
pub fn joined(trees: &[(&Tree, &[u32])]) -> Result<Tree, MergeError> {
    let roots = || trees.iter().map(|(tree, _)| tree.nodes()[0]);
    let (calls, bytecodes) = (sum(roots().map(|r| r.calls))?, sum(roots().map(|r| r.bytecodes))?);
    let mut builder = TreeBuilder::with_root(calls, bytecodes).with_columns(columns_of(trees));
    join(trees, &mut builder)?;
    Ok(builder.finish())
}

/// Number of columns in the sum of trees. Trees of one profile, and of profiles that are merged,
/// have the same.
pub(crate) fn columns_of(trees: &[(&Tree, &[u32])]) -> usize {
    trees.iter().map(|(tree, _)| tree.columns()).max().unwrap_or(0)
}

/// A node that waits to be united with others of its label and its parent's path.
#[derive(Clone, Copy)]
struct WaitingNode {
    label: u32,
    tree: u32,
    node: u32,
}

/// Adds the contexts of all `trees`, united by label, below the node that `builder` is in.
pub(crate) fn join(trees: &[(&Tree, &[u32])], builder: &mut TreeBuilder) -> Result<(), MergeError> {
    // The waiting nodes of all levels of the walk, one level after the other. Each level is sorted
    // in descending order, so that the next label is at the end.
    let mut waiting: Vec<WaitingNode> = Vec::new();
    let mut levels: Vec<usize> = vec![0];
    let mut united: Vec<WaitingNode> = Vec::new();
    for tree in 0..trees.len() as u32 {
        wait_for_children(trees, tree, 0, &mut waiting)?;
    }
    sort_level(&mut waiting);
    while let Some(&start) = levels.last() {
        let Some(&WaitingNode { label, .. }) = waiting[start..].last() else {
            levels.pop();
            builder.leave();
            continue;
        };
        let first =
            waiting[start..].iter().rposition(|w| w.label != label).map_or(start, |other| start + other + 1);
        united.clear();
        united.extend(waiting.drain(first..));
        let nodes = || united.iter().map(|w| trees[w.tree as usize].0.nodes()[w.node as usize]);
        builder.enter(label, sum(nodes().map(|n| n.calls))?, sum(nodes().map(|n| n.bytecodes))?)?;
        for w in &united {
            let values = trees[w.tree as usize].0.values(w.node);
            for (sum, &value) in builder.numbers().iter_mut().zip(values) {
                *sum = sum.checked_add(value).ok_or(MergeError::Overflow)?;
            }
        }
        levels.push(first);
        for w in &united {
            wait_for_children(trees, w.tree, w.node, &mut waiting)?;
        }
        sort_level(&mut waiting[first..]);
    }
    Ok(())
}

fn sort_level(level: &mut [WaitingNode]) {
    level.sort_unstable_by_key(|w| std::cmp::Reverse((w.label, w.tree, w.node)));
}

fn wait_for_children(
    trees: &[(&Tree, &[u32])],
    index: u32,
    node: u32,
    waiting: &mut Vec<WaitingNode>,
) -> Result<(), MergeError> {
    let (tree, labels) = trees[index as usize];
    for child in tree.children(node) {
        let method = tree.nodes()[child as usize].method;
        let label = labels.get(method as usize).copied();
        let label = label.ok_or(MergeError::NoSuchMethod { method, count: labels.len() })?;
        waiting.push(WaitingNode { label, tree: index, node: child });
    }
    Ok(())
}

/// The sum of counts.
pub(crate) fn sum(mut counts: impl Iterator<Item = u64>) -> Result<u64, MergeError> {
    counts.try_fold(0u64, u64::checked_add).ok_or(MergeError::Overflow)
}
