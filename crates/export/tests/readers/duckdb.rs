//! DuckDB.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use cct_export::{NameForm, Options, Source, parquet};
use cct_profile::Profile;
use cct_profile::merge::{MergeOptions, Threads, merge};
use serde_json::Value;

use crate::expected::{Counts, ExpectedNumbers};
use crate::programs::{Case, cases, has, output, place, script, several};

#[test]
fn duckdb_finds_all_contexts() {
    let Some(library) = place("duckdb", "duckdb") else { return };
    if !has("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for case in cases() {
        let expected = ExpectedNumbers::of(&case);
        let mut bytes = Vec::new();
        parquet::write(&case.source(), &mut bytes).unwrap();
        let file = folder.path().join(format!("{}.parquet", case.name));
        fs::write(&file, bytes).unwrap();
        let mut command = Command::new("python3");
        command.env("PYTHONPATH", library.parent().unwrap()).arg(script("duckdb_tables.py")).arg(&file);
        let read: Value = serde_json::from_str(&output(&mut command)).unwrap();

        let number = |value: &Value| value.as_u64().unwrap();
        let counts =
            |calls: &Value, bytecodes: &Value| Counts { calls: number(calls), bytecodes: number(bytecodes) };
        let totals = &read["totals"];
        assert_eq!(counts(&totals[1], &totals[2]), expected.total);
        assert_eq!(number(&totals[0]), case.source().rows());
        let methods: BTreeMap<String, Counts> = rows(&read["methods"])
            .map(|row| (row[0].as_str().unwrap().to_owned(), counts(&row[1], &row[2])))
            .collect();
        let own: BTreeMap<String, Counts> =
            expected.methods.iter().map(|(method, (own, _))| (method.clone(), *own)).collect();
        assert_eq!(methods, own);
        let stacks = rows(&read["stacks"]).filter_map(|row| {
            let thread = row[0].as_str().map(|thread| format!("[{thread}];")).unwrap_or_default();
            assert_eq!(thread.is_empty(), !case.options.per_thread);
            let counts = counts(&row[2], &row[3]);
            // The list of contexts has no line for those without counts.
            (counts != Counts::default()).then(|| (thread + row[1].as_str().unwrap(), counts))
        });
        assert_eq!(stacks.collect::<BTreeMap<_, _>>(), expected.stacks, "{}", case.name);
        assert_eq!(read["wrong"], Value::Array(Vec::new()), "{}", case.name);
        for row in rows(&read["encodings"]) {
            let (column, encodings) = (row[0].as_str().unwrap(), row[1].as_str().unwrap());
            let expected = match column {
                "thread" | "method_id" | "text" | "class" | "method" | "descriptor" => "RLE_DICTIONARY",
                "context" | "caller" | "is_outermost" => "PLAIN",
                _ => "DELTA_BINARY_PACKED",
            };
            assert!(encodings.contains(expected), "{column}: {encodings}");
        }
    }
}

/// The queries of docs/use/exports.md over several files find what their sum has, although methods
/// and contexts have other numbers in each file.
#[test]
fn queries_over_several_files_have_the_sums_of_all() {
    let Some(library) = place("duckdb", "duckdb") else { return };
    if !has("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("runs")).unwrap();
    let options = || Options { form: NameForm::Exact, ..Options::default() };
    let profiles = several();
    for (number, profile) in profiles.iter().enumerate() {
        let labels = [("run".to_owned(), number.to_string())].into();
        let source = Source::new(profile.clone(), &Options { labels, ..options() }).unwrap();
        let mut bytes = Vec::new();
        parquet::write(&source, &mut bytes).unwrap();
        fs::write(folder.path().join(format!("runs/{number}.parquet")), bytes).unwrap();
    }
    let all: Vec<&Profile> = profiles.iter().collect();
    let sum = merge(&all, MergeOptions { threads: Threads::Apart, ..MergeOptions::default() }).unwrap();
    let expected = ExpectedNumbers::of(&Case { name: "sum", profile: sum, options: options() });
    let bytecodes = |counts: &Counts| Value::from(counts.bytecodes);
    let methods = expected.methods.iter().map(|(method, (_, inclusive))| (method, bytecodes(inclusive)));
    let stacks = expected.stacks.iter().map(|(stack, own)| (stack, bytecodes(own)));
    let wanted: [(&str, BTreeMap<&String, Value>); 2] =
        [("methods of several files", methods.collect()), ("contexts of several files", stacks.collect())];

    let page = include_str!("../../../../docs/use/exports.md");
    for (what, wanted) in wanted {
        let query = page.split("\n\n").find(|block| block.starts_with(&format!("    -- {what}\n")));
        let query = query.unwrap_or_else(|| panic!("no query for the {what}")).replace("limit 10", "");
        let mut command = Command::new("python3");
        command.env("PYTHONPATH", library.parent().unwrap()).current_dir(folder.path());
        let read: Value =
            serde_json::from_str(&output(command.arg(script("duckdb_query.py")).arg(query))).unwrap();
        let found: Vec<(String, Value)> =
            rows(&read).map(|row| (row[0].as_str().unwrap().to_owned(), row[1].clone())).collect();
        // Contexts without own counts are in no list of contexts.
        let found: BTreeMap<&String, Value> = found
            .iter()
            .filter(|(name, count)| wanted.contains_key(name) || count.as_u64() != Some(0))
            .map(|(name, count)| (name, count.clone()))
            .collect();
        assert_eq!(found, wanted, "{what}");
    }
}

fn rows(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().unwrap().iter()
}
