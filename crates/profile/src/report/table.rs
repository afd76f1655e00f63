//! The table of the most expensive methods, or groups of them, over all contexts.

use super::Order;
use super::layout::{Cell, Columns, Layout};
use super::numbers::{counted, grouped, percent};
use super::tree::{calls_column, has_own_column};
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
        Ok(Table::of_sums(metric, total, sums, order))
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
        Ok(Table::of_sums(Metric::Allocations, total, sums, order))
    }

    fn of_sums(metric: Metric, total: u128, sums: Vec<Sums>, order: Order) -> Table {
        let rows = (0..).zip(sums).map(|(label, sums)| TableRow { label, sums });
        let rows = rows.filter(|row| row.sums.calls > 0 || row.sums.inclusive > 0).collect();
        Table { metric, total, rows }.sorted(order)
    }

    /// The table in this order, the largest first.
    #[must_use]
    pub fn sorted(mut self, order: Order) -> Table {
        self.rows.sort_by_key(|row| {
            let Sums { calls, own, inclusive } = row.sums;
            let key = match order {
                Order::Own => (own, inclusive, calls),
                Order::Inclusive => (inclusive, own, calls),
                Order::Calls => (calls, own, inclusive),
            };
            (Reverse(key), row.label)
        });
        self
    }
}

/// How a table is written.
#[derive(Clone, Copy, Debug)]
pub struct TableOptions<'a> {
    /// The title above the table.
    pub title: &'a str,
    /// Maximum number of rows; a last line says what it hides.
    pub limit: usize,
    /// How lines fit their medium.
    pub layout: Layout,
}

/// Writes a table.
///
/// # Errors
/// Fails if the output fails.
pub fn write_table(
    table: &Table,
    labels: &Labels<'_>,
    options: &TableOptions<'_>,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let (shown, hidden) = table.rows.split_at(options.limit.min(table.rows.len()));
    let names = labels.readable();
    let word = labels.by().name();
    // If calls are the metric, one column of them is enough.
    let has_own = has_own_column(table.metric);
    let own_column = |cell: Cell| if has_own { cell } else { Cell::default() };
    let own_head = |text: &str| own_column(Cell::plain(text));
    let head = [
        Cell::plain(calls_column(table.metric)),
        own_head("own"),
        own_head("%"),
        Cell::plain("inclusive"),
        Cell::plain("%"),
    ];
    let mut lines = vec![(head, word)];
    for row in shown {
        let Sums { calls, own, inclusive } = row.sums;
        let [of_own, of_inclusive] = [own, inclusive].map(|part| percent(part, table.total));
        let cells = [
            Cell::plain(grouped(calls)),
            own_column(Cell::of_share(grouped(own), of_own)),
            own_column(Cell::of_share(format!("{of_own:.2}"), of_own)),
            Cell::of_share(grouped(inclusive), of_inclusive),
            Cell::of_share(format!("{of_inclusive:.2}"), of_inclusive),
        ];
        lines.push((cells, &names[row.label as usize]));
    }
    let mut out = BufWriter::new(out);
    let layout = options.layout;
    writeln!(out, "{}", layout.title(options.title))?;
    let columns = Columns::of(lines.iter().map(|(cells, _)| cells), layout);
    for (cells, name) in &lines {
        writeln!(out, "{}", columns.line(cells, "", name))?;
    }
    if !hidden.is_empty() {
        let more = counted(hidden.len() as u128, &format!("more {word}"));
        let own: u128 = hidden.iter().map(|row| row.sums.own).sum();
        match table.metric {
            // Types and the methods that allocate them are not parts of one whole.
            Metric::Allocations => writeln!(out, "... {more}")?,
            Metric::Calls | Metric::Bytecodes | Metric::Cost(_) | Metric::Column(_) => {
                writeln!(out, "... {more}, own {:.2} %", percent(own, table.total))?;
            }
        }
    }
    writeln!(out)?;
    out.flush()?;
    Ok(())
}
