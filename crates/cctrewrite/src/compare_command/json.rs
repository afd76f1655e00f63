//! A comparison as one JSON object (`docs/use/diff.md`).

use std::io::{self, Write};

use cct_profile::compare::{Agreement, Comparison, ListEntry, UnpairedContexts};
use cct_profile::pair::TextOptions;
use serde::Serialize;

/// Version of the object's format.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'c> {
    version: u32,
    a: &'c str,
    b: &'c str,
    compared: &'c str,
    equal: bool,
    incomplete: bool,
    remarks: Vec<Remark>,
    contexts: Contexts,
    only_a: OneSide<'c>,
    only_b: OneSide<'c>,
    calls: Metric<'c>,
    /// `null` when bytecodes were not compared.
    bytecodes: Option<Metric<'c>>,
}

#[derive(Serialize)]
struct Remark {
    kind: &'static str,
    /// The profile that it is about; `null` for both.
    side: Option<String>,
    text: String,
}

#[derive(Serialize)]
struct Contexts {
    a: u64,
    b: u64,
    both: u64,
}

#[derive(Serialize)]
struct OneSide<'c> {
    contexts: u64,
    calls: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytecodes: Option<u64>,
    largest: Vec<One<'c>>,
}

#[derive(Serialize)]
struct One<'c> {
    calls: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytecodes: Option<u64>,
    path: Vec<&'c str>,
}

/// Infinite errors (B has no such counts) are `null`.
#[derive(Serialize)]
struct Metric<'c> {
    a: u64,
    b: u64,
    overlap_percent: f64,
    relative_error: Option<f64>,
    error_over_contexts: Option<f64>,
    largest_error: Option<f64>,
    different_contexts: u64,
    largest_differences: Vec<Difference<'c>>,
    largest_relative_differences: Vec<Difference<'c>>,
}

#[derive(Serialize)]
struct Difference<'c> {
    a: u64,
    b: u64,
    path: Vec<&'c str>,
}

/// Writes the object, and a line end.
pub fn write(found: &Comparison, options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let remarks = found.remarks.iter().map(|remark| Remark {
        kind: remark.kind(),
        side: remark.side().map(|side| side.to_string()),
        text: remark.to_string(),
    });
    let document = Document {
        version: VERSION,
        a: &options.names[0],
        b: &options.names[1],
        compared: &options.compared,
        equal: found.is_equal(),
        incomplete: found.is_incomplete(),
        remarks: remarks.collect(),
        contexts: Contexts { a: found.contexts_a, b: found.contexts_b, both: found.common },
        only_a: one_side(found, &found.only_a, |listed| listed.a),
        only_b: one_side(found, &found.only_b, |listed| listed.b),
        calls: metric(found, &found.calls),
        bytecodes: found.bytecodes.as_ref().map(|bytecodes| metric(found, bytecodes)),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

fn one_side<'c>(
    found: &'c Comparison,
    only: &'c UnpairedContexts,
    counts: fn(&ListEntry) -> cct_profile::metric::Counts,
) -> OneSide<'c> {
    let bytecodes = |count: u64| found.bytecodes.is_some().then_some(count);
    let largest = only.largest.iter().map(|listed| One {
        calls: counts(listed).calls,
        bytecodes: bytecodes(counts(listed).bytecodes),
        path: path(found, listed),
    });
    OneSide {
        contexts: only.contexts,
        calls: only.calls,
        bytecodes: bytecodes(only.bytecodes),
        largest: largest.collect(),
    }
}

fn metric<'c>(found: &'c Comparison, agreement: &'c Agreement<ListEntry>) -> Metric<'c> {
    let finite = |error: f64| error.is_finite().then_some(error);
    let differences = |list: &'c [ListEntry]| {
        let count = |counts| agreement.metric.of(counts);
        let difference = |listed: &'c ListEntry| Difference {
            a: count(listed.a),
            b: count(listed.b),
            path: path(found, listed),
        };
        list.iter().map(difference).collect()
    };
    Metric {
        a: agreement.a,
        b: agreement.b,
        overlap_percent: agreement.overlap.percent(),
        relative_error: finite(agreement.relative_error()),
        error_over_contexts: finite(agreement.error_over_contexts()),
        largest_error: finite(agreement.largest_error),
        different_contexts: agreement.different,
        largest_differences: differences(&agreement.by_difference),
        largest_relative_differences: differences(&agreement.by_ratio),
    }
}

fn path<'c>(found: &'c Comparison, listed: &'c ListEntry) -> Vec<&'c str> {
    listed.path.iter().map(|&frame| found.frames[frame as usize].exact.as_str()).collect()
}
