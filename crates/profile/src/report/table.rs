//! The table of the most expensive methods, or groups of them, over all contexts.

use super::Order;
use super::numbers::{aligned, counted, cut, grouped, percent};
use crate::labels::Labels;
use crate::sums::{Sums, sums};
use crate::{MergeError, Metric, ReportError, Tree};
use std::cmp::Reverse;
use std::io::{BufWriter, Write};

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableRow {
    /// The row's label.
    pub label: u32,
    /// The row's sums.
    pub sums: Sums,
}

/// The table of all labels with calls or other counts, sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The metric.
    pub metric: Metric,
    /// The metric's total over all contexts.
    pub total: u128,
    /// The rows, the largest first.
    pub rows: Vec<TableRow>,
}

/// Makes the objects that a method allocated itself, of any type, its own count, besides that of
/// the types. They do not count again in the total.
fn add_made(trees: &[(&Tree, &[u32])], sums: &mut [Sums]) {
    for (tree, labels) in trees {
        let label = |node: u32| labels.get(tree.nodes()[node as usize].method as usize).copied();
        let mut open: Vec<(u32, u32)> = Vec::new();
        for (index, node) in (0u32..).zip(tree.nodes()).skip(1) {
            while open.pop_if(|(end, _)| *end <= index).is_some() {}
            if let Some(&(_, maker)) = open.last()
                && let Some(sums) = label(maker).and_then(|label| sums.get_mut(label as usize))
            {
                sums.own += u128::from(node.calls);
                sums.calls += u128::from(node.calls);
            }
            open.push((tree.subtree(index).end, index));
        }
    }
}

impl Table {
    /// Creates the table of trees, each with the table that maps its methods to labels. An
    /// inclusive sum counts callees once, even if the label occurs several times in a path
    /// (recursion).
    ///
    /// # Errors
    /// Fails if a tree refers to a missing method.
    pub fn of(
        trees: &[(&Tree, &[u32])],
        labels: usize,
        metric: Metric,
        order: Order,
    ) -> Result<Table, MergeError> {
        let sums = sums(trees, labels, metric)?;
        let total = sums.iter().map(|sums| sums.own).sum();
        Ok(Table::sorted(metric, total, sums, order))
    }

    /// Creates the table of objects and their types ([`crate::Profile::allocations`]). A type's own
    /// count is its objects; a method's own count is the objects that it allocated itself, of any
    /// type. The total has each object once.
    ///
    /// # Errors
    /// Fails as [`Table::of`].
    pub fn of_objects(trees: &[(&Tree, &[u32])], labels: usize, order: Order) -> Result<Table, MergeError> {
        let mut sums = sums(trees, labels, Metric::Allocations)?;
        let total = sums.iter().map(|sums| sums.own).sum();
        add_made(trees, &mut sums);
        Ok(Table::sorted(Metric::Allocations, total, sums, order))
    }

    fn sorted(metric: Metric, total: u128, sums: Vec<Sums>, order: Order) -> Table {
        let rows = (0..).zip(sums).map(|(label, sums)| TableRow { label, sums });
        let mut rows: Vec<TableRow> =
            rows.filter(|row| row.sums.calls > 0 || row.sums.inclusive > 0).collect();
        rows.sort_by_key(|row| {
            let Sums { calls, own, inclusive } = row.sums;
            let key = match order {
                Order::Own => (own, inclusive, calls),
                Order::Inclusive => (inclusive, own, calls),
                Order::Calls => (calls, own, inclusive),
            };
            (Reverse(key), row.label)
        });
        Table { metric, total, rows }
    }
}

/// Writes the first `limit` rows of a table. A last line says what the limit hides. Lines are cut
/// to `width` terminal columns.
///
/// # Errors
/// Fails if the output fails.
pub fn write_table(
    table: &Table,
    labels: &Labels<'_>,
    limit: usize,
    width: Option<usize>,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let (shown, hidden) = table.rows.split_at(limit.min(table.rows.len()));
    let names = labels.readable();
    let word = labels.by().name();
    // If calls are the metric, one column of them is enough.
    let own_column = |text: &str| match table.metric {
        Metric::Bytecodes | Metric::Cost(_) | Metric::Column(_) => text.to_owned(),
        Metric::Calls | Metric::Allocations => String::new(),
    };
    let share = |part| format!("{:.2}", percent(part, table.total));
    let mut lines = vec![[
        if table.metric == Metric::Allocations { "objects" } else { "calls" }.to_owned(),
        own_column("self"),
        own_column("%"),
        "inclusive".to_owned(),
        "%".to_owned(),
        word.to_owned(),
    ]];
    for row in shown {
        let Sums { calls, own, inclusive } = row.sums;
        lines.push([
            grouped(calls),
            own_column(&grouped(own)),
            own_column(&share(own)),
            grouped(inclusive),
            share(inclusive),
            names[row.label as usize].clone(),
        ]);
    }
    let mut out = BufWriter::new(out);
    let width = width.unwrap_or(usize::MAX);
    for line in aligned(&lines) {
        writeln!(out, "{}", cut(&line, width))?;
    }
    if !hidden.is_empty() {
        let more = counted(hidden.len() as u128, &format!("more {word}"));
        let line = match table.metric {
            // Types and the methods that allocate them are not parts of one whole.
            Metric::Allocations => format!("... {more}"),
            Metric::Calls | Metric::Bytecodes | Metric::Cost(_) | Metric::Column(_) => {
                format!("... {more}, {} %", share(hidden.iter().map(|row| row.sums.own).sum()))
            }
        };
        writeln!(out, "{}", cut(&line, width))?;
    }
    writeln!(out)?;
    out.flush()?;
    Ok(())
}
