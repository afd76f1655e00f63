//! The comparison of two trees: one walk collects contexts, and those that are listed get their
//! names.

use super::measure::{Agreement, Measure};
use super::result::{Comparison, FrameName, ListEntry, UnpairedContexts};
use crate::largest::Largest;
use crate::metric::{Counts, Metric};
use crate::names::FrameTable;
use crate::pair::{PairError, Side};
use crate::walk::{Match, paths, walk};
use crate::{MergeError, Tree};
use std::collections::BTreeMap;

/// Two trees of the same labels, united and sorted.
pub(super) struct Trees<'t> {
    pub(super) a: &'t Tree,
    pub(super) b: &'t Tree,
    /// The second metric besides calls: bytecodes, or their cost.
    pub(super) executed: Option<Metric>,
    /// The first metric, usually calls.
    pub(super) counted: Metric,
}

impl Trees<'_> {
    /// Compares the trees, whose labels are the frames of the table. The result has no remarks yet.
    pub(super) fn compare(&self, table: &FrameTable<'_>, limit: usize) -> Result<Comparison, PairError> {
        let total_a = self.total(self.a).map_err(|error| PairError::Merge(Side::A, error))?;
        let total_b = self.total(self.b).map_err(|error| PairError::Merge(Side::B, error))?;
        let measure = |metric: Metric| Measure::new(metric, metric.of(total_a), metric.of(total_b), limit);
        let mut calls = measure(self.counted);
        let mut bytecodes = self.executed.map(measure);
        let mut common = 0;
        let mut only = [OnlyOne::new(limit), OnlyOne::new(limit)];
        let weight = self.executed.unwrap_or(self.counted);
        walk(self.a, self.b, |context| {
            let (a, b) = self.counts(context);
            let in_tree = |counts: Counts| counts != Counts::default();
            match (in_tree(a), in_tree(b)) {
                (false, false) => return,
                (true, false) => only[0].add(weight.of(a), a, context),
                (false, true) => only[1].add(weight.of(b), b, context),
                (true, true) => common += 1,
            }
            for measure in std::iter::once(&mut calls).chain(&mut bytecodes) {
                measure.add(context, a, b, in_tree(a) && in_tree(b));
            }
        });
        let [only_a, only_b] = only;
        let mut names = Names { trees: self, used: BTreeMap::new() };
        let (only_a, only_b) = (only_a.finish(&mut names), only_b.finish(&mut names));
        let calls = names.agreement(calls.finish());
        let bytecodes = bytecodes.map(|bytecodes| names.agreement(bytecodes.finish()));
        Ok(Comparison {
            remarks: Vec::new(),
            contexts_a: common + only_a.contexts,
            contexts_b: common + only_b.contexts,
            common,
            only_a,
            only_b,
            calls,
            bytecodes,
            frames: names.finish(table),
        })
    }

    fn total(&self, tree: &Tree) -> Result<Counts, MergeError> {
        let mut total = Counts::default();
        for node in &tree.nodes()[1..] {
            total.calls = total.calls.checked_add(node.calls).ok_or(MergeError::Overflow)?;
            let bytecodes = if self.executed.is_some() { node.bytecodes } else { 0 };
            total.bytecodes = total.bytecodes.checked_add(bytecodes).ok_or(MergeError::Overflow)?;
        }
        Ok(total)
    }

    fn counts(&self, context: Match) -> (Counts, Counts) {
        let of = |tree: &Tree, node: u32| {
            let node = &tree.nodes()[node as usize];
            Counts { calls: node.calls, bytecodes: if self.executed.is_some() { node.bytecodes } else { 0 } }
        };
        match context {
            Match::A(a) => (of(self.a, a), Counts::default()),
            Match::B(b) => (Counts::default(), of(self.b, b)),
            Match::Both(a, b) => (of(self.a, a), of(self.b, b)),
        }
    }
}

/// Accumulator of an [`UnpairedContexts`].
struct OnlyOne {
    contexts: u64,
    sums: Counts,
    largest: Largest<u64, Match>,
}

impl OnlyOne {
    fn new(limit: usize) -> OnlyOne {
        OnlyOne { contexts: 0, sums: Counts::default(), largest: Largest::new(limit) }
    }

    fn add(&mut self, weight: u64, counts: Counts, context: Match) {
        self.contexts += 1;
        // Parts of a total that fits.
        self.sums.calls += counts.calls;
        self.sums.bytecodes += counts.bytecodes;
        self.largest.add(weight, context);
    }

    fn finish(self, names: &mut Names<'_>) -> UnpairedContexts {
        let OnlyOne { contexts, sums: Counts { calls, bytecodes }, largest } = self;
        UnpairedContexts { contexts, calls, bytecodes, largest: names.listed(&largest.into_sorted()) }
    }
}

/// Names contexts, and collects the frames that they need.
struct Names<'t> {
    trees: &'t Trees<'t>,
    /// The position among the collected frames of each label that is needed.
    used: BTreeMap<u32, u32>,
}

impl Names<'_> {
    fn listed(&mut self, contexts: &[Match]) -> Vec<ListEntry> {
        // All paths of one tree are found in one walk, which needs its nodes in order.
        let mut in_a = Vec::new();
        let mut in_b = Vec::new();
        for (position, &context) in contexts.iter().enumerate() {
            match context {
                Match::A(node) | Match::Both(node, _) => in_a.push((node, position)),
                Match::B(node) => in_b.push((node, position)),
            }
        }
        let mut listed: Vec<ListEntry> = contexts
            .iter()
            .map(|&context| {
                let (a, b) = self.trees.counts(context);
                ListEntry { a, b, path: Vec::new() }
            })
            .collect();
        for (tree, mut nodes) in [(self.trees.a, in_a), (self.trees.b, in_b)] {
            nodes.sort_unstable();
            let found = paths(tree, &nodes.iter().map(|&(node, _)| node).collect::<Vec<u32>>());
            for ((_, position), path) in nodes.into_iter().zip(found) {
                listed[position].path = path.into_iter().map(|label| self.position(label)).collect();
            }
        }
        listed
    }

    fn position(&mut self, label: u32) -> u32 {
        let next = self.used.len() as u32;
        *self.used.entry(label).or_insert(next)
    }

    fn agreement(&mut self, found: Agreement<Match>) -> Agreement<ListEntry> {
        let by_difference = self.listed(&found.by_difference);
        let by_ratio = self.listed(&found.by_ratio);
        let Agreement { metric, a, b, overlap, absolute, different, different_absolute, .. } = found;
        let largest_error = found.largest_error;
        Agreement {
            metric,
            a,
            b,
            overlap,
            absolute,
            different,
            different_absolute,
            largest_error,
            by_difference,
            by_ratio,
        }
    }

    fn finish(self, table: &FrameTable<'_>) -> Vec<FrameName> {
        let readable = table.readable();
        let mut used: Vec<(u32, u32)> =
            self.used.into_iter().map(|(label, position)| (position, label)).collect();
        used.sort_unstable();
        let name = |label: u32| FrameName {
            exact: String::from_utf8_lossy(&table.frames()[label as usize].bytes().collect::<Vec<u8>>())
                .into_owned(),
            readable: readable[label as usize].clone(),
        };
        used.into_iter().map(|(_, label)| name(label)).collect()
    }
}
