//! The calling-context tree as indented text.

use super::numbers::{counted, cut, grouped, percent};
use super::{Inclusive, Weight};
use crate::merge::joined;
use crate::names::{FrameTable, NameStyle, escaped};
use crate::{Profile, ReportError, ThreadTree, Tree};
use std::cmp::Reverse;
use std::io::{self, BufWriter, Write};

/// Which trees are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThreadView {
    /// One: the sum over all threads.
    #[default]
    Merged,
    /// Each thread's.
    Each,
}

/// How [`write_tree`] shows trees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeOptions {
    /// Which trees.
    pub threads: ThreadView,
    /// Hide contexts whose inclusive share of their tree is below this many percent.
    pub min_percent: f64,
    /// Hide contexts deeper than this; the outermost frame has depth 1.
    pub depth: Option<usize>,
    /// Cut lines to so many terminal columns.
    pub width: Option<usize>,
    /// How classes spun at run time are called.
    pub names: NameStyle,
}

impl Default for TreeOptions {
    fn default() -> TreeOptions {
        TreeOptions {
            threads: ThreadView::Merged,
            min_percent: 0.5,
            depth: None,
            width: None,
            names: NameStyle::Normalised,
        }
    }
}

/// From this depth on lines are not indented further but carry their depth as a number.
const DEEPEST_INDENT: usize = 40;

/// Writes the tree, or the tree of each thread. Siblings are sorted by their inclusive weight, the heaviest first; behind them a
/// line says how many contexts the thresholds hid there, and how much they weigh.
///
/// # Errors
/// When the output fails, or counts overflow as trees are added up.
pub fn write_tree(profile: &Profile, options: TreeOptions, out: &mut dyn Write) -> Result<(), ReportError> {
    let table = FrameTable::new(&profile.methods, options.names);
    let names = table.readable();
    let weight = Weight::of(profile);
    let mut out = BufWriter::new(out);
    let mut show = |title: &str, threads: &[ThreadTree]| -> Result<(), ReportError> {
        let trees: Vec<_> = threads.iter().map(|thread| (&thread.tree, table.of_method())).collect();
        let tree = joined(&trees)?;
        writeln!(out, "{}", cut(title, options.width.unwrap_or(usize::MAX)))?;
        Rows { tree: &tree, names: &names, weight, options, inclusive: Inclusive::of(&tree, weight) }
            .write(&mut out)?;
        Ok(())
    };
    match options.threads {
        ThreadView::Merged => {
            let title = format!("All threads ({})", counted(profile.threads.len() as u128, "tree"));
            show(&title, &profile.threads)?;
        }
        ThreadView::Each => {
            for thread in &profile.threads {
                show(&title(thread), std::slice::from_ref(thread))?;
            }
        }
    }
    out.flush()?;
    Ok(())
}

fn title(thread: &ThreadTree) -> String {
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
    format!("Thread '{}'{facts}", escaped(&thread.name))
}

/// The lines of one tree.
struct Rows<'a> {
    tree: &'a Tree,
    names: &'a [String],
    weight: Weight,
    options: TreeOptions,
    inclusive: Inclusive<'a>,
}

enum Row {
    Context { node: u32, depth: usize },
    Hidden { contexts: u128, weight: u128, depth: usize },
}

/// Widths of the number columns.
struct Columns {
    calls: usize,
    own: usize,
    inclusive: usize,
}

impl Rows<'_> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let columns = self.columns();
        let own = if self.weight == Weight::Bytecodes { "bytecodes" } else { "" };
        self.line(out, &columns, ["calls", own, "inclusive", "%"], "context")?;
        let mut due = Vec::new();
        self.add_children(0, 1, &mut due);
        while let Some(row) = due.pop() {
            match row {
                Row::Context { node, depth } => {
                    self.context(out, &columns, node, depth)?;
                    self.add_children(node, depth + 1, &mut due);
                }
                Row::Hidden { contexts, weight, depth } => {
                    let share = percent(weight, self.inclusive.total());
                    let text = format!("... {}, {share:.2} %", counted(contexts, "more context"));
                    self.line(out, &columns, [""; 4], &indented(depth, &text))?;
                }
            }
        }
        writeln!(out)
    }

    fn columns(&self) -> Columns {
        let widest = |value: &dyn Fn(&crate::Node) -> u64| {
            let most = self.tree.nodes()[1..].iter().map(value).max().unwrap_or(0);
            grouped(u128::from(most)).len()
        };
        Columns {
            calls: widest(&|node| node.calls).max("calls".len()),
            own: if self.weight == Weight::Bytecodes {
                widest(&|node| node.bytecodes).max("bytecodes".len())
            } else {
                0
            },
            inclusive: grouped(self.inclusive.total()).len().max("inclusive".len()),
        }
    }

    fn context(&self, out: &mut dyn Write, columns: &Columns, index: u32, depth: usize) -> io::Result<()> {
        let node = &self.tree.nodes()[index as usize];
        let inclusive = self.inclusive.subtree(index);
        let own = if self.weight == Weight::Bytecodes {
            grouped(u128::from(node.bytecodes))
        } else {
            String::new()
        };
        let share = format!("{:.2}", percent(inclusive, self.inclusive.total()));
        let numbers = [&grouped(u128::from(node.calls)), &own, &grouped(inclusive), &share];
        let name = self.names.get(node.method as usize).map_or("?", String::as_str);
        self.line(out, columns, numbers.map(String::as_str), &indented(depth, name))
    }

    fn line(&self, out: &mut dyn Write, columns: &Columns, numbers: [&str; 4], text: &str) -> io::Result<()> {
        let [calls, own, inclusive, share] = numbers;
        let mut line = format!("{calls:>0$}", columns.calls);
        if columns.own > 0 {
            line += &format!("  {own:>0$}", columns.own);
        }
        line += &format!("  {inclusive:>0$}  {share:>6}  {text}", columns.inclusive);
        writeln!(out, "{}", cut(&line, self.options.width.unwrap_or(usize::MAX)))
    }

    /// Puts the visible children of `node` and the line about the others on the stack, the heaviest on top.
    fn add_children(&self, node: u32, depth: usize, due: &mut Vec<Row>) {
        let too_deep = self.options.depth.is_some_and(|most| depth > most);
        let visible = |&child: &u32| {
            !too_deep
                && percent(self.inclusive.subtree(child), self.inclusive.total()) >= self.options.min_percent
        };
        let (mut shown, hidden): (Vec<u32>, Vec<u32>) = self.tree.children(node).partition(visible);
        if !hidden.is_empty() {
            due.push(Row::Hidden {
                contexts: hidden.iter().map(|&child| self.tree.subtree(child).len() as u128).sum(),
                weight: hidden.iter().map(|&child| self.inclusive.subtree(child)).sum(),
                depth,
            });
        }
        shown.sort_by_key(|&child| (Reverse(self.inclusive.subtree(child)), child));
        due.extend(shown.into_iter().rev().map(|node| Row::Context { node, depth }));
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
