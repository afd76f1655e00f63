//! DuckDB.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use cct_export::parquet;
use serde_json::Value;

use crate::expected::{Counts, Expected};
use crate::programs::{cases, has, output, place, script};

#[test]
fn duckdb_finds_all_contexts() {
    let Some(library) = place("duckdb", "duckdb") else { return };
    if !has("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for case in cases() {
        let expected = Expected::of(&case);
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
            let text = ["thread", "text", "class", "method", "descriptor"].contains(&column);
            let expected = if text { "RLE_DICTIONARY" } else { "DELTA_BINARY_PACKED" };
            assert!(encodings.contains(expected), "{column}: {encodings}");
        }
    }
}

fn rows(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().unwrap().iter()
}
