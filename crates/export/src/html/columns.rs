//! The contexts of a page as columns of numbers.
//!
//! The contexts of all trees follow each other in preorder, with a column for each of their
//! properties. Numbers are LEB128: seven bits a byte, the lowest first, the high bit set in all
//! bytes but the last. Pruned contexts are the last callee of their caller: a context whose label
//! is the number of all labels, with their sums. The page can collapse the library, so it also
//! needs the part of these sums that is then in the line `(library)` of the caller.

use super::sided_tree::{Measure, SidedTree};
use cct_profile::library::Role;
use std::ops::Range;

/// Columns of contexts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Columns {
    /// Number of contexts that were left before this one was entered, restarting with each tree.
    pub(super) left: Vec<u8>,
    /// The label.
    pub(super) label: Vec<u8>,
    /// For the contexts that replace pruned ones, in their order: number of pruned contexts.
    pub(super) lost: Vec<u8>,
    /// For the same ones, number of pruned contexts of the library without one of the program
    /// between them and the caller.
    pub(super) lost_library: Vec<u8>,
    /// The sum of each measure over those.
    pub(super) lost_library_own: Vec<Vec<u8>>,
    /// The own count of each measure.
    pub(super) own: Vec<Vec<u8>>,
}

/// The sum of pruned contexts of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PrunedSums {
    /// Number of contexts.
    pub(super) contexts: u64,
    /// The sum of each measure.
    pub(super) sums: Vec<u64>,
    /// Number of contexts that become part of their caller's line if the library is collapsed.
    pub(super) library_contexts: u64,
    /// The sum of each measure over those.
    pub(super) library_sums: Vec<u64>,
}

impl PrunedSums {
    fn nothing(measures: usize) -> PrunedSums {
        let none = vec![0; measures];
        PrunedSums { contexts: 0, sums: none.clone(), library_contexts: 0, library_sums: none }
    }

    fn add(&mut self, other: &PrunedSums) {
        self.contexts += other.contexts;
        self.library_contexts += other.library_contexts;
        let sums = self.sums.iter_mut().chain(&mut self.library_sums);
        sums.zip(other.sums.iter().chain(&other.library_sums)).for_each(|(sum, more)| *sum += more);
    }

    /// Adds a pruned subtree.
    fn add_subtree(&mut self, sided: &SidedTree, subtree: Range<u32>, roles: &[Role], measures: &[Measure]) {
        let tree = sided.tree();
        // Below a context of the program, the library belongs to that one.
        let mut program_until = 0;
        for node in subtree {
            let role = roles.get(tree.nodes()[node as usize].method as usize);
            let is_of_caller = node >= program_until && role == Some(&Role::Library);
            if node >= program_until && !is_of_caller {
                program_until = tree.subtree(node).end;
            }
            self.contexts += 1;
            self.library_contexts += u64::from(is_of_caller);
            let sums = self.sums.iter_mut().zip(&mut self.library_sums);
            for ((sum, of_library), &measure) in sums.zip(measures) {
                let own = sided.own(node, measure);
                *sum += own;
                *of_library += if is_of_caller { own } else { 0 };
            }
        }
    }
}

/// The contexts of a tree that go into columns, and the label of the others.
pub(super) struct KeptContexts<'k> {
    /// For each node whether it stays. If it does not, no callee does.
    pub(super) nodes: &'k [bool],
    /// The label of pruned contexts.
    pub(super) label_of_lost: u32,
    /// The role of each label; empty if the page cannot collapse the library.
    pub(super) roles: &'k [Role],
}

impl Columns {
    pub(super) fn new(measures: usize) -> Columns {
        let none = vec![Vec::new(); measures];
        Columns { own: none.clone(), lost_library_own: none, ..Columns::default() }
    }

    /// Adds a tree. Returns the number of written contexts, and the sum of the pruned ones.
    pub(super) fn add(
        &mut self,
        sided: &SidedTree,
        kept: &KeptContexts<'_>,
        measures: &[Measure],
    ) -> (u64, PrunedSums) {
        let tree = sided.tree();
        let mut written = 0;
        let mut all_lost = PrunedSums::nothing(measures.len());
        // The root and the open contexts: their ends, and the contexts that they lost.
        let mut open: Vec<(u32, Option<PrunedSums>)> = vec![(tree.subtree(0).end, None)];
        let mut left = 0;
        let mut next = 1;
        loop {
            while let Some((_, lost)) = open.pop_if(|(end, _)| *end == next) {
                if let Some(lost) = lost {
                    number(&mut self.left, left);
                    number(&mut self.label, kept.label_of_lost.into());
                    number(&mut self.lost, lost.contexts);
                    number(&mut self.lost_library, lost.library_contexts);
                    let own = self.own.iter_mut().chain(&mut self.lost_library_own);
                    let sums = lost.sums.iter().chain(&lost.library_sums);
                    own.zip(sums).for_each(|(column, &sum)| number(column, sum));
                    written += 1;
                    left = 1;
                    all_lost.add(&lost);
                }
                left += 1;
            }
            let Some((_, lost)) = open.last_mut() else { break };
            let subtree = tree.subtree(next);
            if kept.nodes[next as usize] {
                number(&mut self.left, left);
                number(&mut self.label, tree.nodes()[next as usize].method.into());
                for (column, &measure) in self.own.iter_mut().zip(measures) {
                    number(column, sided.own(next, measure));
                }
                written += 1;
                left = 0;
                open.push((subtree.end, None));
                next += 1;
            } else {
                let lost = lost.get_or_insert_with(|| PrunedSums::nothing(measures.len()));
                next = subtree.end;
                lost.add_subtree(sided, subtree, kept.roles, measures);
            }
        }
        (written, all_lost)
    }
}

