//! A comparison as text for people.

use super::measure::Agreement;
use super::result::{Comparison, ListEntry, UnpairedContexts};
use crate::ReportError;
use crate::metric::Counts;
use crate::pair::{SIDES, TextOptions};
use crate::report::numbers::{counted, cut, grouped};
use std::io::{BufWriter, Write};

/// Writes the comparison: what is compared and with what reservations, totals, measures, the lists,
/// and a last line that says whether they are equal.
///
/// # Errors
/// Fails if the output fails.
pub fn write_text(
    comparison: &Comparison,
    options: &TextOptions,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let mut out = Text { out: BufWriter::new(out), width: options.width.unwrap_or(usize::MAX) };
    out.head(comparison, options)?;
    out.sums(comparison)?;
    out.measures(comparison)?;
    out.only("A", &comparison.only_a, comparison)?;
    out.only("B", &comparison.only_b, comparison)?;
    for agreement in comparison.agreements() {
        out.different(agreement, comparison)?;
    }
    let incomplete = if comparison.is_incomplete() { ", but part of an input is missing" } else { "" };
    let result = if comparison.is_equal() { "equal" } else { "different" };
    out.line(&format!("A and B are {result}{incomplete}."))?;
    out.out.flush()?;
    Ok(())
}

struct Text<W: Write> {
    out: W,
    width: usize,
}

/// A row of a table: the left-aligned first or last column is text, the others are numbers.
type Row = Vec<String>;

impl<W: Write> Text<W> {
    fn line(&mut self, line: &str) -> Result<(), ReportError> {
        Ok(writeln!(self.out, "{}", cut(line.trim_end(), self.width))?)
    }

    fn head(&mut self, comparison: &Comparison, options: &TextOptions) -> Result<(), ReportError> {
        let mut line = |key: &str, value: &str| self.line(&format!("{key:<12}{value}"));
        line("A", &options.names[0])?;
        line("B", &options.names[1])?;
        line("Compared", &options.compared)?;
        for remark in &comparison.remarks {
            // A space between the longest heading and its text.
            self.line(&remark.line(SIDES, 12))?;
        }
        self.line("")
    }

    fn sums(&mut self, comparison: &Comparison) -> Result<(), ReportError> {
        let Comparison { contexts_a, contexts_b, common, only_a, only_b, .. } = comparison;
        let mut rows = vec![["", "A", "B", "A - B"].map(str::to_owned).to_vec()];
        rows.push(sum("Contexts", *contexts_a, *contexts_b));
        for agreement in comparison.agreements() {
            rows.push(sum(&agreement.metric.capitalised(), agreement.a, agreement.b));
        }
        self.table(&rows, 0)?;
        self.line("")?;

        let mut rows =
            vec![columns("", "contexts", comparison, |agreement| agreement.metric.name().to_owned())];
        for (name, only) in [("Only in A", only_a), ("Only in B", only_b)] {
            let sums = Counts { calls: only.calls, bytecodes: only.bytecodes };
            let value = |agreement: &Agreement<ListEntry>| number(agreement.metric.of(sums));
            rows.push(columns(name, &number(only.contexts), comparison, value));
        }
        rows.push(vec!["In both".to_owned(), number(*common)]);
        for agreement in comparison.agreements() {
            let name = format!("  different {}", agreement.metric.name());
            let difference = format!("|A - B| = {}", grouped(agreement.different_absolute));
            let row = columns(&name, &number(agreement.different), comparison, |other| {
                if other.metric == agreement.metric { difference.clone() } else { String::new() }
            });
            rows.push(row);
        }
        self.table(&rows, 0)?;
        self.line("")
    }

    fn measures(&mut self, comparison: &Comparison) -> Result<(), ReportError> {
        let row = |name: &str, value: &dyn Fn(&Agreement<ListEntry>) -> String| {
            let values = comparison.agreements().map(value);
            std::iter::once(name.to_owned()).chain(values).collect::<Row>()
        };
        let rows = [
            row("", &|agreement| agreement.metric.name().to_owned()),
            row("Overlap", &|agreement| agreement.overlap.to_string()),
            row("Relative error of the total", &|agreement| signed_error(agreement.relative_error())),
            row("  summed over contexts", &|agreement| error(agreement.error_over_contexts())),
            row("  largest of a context in both", &|agreement| error(agreement.largest_error)),
        ];
        self.table(&rows, 0)?;
        self.line("")
    }

