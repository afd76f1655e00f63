//! Profiles that distinguish call sites.

use super::*;
use crate::testing::split;

fn merged() -> Profile {
    split().without_call_sites().unwrap()
}

fn json_of(profile: Profile) -> Value {
    serde_json::from_str(&text(&source(profile, &Options::default()), json::write)).unwrap()
}

#[test]
fn sums_are_those_of_the_profile() {
    for form in [NameForm::Readable, NameForm::Exact, NameForm::Short] {
        for min_percent in [0.0, 12.0] {
            let threshold = Threshold { min_percent, depth: None };
            let options = Options { form, threshold, ..Options::default() };
            assert_totals(&source(split(), &options), (28, 310));
        }
    }
}

#[test]
fn without_its_sites_a_profile_is_written_as_ever() {
    let methods = vec![
        method("a/A", "f", "(I)V"),
        method("a/A", "main", "([Ljava/lang/String;)V"),
        Method { flags: Method::NATIVE, ..method("a/A", "n", "()V") },
    ];
    let main = [(1, 1, 1, 100), (2, 0, 11, 110), (3, 0, 3, 30), (2, 2, 6, 0), (3, 0, 7, 70)];
    let unsplit = profile(
        &[("main", "a.A"), ("metrics", "calls+bytecodes")],
        methods,
        vec![thread("main", tree(&main))],
    );
    let (a, b) = (source(merged(), &Options::default()), source(unsplit, &Options::default()));
    for write in [collapsed::write, callgrind::write, speedscope::write, pprof::write, json::write] {
        assert_eq!(exported(&a, write), exported(&b, write));
    }
    let table = |source: &Source| {
        let mut bytes = Vec::new();
        parquet::write(source, &mut bytes).unwrap();
        bytes
    };
    assert_eq!(table(&a), table(&b));
}

#[test]
fn stacks_have_lines_where_they_are_enough() {
    let lines = |form| text(&source(split(), &Options { form, ..Options::default() }), collapsed::write);
    let readable = "a.A.main(String[]) 100\n\
         a.A.main(String[]);a.A.f(int):10@3 20\n\
         a.A.main(String[]);a.A.f(int):10@3;a.A.f(int):20 30\n\
         a.A.main(String[]);a.A.f(int):10@9 40\n\
         a.A.main(String[]);a.A.f(int):12 50\n\
         a.A.main(String[]);a.A.n()@20;a.A.f(int)@-1 70\n";
    assert_eq!(lines(NameForm::Readable), readable);
    let exact = lines(NameForm::Exact);
    assert!(exact.contains("a.A.main([Ljava/lang/String,)V;a.A.f(I)V@3;a.A.f(I)V@8 30\n"), "{exact}");
    let short = lines(NameForm::Short);
    assert!(
        short.contains("a.A.main;a.A.f:10@3;a.A.f:20 30\n") && short.contains("a.A.n@20;a.A.f@-1 70\n"),
        "{short}"
    );
}

