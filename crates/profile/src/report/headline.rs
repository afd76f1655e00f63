//! The short header of a report: what ran, what it did, and whether the numbers are exact and
//! complete.

use super::header::selection_is;
use super::layout::Layout;
use super::numbers::counted;
use crate::class_filter::DROPPED;
use crate::escape::terminal;
use crate::exactness::Exactness;
use crate::library::library_is;
use crate::meta_keys::{COST_MODEL, LIBRARY, RUNS, SELECTION};
use crate::summary::Summary;
use crate::{Metric, ReportError};
use std::io::Write;

/// Writes the short header ([`headlines`]), and an empty line.
///
/// # Errors
/// Fails if the output fails.
pub fn write_headlines(
    summary: &Summary,
    selected: Option<&str>,
    layout: Layout,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    for line in headlines(summary, selected) {
        writeln!(out, "{}", layout.wrapped(&line))?;
    }
    Ok(writeln!(out)?)
}

/// The short header: a line about the program, one about exactness, and one about how the profile
/// was recorded if that is not the usual way. More lines say which part this is, and what is
/// missing from the numbers: `selected` is the selected part, in words. Texts are escaped for
/// terminals.
pub fn headlines(summary: &Summary, selected: Option<&str>) -> Vec<String> {
    let exactness = Exactness::of_summary(summary);
    let verdict = match &exactness {
        Some(exactness) => exactness.short(),
        None => "unknown: the profile does not say how it was recorded".to_owned(),
    };
    let mut lines = vec![program(summary), format!("Exact: {}", terminal(&verdict))];
    let recorded = recorded(summary, exactness.as_ref());
    if !recorded.is_empty() {
        lines.push(format!("Recorded: {}", recorded.join("; ")));
    }
    let meta = |key: &str| summary.meta.get(key).map(|value| terminal(value));
    lines.extend(meta(SELECTION).map(|what| format!("Selection: {}", selection_is(what))));
    lines.extend(meta(LIBRARY).map(|which| format!("Library: {}", library_is(&which))));
    lines.extend(dropped(summary).map(|note| format!("Note: {}", terminal(note))));
    lines.extend(selected.map(|words| format!("Selected: {}", terminal(words))));
    for damage in &summary.damage {
        lines.push(format!("INCOMPLETE: {}", terminal(&damage.to_string())));
    }
    for (marker, calls) in &summary.markers {
        let calls = counted(*calls, "call");
        lines.push(format!("INCOMPLETE: {}: {calls} of missing contexts", terminal(marker)));
    }
    lines
}

/// The program, its JVM and the sums.
fn program(summary: &Summary) -> String {
    let meta = |key: &str| summary.meta.get(key).map(|value| terminal(value));
    let program = meta("main").unwrap_or_else(|| "(unknown program)".to_owned());
    let java = meta("java.version").map(|version| format!("Java {version}"));
    let java = java.or_else(|| meta("java.vm.version"));
    let java = java.map(|java| format!(" on {java}")).unwrap_or_default();
    let one = if summary.is_of_objects { Metric::Allocations } else { Metric::Calls }.one();
    let mut sums = vec![counted(summary.all.calls, one)];
    if summary.counts_bytecodes {
        sums.push(counted(summary.all.bytecodes, summary.metric().one()));
    }
    sums.push(counted(summary.all.contexts, "context"));
    if let Some(totals) = summary.objects {
        sums.push(format!("{} (--metric allocations)", counted(totals.objects, "object")));
    }
    for &(column, sum) in &summary.columns {
        let name = column.name();
        sums.push(format!("{} (--metric {name})", counted(sum, Metric::Column(column).one())));
    }
    format!("{program}{java}: {}", sums.join(", "))
}

/// What is unusual about the recording, and how many notes the header does not show.
fn recorded(summary: &Summary, exactness: Option<&Exactness>) -> Vec<String> {
    let meta = |key: &str| summary.meta.get(key).map(|value| terminal(value));
    let mut facts = Vec::new();
    facts.extend(meta(RUNS).map(|runs| format!("sum of {runs} runs")));
    facts.extend(meta("rebuilt").map(|from| format!("rebuilt {from}")));
    facts.extend(meta(COST_MODEL).map(|model| format!("cost model {model}")));
    facts.extend(meta("system-threads").map(|threads| format!("JVM threads {threads}")));
    if summary.call_sites {
        facts.push("call sites separate".to_owned());
    }
    facts.extend(meta("recursion").map(|_| "recursion folded".to_owned()));
    facts.extend(meta("natives").map(|natives| format!("natives {natives}")));
    let is_named = |note: &&String| exactness.is_some_and(|exactness| exactness.names(note));
    let is_shown = |note: &&String| is_named(note) || note.starts_with(DROPPED);
    let others = summary.notes.iter().filter(|note| !is_shown(note)).count();
    if others > 0 {
        facts.push(format!("{} (--header full)", counted(others as u128, "note")));
    }
    facts
}

/// The notes that have the numbers of dropped classes.
fn dropped(summary: &Summary) -> impl Iterator<Item = &String> {
    summary.notes.iter().filter(|note| note.starts_with(DROPPED))
}
