//! The callers of a method as indented text.

use super::numbers::{aligned, counted, cut, grouped, percent};
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
    /// Cut lines to this many terminal columns.
    pub width: Option<usize>,
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
    let inclusive = format!("inclusive {}", options.metric.name());
    let mut rows =
        vec![["calls".to_owned(), inclusive, "%".to_owned(), "method, and its callers below it".to_owned()]];
    // Chains that are due, the next one last, each with its depth.
    let mut due: Vec<(&Caller, usize)> = callers.methods().into_iter().rev().map(|one| (one, 0)).collect();
    while let Some((caller, depth)) = due.pop() {
        let name = names.get(caller.label as usize).map_or("?", String::as_str);
        rows.push(row(caller.calls, caller.inclusive, options, depth, name));
        if caller.is_cut {
            let text = "  ".repeat(depth + 1) + "... callers beyond --depth";
            rows.push([String::new(), String::new(), String::new(), text]);
        }
        let shown = |one: &&Caller| percent(u128::from(one.inclusive), of_methods) >= options.min_percent;
        let (more, hidden): (Vec<_>, Vec<_>) = callers.of_caller(caller).into_iter().partition(shown);
        if !hidden.is_empty() {
            let calls = hidden.iter().map(|one| one.calls).sum();
            let inclusive = hidden.iter().map(|one| one.inclusive).sum();
            let name = format!("... {}", counted(hidden.len() as u128, "more caller"));
            rows.push(row(calls, inclusive, options, depth + 1, &name));
        }
        due.extend(more.into_iter().rev().map(|one| (one, depth + 1)));
    }
    let mut out = BufWriter::new(out);
    for line in aligned(&rows) {
        writeln!(out, "{}", cut(&line, options.width.unwrap_or(usize::MAX)))?;
    }
    Ok(out.flush()?)
}

fn row(calls: u64, inclusive: u64, options: &CallersOptions, depth: usize, name: &str) -> [String; 4] {
    [
        grouped(u128::from(calls)),
        grouped(u128::from(inclusive)),
        format!("{:.2}", percent(u128::from(inclusive), options.total)),
        "  ".repeat(depth) + name,
    ]
}
