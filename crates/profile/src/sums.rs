//! Sums over all contexts of a method, or of another label.

use crate::{MergeError, Metric, Tree};

/// Sums over all contexts of one label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Calls.
    pub calls: u128,
    /// The metric, in the contexts themselves.
    pub own: u128,
    /// The metric, with all callees. The callees of a label that is on the stack twice count once.
    pub inclusive: u128,
}

/// The sums of each of `labels` labels over trees, each with the table that maps its methods to
/// labels. Besides the sums, this takes memory for one path.
///
/// The sums of [`Sums::own`] add up to the metric's total; every [`Sums::inclusive`] is at most
/// that.
///
/// # Errors
/// Fails if a table is too short.
pub fn sums(trees: &[(&Tree, &[u32])], labels: usize, metric: Metric) -> Result<Vec<Sums>, MergeError> {
    let mut sums = vec![Sums::default(); labels];
    for &(tree, of_method) in trees {
        add_tree(tree, of_method, metric, &mut sums)?;
    }
    Ok(sums)
}

/// A context whose label is not on the stack above it.
struct Outermost {
    end: u32,
    label: u32,
    /// Sum of the contexts before it, in the order of the tree.
    before: u128,
}

fn add_tree(tree: &Tree, labels: &[u32], metric: Metric, sums: &mut [Sums]) -> Result<(), MergeError> {
    // For each label, the end of the outermost subtree that has it: inside, the label is not
    // counted again.
    let mut counted_until = vec![0u32; sums.len()];
    let mut open: Vec<Outermost> = Vec::new();
    let mut sum = 0u128;
    for (index, node) in (0u32..).zip(tree.nodes()).skip(1) {
        while let Some(closed) = open.pop_if(|open| open.end <= index) {
            sums[closed.label as usize].inclusive += sum - closed.before;
        }
        let label = labels.get(node.method as usize).copied();
        let label = label.ok_or(MergeError::NoSuchMethod { method: node.method, count: labels.len() })?;
        let own = u128::from(metric.of_node(node));
        let of_label = &mut sums[label as usize];
        of_label.calls += u128::from(node.calls);
        of_label.own += own;
        if index >= counted_until[label as usize] {
            let end = tree.subtree(index).end;
            counted_until[label as usize] = end;
            open.push(Outermost { end, label, before: sum });
        }
        sum += own;
    }
    for closed in open {
        sums[closed.label as usize].inclusive += sum - closed.before;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{deep, random, tree};

    #[test]
    fn recursion_counts_once() {
        // f (1) -> g (2) -> f (4) -> g (8), then another f (16) next to the first, and h (32) in
        // it.
        let t = tree(&[(1, 0, 1, 1), (2, 1, 1, 2), (3, 0, 1, 4), (4, 1, 1, 8), (1, 0, 1, 16), (2, 2, 3, 32)]);
        let of = |calls, own, inclusive| Sums { calls, own, inclusive };
        let bytecodes = sums(&[(&t, &[0, 1, 2])], 3, Metric::Bytecodes).expect("small");
        assert_eq!(bytecodes, [of(3, 21, 63), of(2, 10, 14), of(3, 32, 32)]);
        let calls = sums(&[(&t, &[0, 1, 2]), (&t, &[0, 1, 2])], 3, Metric::Calls).expect("small");
        assert_eq!(calls, [of(6, 6, 16), of(4, 4, 6), of(6, 6, 6)]);
        // f and h as one group: everything is below the group.
        let groups = sums(&[(&t, &[0, 1, 0])], 2, Metric::Bytecodes).expect("small");
        assert_eq!(groups, [of(6, 53, 63), of(2, 10, 14)]);
        assert!(sums(&[(&t, &[0, 1])], 2, Metric::Calls).is_err());
    }

    /// For each label, computed naively: every context that has the label, or an ancestor with it.
    #[test]
    fn sums_are_those_of_the_definition() {
        arbtest::arbtest(|u| {
            let p = random(u)?;
            let labels: Vec<u32> = p.methods.iter().map(|m| m.flags as u32).collect();
            let trees: Vec<_> = p.threads.iter().map(|t| (&t.tree, &labels[..])).collect();
            for metric in [Metric::Calls, Metric::Bytecodes] {
                let found = sums(&trees, 2, metric).expect("small");
                let (mut total, mut inclusive) = (0u128, [0u128; 2]);
                for thread in &p.threads {
                    for (index, node) in (0u32..).zip(thread.tree.nodes()).skip(1) {
                        let own = u128::from(metric.of_node(node));
                        total += own;
                        let on_stack = |label: u32| {
                            (1..=index).any(|above| {
                                let is_above = thread.tree.subtree(above).contains(&index);
                                is_above
                                    && labels[thread.tree.nodes()[above as usize].method as usize] == label
                            })
                        };
                        for label in 0..2 {
                            inclusive[label as usize] += if on_stack(label) { own } else { 0 };
                        }
                    }
                }
                assert_eq!(found.iter().map(|s| s.own).sum::<u128>(), total);
                assert_eq!([found[0].inclusive, found[1].inclusive], inclusive);
            }
            Ok(())
        });
    }

    #[test]
    fn deep_trees_are_summed() {
        let p = deep(100_000);
        let found = sums(&[(&p.threads[0].tree, &[0, 1])], 2, Metric::Bytecodes).expect("small");
        assert_eq!((found[0].inclusive, found[1].inclusive, found[1].own), (200_000, 199_998, 100_000));
    }
}
