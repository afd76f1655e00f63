//! The header of every report: the source of the numbers and what is missing.

use super::numbers::{counted, grouped};
use cct_columns::Column;

use crate::allocations::ObjectTotals;
use crate::escape::terminal;
use crate::exactness::Exactness;
use crate::library::library_is;
use crate::meta_keys::COST_MODEL;
use crate::meta_keys::LIBRARY;
use crate::meta_keys::RUNS;
use crate::meta_keys::SELECTION;
use crate::summary::Summary;
use crate::{Metric, ReportError};
use std::io::Write;

/// Writes the header ([`header_lines`]).
///
/// # Errors
/// Fails if the output fails.
pub fn write_header(
    summary: &Summary,
    facts: &[(&str, String)],
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    for (key, value) in header_lines(summary, facts) {
        writeln!(out, "{key:<12}{value}")?;
    }
    writeln!(out)?;
    Ok(())
}

/// The lines of the header, each a name and a text. They have the program, the JVM, what was
/// counted and how, sums, further facts with their names, and every note and damage. Texts are
/// escaped for terminals.
pub fn header_lines<'f>(summary: &Summary, facts: &[(&'f str, String)]) -> Vec<(&'f str, String)> {
    let meta = |key: &str| summary.meta.get(key).map(|value| terminal(value));
    let mut lines = Vec::new();
    let mut line = |key, value: String| lines.push((key, value));
    line("Program", meta("main").unwrap_or_else(|| "(unknown)".to_owned()));
    let jvm: Vec<String> = ["java.vm.name", "java.vm.version"].into_iter().filter_map(meta).collect();
    let java = meta("java.version").map(|version| format!(" (Java {version})")).unwrap_or_default();
    if !jvm.is_empty() || !java.is_empty() {
        line("JVM", (jvm.join(" ") + &java).trim_start().to_owned());
    }
    line("Counted", counted_what(summary.metric(), meta("blocks")));
    if let Some(model) = meta(COST_MODEL) {
        line("Cost model", model);
    }
    if let Some(threads) = meta("system-threads") {
        line("JVM threads", threads);
    }
    if let Some(intrinsics) = meta("intrinsics") {
        line("Intrinsics", intrinsics_are(intrinsics));
    }
    if let Some(runs) = meta(RUNS) {
        line("Runs", format!("{runs}, added up"));
    }
    if summary.call_sites {
        line("Call sites", "separate".to_owned());
    }
    if let Some(times) = meta("recursion") {
        line(
            "Recursion",
            format!("folded: a method is on a path at most {times} times").replace(" 1 times", " once"),
        );
    }
    if meta("natives").is_some_and(|natives| natives == "none") {
        line("Natives", "no contexts (their callbacks are below the thread's root)".to_owned());
    }
    if meta("natives").is_some_and(|natives| natives == "prefix") {
        line("Natives", "renamed, with wrappers under their names".to_owned());
    }
    if meta("context").is_some_and(|carrier| carrier == "thread") {
        line("Carrier", "contexts are in a field of the thread".to_owned());
    }
    if let Some(selection) = meta(SELECTION) {
        line("Selection", selection_is(selection));
    }
    if let Some(library) = meta(LIBRARY) {
        line("Library", library_is(&library));
    }
    if let Some(bound) = meta("max-contexts") {
        line("Bound", format!("at most {bound} contexts in each JVM, later ones merged"));
    }
    if let Some(from) = meta("rebuilt") {
        line("Rebuilt", from);
    }
    if let Some(reproducible) = meta("reproducible").filter(|value| value != "no") {
        line("Repeatable", reproducible_is(reproducible));
    }
    if let Some(exactness) = Exactness::of_summary(summary) {
        line("Exact", terminal(&exactness.to_string()));
    }
    for (key, name) in [("tool", "Tool"), ("agent", "Agent")] {
        if let Some(value) = meta(key) {
            line(name, value);
        }
    }
    let alive = summary.not_ended();
    let alive = if alive == 0 { String::new() } else { format!(", {} not ended", grouped(alive as u128)) };
    let trees = counted(summary.trees.len() as u128, "tree");
    line("Threads", format!("{} in {trees}{alive}", grouped(summary.threads())));
    let methods = counted(u128::from(summary.methods), "method");
    line("Contexts", format!("{} of {methods}", grouped(summary.all.contexts)));
    line(if summary.is_of_objects { "Allocations" } else { "Calls" }, grouped(summary.all.calls));
    if summary.counts_bytecodes {
        line(executed(summary.metric()), grouped(summary.all.bytecodes));
    }
    if let Some(ObjectTotals { objects, types }) = summary.objects {
        let of = counted(types.into(), "type");
        line("Allocations", format!("{} of {of} (--metric allocations shows them)", grouped(objects)));
    }
    for (column, sum) in &summary.columns {
        line(column.name(), format!("{} (--metric {} shows them)", grouped(*sum), column.name()));
    }
    for (name, fact) in facts {
        line(name, terminal(fact));
    }
    for damage in &summary.damage {
        line("INCOMPLETE", terminal(&damage.to_string()));
    }
    for note in &summary.notes {
        line("Note", terminal(note));
    }
    lines
}

fn intrinsics_are(choice: String) -> String {
    match &*choice {
        "bytecode" => "bytecode (their Java bodies are executed and counted, except Math.fma)".to_owned(),
        "native" => "native (HotSpot may use its own code: calls without bytecodes)".to_owned(),
        _ => choice,
    }
}

/// The recorded part of the program, in words.
pub(super) fn selection_is(value: String) -> String {
    match &*value {
        "regions" => "regions (only between start() and stop() of the program)".to_owned(),
        _ => value,
    }
}

fn reproducible_is(value: String) -> String {
    match &*value {
        "yes" => "yes (seeds, hash codes and the order of members are pinned, the order of threads is not)"
            .to_owned(),
        "partly" => "partly (seeds and the order of members are pinned; see the notes)".to_owned(),
        _ => value,
    }
}

/// The name of the line of the second metric.
fn executed(metric: Metric) -> &'static str {
    match metric {
        Metric::Calls | Metric::Bytecodes | Metric::Allocations => "Bytecodes",
        Metric::Cost(_) if metric.name() == "cycles" => "Cycles",
        Metric::Cost(_) | Metric::Column(_) => metric.name(),
    }
}

fn counted_what(metric: Metric, blocks: Option<String>) -> String {
    let what = metric.name();
    match (metric, blocks.as_deref()) {
        (Metric::Calls, _) => what.to_owned(),
        (Metric::Column(_), _) => match Column::named(what) {
            Some(column) => format!("calls and {what} ({})", column.counts()),
            None => format!("calls and {what}"),
        },
        (Metric::Allocations, _) => "objects and arrays, by type".to_owned(),
        (_, None) => format!("calls and {what}"),
        (_, Some("default")) => {
            format!("calls and {what} (default blocks: a block that throws counts as a whole)")
        }
        (_, Some(blocks)) => format!("calls and {what} ({blocks} blocks)"),
    }
}
