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
    /// Hide the lightest chains beyond this many lines.
    pub lines: Option<usize>,
    /// The maximum number of callers in a chain.
    pub depth: usize,
    /// How lines fit their medium.
    pub layout: Layout,
}

/// Writes the methods, and below each its callers; `names` are those of the labels. Hidden chains
/// have a line where they weigh as much as shown ones, or nearly so. A last line counts all of
/// them.
///
/// # Errors
/// Fails if the output fails.
pub fn write_callers(
    callers: &Callers,
    names: &[String],
    options: &CallersOptions,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let all = CallerLines::of(callers, options, None);
    let shown = match options.lines {
        Some(lines) if all.lines.len() > lines => all.heaviest(callers, options, lines),
        _ => all,
    };
    let cells = |line: &Line<'_>| match line.text {
        Text::Cut => Default::default(),
        _ => numbers(line.calls, line.inclusive, options),
    };
    let mut rows = vec![(
        ["calls", "inclusive", "%"].map(Cell::plain),
        0,
        "method, and its callers below it".to_owned(),
    )];
    rows.extend(shown.lines.iter().map(|line| {
        let text = match line.text {
            Text::Caller(one) => names.get(one.label as usize).map_or("?", String::as_str).to_owned(),
            Text::Hidden(count) => format!("... {}", counted(count, "more caller")),
            Text::Cut => format!("... callers beyond --depth {}", options.depth),
        };
        (cells(line), line.depth, text)
    }));
    let columns = Columns::of(rows.iter().map(|(cells, _, _)| cells), options.layout);
    let indentation = columns.indentation(rows.iter().map(|(_, depth, _)| *depth).max().unwrap_or(0));
    let mut out = BufWriter::new(out);
    let title = format!(
        "Callers, by inclusive {}: each line counts the method's calls through that caller",
        options.metric.name()
    );
    writeln!(out, "{}", options.layout.title(&title))?;
    for (cells, depth, text) in &rows {
        writeln!(out, "{}", columns.line(cells, &indentation.at(*depth), text))?;
    }
    if shown.hidden > 0 {
        let line = shown.not_shown(options);
        writeln!(out, "{}", options.layout.wrapped(&line))?;
    }
    Ok(out.flush()?)
}

/// The size of a chain by which chains are ordered. That of a longer chain is at most as large.
type Weight = (u64, u64);

fn weight(caller: &Caller) -> Weight {
    (caller.inclusive, caller.calls)
}

/// The lines about callers, and the number of those that are hidden.
struct CallerLines<'c> {
    lines: Vec<Line<'c>>,
    hidden: u128,
    inclusive: u128,
    is_limited: bool,
}

struct Line<'c> {
    text: Text<'c>,
    depth: usize,
    calls: u64,
    inclusive: u64,
}

enum Text<'c> {
    Caller(&'c Caller),
    /// This many callers, hidden together.
    Hidden(u128),
    /// The chain is cut.
    Cut,
}

impl<'c> CallerLines<'c> {
    /// The callers of which each is heavier than `floor`, if there is one.
    fn of(callers: &'c Callers, options: &CallersOptions, floor: Option<Weight>) -> CallerLines<'c> {
        let of_methods: u128 = callers.methods().iter().map(|one| u128::from(one.inclusive)).sum();
        let is_heavy = |inclusive: u64| percent(u128::from(inclusive), of_methods) >= options.min_percent;
        let is_shown =
            |one: &Caller| is_heavy(one.inclusive) && floor.is_none_or(|floor| weight(one) > floor);
        let mut all = CallerLines { lines: Vec::new(), hidden: 0, inclusive: 0, is_limited: floor.is_some() };
        let line = |one: &'c Caller, depth| Line {
            text: Text::Caller(one),
            depth,
            calls: one.calls,
            inclusive: one.inclusive,
        };
        // Lines that are due, the next one last.
        let mut due: Vec<Line<'c>> = callers.methods().into_iter().rev().map(|one| line(one, 1)).collect();
        while let Some(next) = due.pop() {
            if let Text::Caller(caller) = next.text {
                let depth = next.depth + 1;
                let (more, hidden): (Vec<&Caller>, Vec<&Caller>) =
                    callers.of_caller(caller).into_iter().partition(|one| is_shown(one));
                let inclusive = hidden.iter().map(|one| one.inclusive).sum();
                all.hidden += hidden.len() as u128;
                all.inclusive += u128::from(inclusive);
                let is_light = floor.is_some_and(|(least, _)| inclusive < least.div_ceil(2));
                if !hidden.is_empty() && !is_light && is_heavy(inclusive) {
                    let calls = hidden.iter().map(|one| one.calls).sum();
                    due.push(Line { text: Text::Hidden(hidden.len() as u128), depth, calls, inclusive });
                }
                due.extend(more.into_iter().rev().map(|one| line(one, depth)));
                if caller.is_cut {
                    due.push(Line { text: Text::Cut, depth, calls: 0, inclusive: 0 });
                }
            }
            all.lines.push(next);
        }
        all
    }

    /// The heaviest of these callers, in at most this many lines; the methods themselves stay.
    fn heaviest(self, callers: &'c Callers, options: &CallersOptions, lines: usize) -> CallerLines<'c> {
        let chains = self.lines.iter().filter_map(|line| match line.text {
            Text::Caller(one) if line.depth > 1 => Some(weight(one)),
            _ => None,
        });
        let mut weights: Vec<Weight> = chains.collect();
        weights.sort_unstable_by(|a, b| b.cmp(a));
        let mut count = weights.len().min(lines);
        loop {
            let shown = CallerLines::of(callers, options, weights.get(count).copied());
            let excess = shown.lines.len().saturating_sub(lines);
            if excess == 0 || count == 0 {
                return shown;
            }
            count -= excess.div_ceil(2).min(count);
        }
    }

    /// How many callers are not shown, why, and the options that show them.
    fn not_shown(&self, options: &CallersOptions) -> String {
        let (mut because, mut remedies) = (Vec::new(), Vec::new());
        if options.min_percent > 0.0 {
            because.push(format!("below {} % of the method", options.min_percent));
            remedies.push("--min-percent 0");
        }
        if let Some(lines) = options.lines.filter(|_| self.is_limited) {
            because.push(format!("beyond {}", counted(lines as u128, "line")));
            remedies.push("--lines 0");
        }
        let callers = counted(self.hidden, "caller");
        let share = percent(self.inclusive, options.total);
        let (because, remedies) = (because.join(" or "), remedies.join(", "));
        format!("Not shown, but counted: {callers}, {share:.2} % ({because}). Show more: {remedies}")
    }
}

fn numbers(calls: u64, inclusive: u64, options: &CallersOptions) -> [Cell; 3] {
    let share = percent(u128::from(inclusive), options.total);
    [
        Cell::plain(grouped(u128::from(calls))),
        Cell::of_share(grouped(u128::from(inclusive)), share),
        Cell::of_share(format!("{share:.2}"), share),
    ]
}
