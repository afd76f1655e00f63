//! The rows of a tree: which contexts are shown, in which order, and what is hidden.

use super::Order;
use super::numbers::percent;
use crate::prefix_sums::prefix_sums;
use crate::{MergeError, Metric, Tree};
use std::cmp::Reverse;

/// Options for the rows of a tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowsOptions {
    /// The metric of the percentages.
    pub metric: Metric,
    /// The order of siblings.
    pub order: Order,
    /// Hide contexts whose inclusive share of their tree is below this many percent.
    pub min_percent: f64,
    /// Hide contexts deeper than this; the outermost frame has depth 1.
    pub depth: Option<usize>,
}

impl RowsOptions {
    /// Options that show everything, the heaviest first.
    pub fn all(metric: Metric) -> RowsOptions {
        RowsOptions { metric, order: Order::Inclusive, min_percent: 0.0, depth: None }
    }
}

/// A row, callers before callees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// A context.
    Context {
        /// The context's node.
        node: u32,
        /// The outermost frame has depth 1.
        depth: usize,
        /// The metric's sum over it and its descendants.
        inclusive: u64,
    },
    /// Contexts that the thresholds hide, after their siblings.
    Hidden {
        /// Number of these contexts, with their descendants.
        contexts: u64,
        /// The metric's sum over them.
        inclusive: u64,
        /// The contexts' depth, without their descendants.
        depth: usize,
    },
}

/// The rows of a tree in which siblings have different labels.
#[derive(Debug)]
pub struct Rows<'t> {
    tree: &'t Tree,
    options: RowsOptions,
    /// Sum over all nodes before this one. A subtree is a range of the preorder, so one running sum
    /// serves all.
    before: Vec<u64>,
}

impl<'t> Rows<'t> {
    /// Creates the rows of a tree.
    ///
    /// # Errors
    /// Fails if the metric's total exceeds 64 bits.
    pub fn new(tree: &'t Tree, options: RowsOptions) -> Result<Rows<'t>, MergeError> {
        Ok(Rows { tree, options, before: prefix_sums(tree, options.metric)? })
    }

    /// The tree.
    pub fn tree(&self) -> &'t Tree {
        self.tree
    }

    /// The metric.
    pub fn metric(&self) -> Metric {
        self.options.metric
    }

    /// The metric's total.
    pub fn total(&self) -> u64 {
        self.inclusive(0)
    }

    fn inclusive(&self, node: u32) -> u64 {
        let range = self.tree.subtree(node);
        self.before[range.end as usize] - self.before[range.start as usize]
    }

    /// Calls `show` for every row.
    ///
    /// # Errors
    /// Errors of `show`.
    pub fn for_each<E>(&self, mut show: impl FnMut(Row) -> Result<(), E>) -> Result<(), E> {
        let mut due = Vec::new();
        self.add_children(0, 1, &mut due);
        while let Some(row) = due.pop() {
            show(row)?;
            if let Row::Context { node, depth, .. } = row {
                self.add_children(node, depth + 1, &mut due);
            }
        }
        Ok(())
    }

    /// Pushes the visible children of `node` and the row about the others on the stack, the first
    /// on top.
    fn add_children(&self, node: u32, depth: usize, due: &mut Vec<Row>) {
        let RowsOptions { min_percent, depth: most, .. } = self.options;
        let total = u128::from(self.total());
        let start = due.len();
        let (mut contexts, mut hidden) = (0, 0);
        let too_deep = most.is_some_and(|most| depth > most);
        for child in self.tree.children(node) {
            let inclusive = self.inclusive(child);
            if too_deep || percent(u128::from(inclusive), total) < min_percent {
                contexts += self.tree.subtree(child).len() as u64;
                hidden += inclusive;
            } else {
                due.push(Row::Context { node: child, depth, inclusive });
            }
        }
        due[start..].sort_unstable_by_key(|row| self.key(row));
        if contexts > 0 {
            due.push(Row::Hidden { contexts, inclusive: hidden, depth });
            due[start..].rotate_right(1);
        }
    }

    /// The sort key of a row: the largest is shown first; among equal ones the first in the tree.
    fn key(&self, row: &Row) -> (u64, Reverse<u32>) {
        let &Row::Context { node, inclusive, .. } = row else { return (0, Reverse(0)) };
        let counts = &self.tree.nodes()[node as usize];
        let key = match self.options.order {
            Order::Own => self.options.metric.of_node(counts),
            Order::Inclusive => inclusive,
            Order::Calls => counts.calls,
        };
        (key, Reverse(node))
    }
}
