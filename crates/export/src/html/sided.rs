//! Trees of two profiles united: one tree with the contexts of both, and the counts of each.

use crate::ExportError;
use cct_profile::merge::joined;
use cct_profile::metric::Counts;
use cct_profile::{Metric, Node, Tree};

/// Whose count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The profile that is shown; of a difference the later one.
    New,
    /// What it is held against.
    Base,
}

/// One number of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Measure {
    pub(super) side: Side,
    pub(super) metric: Metric,
}

/// A tree with the counts of one or two profiles. Children are sorted by label, and no siblings have the same.
#[derive(Clone, Debug)]
pub(super) struct Sided {
    /// The contexts of both, with the sums of their counts.
    tree: Tree,
    /// The counts of the base, for each node of the tree; `None` without a base.
    base: Option<Vec<Counts>>,
}

impl Sided {
    /// One profile alone.
    pub(super) fn one(tree: Tree) -> Sided {
        Sided { tree, base: None }
    }

    /// Two, whose labels are the same.
    ///
    /// # Errors
    /// When counts overflow.
    pub(super) fn two(base: &Tree, new: &Tree, labels: &[u32]) -> Result<Sided, ExportError> {
        let tree = joined(&[(base, labels), (new, labels)])?;
        let base = Some(counts_within(base, &tree));
        Ok(Sided { tree, base })
    }

    /// The sum of several.
    ///
    /// # Errors
    /// When counts overflow.
    pub(super) fn sum(parts: &[Sided], labels: &[u32]) -> Result<Sided, ExportError> {
        let trees: Vec<(&Tree, &[u32])> = parts.iter().map(|part| (&part.tree, labels)).collect();
        let tree = joined(&trees)?;
        if parts.iter().all(|part| part.base.is_none()) {
            return Ok(Sided::one(tree));
        }
        let mut base = vec![Counts::default(); tree.nodes().len()];
        for part in parts {
            for (at, node) in
                places_within(&part.tree, &tree).zip(0usize..).filter_map(|(at, node)| Some((at?, node)))
            {
                let Some(counts) = &part.base else { continue };
                // Each is at most what the joined tree has, which did not overflow.
                base[node].calls += counts[at as usize].calls;
                base[node].bytecodes += counts[at as usize].bytecodes;
            }
        }
        Ok(Sided { tree, base: Some(base) })
    }

    /// The contexts of both. Their counts are sums of both; see [`Sided::own`].
    pub(super) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// A count of a context itself.
    pub(super) fn own(&self, node: u32, measure: Measure) -> u64 {
        let Node { calls, bytecodes, .. } = self.tree.nodes()[node as usize];
        let base = self.base.as_ref().map_or(Counts::default(), |base| base[node as usize]);
        measure.metric.of(match measure.side {
            Side::Base => base,
            Side::New => Counts { calls: calls - base.calls, bytecodes: bytecodes - base.bytecodes },
        })
    }

    /// How much a context itself has changed.
    pub(super) fn change(&self, node: u32, metric: Metric) -> u64 {
        let of = |side| self.own(node, Measure { side, metric });
        of(Side::New).abs_diff(of(Side::Base))
    }

    /// All contexts, callers before callees.
    pub(super) fn contexts(&self) -> std::ops::Range<u32> {
        // Trees number their nodes in 32 bits.
        1..self.tree.nodes().len() as u32
    }
}

/// The counts of `part` for each node of `whole`, which has all of its contexts.
fn counts_within(part: &Tree, whole: &Tree) -> Vec<Counts> {
    places_within(part, whole)
        .map(|at| {
            at.map_or(Counts::default(), |at| {
                let Node { calls, bytecodes, .. } = part.nodes()[at as usize];
                Counts { calls, bytecodes }
            })
        })
        .collect()
}

/// For each node of `whole` the node of `part` that is the same context. The root's counts mean nothing, so it has none.
///
/// Both are sorted alike, so the contexts of `part` are met in their order.
fn places_within<'t>(part: &'t Tree, whole: &'t Tree) -> impl Iterator<Item = Option<u32>> + 't {
    let mut next = 1;
    // The open nodes of `whole`: where they end, and where the same context ends in `part`.
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

    fn counts(sided: &Sided, side: Side) -> Vec<(u64, u64)> {
        let of = |node, metric| sided.own(node, Measure { side, metric });
        sided.contexts().map(|node| (of(node, Metric::Calls), of(node, Metric::Bytecodes))).collect()
    }

    #[test]
    fn each_side_keeps_its_counts() {
        let base = tree(&[(1, 0, 1, 10), (2, 1, 2, 20), (3, 2, 3, 30), (2, 3, 4, 40)]);
        let new = tree(&[(1, 0, 5, 50), (2, 2, 6, 60), (2, 3, 7, 70), (3, 2, 8, 80), (1, 1, 9, 90)]);
        let two = Sided::two(&base, &new, &SAME).unwrap();
        let labels: Vec<u32> = two.tree().nodes()[1..].iter().map(|node| node.method).collect();
        assert_eq!(labels, [0, 1, 2, 2, 3, 2, 1]);
        assert_eq!(counts(&two, BASE), [(1, 10), (2, 20), (3, 30), (0, 0), (4, 40), (0, 0), (0, 0)]);
        assert_eq!(counts(&two, NEW), [(5, 50), (0, 0), (0, 0), (6, 60), (7, 70), (8, 80), (9, 90)]);
        assert_eq!((two.change(2, Metric::Calls), two.change(4, Metric::Bytecodes)), (2, 60));

        let twice = Sided::sum(&[two.clone(), two, Sided::one(new)], &SAME).unwrap();
        assert_eq!(counts(&twice, BASE), [(2, 20), (4, 40), (6, 60), (0, 0), (8, 80), (0, 0), (0, 0)]);
        assert_eq!(
            counts(&twice, NEW),
            [(15, 150), (0, 0), (0, 0), (18, 180), (21, 210), (24, 240), (27, 270)]
        );
    }
}
