//! Selection of a page's contexts: those with the largest weights.
//!
//! A context's weight is the largest of its inclusive shares: of each metric, for a difference of
//! each side, and of all changes. So a context that is large by any of them is on the page in all
//! views. A callee never weighs more than its caller, so the kept contexts are a tree.

use super::sided_tree::{Measure, SidedTree};
use cct_profile::Metric;
use std::cmp::Ordering;

/// The weights of all nodes of some trees.
pub(super) struct Weights {
    of_trees: Vec<Vec<f64>>,
}

impl Weights {
    /// Computes the weights for trees whose measures have these sums, and for changes with these
    /// sums, metric by metric.
    pub(super) fn of(trees: &[SidedTree], measures: &[(Measure, u64)], changes: &[(Metric, u64)]) -> Weights {
        let mut of_trees = Vec::with_capacity(trees.len());
        for sided in trees {
            let mut weights = vec![0f64; sided.tree().nodes().len()];
            for &(measure, total) in measures {
                raise(&mut weights, sided, total, |node| sided.own(node, measure));
            }
            for &(metric, total) in changes {
                raise(&mut weights, sided, total, |node| sided.change(node, metric));
            }
            of_trees.push(weights);
        }
        Weights { of_trees }
    }

    /// For each node of each tree whether it is one of the `most` heaviest contexts. Among equal
    /// weights the first ones are kept, callers before callees.
    pub(super) fn heaviest(self, trees: &[SidedTree], most: usize) -> Vec<Vec<bool>> {
        let mut all: Vec<f64> = self.of_trees.iter().flat_map(|weights| &weights[1..]).copied().collect();
        if all.len() <= most {
            return self.of_trees.iter().map(|weights| vec![true; weights.len()]).collect();
        }
        // The heaviest that must be dropped.
        let border = *all.select_nth_unstable_by(most, |a, b| b.total_cmp(a)).1;
        let above =
            all[..most].iter().filter(|weight| weight.total_cmp(&border) == Ordering::Greater).count();
        drop(all);
        let mut left = most - above;
        let mut kept = Vec::with_capacity(trees.len());
        for (sided, weights) in trees.iter().zip(&self.of_trees) {
            let mut of_tree = vec![false; weights.len()];
            of_tree[0] = true;
            let mut node = 1;
            while (node as usize) < weights.len() {
                let is_kept = match weights[node as usize].total_cmp(&border) {
                    Ordering::Greater => true,
                    Ordering::Equal if left > 0 => {
                        left -= 1;
                        true
                    }
                    _ => false,
                };
                of_tree[node as usize] = is_kept;
                node = if is_kept { node + 1 } else { sided.tree().subtree(node).end };
            }
            kept.push(of_tree);
        }
        kept
    }
}

/// Raises the weights to the shares of `total` that subtrees have of a count.
fn raise(weights: &mut [f64], sided: &SidedTree, total: u64, count: impl Fn(u32) -> u64) {
    if total == 0 {
        return;
    }
    // A subtree is a range of the preorder, so one running sum serves all. The total did not
    // overflow, and is at least each of these.
    let mut before = Vec::with_capacity(weights.len() + 1);
    let mut sum = 0;
    before.extend([0, 0]);
    for node in sided.contexts() {
        sum += count(node);
        before.push(sum);
    }
    for node in sided.contexts() {
        let subtree = sided.tree().subtree(node);
        let inclusive = before[subtree.end as usize] - before[subtree.start as usize];
        let weight = &mut weights[node as usize];
        *weight = weight.max(inclusive as f64 / total as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::super::sided_tree::Side;
    use super::*;
    use crate::testing::tree;

    const BYTECODES: Measure = Measure { side: Side::New, metric: Metric::Bytecodes };
    const CALLS: Measure = Measure { side: Side::New, metric: Metric::Calls };

    fn kept(sided: &SidedTree, measures: &[(Measure, u64)], most: usize) -> Vec<bool> {
        let trees = std::slice::from_ref(sided);
        Weights::of(trees, measures, &[]).heaviest(trees, most)[0][1..].to_vec()
    }

    #[test]
    fn contexts_heavy_by_any_metric_are_kept() {
        // By bytecodes 100, 30, 20 and 1; by calls 20, 2, 1 and 15.
        let t = tree(&[(1, 0, 2, 49), (2, 1, 1, 10), (3, 2, 1, 20), (2, 3, 16, 1)]);
        let sided = SidedTree::one(t);
        let both = [(BYTECODES, 80), (CALLS, 20)];
        assert_eq!(kept(&sided, &both[..1], 3), [true, true, true, false]);
        assert_eq!(kept(&sided, &both, 2), [true, false, false, true]);
        assert_eq!(kept(&sided, &both, 3), [true, true, false, true]);
        assert_eq!(kept(&sided, &both, 4), [true; 4]);
        assert_eq!(kept(&sided, &both, 0), [false; 4]);
    }

    #[test]
    fn of_equals_the_callers_are_kept() {
        // A chain in which only the innermost has counts, and another one.
        let t = tree(&[(1, 0, 0, 0), (2, 1, 0, 0), (3, 2, 1, 7), (1, 1, 0, 0), (2, 2, 1, 7)]);
        let sided = SidedTree::one(t);
        assert_eq!(kept(&sided, &[(BYTECODES, 14)], 2), [true, true, false, false, false]);
        assert_eq!(kept(&sided, &[(BYTECODES, 14)], 4), [true, true, true, true, false]);
        // Nothing was counted at all.
        assert_eq!(kept(&sided, &[(BYTECODES, 0)], 1), [true, false, false, false, false]);
    }

    #[test]
    fn changed_contexts_are_kept() {
        let base = tree(&[(1, 0, 1, 500), (1, 1, 1, 400), (1, 2, 1, 3), (1, 3, 1, 90)]);
        let new = tree(&[(1, 0, 1, 500), (1, 1, 1, 400), (1, 2, 1, 9), (1, 3, 1, 90)]);
        let trees = [SidedTree::two(&base, &new, &[0, 1, 2, 3]).unwrap()];
        let measures = [(BYTECODES, 999)];
        let kept = Weights::of(&trees, &measures, &[(Metric::Bytecodes, 6)]).heaviest(&trees, 2);
        assert_eq!(kept[0][1..], [true, false, true, false]);
    }
}
