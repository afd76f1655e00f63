//! speedscope's own format: JSON, for which its npm package has a schema
//! (`file-format-schema.json`).
//!
//! For each tree and metric there is an evented profile. Each context opens at the end of those
//! before it, has its own count as a duration, then its callees, and closes. So a profile loses
//! only the other metric, which is a profile of its own. (A sampled profile would repeat the whole
//! stack for each context.)

use crate::walk::{Step, Walk};
use crate::{CREATOR, ExportError, Format, Metric, Name, Source, Stacks};
use serde::{Serialize, Serializer};
use std::io::{BufWriter, Write};

/// The format's row in the table.
pub const FORMAT: Format = Format::text("speedscope", "speedscope's JSON", |source, out| write(source, out));

/// Writes the file.
///
/// # Errors
/// Fails if the output fails.
pub fn write(source: &Source, out: &mut dyn Write) -> Result<(), ExportError> {
    let mut out = BufWriter::with_capacity(1 << 18, out);
    let file = File {
        schema: "https://www.speedscope.app/file-format-schema.json",
        exporter: CREATOR,
        name: name(source),
        active_profile_index: heaviest(source) * source.metrics().len(),
        shared: SharedFrames { frames: source.names.iter().map(Frame::of).collect() },
        profiles: source
            .stacks
            .iter()
            .flat_map(|stacks| {
                source.metrics().into_iter().map(move |metric| profile(source, stacks, metric))
            })
            .collect(),
    };
    serde_json::to_writer(&mut out, &file)?;
    writeln!(out)?;
    Ok(out.flush()?)
}

/// The tree with the largest sum, on which speedscope opens. Of several the first.
fn heaviest(source: &Source) -> usize {
    let sum = |stacks: &Stacks| -> u64 {
        let contexts = 1..stacks.tree.nodes().len() as u32;
        contexts.map(|node| source.value(&stacks.tree, node, source.metric)).sum()
    };
    let sums = source.stacks.iter().map(sum).enumerate();
    sums.rev().max_by_key(|(_, sum)| *sum).map_or(0, |(at, _)| at)
}

/// The program, and limits of the numbers: the format has no other place for them.
fn name(source: &Source) -> String {
    let lacks = source.incomplete.iter().map(|what| format!("; INCOMPLETE: {what}"));
    let pruned = source.pruning().map(|pruned| format!("; {pruned}"));
    std::iter::once(source.program().to_owned()).chain(lacks).chain(pruned).collect()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'s> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    exporter: &'static str,
    name: String,
    active_profile_index: usize,
    shared: SharedFrames<'s>,
    profiles: Vec<Profile<'s>>,
}

#[derive(Serialize)]
struct SharedFrames<'s> {
    frames: Vec<Frame<'s>>,
}

#[derive(Serialize)]
struct Frame<'s> {
    name: &'s str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
}

impl<'s> Frame<'s> {
    fn of(name: &'s Name) -> Frame<'s> {
        Frame { name: &name.text, file: name.file() }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Profile<'s> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: String,
    unit: &'static str,
    start_value: u64,
    end_value: u64,
    events: Events<'s>,
}

fn profile<'s>(source: &'s Source, stacks: &'s Stacks, metric: Metric) -> Profile<'s> {
    let thread = stacks.frame().unwrap_or_else(|| "all threads".to_owned());
    let contexts = 1..stacks.tree.nodes().len() as u32;
    Profile {
        kind: "evented",
        name: format!("{thread}: {}", metric.name()),
        unit: "none",
        start_value: 0,
        end_value: contexts.map(|node| source.value(&stacks.tree, node, metric)).sum(),
        events: Events { source, stacks, metric },
    }
}

/// The events of a tree, generated while they are written: there may be millions.
struct Events<'s> {
    source: &'s Source,
    stacks: &'s Stacks,
    metric: Metric,
}

#[derive(Serialize)]
struct Event {
    #[serde(rename = "type")]
    kind: &'static str,
    frame: u32,
    at: u64,
}

impl Serialize for Events<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let nodes = self.stacks.tree.nodes();
        let mut at = 0;
        serializer.collect_seq(Walk::new(&self.stacks.tree).map(|step| {
            let (kind, context) = match step {
                Step::Enter(context) => ("O", context),
                Step::Leave(context) => ("C", context),
            };
            let node = &nodes[context as usize];
            let event = Event { kind, frame: node.method, at };
            if kind == "O" {
                at += self.source.value(&self.stacks.tree, context, self.metric);
            }
            event
        }))
    }
}
