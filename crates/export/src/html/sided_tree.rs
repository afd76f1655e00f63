//! Trees of two profiles united: one tree with the contexts of both, and the counts of each.

use crate::ExportError;
use cct_profile::metric::Counts;
use cct_profile::tree_sum::joined;
use cct_profile::{Metric, Node, Tree, Unit};

/// The profile of a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The profile that is shown; for a difference the later one.
    New,
    /// The profile that it is compared with.
    Base,
}

/// One number of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Measure {
    pub(super) side: Side,
    pub(super) metric: Metric,
}

/// A tree with the counts of one or two profiles. Children are sorted by label, and siblings have
/// different labels.
#[derive(Clone, Debug)]
pub(super) struct SidedTree {
    /// The contexts of both, with the sums of their counts.
    tree: Tree,
    /// The counts of the base, for each node of the tree; `None` without a base.
    base: Option<Base>,
    /// The columns besides calls and bytecodes, in the order of [`Tree::values`].
    columns: Vec<Unit>,
}

/// The counts of one of two profiles.
#[derive(Clone, Debug)]
struct Base {
    counts: Vec<Counts>,
    /// Of all columns, node by node.
    values: Vec<u64>,
}

impl Base {
    /// Zero counts for each node of `whole`.
    fn nothing(whole: &Tree) -> Base {
        let nodes = whole.nodes().len();
        Base { counts: vec![Counts::default(); nodes], values: vec![0; nodes * whole.columns()] }
    }

    /// Adds to a node. Its counts are at most those of the joined tree, which did not overflow.
    fn add(&mut self, node: usize, counts: Counts, values: &[u64]) {
        self.counts[node].calls += counts.calls;
        self.counts[node].bytecodes += counts.bytecodes;
        let sums = &mut self.values[node * values.len()..];
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    }

    fn values(&self, node: usize, columns: usize) -> &[u64] {
        &self.values[node * columns..(node + 1) * columns]
    }
}

impl SidedTree {
    /// The tree of one profile alone.
    pub(super) fn one(tree: Tree) -> SidedTree {
        SidedTree { tree, base: None, columns: Vec::new() }
    }

    /// The tree with columns of these names.
    pub(super) fn with_columns(self, columns: &[Unit]) -> SidedTree {
        SidedTree { columns: columns.to_vec(), ..self }
    }

    /// The united trees of two profiles with the same labels.
    ///
    /// # Errors
    /// Fails if counts overflow.
    pub(super) fn two(base: &Tree, new: &Tree, labels: &[u32]) -> Result<SidedTree, ExportError> {
        let tree = joined(&[(base, labels), (new, labels)])?;
        let base = Some(counts_within(base, &tree));
        Ok(SidedTree { tree, base, columns: Vec::new() })
    }

    /// The sum of several trees.
    ///
    /// # Errors
    /// Fails if counts overflow.
    pub(super) fn sum(parts: &[SidedTree], labels: &[u32]) -> Result<SidedTree, ExportError> {
        let trees: Vec<(&Tree, &[u32])> = parts.iter().map(|part| (&part.tree, labels)).collect();
        let tree = joined(&trees)?;
        let columns = parts.first().map_or(Vec::new(), |part| part.columns.clone());
        if parts.iter().all(|part| part.base.is_none()) {
            return Ok(SidedTree { tree, base: None, columns });
        }
        let mut base = Base::nothing(&tree);
        for part in parts {
            for (at, node) in
                places_within(&part.tree, &tree).zip(0usize..).filter_map(|(at, node)| Some((at?, node)))
            {
                let Some(of_part) = &part.base else { continue };
                let at = at as usize;
                base.add(node, of_part.counts[at], of_part.values(at, part.tree.columns()));
            }
        }
        Ok(SidedTree { tree, base: Some(base), columns })
    }

    /// The contexts of both. Their counts are sums of both; see [`SidedTree::own`].
    pub(super) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// A count of a context itself.
    pub(super) fn own(&self, node: u32, measure: Measure) -> u64 {
        let is_column = |column: &Unit| Metric::Column(*column) == measure.metric;
        if let Some(place) = self.columns.iter().position(is_column) {
            let all = self.tree.values(node);
            let base = self.base.as_ref().map_or(0, |base| base.values(node as usize, all.len())[place]);
            return match measure.side {
                Side::Base => base,
                Side::New => all[place] - base,
            };
        }
        let Node { calls, bytecodes, .. } = self.tree.nodes()[node as usize];
        let base = self.base.as_ref().map_or(Counts::default(), |base| base.counts[node as usize]);
        measure.metric.of(match measure.side {
            Side::Base => base,
            Side::New => Counts { calls: calls - base.calls, bytecodes: bytecodes - base.bytecodes },
        })
    }

    /// The size of a context's own change.
    pub(super) fn change(&self, node: u32, metric: Metric) -> u64 {
        let of = |side| self.own(node, Measure { side, metric });
        of(Side::New).abs_diff(of(Side::Base))
    }

    /// All contexts, callers before callees.
    pub(super) fn contexts(&self) -> std::ops::Range<u32> {
        // Trees number their nodes with 32 bits.
        1..self.tree.nodes().len() as u32
    }
}

