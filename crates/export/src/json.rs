//! A source as one JSON object. Its schema is `docs/reference/formats/export.schema.json`,
//! explained in `docs/reference/formats/export.md`.
//!
//! The contexts of a tree are columns, with a column `parent`, instead of nested objects. Readers
//! of JSON recurse, and stacks are deeper than they can.

use crate::name::Functions;
use crate::walk::Places;
use crate::{CREATOR, ExportError, Format, Metric, Name, Source, Stacks};
use cct_profile::Node;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::io::{BufWriter, Write};

/// Version of the object's format.
const VERSION: u32 = 1;

/// The format's row in the table.
pub const FORMAT: Format = Format::text(
    "json",
    "The whole profile as one JSON object (docs/reference/formats/export.md)",
    |source, out| write(source, out),
);

/// Writes the object.
///
/// # Errors
/// Fails if the output fails.
pub fn write(source: &Source, out: &mut dyn Write) -> Result<(), ExportError> {
    let mut out = BufWriter::with_capacity(1 << 18, out);
    let bytecodes = source.bytecodes.filter(|_| !source.is_by_column());
    let functions = Functions::of(&source.names);
    let pruned = (source.pruned.contexts > 0).then_some(Counts {
        contexts: source.pruned.contexts,
        calls: source.pruned.calls,
        bytecodes: bytecodes.map(|_| source.pruned.bytecodes),
        columns: BTreeMap::new(),
    });
    let document = Document {
        format: "cctrewrite export",
        version: VERSION,
        creator: CREATOR,
        meta: &source.meta,
        notes: &source.notes,
        incomplete: &source.incomplete,
        totals: Counts {
            contexts: source.rows(),
            calls: source.calls,
            bytecodes,
            columns: columns(source).map(|metric| (metric.name(), total(source, metric))).collect(),
        },
        pruned,
        methods: functions.names(&source.names).map(Method::of).collect(),
        trees: source.stacks.iter().map(|stacks| tree(source, &functions, stacks)).collect(),
    };
    serde_json::to_writer(&mut out, &document)?;
    writeln!(out)?;
    Ok(out.flush()?)
}

#[derive(Serialize)]
struct Document<'s> {
    format: &'static str,
    version: u32,
    creator: &'static str,
    meta: &'s BTreeMap<String, String>,
    notes: &'s [String],
    incomplete: &'s [String],
    totals: Counts,
    pruned: Option<Counts>,
    methods: Vec<Method<'s>>,
    trees: Vec<Tree<'s>>,
}

/// Sums. Bytecodes are `null` where they were not counted.
#[derive(Serialize)]
struct Counts {
    contexts: u64,
    calls: u64,
    bytecodes: Option<u64>,
    /// Only where there are any.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    columns: BTreeMap<&'static str, u64>,
}

/// The columns besides calls and bytecodes, including the requested one.
fn columns(source: &Source) -> impl Iterator<Item = Metric> {
    source.metrics().into_iter().filter(|metric| matches!(metric, Metric::Column(_)))
}

fn total(source: &Source, metric: Metric) -> u64 {
    let sum = source.columns.iter().find(|(column, _)| Metric::Column(*column) == metric);
    sum.map_or_else(|| source.total_of(metric), |(_, sum)| *sum)
}

#[derive(Serialize)]
struct Method<'s> {
    text: &'s str,
    class: Option<&'s str>,
    name: Option<&'s str>,
    descriptor: Option<&'s str>,
}

impl<'s> Method<'s> {
    fn of(name: &'s Name) -> Method<'s> {
        Method {
            text: name.method_text(),
            class: name.class.as_deref(),
            name: name.method.as_deref(),
            descriptor: name.descriptor.as_deref(),
        }
    }
}

#[derive(Serialize)]
struct Tree<'s> {
    thread: Option<&'s str>,
    contexts: Columns<'s>,
}

/// One array for each property, the contexts in preorder.
#[derive(Serialize)]
struct Columns<'s> {
    parent: Parents<'s>,
    method: Column<'s>,
    /// Only where call sites are distinguished, like the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    bci: Option<Column<'s>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<Column<'s>>,
    calls: Column<'s>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytecodes: Option<Column<'s>>,
    /// Only where there are any.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    columns: BTreeMap<&'static str, Column<'s>>,
}

fn tree<'s>(source: &'s Source, functions: &'s Functions, stacks: &'s Stacks) -> Tree<'s> {
    let has_sites = source.has_call_sites();
    let name = |node: &Node| &source.names[node.method as usize];
    Tree {
        thread: stacks.thread.as_deref(),
        contexts: Columns {
            parent: Parents(stacks),
            method: Column::of(stacks, |_, node| Some(functions.of_name[node.method as usize].into())),
            bci: has_sites.then(|| Column::of(stacks, move |_, node| name(node).bci.map(i64::from))),
            line: has_sites.then(|| Column::of(stacks, move |_, node| name(node).line.map(i64::from))),
            calls: Column::of(stacks, |_, node| count(node, Metric::Calls)),
            bytecodes: (source.bytecodes.is_some() && !source.is_by_column())
                .then(|| Column::of(stacks, |_, node| count(node, Metric::Bytecodes))),
            columns: columns(source)
                .map(|metric| {
                    // A source's sums are at most 2^63 - 1.
                    let value =
                        move |index: u32, _: &Node| Some(source.value(&stacks.tree, index, metric) as i64);
                    (metric.name(), Column::of(stacks, value))
                })
                .collect(),
        },
    }
}

/// A source's sums are at most 2^63 - 1.
fn count(node: &Node, metric: Metric) -> Option<i64> {
    Some(metric.of_node(node) as i64)
}

/// The value of a column for a context, given its index; `None` is null.
type Value<'s> = dyn Fn(u32, &Node) -> Option<i64> + 's;

/// A column, generated while it is written: there may be millions of contexts.
struct Column<'s> {
    stacks: &'s Stacks,
    value: Box<Value<'s>>,
}

impl<'s> Column<'s> {
    fn of(stacks: &'s Stacks, value: impl Fn(u32, &Node) -> Option<i64> + 's) -> Column<'s> {
        Column { stacks, value: Box::new(value) }
    }
}

impl Serialize for Column<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let contexts = (1u32..).zip(&self.stacks.tree.nodes()[1..]);
        serializer.collect_seq(contexts.map(|(index, node)| (self.value)(index, node)))
    }
}

/// The position of each context's caller in the same columns, -1 for an outermost one.
struct Parents<'s>(&'s Stacks);

impl Serialize for Parents<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The tree's root, at index 0, is no context.
        let position = |index: u32| i64::from(index) - 1;
        serializer.collect_seq(Places::new(&self.0.tree).map(|place| place.caller.map_or(-1, position)))
    }
}
