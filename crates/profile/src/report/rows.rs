//! The rows of a tree: which contexts are shown, in which order, and what is hidden.

use super::Order;
use super::numbers::percent;
use crate::largest::Largest;
use crate::prefix_sums::prefix_sums;
use crate::{ContextId, MergeError, Metric, Tree};
use std::cmp::Reverse;
use std::convert::Infallible;

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
    /// The only contexts that are shown; `None` if the options alone decide.
    kept: Option<HeaviestNodes>,
    /// The ids of the nodes, if they are shown.
    ids: Option<Vec<ContextId>>,
}

/// The contexts that fit a number of lines.
#[derive(Debug)]
struct HeaviestNodes {
    /// The contexts, sorted.
    nodes: Vec<u32>,
    /// The inclusive metric of the lightest one.
    least: u64,
    lines: usize,
}

impl<'t> Rows<'t> {
    /// Creates the rows of a tree.
    ///
    /// # Errors
    /// Fails if the metric's total exceeds 64 bits.
    pub fn new(tree: &'t Tree, options: RowsOptions) -> Result<Rows<'t>, MergeError> {
        Ok(Rows { tree, options, before: prefix_sums(tree, options.metric)?, kept: None, ids: None })
    }

    /// The rows with the ids of the nodes ([`ContextId::of_tree`]).
    #[must_use]
    pub fn with_ids(self, ids: Vec<ContextId>) -> Rows<'t> {
        Rows { ids: Some(ids), ..self }
    }

    /// The id of a node, if ids are shown.
    pub fn id(&self, node: u32) -> Option<ContextId> {
        self.ids.as_ref()?.get(node as usize).copied()
    }

    /// The text of a row: the name of its context, after its id if ids are shown.
    pub(super) fn text(&self, node: u32, names: &[String]) -> String {
        let method = self.tree.nodes()[node as usize].method;
        let name = names.get(method as usize).map_or("?", String::as_str);
        self.id(node).map_or_else(|| name.to_owned(), |id| format!("#{id} {name}"))
    }

    /// The heaviest rows, so many that [`Rows::lines`] is at most `lines`; all if there are no
    /// more. A context is shown with its callers.
    #[must_use]
    pub fn limited(mut self, lines: usize) -> Rows<'t> {
        // A context is at most as heavy as its caller, and comes after it.
        let mut heaviest = Largest::new(lines.saturating_add(1));
        let Ok(()) = self.for_each(|row| {
            if let Row::Context { node, inclusive, .. } = row {
                heaviest.add(inclusive, node);
            }
            Ok::<(), Infallible>(())
        });
        let heaviest = heaviest.into_sorted();
        if heaviest.len() <= lines && self.lines() <= lines {
            return self;
        }
        let mut count = heaviest.len().min(lines);
        loop {
            let mut nodes = heaviest[..count].to_vec();
            let least = nodes.last().map_or(0, |&lightest| self.inclusive(lightest));
            nodes.sort_unstable();
            self.kept = Some(HeaviestNodes { nodes, least, lines });
            let excess = self.lines().saturating_sub(lines);
            if excess == 0 || count == 0 {
                return self;
            }
            count -= excess.div_ceil(2).min(count);
        }
    }

    /// The number of lines for which [`Rows::limited`] has hidden rows; `None` if it has not.
    pub fn limit(&self) -> Option<usize> {
        self.kept.as_ref().map(|kept| kept.lines)
    }

    /// The options.
    pub fn options(&self) -> RowsOptions {
        self.options
    }

    /// How many lines the rows take: all contexts that are shown, and of those about hidden
    /// contexts the ones that weigh half as much as the lightest shown one, or as the options ask.
    pub fn lines(&self) -> usize {
        let mut lines = 0;
        let Ok(()) = self.for_each(|row| {
            lines += usize::from(self.has_line(row));
            Ok::<(), Infallible>(())
        });
        lines
    }

    /// Whether a row has a line of its own.
    pub(super) fn has_line(&self, row: Row) -> bool {
        match row {
            Row::Context { .. } => true,
            Row::Hidden { inclusive, .. } => {
                let least = self.kept.as_ref().map_or(0, |kept| kept.least.div_ceil(2));
                inclusive >= least && self.share(inclusive) >= self.options.min_percent
            }
        }
    }

    /// The percentage of the total.
    pub(super) fn share(&self, part: u64) -> f64 {
        percent(u128::from(part), u128::from(self.total()))
    }

    /// The path that follows the heaviest child from the root, each context with its inclusive
    /// metric. It ends before a context that the options hide.
    pub fn hot_path(&self) -> Vec<(u32, u64)> {
        let RowsOptions { min_percent, depth, .. } = self.options;
        let (mut path, mut above) = (Vec::new(), 0);
        while depth.is_none_or(|most| path.len() < most) {
            let children = self.tree.children(above).map(|child| (child, self.inclusive(child)));
            let heaviest = children.max_by_key(|&(child, inclusive)| (inclusive, Reverse(child)));
            let Some(step) = heaviest.filter(|(_, inclusive)| self.share(*inclusive) >= min_percent) else {
                break;
            };
            path.push(step);
            above = step.0;
        }
        path
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
            let is_kept = self.kept.as_ref().is_none_or(|kept| kept.nodes.binary_search(&child).is_ok());
            if too_deep || !is_kept || percent(u128::from(inclusive), total) < min_percent {
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