#[test]
fn json_has_methods_once_and_sites_as_columns() {
    let file = json_of(split());
    let texts: Vec<&str> =
        file["methods"].as_array().unwrap().iter().map(|method| method["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["a.A.f(int)", "a.A.main(String[])", "a.A.n()"]);
    let contexts = &file["trees"][0]["contexts"];
    assert_eq!(contexts["method"], serde_json::json!([1, 0, 0, 0, 0, 2, 0]));
    assert_eq!(contexts["bci"], serde_json::json!([null, 3, 8, 9, 15, 20, -1]));
    assert_eq!(contexts["line"], serde_json::json!([null, 10, 20, 10, 12, null, null]));
    assert_eq!(contexts["parent"], serde_json::json!([-1, 0, 1, 0, 0, 0, 5]));
    let schema: Value =
        serde_json::from_str(include_str!("../../../../docs/reference/formats/export.schema.json")).unwrap();
    assert!(jsonschema::validator_for(&schema).unwrap().is_valid(&file));
    let contexts = &json_of(merged())["trees"][0]["contexts"];
    assert!(contexts.get("bci").is_none() && contexts.get("line").is_none());
}

#[test]
fn callgrind_has_functions_once_and_calls_by_line() {
    let written = text(&source(split(), &Options::default()), callgrind::write);
    let (_, functions) = written.split_once("\nsummary: 310 28\n").unwrap();
    // Two call sites of line 10 are one line; calls of f by itself add no cost.
    assert_eq!(
        functions,
        "\nfl=(2) a/A.class\nfn=(1) a.A.f(int)\n0 210 21\n\
         cfi=(2)\ncfn=(1)\ncalls=3 0\n20 0 0\n\
         \nfl=(2)\nfn=(2) a.A.main(String[])\n0 100 1\n\
         cfi=(2)\ncfn=(1)\ncalls=6 0\n10 90 9\n\
         cfi=(2)\ncfn=(1)\ncalls=5 0\n12 50 5\n\
         cfi=(2)\ncfn=(3) a.A.n()\ncalls=6 0\n0 70 13\n\
         \nfl=(2)\nfn=(3)\n0 0 6\n\
         cfi=(2)\ncfn=(1)\ncalls=7 0\n0 70 7\n\
         \nfl=(1) ???\nfn=(4) (all threads)\n0 0 0\n\
         cfi=(2)\ncfn=(2)\ncalls=1 0\n0 310 28\n\
         \ntotals: 310 28\n"
    );
}

#[test]
fn pprof_has_functions_once_and_lines_of_callers() {
    let mut message = Vec::new();
    let source = source(split(), &Options::default());
    flate2::read::GzDecoder::new(&*exported(&source, pprof::write)).read_to_end(&mut message).unwrap();
    let parts = fields(&message);
    assert_eq!(parts.iter().filter(|part| part.0 == 5).count(), 3);
    // Function and line of each location.
    let locations: BTreeMap<u64, (u64, u64)> = parts
        .iter()
        .filter(|part| part.0 == 4)
        .map(|part| {
            let location = fields(part.2);
            let of = |fields: &[(u64, u64, &[u8])], number: u64| {
                fields.iter().find(|field| field.0 == number).map_or(0, |field| field.1)
            };
            let line = fields(location.iter().find(|field| field.0 == 4).unwrap().2);
            (of(&location, 1), (of(&line, 1), of(&line, 2)))
        })
        .collect();
    let stacks: Vec<Vec<(u64, u64)>> = parts
        .iter()
        .filter(|part| part.0 == 2)
        .map(|part| {
            let ids = fields(part.2).into_iter().find(|field| field.0 == 1).unwrap().2;
            ids.iter().rev().map(|&id| locations[&id.into()]).collect()
        })
        .collect();
    let (f, main, n) = (1, 2, 3);
    assert_eq!(
        stacks,
        [
            vec![(main, 0)],
            vec![(main, 10), (f, 0)],
            vec![(main, 10), (f, 20), (f, 0)],
            vec![(main, 10), (f, 0)],
            vec![(main, 12), (f, 0)],
            vec![(main, 0), (n, 0)],
            vec![(main, 0), (n, 0), (f, 0)],
        ]
    );
}

#[test]
fn tables_have_columns_for_sites() {
    let mut bytes = Vec::new();
    parquet::write(&source(split(), &Options::default()), &mut bytes).unwrap();
    let file = tempfile::tempfile().unwrap();
    std::io::Write::write_all(&mut &file, &bytes).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let columns = reader.metadata().file_metadata().schema_descr().columns();
    let column = |name: &str| columns.iter().position(|column| column.name() == name).unwrap();
    let rows: Vec<(String, Option<i32>, Option<i64>)> = reader
        .get_row_iter(None)
        .unwrap()
        .map(|row| {
            let row = row.unwrap();
            let text = row.get_string(column("text")).unwrap().clone();
            (text, row.get_int(column("bci")).ok(), row.get_long(column("line")).ok())
        })
        .collect();
    let row = |text: &str, bci, line| (text.to_owned(), bci, line);
    assert_eq!(rows[0], row("a.A.main(String[])", None, None));
    assert_eq!(rows[1], row("a.A.f(int)", Some(3), Some(10)));
    assert_eq!(rows[5..], [row("a.A.n()", Some(20), None), row("a.A.f(int)", Some(-1), None)]);
}

#[test]
fn a_difference_has_sites_if_both_have() {
    let differing = |before, after| Difference::new(before, after, &Options::default()).unwrap();
    let same = differing(split(), split());
    assert!(same.differing.is_empty() && same.source.has_call_sites());
    let half = differing(split(), merged());
    assert_eq!(half.differing, ["only the profile before distinguishes call sites, so they are added up"]);
    assert_eq!((half.source.has_call_sites(), half.source.contexts), (false, 5));
    assert_eq!(differing(merged(), split()).differing.len(), 1);
    // Lines that have moved are no difference.
    let mut moved = split();
    moved.methods.iter_mut().filter_map(|method| method.site.as_mut()).for_each(|site| site.line += 5);
    let nothing = differing(split(), moved);
    assert_eq!((nothing.source.contexts, nothing.source.calls), (7, 310));
    assert!(nothing.source.names.iter().any(|name| name.text == "a.A.f(int)@9"));
}
