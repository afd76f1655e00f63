//! `cctrewrite info`: describes profiles.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use cct_profile::meta_keys::MERGED;
use cct_profile::report::{aligned, counted, grouped, write_header};
use cct_profile::summary::TreeSummary;
use cct_profile::{ReportError, Summary};
use serde::Serialize;

use crate::args::{Info, InfoFormat};
use crate::exit::{self, Outcome};
use crate::json::{Head, Object};
use crate::profile_file::{check_stdin, is_stdin, read, shown};

/// Runs the command.
pub fn run(arguments: &Info) -> Result<Outcome> {
    check_stdin(&arguments.profiles)?;
    let mut described = Vec::with_capacity(arguments.profiles.len());
    for path in &arguments.profiles {
        // Only the description of each profile stays in memory.
        described.push(FileSummary {
            file: shown(path),
            bytes: length(path),
            summary: Summary::of(&read(path)?),
        });
    }
    exit::to_stdout(|out| match arguments.format {
        InfoFormat::Text => described.iter().try_for_each(|one| one.text(out)),
        InfoFormat::Json => json(&described, out),
    })?;
    let damaged = described.iter().any(|one| !one.summary.damage.is_empty());
    Ok(if damaged { Outcome::Damaged } else { Outcome::Complete })
}

/// The length of a regular file in bytes; `None` for anything else.
fn length(path: &Path) -> Option<u64> {
    if is_stdin(path) {
        return None;
    }
    std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file).map(|file| file.len())
}

struct FileSummary {
    file: String,
    bytes: Option<u64>,
    summary: Summary,
}

impl FileSummary {
    fn text(&self, out: &mut dyn Write) -> Result<(), ReportError> {
        let summary = &self.summary;
        let bytes = self.bytes.map(|bytes| format!(" ({})", counted(bytes.into(), "byte")));
        let file = cct_build::text::readable(self.file.as_bytes());
        writeln!(out, "{:<12}{file}{}", "File", bytes.unwrap_or_default())?;
        write_header(summary, &facts(summary), out)?;
        for line in aligned(&trees(summary)) {
            writeln!(out, "{line}")?;
        }
        Ok(writeln!(out)?)
    }
}

/// The facts that `info` shows in addition to the header of every report.
pub fn facts(summary: &Summary) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("Methods", methods(summary)),
        ("Depth", format!("{} at most, {:.2} on average", frames(summary), summary.all.average_depth())),
    ];
    for (key, name) in [("provenance", "Made by"), (MERGED, "Merged")] {
        let lines = summary.meta.get(key).map_or("", |lines| lines).lines();
        facts.extend(lines.map(|line| (name, line.to_owned())));
    }
    for (marker, calls) in &summary.markers {
        facts.push(("INCOMPLETE", format!("{marker}: {} of missing contexts", counted(*calls, "call"))));
    }
    facts
}

/// The table of trees, with the headings as its first row.
pub fn trees(summary: &Summary) -> Vec<[String; 7]> {
    let executed = if summary.counts_bytecodes { summary.metric().name() } else { "bytecodes" };
    let head = ["contexts", "depth", "calls", executed, "threads", "", "thread"].map(str::to_owned);
    std::iter::once(head).chain(summary.trees.iter().map(|tree| row(tree, summary))).collect()
}

fn methods(summary: &Summary) -> String {
    let of = |count: u64, what: &str| match count {
        0 => String::new(),
        count => format!(", {} {what}", grouped(count.into())),
    };
    let all = grouped(summary.methods.into());
    format!("{all}{}{}", of(summary.native_methods, "native"), of(summary.unknown_methods, "without a name"))
}

fn frames(summary: &Summary) -> String {
    counted(summary.all.depth.into(), "frame")
}

fn row(tree: &TreeSummary, summary: &Summary) -> [String; 7] {
    let extent = tree.extent;
    let bytecodes = if summary.counts_bytecodes { grouped(extent.bytecodes) } else { String::new() };
    let state = match (tree.daemon, tree.ended) {
        (false, true) => "",
        (true, true) => "daemon",
        (false, false) => "not ended",
        (true, false) => "daemon, not ended",
    };
    [
        grouped(extent.contexts),
        grouped(extent.depth.into()),
        grouped(extent.calls),
        bytecodes,
        grouped(tree.threads.into()),
        state.to_owned(),
        cct_build::text::readable(tree.name.as_bytes()),
    ]
}

#[derive(Serialize)]
struct Tree<'s> {
    thread: &'s str,
    threads: u64,
    ended: bool,
    daemon: bool,
    contexts: u128,
    depth: u64,
    average_depth: f64,
    calls: u128,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytecodes: Option<u128>,
}

fn json(described: &[FileSummary], out: &mut dyn Write) -> Result<(), ReportError> {
    let mut object = Object::new(out, "cctrewrite info", 1)?;
    object.list("profiles", |list| -> Result<(), ReportError> {
        for one in described {
            let summary = &one.summary;
            let mut object = list.object()?;
            object.member("file", &one.file)?;
            object.member("bytes", &one.bytes)?;
            Head::of(summary).write(&mut object)?;
            object.member("native_methods", &summary.native_methods)?;
            object.member("unknown_methods", &summary.unknown_methods)?;
            object.member("depth", &summary.all.depth)?;
            object.member("average_depth", &summary.all.average_depth())?;
            object.list("trees", |list| -> Result<(), ReportError> {
                for tree in &summary.trees {
                    let extent = tree.extent;
                    list.item(&Tree {
                        thread: &tree.name,
                        threads: tree.threads,
                        ended: tree.ended,
                        daemon: tree.daemon,
                        contexts: extent.contexts,
                        depth: extent.depth,
                        average_depth: extent.average_depth(),
                        calls: extent.calls,
                        bytecodes: summary.counts_bytecodes.then_some(extent.bytecodes),
                    })?;
                }
                Ok(())
            })?;
            object.end()?;
        }
        Ok(())
    })?;
    object.end()?;
    Ok(writeln!(out)?)
}
