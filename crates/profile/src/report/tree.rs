//! The calling-context tree as indented text.

use super::numbers::{counted, cut, grouped, percent};
use super::{Row, Rows};
use crate::escape::terminal;
use crate::{Metric, ReportError, ThreadTree};
use std::io::{BufWriter, Write};

/// From this depth on, lines are not indented further but show their depth as a number.
const DEEPEST_INDENT: usize = 40;

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

/// Writes a tree under a title; `names` are those of its labels. Lines are cut to `width` terminal
/// columns.
///
/// # Errors
/// Fails if the output fails.
pub fn write_tree(
    title: &str,
    rows: &Rows<'_>,
    names: &[String],
    width: Option<usize>,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let mut out = BufWriter::new(out);
    let width = width.unwrap_or(usize::MAX);
    writeln!(out, "{}", cut(title, width))?;
    let columns = Columns::of(rows);
    let mut line = |numbers: [&str; 4], text: &str| -> Result<(), ReportError> {
        Ok(writeln!(out, "{}", cut(&columns.line(numbers, text), width))?)
    };
    let own = if columns.own > 0 { rows.metric().name() } else { "" };
    let calls = if rows.metric() == Metric::Allocations { "objects" } else { "calls" };
    line([calls, own, "inclusive", "%"], "context")?;
    let share = |part: u64| format!("{:.2}", percent(u128::from(part), u128::from(rows.total())));
    rows.for_each(|row| match row {
        Row::Context { node, depth, inclusive } => {
            let counts = &rows.tree().nodes()[node as usize];
            let number = |count: u64| grouped(u128::from(count));
            let own = if columns.own > 0 { number(counts.bytecodes) } else { String::new() };
            let name = names.get(counts.method as usize).map_or("?", String::as_str);
            let numbers = [&number(counts.calls), &own, &number(inclusive), &share(inclusive)];
            line(numbers.map(String::as_str), &indented(depth, name))
        }
        Row::Hidden { contexts, inclusive, depth } => {
            let hidden = counted(u128::from(contexts), "more context");
            line([""; 4], &indented(depth, &format!("... {hidden}, {} %", share(inclusive))))
        }
    })?;
    writeln!(out)?;
    out.flush()?;
    Ok(())
}

/// Widths of the columns of numbers.
struct Columns {
    calls: usize,
    /// 0 if bytecodes are not shown.
    own: usize,
    inclusive: usize,
}

impl Columns {
    fn of(rows: &Rows<'_>) -> Columns {
        let widest = |value: &dyn Fn(&crate::Node) -> u64| {
            let most = rows.tree().nodes()[1..].iter().map(value).max().unwrap_or(0);
            grouped(u128::from(most)).len()
        };
        Columns {
            calls: widest(&|node| node.calls).max(if rows.metric() == Metric::Allocations {
                "objects".len()
            } else {
                "calls".len()
            }),
            own: match rows.metric() {
                Metric::Bytecodes | Metric::Cost(_) | Metric::Column(_) => {
                    widest(&|node| node.bytecodes).max(rows.metric().name().len())
                }
                Metric::Calls | Metric::Allocations => 0,
            },
            inclusive: grouped(u128::from(rows.total())).len().max("inclusive".len()),
        }
    }

    fn line(&self, numbers: [&str; 4], text: &str) -> String {
        let [calls, own, inclusive, share] = numbers;
        let mut line = format!("{calls:>0$}", self.calls);
        if self.own > 0 {
            line += &format!("  {own:>0$}", self.own);
        }
        line + &format!("  {inclusive:>0$}  {share:>6}  {text}", self.inclusive)
    }
}

fn indented(depth: usize, text: &str) -> String {
    let level = depth - 1;
    if level <= DEEPEST_INDENT {
        "  ".repeat(level) + text
    } else {
        format!("{}[{depth}] {text}", "  ".repeat(DEEPEST_INDENT))
    }
}
