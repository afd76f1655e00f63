//! The calling-context tree as indented text.

use super::layout::{Cell, Columns, Layout};
use super::numbers::{counted, grouped};
use super::{Row, Rows};
use crate::escape::terminal;
use crate::{Metric, ReportError, ThreadTree};
use std::convert::Infallible;
use std::io::{BufWriter, Write};

/// The title of a thread's tree.
pub fn thread_title(thread: &ThreadTree) -> String {
    let mut facts = Vec::new();
    if thread.threads != 1 {
        facts.push(counted(u128::from(thread.threads), "thread"));
    }
    if thread.flags & ThreadTree::DAEMON != 0 {
        facts.push("daemon".to_owned());
    }
    if thread.flags & ThreadTree::ENDED == 0 {
        facts.push("not ended".to_owned());
    }
    let facts = if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(", ")) };
    format!("Thread '{}'{facts}", terminal(&thread.name))
}

/// Writes a tree under a title; `names` are those of its labels. Hidden contexts have a line where
/// they weigh as much as shown ones, or nearly so. A last line counts all of them and says how to
/// show them.
///
/// # Errors
/// Fails if the output fails.
pub fn write_tree(
    title: &str,
    rows: &Rows<'_>,
    names: &[String],
    layout: Layout,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let mut out = BufWriter::new(out);
    writeln!(out, "{}", layout.title(title))?;
    let columns = columns(rows, layout);
    let indentation = columns.indentation(if layout.width.is_some() { deepest(rows) } else { 0 });
    let calls = calls_column(rows.metric());
    let own = if columns.widths[1] > 0 { "own" } else { "" };
    writeln!(out, "{}", columns.line(&[calls, own, "inclusive", "%"].map(Cell::plain), "", "context"))?;
    let (mut hidden, mut weight) = (0u128, 0u64);
    rows.for_each(|row| match row {
        Row::Context { node, depth, inclusive } => {
            let counts = &rows.tree().nodes()[node as usize];
            let number = |count: u64| grouped(u128::from(count));
            let own = if columns.widths[1] > 0 {
                Cell::of_share(number(counts.bytecodes), rows.share(counts.bytecodes))
            } else {
                Cell::default()
            };
            let share = rows.share(inclusive);
            let cells = [
                Cell::plain(number(counts.calls)),
                own,
                Cell::of_share(number(inclusive), share),
                Cell::of_share(format!("{share:.2}"), share),
            ];
            writeln!(out, "{}", columns.line(&cells, &indentation.at(depth), &rows.text(node, names)))
        }
        Row::Hidden { contexts, inclusive, depth } => {
            hidden += u128::from(contexts);
            weight += inclusive;
            if !rows.has_line(row) {
                return Ok(());
            }
            let share = format!("{:.2}", rows.share(inclusive));
            let number = grouped(u128::from(inclusive));
            let cells = ["".to_owned(), "".to_owned(), number, share].map(Cell::plain);
            let text = format!("... {} more", grouped(u128::from(contexts)));
            writeln!(out, "{}", columns.line(&cells, &indentation.at(depth), &text))
        }
    })?;
    if hidden > 0 {
        let contexts = counted(hidden, "context");
        let (because, remedy) = causes(rows);
        let share = rows.share(weight);
        let line = format!("Not shown, but counted: {contexts}, {share:.2} % ({because}). {remedy}");
        writeln!(out, "{}", layout.wrapped(&line))?;
    }
    writeln!(out)?;
    out.flush()?;
    Ok(())
}

/// Why contexts are not shown, and the options that show more.
pub(super) fn causes(rows: &Rows<'_>) -> (String, String) {
    let options = rows.options();
    let (mut because, mut remedies) = (Vec::new(), Vec::new());
    if options.min_percent > 0.0 {
        because.push(format!("below {} %", options.min_percent));
        remedies.push("--min-percent 0".to_owned());
    }
    if let Some(depth) = options.depth {
        because.push(format!("deeper than --depth {depth}"));
        remedies.push("a larger --depth".to_owned());
    }
    if let Some(lines) = rows.limit() {
        because.push(format!("beyond {}", counted(lines as u128, "line")));
        remedies.push("--lines 0".to_owned());
    }
    (because.join(" or "), format!("Show more: {}", remedies.join(", ")))
}

/// The head of the first column.
pub fn calls_column(metric: Metric) -> &'static str {
    if metric == Metric::Allocations { "objects" } else { "calls" }
}

/// Whether own numbers have a column: calls are their own.
pub fn has_own_column(metric: Metric) -> bool {
    match metric {
        Metric::Bytecodes | Metric::Cost(_) | Metric::Column(_) => true,
        Metric::Calls | Metric::Allocations => false,
    }
}

/// The depth of the deepest line.
fn deepest(rows: &Rows<'_>) -> usize {
    let mut deepest = 0;
    let Ok(()) = rows.for_each(|row| {
        let (Row::Context { depth, .. } | Row::Hidden { depth, .. }) = row;
        deepest = depth.max(deepest);
        Ok::<(), Infallible>(())
    });
    deepest
}

/// Columns that are wide enough for all contexts of the tree.
fn columns(rows: &Rows<'_>, layout: Layout) -> Columns<4> {
    let widest = |head: &str, value: &dyn Fn(&crate::Node) -> u64| {
        let most = rows.tree().nodes()[1..].iter().map(value).max().unwrap_or(0);
        grouped(u128::from(most)).len().max(head.len())
    };
    let own = if has_own_column(rows.metric()) { widest("own", &|node| node.bytecodes) } else { 0 };
    let calls = widest(calls_column(rows.metric()), &|node| node.calls);
    let inclusive = grouped(u128::from(rows.total())).len().max("inclusive".len());
    Columns { widths: [calls, own, inclusive, "100.00".len()], layout }
}
