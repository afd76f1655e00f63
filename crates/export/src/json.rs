//! All of a source as one JSON object. Its schema is `docs/formats/export.schema.json`, with a page beside it, `docs/formats/export.md`.
//!
//! The contexts of a tree are columns, `parent` among them, and not objects in objects: readers of JSON recurse, and stacks are deeper than they
//! can.

use crate::walk::Places;
use crate::{CREATOR, ExportError, Metric, Name, Source, Stacks};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::io::{BufWriter, Write};

/// Version of the object's format.
const VERSION: u32 = 1;

/// Writes the object.
///
/// # Errors
/// When the output fails.
pub fn write(source: &Source, out: &mut dyn Write) -> Result<(), ExportError> {
    let mut out = BufWriter::with_capacity(1 << 18, out);
    let bytecodes = source.bytecodes;
    let pruned = (source.pruned.contexts > 0).then_some(Counts {
        contexts: source.pruned.contexts,
        calls: source.pruned.calls,
        bytecodes: bytecodes.map(|_| source.pruned.bytecodes),
    });
    let document = Document {
        format: "cctrewrite export",
        version: VERSION,
        creator: CREATOR,
        meta: &source.meta,
        notes: &source.notes,
        incomplete: &source.incomplete,
        totals: Counts { contexts: source.rows(), calls: source.calls, bytecodes },
        pruned,
        methods: source.names.iter().map(Method::of).collect(),
        trees: source.stacks.iter().map(|stacks| tree(stacks, bytecodes.is_some())).collect(),
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
            text: &name.text,
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

/// One array for each, the contexts in preorder.
#[derive(Serialize)]
struct Columns<'s> {
    parent: Parents<'s>,
    method: Column<'s>,
    calls: Column<'s>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytecodes: Option<Column<'s>>,
}

fn tree(stacks: &Stacks, bytecodes: bool) -> Tree<'_> {
    let column = |value| Column { stacks, value };
    Tree {
        thread: stacks.thread.as_deref(),
        contexts: Columns {
            parent: Parents(stacks),
            method: column(|node| node.method.into()),
            calls: column(|node| Metric::Calls.of_node(node)),
            bytecodes: bytecodes.then(|| column(|node| Metric::Bytecodes.of_node(node))),
        },
    }
}

/// A column, made while it is written: there may be millions of contexts.
struct Column<'s> {
    stacks: &'s Stacks,
    value: fn(&cct_profile::Node) -> u64,
}

impl Serialize for Column<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.stacks.tree.nodes()[1..].iter().map(self.value))
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
