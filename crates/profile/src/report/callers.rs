//! The callers of a method as indented text.

use super::layout::{Cell, Columns, Layout};
use super::numbers::{counted, grouped, percent};
use crate::callers::{Caller, Callers};
use crate::{Metric, ReportError};
use std::io::{BufWriter, Write};

/// How callers are written.
#[derive(Debug, Clone, Copy)]
pub struct CallersOptions {
    /// What is summed up.
    pub metric: Metric,
    /// The metric's total, of which shares are percentages.
    pub total: u128,
    /// Hide chains whose share of the methods is below this many percent.
    pub min_percent: f64,
    /// How lines fit their medium.
    pub layout: Layout,
}

/// Writes the methods, and below each its callers; `names` are those of the labels.
///
/// # Errors
/// Fails if the output fails.
pub fn write_callers(
    callers: &Callers,
    names: &[String],
    options: &CallersOptions,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let of_methods: u128 = callers.methods().iter().map(|one| u128::from(one.inclusive)).sum();
    let head = ["calls", "inclusive", "%"].map(Cell::plain);
    let mut rows = vec![(head, 0, "method, and its callers below it".to_owned())];
    // Chains that are due, the next one last, each with its depth.
    let mut due: Vec<(&Caller, usize)> = callers.methods().into_iter().rev().map(|one| (one, 1)).collect();
    while let Some((caller, depth)) = due.pop() {
        let name = names.get(caller.label as usize).map_or("?", String::as_str);
        rows.push((cells(caller.calls, caller.inclusive, options), depth, name.to_owned()));
        if caller.is_cut {
            rows.push((Default::default(), depth + 1, "... callers beyond --depth".to_owned()));
        }
        let shown = |one: &&Caller| percent(u128::from(one.inclusive), of_methods) >= options.min_percent;
        let (more, hidden): (Vec<_>, Vec<_>) = callers.of_caller(caller).into_iter().partition(shown);
        if !hidden.is_empty() {
            let calls = hidden.iter().map(|one| one.calls).sum();
            let inclusive = hidden.iter().map(|one| one.inclusive).sum();
            let name = format!("... {}", counted(hidden.len() as u128, "more caller"));
            rows.push((cells(calls, inclusive, options), depth + 1, name));
        }
        due.extend(more.into_iter().rev().map(|one| (one, depth + 1)));
    }
    let columns = Columns::of(rows.iter().map(|(cells, _, _)| cells), options.layout);
    let indentation = columns.indentation(rows.iter().map(|(_, depth, _)| *depth).max().unwrap_or(0));
    let mut out = BufWriter::new(out);
    writeln!(out, "{}", options.layout.title(&format!("Callers, by inclusive {}", options.metric.name())))?;
    for (cells, depth, name) in &rows {
        writeln!(out, "{}", columns.line(cells, &indentation.at(*depth), name))?;
    }
    Ok(out.flush()?)
}

fn cells(calls: u64, inclusive: u64, options: &CallersOptions) -> [Cell; 3] {
    let share = percent(u128::from(inclusive), options.total);
    [
        Cell::plain(grouped(u128::from(calls))),
        Cell::of_share(grouped(u128::from(inclusive)), share),
        Cell::of_share(format!("{share:.2}"), share),
    ]
}
