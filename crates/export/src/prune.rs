//! Pruning of contexts that are too small or too deep.

use crate::ExportError;
use cct_profile::Metric;
use cct_profile::{Node, Tree, TreeBuilder};

/// The name of pruned contexts: below each context that lost callees there is one of this name,
/// with their summed counts.
pub const PRUNED: &str = "[pruned]";

/// The threshold of pruning.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Threshold {
    /// Prunes contexts whose inclusive share is below this percentage of the whole.
    pub min_percent: f64,
    /// Prunes contexts deeper than this many frames.
    pub depth: Option<usize>,
}

impl Threshold {
    /// The minimum weight that stays.
    pub(crate) fn least(&self, total: u64) -> u64 {
        // Percentages are small numbers of few digits. A weight on the threshold may end up on
        // either side, but always on the same one.
        (self.min_percent / 100.0 * total as f64).ceil() as u64
    }

    /// Reasons for pruning: ` (below 0.1 % of the bytecodes, or deeper than 500 frames)`.
    pub(crate) fn reasons(&self, metric: Metric) -> String {
        let Threshold { min_percent, depth } = self;
        let share = (*min_percent > 0.0).then(|| format!("below {min_percent} % of the {}", metric.name()));
        let deep = depth.map(|depth| format!("deeper than {depth} frames"));
        let reasons: Vec<String> = share.into_iter().chain(deep).collect();
        format!(" ({})", reasons.join(", or "))
    }
}

/// The sum of the pruned contexts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrunedContexts {
    /// Number of contexts.
    pub contexts: u64,
    /// Sum of the pruned contexts' calls.
    pub calls: u64,
    /// Sum of the pruned contexts' bytecodes.
    pub bytecodes: u64,
}

/// The counts that a context has lost.
#[derive(Clone, Default)]
struct LostCounts {
    calls: u64,
    bytecodes: u64,
    /// One for each column.
    values: Vec<u64>,
}

impl LostCounts {
    fn add(&mut self, node: &Node, values: &[u64]) {
        self.calls += node.calls;
        self.bytecodes += node.bytecodes;
        self.values.resize(values.len(), 0);
        self.values.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    }

    fn is_nothing(&self) -> bool {
        self.calls == 0 && self.bytecodes == 0 && self.values.iter().all(|value| *value == 0)
    }
}

/// The part of a tree above the threshold. Pruned contexts are counted in `pruned`, and are in the
/// tree under the name `label`, which must be above all others.
pub(crate) fn pruned(
    tree: &Tree,
    metric: Metric,
    least: u64,
    depth: usize,
    label: u32,
    pruned: &mut PrunedContexts,
) -> Result<Tree, ExportError> {
    let inclusive = Inclusive::of(tree, metric);
    let nodes = tree.nodes();
    let mut builder = TreeBuilder::new().with_columns(tree.columns());
    // The open contexts, and the root: their ends, and the counts that they lost.
    let mut open: Vec<(u32, LostCounts)> = vec![(tree.subtree(0).end, LostCounts::default())];
    let mut next = 1;
    loop {
        while let Some((_, lost)) = open.pop_if(|(end, _)| *end == next) {
            if !lost.is_nothing() {
                builder.enter(label, lost.calls, lost.bytecodes)?;
                builder.numbers().copy_from_slice(&lost.values);
                builder.leave();
            }
            builder.leave();
        }
        let level = open.len();
        let Some((_, lost)) = open.last_mut() else { break };
        let subtree = tree.subtree(next);
        if level > depth || inclusive.of_subtree(&subtree) < least {
            for index in subtree.clone() {
                let node = &nodes[index as usize];
                pruned.contexts += 1;
                pruned.calls += node.calls;
                pruned.bytecodes += node.bytecodes;
                lost.add(node, tree.values(index));
            }
            next = subtree.end;
        } else {
            let node = &nodes[next as usize];
            builder.enter(node.method, node.calls, node.bytecodes)?;
            builder.numbers().copy_from_slice(tree.values(next));
            open.push((subtree.end, LostCounts::default()));
            next += 1;
        }
    }
    Ok(builder.finish())
}

/// The weights of all subtrees, none above 2^63 - 1 (see [`crate::Source`]).
///
/// A subtree is a range of the preorder, so one running sum over it serves all.
pub(crate) struct Inclusive {
    /// Sum over all nodes before this one.
    before: Vec<u64>,
}

impl Inclusive {
    pub(crate) fn of(tree: &Tree, metric: Metric) -> Inclusive {
        Inclusive::by(tree, |node| metric.of_node(&tree.nodes()[node as usize]))
    }

    /// Computes the weights from that of each context itself.
    pub(crate) fn by(tree: &Tree, own: impl Fn(u32) -> u64) -> Inclusive {
        let mut before = Vec::with_capacity(tree.nodes().len() + 1);
        let mut sum = 0;
        before.push(sum);
        for index in 0..tree.nodes().len() as u32 {
            // The root's counts mean nothing.
            sum += if index == 0 { 0 } else { own(index) };
            before.push(sum);
        }
        Inclusive { before }
    }

    pub(crate) fn of_subtree(&self, subtree: &std::ops::Range<u32>) -> u64 {
        self.before[subtree.end as usize] - self.before[subtree.start as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::tree;

    #[test]
    fn cut_contexts_are_added_up_in_their_place() {
        let whole = tree(&[
            (1, 0, 1, 10),
            (2, 1, 2, 5),
            (3, 2, 3, 60),
            (2, 2, 4, 1),
            (3, 0, 5, 2),
            (2, 3, 6, 3),
            (1, 1, 7, 4),
            (1, 2, 8, 0),
        ]);
        let mut lost = PrunedContexts::default();
        let cut = pruned(&whole, Metric::Bytecodes, 5, usize::MAX, 9, &mut lost).unwrap();
        let expected = [(1, 0, 1, 10), (2, 1, 2, 5), (3, 2, 3, 60), (2, 9, 15, 6), (1, 9, 15, 4)];
        assert_eq!(cut, tree(&expected));
        assert_eq!(lost, PrunedContexts { contexts: 5, calls: 30, bytecodes: 10 });

        let mut lost = PrunedContexts::default();
        let cut = pruned(&whole, Metric::Calls, 0, 1, 9, &mut lost).unwrap();
        assert_eq!(cut, tree(&[(1, 0, 1, 10), (2, 9, 20, 71), (1, 1, 7, 4), (1, 2, 8, 0)]));
        assert_eq!(lost, PrunedContexts { contexts: 5, calls: 20, bytecodes: 71 });

        let mut lost = PrunedContexts::default();
        assert_eq!(pruned(&whole, Metric::Calls, 0, usize::MAX, 9, &mut lost).unwrap(), whole);
        assert_eq!(lost, PrunedContexts::default());
    }

    #[test]
    fn shares_are_of_the_whole() {
        let of = |min_percent| Threshold { min_percent, depth: None }.least(1000);
        assert_eq!((of(0.0), of(0.01), of(0.1), of(0.15), of(100.0)), (0, 1, 1, 2, 1000));
    }
}