/// Writes a number.
pub(super) fn number(column: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        column.push(value as u8 | 0x80);
        value >>= 7;
    }
    column.push(value as u8);
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::sided_tree::Side;
    use super::*;
    use crate::testing::{random, tree};
    use cct_profile::tree_sum::joined;
    use cct_profile::{Metric, Tree, TreeBuilder};

    const BYTECODES: Measure = Measure { side: Side::New, metric: Metric::Bytecodes };
    const CALLS: Measure = Measure { side: Side::New, metric: Metric::Calls };

    /// The numbers of a column.
    pub(in crate::html) fn numbers(column: &[u8]) -> Vec<u64> {
        let mut numbers = Vec::new();
        let (mut value, mut shift) = (0, 0);
        for &byte in column {
            value |= u64::from(byte & 0x7F) << shift;
            shift += 7;
            if byte < 0x80 {
                numbers.push(value);
                (value, shift) = (0, 0);
            }
        }
        assert_eq!(shift, 0, "a number is not whole");
        numbers
    }

    /// The tree of columns that hold bytecodes and calls of one tree.
    pub(in crate::html) fn decoded(columns: &Columns) -> Tree {
        let own: Vec<Vec<u64>> = columns.own.iter().map(|column| numbers(column)).collect();
        let mut builder = TreeBuilder::new();
        for (at, (left, label)) in numbers(&columns.left).into_iter().zip(numbers(&columns.label)).enumerate()
        {
            (0..left).for_each(|_| builder.leave());
            builder.enter(label as u32, own[1][at], own[0][at]).unwrap();
        }
        builder.finish()
    }

    #[test]
    fn numbers_are_leb128() {
        let mut column = Vec::new();
        let values = [0, 1, 127, 128, 16_383, 16_384, 1 << 53, u64::MAX];
        values.iter().for_each(|&value| number(&mut column, value));
        assert_eq!(column[..6], [0, 1, 127, 128, 1, 255]);
        assert_eq!(numbers(&column), values);
    }

    #[test]
    fn columns_are_the_tree() {
        arbtest::arbtest(|u| {
            let profile = random(u)?;
            let labels: Vec<u32> = (0..profile.methods.len() as u32).collect();
            for thread in &profile.threads {
                let tree = joined(&[(&thread.tree, &labels)]).unwrap();
                let sided = SidedTree::one(tree.clone());
                let all = vec![true; tree.nodes().len()];
                let mut columns = Columns::new(2);
                let kept = KeptContexts { nodes: &all, label_of_lost: 99, roles: &[] };
                let (written, lost) = columns.add(&sided, &kept, &[BYTECODES, CALLS]);
                assert_eq!((written, lost.contexts), (tree.contexts() as u64, 0));
                assert_eq!(decoded(&columns), tree);
            }
            Ok(())
        });
    }

    #[test]
    fn pruned_contexts_are_added_up_in_their_place() {
        let whole = tree(&[
            (1, 0, 1, 10),
            (2, 1, 2, 5),
            (3, 2, 3, 60),
            (2, 2, 4, 1),
            (3, 0, 5, 2),
            (4, 3, 9, 7),
            (2, 3, 6, 3),
            (1, 1, 7, 4),
            (1, 2, 8, 0),
        ]);
        let nodes = [true, true, true, true, false, false, false, false, false, true];
        let mut columns = Columns::new(2);
        let kept = KeptContexts {
            nodes: &nodes,
            label_of_lost: 9,
            roles: &[Role::Program, Role::Program, Role::Library, Role::Library],
        };
        let (written, lost) = columns.add(&SidedTree::one(whole), &kept, &[BYTECODES, CALLS]);
        // (2, 2), (3, 0), (4, 3) and (2, 3) below the first, and (1, 1) below the root.
        let expected =
            tree(&[(1, 0, 1, 10), (2, 1, 2, 5), (3, 2, 3, 60), (2, 9, 24, 13), (1, 2, 8, 0), (1, 9, 7, 4)]);
        assert_eq!(decoded(&columns), expected);
        assert_eq!(numbers(&columns.lost), [4, 1]);
        // Of the library: (2, 2) and (2, 3), but not (4, 3), which (3, 0) of the program calls.
        assert_eq!(numbers(&columns.lost_library), [2, 0]);
        assert_eq!(
            columns.lost_library_own.iter().map(|own| numbers(own)).collect::<Vec<_>>(),
            [[4, 0], [10, 0]]
        );
        let expected =
            PrunedSums { contexts: 5, sums: vec![17, 31], library_contexts: 2, library_sums: vec![4, 10] };
        assert_eq!((written, lost), (6, expected));
    }
}
