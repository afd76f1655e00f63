//! The table of methods: sums over all contexts, including those that the page omits.

use super::sided_tree::{Measure, SidedTree};
use cct_profile::library::Role;

/// The sums of one label over a tree, usually a method's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// The label.
    pub(super) label: u32,
    /// Number of contexts with this label.
    pub(super) contexts: u64,
    /// The own count of each measure over these contexts.
    pub(super) own: Vec<u64>,
    /// The inclusive count of each measure. The callees of a label that is on the stack twice count
    /// once.
    pub(super) inclusive: Vec<u64>,
}

/// A context whose label is not on the stack above it.
struct Outermost {
    end: u32,
    label: u32,
    /// Sum of the contexts before it, in the order of the tree.
    before: u64,
}

/// The rows of a tree, sorted by label: one for each method, which `methods` maps labels to.
/// Methods without contexts have none. The sum of each measure over the tree must fit into 64 bits.
pub(super) fn rows(sided: &SidedTree, methods: &[u32], measures: &[Measure]) -> Vec<Row> {
    let (tree, labels) = (sided.tree(), methods.len());
    let label_of = |node: u32| methods[tree.nodes()[node as usize].method as usize];
    let none = vec![0; measures.len()];
    let mut rows: Vec<Row> = (0u32..)
        .take(labels)
        .map(|label| Row { label, contexts: 0, own: none.clone(), inclusive: none.clone() })
        .collect();
    for node in sided.contexts() {
        rows[label_of(node) as usize].contexts += 1;
    }
    for (at, &measure) in measures.iter().enumerate() {
        // For each label, the end of the outermost subtree that has it: inside, the label is not
        // counted again.
        let mut counted_until = vec![0; labels];
        let mut open: Vec<Outermost> = Vec::new();
        let mut sum = 0;
        for node in sided.contexts() {
            while let Some(closed) = open.pop_if(|open| open.end <= node) {
                rows[closed.label as usize].inclusive[at] += sum - closed.before;
            }
            let label = label_of(node);
            let own = sided.own(node, measure);
            rows[label as usize].own[at] += own;
            if node >= counted_until[label as usize] {
                let end = tree.subtree(node).end;
                counted_until[label as usize] = end;
                open.push(Outermost { end, label, before: sum });
            }
            sum += own;
        }
        for closed in open {
            rows[closed.label as usize].inclusive[at] += sum - closed.before;
        }
    }
    rows.retain(|row| row.contexts > 0);
    rows
}

/// The inclusive count of each measure of a collapsed library's lines: what the library executes,
/// and the objects of types that it allocates.
pub(super) fn library_lines(sided: &SidedTree, roles: &[Role], measures: &[Measure]) -> Vec<u64> {
    let tree = sided.tree();
    let mut sums = vec![0; measures.len()];
    // The ends of open contexts, and whether they belong to the library.
    let mut open: Vec<(u32, bool)> = Vec::new();
    for node in sided.contexts() {
        while open.pop_if(|(end, _)| *end <= node).is_some() {}
        let is_library = match roles.get(tree.nodes()[node as usize].method as usize) {
            Some(Role::Library) => true,
            Some(Role::Type) => open.last().is_some_and(|(_, is_library)| *is_library),
            Some(Role::Program) | None => false,
        };
        if is_library {
            sums.iter_mut().zip(measures).for_each(|(sum, &measure)| *sum += sided.own(node, measure));
        }
        open.push((tree.subtree(node).end, is_library));
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::super::sided_tree::Side;
    use super::*;
    use crate::testing::{random, tree};
    use cct_profile::Metric;
    use cct_profile::sums::sums;
    use cct_profile::tree_sum::joined;

    const BYTECODES: Measure = Measure { side: Side::New, metric: Metric::Bytecodes };
    const CALLS: Measure = Measure { side: Side::New, metric: Metric::Calls };

    #[test]
    fn recursion_counts_once() {
        // f (1) -> g (2) -> f (4) -> g (8), and h (32) in another f (16) below k.
        let t = tree(&[
            (1, 0, 1, 1),
            (2, 1, 1, 2),
            (3, 0, 1, 4),
            (4, 1, 1, 8),
            (1, 3, 7, 0),
            (2, 0, 1, 16),
            (3, 2, 3, 32),
        ]);
        let rows = rows(&SidedTree::one(t), &[0, 1, 2, 3, 4], &[BYTECODES, CALLS]);
        let row = |label, contexts, own: [u64; 2], inclusive: [u64; 2]| Row {
            label,
            contexts,
            own: own.to_vec(),
            inclusive: inclusive.to_vec(),
        };
        let expected = [
            row(0, 3, [21, 3], [63, 8]),
            row(1, 2, [10, 2], [14, 3]),
            row(2, 1, [32, 3], [32, 3]),
            row(3, 1, [0, 7], [48, 11]),
        ];
        assert_eq!(rows, expected);
    }

    #[test]
    fn lines_of_the_library_have_its_work_and_its_objects() {
        // f -> g (library) -> a type, f again; f -> a type.
        let t = tree(&[(1, 0, 1, 1), (2, 1, 2, 20), (3, 2, 5, 0), (3, 0, 3, 4), (4, 1, 1, 8), (2, 2, 7, 0)]);
        let roles = [Role::Program, Role::Library, Role::Type];
        assert_eq!(library_lines(&SidedTree::one(t), &roles, &[BYTECODES, CALLS]), [28, 8]);
    }

    #[test]
    fn rows_are_those_of_reports() {
        arbtest::arbtest(|u| {
            let profile = random(u)?;
            let labels: Vec<u32> = (0..profile.methods.len() as u32).collect();
            for thread in &profile.threads {
                let tree = joined(&[(&thread.tree, &labels)]).unwrap();
                let reported = sums(&[(&tree, &labels)], labels.len(), Metric::Bytecodes).unwrap();
                let rows = rows(&SidedTree::one(tree), &labels, &[BYTECODES, CALLS]);
                for row in rows {
                    let sums = reported[row.label as usize];
                    assert_eq!(
                        (u128::from(row.own[1]), u128::from(row.own[0]), u128::from(row.inclusive[0])),
                        (sums.calls, sums.own, sums.inclusive)
                    );
                }
            }
            Ok(())
        });
    }
}