/// The counts of `part` for each node of `whole`, which has all of its contexts.
fn counts_within(part: &Tree, whole: &Tree) -> Base {
    let mut base = Base::nothing(whole);
    for (at, node) in places_within(part, whole).zip(0..) {
        let Some(at) = at else { continue };
        let Node { calls, bytecodes, .. } = part.nodes()[at as usize];
        base.add(node, Counts { calls, bytecodes }, part.values(at));
    }
    base
}

/// For each node of `whole` the node of `part` that is the same context. The root has none, since
/// its counts mean nothing.
///
/// Both are sorted alike, so the walk meets the contexts of `part` in their order.
fn places_within<'t>(part: &'t Tree, whole: &'t Tree) -> impl Iterator<Item = Option<u32>> + 't {
    let mut next = 1;
    // The open nodes of `whole`: their ends, and the ends of the same contexts in `part`.
    let mut open = vec![(whole.subtree(0).end, Some(part.subtree(0).end))];
    (0u32..).zip(whole.nodes()).map(move |(index, node)| {
        if index == 0 {
            return None;
        }
        while open.pop_if(|(end, _)| *end <= index).is_some() {}
        let end_of_caller = open.last().and_then(|(_, end)| *end);
        let is_here =
            end_of_caller.is_some_and(|end| next < end && part.nodes()[next as usize].method == node.method);
        let place = is_here.then_some(next);
        next += u32::from(is_here);
        open.push((whole.subtree(index).end, place.map(|place| part.subtree(place).end)));
        place
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::tree;

    const SAME: [u32; 4] = [0, 1, 2, 3];
    const NEW: Side = Side::New;
    const BASE: Side = Side::Base;

    fn counts(sided: &SidedTree, side: Side) -> Vec<(u64, u64)> {
        let of = |node, metric| sided.own(node, Measure { side, metric });
        sided.contexts().map(|node| (of(node, Metric::Calls), of(node, Metric::Bytecodes))).collect()
    }

    #[test]
    fn each_side_keeps_its_counts() {
        let base = tree(&[(1, 0, 1, 10), (2, 1, 2, 20), (3, 2, 3, 30), (2, 3, 4, 40)]);
        let new = tree(&[(1, 0, 5, 50), (2, 2, 6, 60), (2, 3, 7, 70), (3, 2, 8, 80), (1, 1, 9, 90)]);
        let two = SidedTree::two(&base, &new, &SAME).unwrap();
        let labels: Vec<u32> = two.tree().nodes()[1..].iter().map(|node| node.method).collect();
        assert_eq!(labels, [0, 1, 2, 2, 3, 2, 1]);
        assert_eq!(counts(&two, BASE), [(1, 10), (2, 20), (3, 30), (0, 0), (4, 40), (0, 0), (0, 0)]);
        assert_eq!(counts(&two, NEW), [(5, 50), (0, 0), (0, 0), (6, 60), (7, 70), (8, 80), (9, 90)]);
        assert_eq!((two.change(2, Metric::Calls), two.change(4, Metric::Bytecodes)), (2, 60));

        let twice = SidedTree::sum(&[two.clone(), two, SidedTree::one(new)], &SAME).unwrap();
        assert_eq!(counts(&twice, BASE), [(2, 20), (4, 40), (6, 60), (0, 0), (8, 80), (0, 0), (0, 0)]);
        assert_eq!(
            counts(&twice, NEW),
            [(15, 150), (0, 0), (0, 0), (18, 180), (21, 210), (24, 240), (27, 270)]
        );
    }

    #[test]
    fn each_side_keeps_its_columns() {
        // A context 0, with a number in each of two columns, and one more below it.
        let of = |label: u32, values: [u64; 2]| {
            let mut builder = cct_profile::TreeBuilder::new().with_columns(2);
            builder.enter(0, 1, 1).unwrap();
            builder.numbers().copy_from_slice(&[1, 2]);
            builder.enter(label, 1, 1).unwrap();
            builder.numbers().copy_from_slice(&values);
            builder.finish()
        };
        let (base, new) = (of(1, [10, 20]), of(2, [100, 200]));
        let columns = ["a", "b"].map(|name| Unit::of(name).unwrap());
        let two = SidedTree::two(&base, &new, &SAME).unwrap().with_columns(&columns);
        let values = |sided: &SidedTree, side, column| -> Vec<u64> {
            let measure = Measure { side, metric: Metric::Column(columns[column]) };
            sided.contexts().map(|node| sided.own(node, measure)).collect()
        };
        assert_eq!((values(&two, BASE, 0), values(&two, BASE, 1)), (vec![1, 10, 0], vec![2, 20, 0]));
        assert_eq!((values(&two, NEW, 0), values(&two, NEW, 1)), (vec![1, 0, 100], vec![2, 0, 200]));
        let one = SidedTree::one(new).with_columns(&columns);
        let sum = SidedTree::sum(&[two, one], &SAME).unwrap();
        assert_eq!((values(&sum, BASE, 1), values(&sum, NEW, 1)), (vec![2, 20, 0], vec![4, 0, 400]));
        assert_eq!(sum.change(1, Metric::Column(columns[1])), 2);
    }
}
