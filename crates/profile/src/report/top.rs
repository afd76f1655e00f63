//! The methods that cost most, over all contexts.

use super::Weight;
use super::numbers::{counted, cut, grouped, percent};
use crate::names::{FrameTable, NameStyle};
use crate::{MergeError, Profile, ReportError, Tree};
use std::cmp::Reverse;
use std::io::{BufWriter, Write};

/// The order of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Bytecodes of the method itself.
    #[default]
    Own,
    /// Bytecodes of the method and all callees.
    Inclusive,
    /// Calls.
    Calls,
}

/// Options of [`write_top`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopOptions {
    /// The order.
    pub order: Order,
    /// Maximum number of methods.
    pub limit: usize,
    /// Cut lines to this many terminal columns.
    pub width: Option<usize>,
    /// Treatment of names of generated classes.
    pub names: NameStyle,
}

impl Default for TopOptions {
    fn default() -> TopOptions {
        TopOptions { order: Order::Own, limit: 30, width: None, names: NameStyle::Normalised }
    }
}

/// Sums over all contexts of one method.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    calls: u128,
    own: u128,
    inclusive: u128,
}

/// Writes the table. A method's inclusive sum counts callees once, even if the method occurs
/// several times in a path (recursion). A last line says what the limit hides. Where bytecodes were
/// not counted, the sums are of calls.
///
/// # Errors
/// Fails if the output fails, or if a tree refers to no method of the profile.
pub fn write_top(profile: &Profile, options: TopOptions, out: &mut dyn Write) -> Result<(), ReportError> {
    let table = FrameTable::new(&profile.methods, options.names);
    let weight = Weight::of(profile);
    let sums = sums(profile, &table, weight)?;
    let total: u128 = sums.iter().map(|s| s.own).sum();
    let mut order: Vec<usize> =
        (0..sums.len()).filter(|&i| sums[i].calls > 0 || sums[i].inclusive > 0).collect();
    order.sort_by_key(|&i| {
        let Sums { calls, own, inclusive } = sums[i];
        Reverse(match options.order {
            Order::Own => (own, inclusive, calls),
            Order::Inclusive => (inclusive, own, calls),
            Order::Calls => (calls, own, inclusive),
        })
    });
    let (shown, hidden) = order.split_at(options.limit.min(order.len()));
    let names = table.readable();
    let bytecodes = weight == Weight::Bytecodes;
    let mut rows = vec![
        [
            "calls",
            if bytecodes { "self" } else { "" },
            if bytecodes { "%" } else { "" },
            "inclusive",
            "%",
            "method",
        ]
        .map(str::to_owned),
    ];
    for &i in shown {
        let Sums { calls, own, inclusive } = sums[i];
        let share = |part| format!("{:.2}", percent(part, total));
        let (own, own_share) = if bytecodes { (grouped(own), share(own)) } else { Default::default() };
        rows.push([grouped(calls), own, own_share, grouped(inclusive), share(inclusive), names[i].clone()]);
    }
    let mut out = BufWriter::new(out);
    let width = options.width.unwrap_or(usize::MAX);
    for line in aligned(&rows) {
        writeln!(out, "{}", cut(&line, width))?;
    }
    if !hidden.is_empty() {
        let own = percent(hidden.iter().map(|&i| sums[i].own).sum(), total);
        let line = format!("... {}, {own:.2} %", counted(hidden.len() as u128, "more method"));
        writeln!(out, "{}", cut(&line, width))?;
    }
    writeln!(out)?;
    out.flush()?;
    Ok(())
}

/// Formats columns of numbers right-aligned, and the last column left-aligned; omits empty columns.
fn aligned(rows: &[[String; 6]]) -> impl Iterator<Item = String> {
    let widths: [usize; 6] = std::array::from_fn(|c| rows.iter().map(|row| row[c].len()).max().unwrap_or(0));
    rows.iter().map(move |row| {
        let numbers = row.iter().zip(widths).take(5).filter(|(_, width)| *width > 0);
        let mut line: String = numbers.map(|(number, width)| format!("{number:>width$}  ")).collect();
        line += &row[5];
        line
    })
}

/// The sums of each frame of the table.
fn sums(profile: &Profile, table: &FrameTable<'_>, weight: Weight) -> Result<Vec<Sums>, MergeError> {
    let mut sums = vec![Sums::default(); table.frames().len()];
    let frames = table.of_method();
    for thread in &profile.threads {
        add_tree(&thread.tree, frames, weight, &mut sums)?;
    }
    Ok(sums)
}

fn add_tree(tree: &Tree, frames: &[u32], weight: Weight, sums: &mut [Sums]) -> Result<(), MergeError> {
    let inclusive = super::Inclusive::of(tree, weight);
    // For each frame, the end of the outermost subtree that has it: inside, the frame is not
    // counted again.
    let mut counted_until = vec![0u32; sums.len()];
    for (index, node) in (0u32..).zip(tree.nodes()).skip(1) {
        let frame = frames.get(node.method as usize).copied();
        let frame =
            frame.ok_or(MergeError::NoSuchMethod { method: node.method, count: frames.len() })? as usize;
        sums[frame].calls += u128::from(node.calls);
        sums[frame].own += u128::from(weight.own(node));
        if index >= counted_until[frame] {
            sums[frame].inclusive += inclusive.subtree(index);
            counted_until[frame] = tree.subtree(index).end;
        }
    }
    Ok(())
}