    fn only(
        &mut self,
        side: &str,
        only: &UnpairedContexts,
        comparison: &Comparison,
    ) -> Result<(), ReportError> {
        if only.largest.is_empty() {
            return Ok(());
        }
        self.line(&format!("Only in {side}: {}", of_how_many(only.largest.len(), only.contexts)))?;
        let row = |numbers: &dyn Fn(&Agreement<ListEntry>) -> String, context: String| {
            comparison.agreements().map(numbers).chain([context]).collect::<Row>()
        };
        let mut rows = vec![row(&|agreement| agreement.metric.name().to_owned(), CONTEXT.to_owned())];
        for listed in &only.largest {
            let counts = if side == "A" { listed.a } else { listed.b };
            let context = path(listed, comparison);
            rows.push(row(&|agreement| number(agreement.metric.of(counts)), context));
        }
        let last = rows[0].len() - 1;
        self.table(&rows, last)?;
        self.line("")
    }

    fn different(
        &mut self,
        agreement: &Agreement<ListEntry>,
        comparison: &Comparison,
    ) -> Result<(), ReportError> {
        let lists = [
            ("largest differences", &agreement.by_difference),
            ("largest relative differences", &agreement.by_ratio),
        ];
        for (what, listed) in lists {
            if listed.is_empty() {
                continue;
            }
            let count = of_how_many(listed.len(), agreement.different);
            self.line(&format!("Different {}, {what}: {count}", agreement.metric.name()))?;
            let mut rows = vec![["A", "B", "A - B", "(A - B) / B", CONTEXT].map(str::to_owned).to_vec()];
            for listed in listed {
                let (a, b) = (agreement.metric.of(listed.a), agreement.metric.of(listed.b));
                let ratio = signed_error(super::relative_error(a, b));
                rows.push(vec![number(a), number(b), difference(a, b), ratio, path(listed, comparison)]);
            }
            self.table(&rows, 4)?;
            self.line("")?;
        }
        Ok(())
    }

    /// Writes columns of numbers right-aligned, and the column `text` left-aligned.
    fn table(&mut self, rows: &[Row], text: usize) -> Result<(), ReportError> {
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        // A left-aligned last column needs no padding, and may be very long.
        let widths: Vec<usize> =
            (0..columns).map(|c| if c == text && c + 1 == columns { 0 } else { width(c) }).collect();
        for row in rows {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
                if column == text { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            self.line(&cells.collect::<Vec<String>>().join("  "))?;
        }
        Ok(())
    }
}

/// Title of the column of contexts.
const CONTEXT: &str = "context, innermost frame first";

fn columns(
    name: &str,
    contexts: &str,
    comparison: &Comparison,
    value: impl Fn(&Agreement<ListEntry>) -> String,
) -> Row {
    [name.to_owned(), contexts.to_owned()].into_iter().chain(comparison.agreements().map(value)).collect()
}

fn sum(name: &str, a: u64, b: u64) -> Row {
    vec![name.to_owned(), number(a), number(b), difference(a, b)]
}

fn of_how_many(shown: usize, all: u64) -> String {
    let contexts = counted(u128::from(all), "context");
    if shown as u64 == all { contexts } else { format!("{} of {contexts}", grouped(shown as u128)) }
}

fn number(count: u64) -> String {
    grouped(u128::from(count))
}

fn difference(a: u64, b: u64) -> String {
    let sign = match a.cmp(&b) {
        std::cmp::Ordering::Less => "-",
        std::cmp::Ordering::Equal => "",
        std::cmp::Ordering::Greater => "+",
    };
    format!("{sign}{}", number(a.abs_diff(b)))
}

fn error(error: f64) -> String {
    if error == 0.0 {
        "0".to_owned()
    } else if error.is_infinite() {
        "infinite".to_owned()
    } else if (1e-3..1e6).contains(&error.abs()) {
        format!("{error:.4}")
    } else {
        format!("{error:.2e}")
    }
}

fn signed_error(signed: f64) -> String {
    let sign = if signed > 0.0 && signed.is_finite() { "+" } else { "" };
    format!("{sign}{}", error(signed))
}

fn path(listed: &ListEntry, comparison: &Comparison) -> String {
    let frames = listed.path.iter().rev().map(|&frame| comparison.frames[frame as usize].readable.as_str());
    frames.collect::<Vec<&str>>().join(" < ")
}
