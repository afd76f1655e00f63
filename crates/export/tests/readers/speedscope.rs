//! speedscope: its own format, also checked against its schema, and the other formats that it
//! imports.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use cct_export::{callgrind, collapsed, pprof, speedscope};
use serde_json::Value;

use crate::expected::{Counts, ExpectedNumbers};
use crate::programs::{Case, cases, has, output, place, script};

/// speedscope's import of a profile: its total, and the own and inclusive count of each frame.
struct Import {
    name: String,
    total: u64,
    frames: BTreeMap<String, (u64, u64)>,
}

fn imported(package: &Path, file: &Path) -> Vec<Import> {
    let read = output(Command::new("node").arg(script("speedscope.js")).arg(package).arg(file));
    let read: Value = serde_json::from_str(&read).unwrap();
    let number = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("{value} is no count"));
    let profiles = read[0].as_array().unwrap().iter().map(|profile| Import {
        name: profile["name"].as_str().unwrap().to_owned(),
        total: number(&profile["total"]),
        frames: profile["frames"]
            .as_array()
            .unwrap()
            .iter()
            .map(|frame| {
                let name = frame["name"].as_str().unwrap().to_owned();
                (name, (number(&frame["own"]), number(&frame["inclusive"])))
            })
            .collect(),
    });
    profiles.collect()
}

/// Own and inclusive counts of all methods that have any.
fn wanted(expected: &ExpectedNumbers, number: fn(&Counts) -> u64) -> BTreeMap<String, (u64, u64)> {
    let each = expected
        .methods
        .iter()
        .map(|(method, (own, inclusive))| (method.clone(), (number(own), number(inclusive))));
    each.filter(|(_, counts)| *counts != (0, 0)).collect()
}

fn without_empty(frames: &BTreeMap<String, (u64, u64)>) -> BTreeMap<String, (u64, u64)> {
    // Threads are frames in collapsed stacks.
    let is_method = |name: &String, counts: &(u64, u64)| *counts != (0, 0) && !name.starts_with('[');
    frames
        .iter()
        .filter(|(name, counts)| is_method(name, counts))
        .map(|(name, counts)| (name.clone(), *counts))
        .collect()
}

/// The cases in which all threads are added up: for a single profile speedscope reports the sum.
fn added_up() -> impl Iterator<Item = Case> {
    cases().into_iter().filter(|case| !case.options.per_thread)
}

#[test]
fn speedscope_finds_all_numbers_in_its_own_format() {
    let Some(package) = place("speedscope", "package") else { return };
    if !has("node") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for case in cases() {
        let expected = ExpectedNumbers::of(&case);
        let file = case.write(folder.path(), "speedscope.json", speedscope::write);
        let profiles = imported(&package, &file);
        for (metric, number) in
            [("bytecodes", (|c| c.bytecodes) as fn(&Counts) -> u64), ("calls", |c| c.calls)]
        {
            let of_metric = || profiles.iter().filter(|profile| profile.name.ends_with(metric));
            assert_eq!(of_metric().count(), case.source().stacks.len());
            assert_eq!(of_metric().map(|profile| profile.total).sum::<u64>(), number(&expected.total));
            let mut frames: BTreeMap<String, (u64, u64)> = BTreeMap::new();
            for (name, counts) in of_metric().flat_map(|profile| &profile.frames) {
                let sum = frames.entry(name.clone()).or_default();
                *sum = (sum.0 + counts.0, sum.1 + counts.1);
            }
            assert_eq!(without_empty(&frames), wanted(&expected, number), "{metric} of {}", case.name);
        }
    }
}

#[test]
fn speedscope_finds_all_numbers_in_collapsed_stacks_and_pprof() {
    let Some(package) = place("speedscope", "package") else { return };
    if !has("node") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for case in added_up() {
        let expected = ExpectedNumbers::of(&case);
        for file in [
            case.write(folder.path(), "stacks.txt", collapsed::write),
            case.write(folder.path(), "profile.pb.gz", pprof::write),
        ] {
            let [profile] = &imported(&package, &file)[..] else { panic!("one profile is wanted") };
            assert_eq!(profile.total, expected.total.bytecodes, "{}", file.display());
            assert_eq!(
                without_empty(&profile.frames),
                wanted(&expected, |c| c.bytecodes),
                "{}",
                file.display()
            );
        }
    }
}

/// speedscope invents stacks from functions and calls, so only methods' own counts are certain.
#[test]
fn speedscope_reads_callgrind() {
    let Some(package) = place("speedscope", "package") else { return };
    if !has("node") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for case in added_up() {
        let expected = ExpectedNumbers::of(&case);
        let file = case.write(folder.path(), "callgrind.out", callgrind::write);
        let profiles = imported(&package, &file);
        assert_eq!(profiles.len(), 2, "one for each event");
        for (profile, number) in profiles.iter().zip([(|c| c.bytecodes) as fn(&Counts) -> u64, |c| c.calls]) {
            let total = number(&expected.total);
            assert!(profile.total.abs_diff(total) * 100 <= total, "{} of {total}", profile.total);
        }
    }
}

#[test]
fn the_schema_of_speedscope_holds() {
    let Some(schema) = place("speedscope", "package/dist/release/file-format-schema.json") else { return };
    let schema: Value = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    for case in cases() {
        let mut written = Vec::new();
        speedscope::write(&case.source(), &mut written).unwrap();
        let written: Value = serde_json::from_slice(&written).unwrap();
        let problems: Vec<String> = schema.iter_errors(&written).map(|error| error.to_string()).collect();
        assert_eq!(problems, [""; 0], "{}", case.name);
    }
}
