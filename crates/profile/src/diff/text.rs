//! A difference as text for people.

use super::change::Change;
use super::difference::{ChangedContext, ChangedMethod, Difference, Excess};
use crate::pair::{Mismatch, TextOptions};
use crate::report::numbers::{aligned, counted, cut, grouped};
use crate::{Metric, ReportError};
use std::cmp::Ordering;
use std::io::{BufWriter, Write};

/// The names of the two profiles.
pub const SIDES: [&str; 2] = ["BASE", "NEW"];

/// Titles of the columns with the own counts that were compared. The columns before are changes.
const OWN: [&str; 2] = ["BASE own", "NEW own"];

/// Width of the headings: one space after the longest.
const HEADING: usize = 16;

/// Writes the difference: what was compared and with what reservations, totals, methods and
/// contexts, and counts above their limits. At most `limit` methods and contexts are listed. A last
/// line sums up.
///
/// # Errors
/// Fails if the output fails.
pub fn write_text(
    difference: &Difference,
    options: &TextOptions,
    limit: usize,
    excesses: Option<&[Excess<'_>]>,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let mut text = Text { out: BufWriter::new(out), width: options.width.unwrap_or(usize::MAX), difference };
    text.head(options)?;
    text.totals()?;
    text.methods(limit)?;
    text.contexts()?;
    for excess in excesses.unwrap_or_default() {
        text.line(&excess_in_words(excess, difference))?;
    }
    text.line(&verdict(difference, excesses))?;
    text.out.flush()?;
    Ok(())
}

/// A sentence about a count above its limit.
pub fn excess_in_words(excess: &Excess<'_>, difference: &Difference) -> String {
    let what = excess.method.map_or("the total", |name| name.readable.as_str());
    let noise = if difference.may_be_noise(excess.change) {
        "; two recordings of one version may differ as much (docs/use/diff.md)"
    } else {
        ""
    };
    format!("TOO MUCH: {what}: {}, limit {}{noise}", grown(excess.change, difference), excess.limit)
}

/// How much a count has grown, in words.
fn grown(change: Change, difference: &Difference) -> String {
    format!("{} {} ({})", signed(change), difference.metric.name(), relative(change))
}

/// The last line.
pub fn verdict(difference: &Difference, excesses: Option<&[Excess<'_>]>) -> String {
    let [base, new] = SIDES;
    let judged = match excesses {
        None => "",
        Some([]) => "; within the limits",
        Some(_) => "; limits are exceeded",
    };
    let incomplete = if difference.is_incomplete() { ", but part of an input is missing" } else { "" };
    let jdks = difference.mismatches.iter().find(|mismatch| mismatch.is_of_jdks());
    let jdks = jdks.map_or(String::new(), |Mismatch { what, a, b }| format!("; {what} differs ({a}, {b})"));
    if difference.is_identical() {
        return format!("{base} and {new} are identical{judged}{jdks}{incomplete}.");
    }
    let contexts = counted(difference.changed_contexts.into(), "context");
    let grown = grown(difference.total(), difference);
    format!("{base} and {new} differ in {contexts}: {grown} in all{judged}{jdks}{incomplete}.")
}

struct Text<'d, W: Write> {
    out: W,
    width: usize,
    difference: &'d Difference,
}

impl<W: Write> Text<'_, W> {
    fn line(&mut self, line: &str) -> Result<(), ReportError> {
        Ok(writeln!(self.out, "{}", cut(line.trim_end(), self.width))?)
    }

    /// The word for the first metric: objects replace calls.
    fn counted(&self) -> &'static str {
        match self.difference.metric {
            Metric::Allocations => "objects",
            Metric::Calls | Metric::Bytecodes | Metric::Cost(_) | Metric::Column(_) => "calls",
        }
    }

    fn lines<const N: usize>(&mut self, rows: &[[String; N]]) -> Result<(), ReportError> {
        for line in aligned(rows) {
            self.line(&line)?;
        }
        self.line("")
    }

    fn head(&mut self, options: &TextOptions) -> Result<(), ReportError> {
        for (key, value) in SIDES.iter().zip(&options.names) {
            self.line(&format!("{key:<HEADING$}{value}"))?;
        }
        self.line(&format!("{:<HEADING$}{}", "Compared", options.compared))?;
        for remark in &self.difference.remarks {
            self.line(&remark.line(SIDES, HEADING))?;
        }
        self.line("")
    }

    fn totals(&mut self) -> Result<(), ReportError> {
        let Difference { contexts, calls, bytecodes, .. } = *self.difference;
        let row = |name: &str, change: Change| {
            [grouped(change.base), grouped(change.new), signed(change), relative(change), name.to_owned()]
        };
        let mut rows = vec![["BASE", "NEW", "change", "%", ""].map(str::to_owned), row("contexts", contexts)];
        rows.push(row(self.counted(), calls));
        rows.extend(bytecodes.map(|bytecodes| row(self.difference.metric.name(), bytecodes)));
        self.lines(&rows)
    }

    fn methods(&mut self, limit: usize) -> Result<(), ReportError> {
        let difference = self.difference;
        let word = difference.by.name();
        if difference.changed_methods == 0 {
            return Ok(());
        }
        let shown = difference.methods.len().min(limit);
        let changed = counted(difference.changed_methods as u128, &format!("changed {word}"));
        self.line(&listed(shown, difference.changed_methods as u64, &changed))?;
        let title = ["own", "%", "inclusive", "%", self.counted(), OWN[0], OWN[1], word].map(str::to_owned);
        let row = |method: &ChangedMethod| {
            [
                signed(method.own),
                relative(method.own),
                signed(method.inclusive),
                relative(method.inclusive),
                signed(method.calls),
                grouped(method.own.base),
                grouped(method.own.new),
                difference.names[method.name as usize].readable.clone(),
            ]
        };
        let rows: Vec<_> =
            std::iter::once(title).chain(difference.methods.iter().take(limit).map(row)).collect();
        self.lines(&rows)
    }

    fn contexts(&mut self) -> Result<(), ReportError> {
        let difference = self.difference;
        if difference.is_identical() {
            return Ok(());
        }
        let changed = counted(difference.changed_contexts.into(), "changed context");
        self.line(&listed(difference.largest_contexts.len(), difference.changed_contexts, &changed))?;
        let title = ["own", "%", self.counted(), OWN[0], OWN[1], "context, innermost frame first"];
        let row = |context: &ChangedContext| {
            let frames = context.path.iter().rev().map(|&name| &*difference.names[name as usize].readable);
            [
                signed(context.own),
                relative(context.own),
                signed(context.calls),
                grouped(context.own.base),
                grouped(context.own.new),
                frames.collect::<Vec<&str>>().join(" < "),
            ]
        };
        let rows: Vec<_> = std::iter::once(title.map(str::to_owned))
            .chain(difference.largest_contexts.iter().map(row))
            .collect();
        self.lines(&rows)
    }
}

fn listed(shown: usize, all: u64, text: &str) -> String {
    if shown as u64 == all { text.to_owned() } else { format!("{} of {text}", grouped(shown as u128)) }
}

/// A change with its sign.
pub fn signed(change: Change) -> String {
    let sign = match change.direction() {
        Ordering::Less => "-",
        Ordering::Equal => "",
        Ordering::Greater => "+",
    };
    format!("{sign}{}", grouped(change.size()))
}

/// A change in percent of the base. A change that is not 0 is not shown as 0.
pub fn relative(change: Change) -> String {
    match change.percent() {
        _ if change.size() == 0 => "0 %".to_owned(),
        None => "new".to_owned(),
        Some(_) if change.new == 0 => "gone".to_owned(),
        Some(percent) if percent.abs() < 0.005 => format!("{percent:+.1e} %"),
        Some(percent) => format!("{percent:+.2} %"),
    }
}
