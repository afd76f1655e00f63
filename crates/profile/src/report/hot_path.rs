//! The hot path as text: from the root down, at each step the heaviest child.

use super::Rows;
use super::layout::{Cell, Columns, Layout};
use super::numbers::{counted, grouped, percent};
use super::tree::{calls_column, causes, has_own_column};
use crate::ReportError;
use std::io::{BufWriter, Write};

/// Writes the hot path of a tree under a title ([`Rows::hot_path`]); `names` are those of its
/// labels. Of a path of more than `lines` steps those in the middle are left out. A last line says
/// whether the path goes on.
///
/// # Errors
/// Fails if the output fails.
pub fn write_hot_path(
    title: &str,
    rows: &Rows<'_>,
    names: &[String],
    lines: Option<usize>,
    layout: Layout,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let path = rows.hot_path();
    let most = lines.unwrap_or(usize::MAX).max(2);
    let (first, last) = if path.len() <= most {
        (&path[..], &path[path.len()..])
    } else {
        (&path[..most - most / 2], &path[path.len() - most / 2..])
    };
    let own_column = |text: &str| if has_own_column(rows.metric()) { text } else { "" }.to_owned();
    let head = [
        calls_column(rows.metric()).to_owned(),
        own_column("own"),
        "inclusive".to_owned(),
        "%".to_owned(),
        "% of caller".to_owned(),
        "depth".to_owned(),
    ];
    let mut table = vec![(head.map(Cell::plain), "context".to_owned())];
    let mut above = rows.total();
    for (step, &(node, inclusive)) in path.iter().enumerate() {
        let counts = &rows.tree().nodes()[node as usize];
        let number = |count: u64| grouped(u128::from(count));
        let share = rows.share(inclusive);
        if step < first.len() || step >= path.len() - last.len() {
            let of_caller = percent(u128::from(inclusive), u128::from(above));
            let own = own_column(&number(counts.bytecodes));
            let cells = [
                Cell::plain(number(counts.calls)),
                Cell::of_share(own, rows.share(rows.metric().of_node(counts))),
                Cell::of_share(number(inclusive), share),
                Cell::of_share(format!("{share:.2}"), share),
                Cell::plain(format!("{of_caller:.2}")),
                Cell::plain((step + 1).to_string()),
            ];
            table.push((cells, rows.text(node, names)));
        }
        above = inclusive;
    }
    let columns = Columns::of(table.iter().map(|(cells, _)| cells), layout);
    let mut out = BufWriter::new(out);
    writeln!(out, "{}", layout.title(title))?;
    for (at, (cells, name)) in table.iter().enumerate() {
        if at == first.len() + 1 && !last.is_empty() {
            let left_out = (path.len() - first.len() - last.len()) as u128;
            writeln!(out, "... {} (--lines 0 shows all)", counted(left_out, "more step"))?;
        }
        writeln!(out, "{}", columns.line(cells, "", name))?;
    }
    let end = path.last().map_or(0, |&(node, _)| node);
    if rows.tree().children(end).next().is_some() {
        let (because, remedy) = causes(rows);
        writeln!(out, "{}", layout.wrapped(&format!("The path goes on ({because}). {remedy}")))?;
    }
    writeln!(out)?;
    Ok(out.flush()?)
}
