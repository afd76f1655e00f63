//! Profiles with a further column besides calls and bytecodes, in all commands that read profiles.

use std::path::Path;

use cct_profile::Method;

use super::support::{Context, profile_of, put, run, scratch};

/// Depth (1 below the thread), name, calls, bytecodes. A node without a name is the cell of the
/// context above it.
type Node = (usize, &'static str, u64, u64);

/// `main` enters 3 monitors and calls `fill`, which is synchronized and enters most.
const RUN: [Node; 5] =
    [(1, "main", 1, 120), (2, "", 3, 0), (2, "fill", 2, 400), (3, "", 90, 0), (2, "idle", 5, 60)];

/// A profile as the runtime writes it, in which `fill` enters this many monitors.
fn profile(columns: bool, more: u64) -> Vec<u8> {
    let context = |(depth, name, calls, bytecodes): Node| {
        let flags = match name {
            "" => Method::COLUMN,
            "fill" if columns => Method::SYNCHRONIZED,
            _ => 0,
        };
        let is_cell = name.is_empty();
        Context {
            depth,
            method: Method {
                class: if is_cell { "" } else { "app/Main" }.into(),
                name: if is_cell { "monitors" } else { name }.into(),
                descriptor: if is_cell { "" } else { "()V" }.into(),
                site: None,
                mid: name.len() as u64,
                flags,
            },
            calls: if (depth, is_cell) == (3, true) { more } else { calls },
            bytecodes,
        }
    };
    let nodes = RUN.into_iter().filter(|node| columns || !node.1.is_empty());
    let mut bytes = profile_of(&nodes.map(context).collect::<Vec<_>>(), None);
    if columns {
        bytes[11] = 7;
    }
    bytes
}

/// `run.cct`, `more.cct` with more monitors, and in the folder `plain` the same run without them.
fn stored() -> tempfile::TempDir {
    let folder = scratch();
    put(folder.path(), "run.cct", &profile(true, 90));
    put(folder.path(), "more.cct", &profile(true, 100));
    put(folder.path(), "plain/run.cct", &profile(false, 0));
    folder
}

fn shown(folder: &Path, arguments: &[&str]) -> String {
    run(folder, arguments).succeeds().stdout
}

#[test]
fn reports_are_what_they_are_without_columns() {
    let folder = stored();
    let plain = folder.path().join("plain");
    for arguments in [
        &["report", "run.cct", "--header", "full", "--top", "9", "--min-percent", "0"][..],
        &["report", "run.cct", "--format", "csv"],
        &["report", "run.cct", "--format", "contexts"],
        &["report", "run.cct", "--table", "shape"],
        &["export", "run.cct", "--format", "collapsed", "-o", "-"],
        &["compare", "run.cct", "run.cct"],
    ] {
        let with = shown(folder.path(), arguments);
        let with: Vec<&str> = with.lines().filter(|line| !line.starts_with("monitors ")).collect();
        let without = shown(&plain, arguments);
        assert_eq!(with, without.lines().collect::<Vec<_>>(), "{arguments:?}");
    }
    let info = shown(folder.path(), &["info", "run.cct"]);
    assert!(info.contains("\nmonitors    95 (--metric monitors shows them)"), "{info}");
    assert!(info.contains("\nContexts    3 of 3 methods\nCalls       8\n"), "{info}");
    let json = shown(folder.path(), &["info", "run.cct", "--format", "json"]);
    assert!(json.contains(r#""columns":{"monitors":95}"#), "{json}");
    run(folder.path(), &["compare", "run.cct", "plain/run.cct"]).succeeds();
}

#[test]
fn a_column_is_a_metric_of_its_own() {
    let folder = stored();
    let report = shown(
        folder.path(),
        &["report", "run.cct", "--metric", "monitors", "--min-percent", "0", "--top", "9"],
    );
    for line in [
        "Methods, by own monitors",
        "All threads: contexts, in monitors",
        "calls  own  inclusive       %  context",
        "    1    3         95  100.00  app.Main.main()",
        "    2   92         92   96.84    app.Main.fill()",
        "    5    0          0    0.00    app.Main.idle()",
        "    2   92  96.84         92   96.84  app.Main.fill()",
    ] {
        assert!(report.lines().any(|found| found == line), "{line} of\n{report}");
    }
    let csv = shown(folder.path(), &["report", "run.cct", "--metric", "monitors", "--format", "csv"]);
    assert!(csv.contains("\n2,92,96.842105,92,96.842105,app.Main.fill()V\n"), "{csv}");
    let json = shown(folder.path(), &["report", "run.cct", "--metric", "monitors", "--format", "json"]);
    assert!(json.contains(r#""metric": "monitors""#) && json.contains(r#""total": 95"#), "{json}");
    let collapsed = shown(
        folder.path(),
        &["export", "run.cct", "--metric", "monitors", "--format", "collapsed", "-o", "-"],
    );
    assert!(collapsed.contains("app.Main.main();app.Main.fill() 92\n"), "{collapsed}");
    for format in ["svg", "icicle", "speedscope", "pprof", "otlp", "callgrind", "parquet", "json"] {
        let arguments = ["export", "run.cct", "--metric", "monitors", "--format", format, "-o", "out"];
        run(folder.path(), &arguments).succeeds();
        let out = std::fs::read(folder.path().join("out")).unwrap();
        let names = |word: &[u8]| out.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word));
        // Nothing is visible in compressed output.
        assert!(names(b"monitors") || format == "pprof", "{format}");
    }
    // Without the option, formats with several numbers contain this one, too.
    let json = shown(folder.path(), &["export", "run.cct", "--format", "json", "-o", "-"]);
    for part in [
        r#""totals":{"contexts":3,"calls":8,"bytecodes":580,"columns":{"monitors":95}}"#,
        r#""bytecodes":[120,400,60],"columns":{"monitors":[3,92,0]}"#,
    ] {
        assert!(json.contains(part), "{part} of {json}");
    }
    let only =
        shown(folder.path(), &["export", "run.cct", "--metric", "monitors", "--format", "json", "-o", "-"]);
    assert!(only.contains(r#""calls":[1,2,5],"columns":{"monitors":[3,92,0]}"#), "{only}");
    let speedscope = shown(folder.path(), &["export", "run.cct", "--format", "speedscope", "-o", "-"]);
    assert!(
        speedscope.contains(r#""name":"all threads: monitors","unit":"none","startValue":0,"endValue":95"#),
        "{speedscope}"
    );
    let pruned = ["export", "run.cct", "--format", "json", "--min-percent", "60", "-o", "-"];
    let pruned = shown(folder.path(), &pruned);
    assert!(
        pruned.contains(r#""columns":{"monitors":[3,92,0]}"#),
        "what is cut off keeps its columns: {pruned}"
    );
    run(folder.path(), &["report", "run.cct", "--metric", "monitors", "--html", "page.html"]).succeeds();
    // A page's contents are compressed; crates/export tests them.
    let page = std::fs::read(folder.path().join("page.html")).unwrap();
    run(folder.path(), &["report", "run.cct", "--html", "page.html"]).succeeds();
    assert!(page != std::fs::read(folder.path().join("page.html")).unwrap());
    run(folder.path(), &["report", "plain/run.cct", "--metric", "monitors"]).fails_saying(&[
        "plain/run.cct",
        "does not count monitors",
        "--monitors",
    ]);
}

#[test]
fn changes_of_a_column_are_found() {
    let folder = stored();
    let same = shown(folder.path(), &["diff", "run.cct", "more.cct"]);
    assert!(same.contains("BASE and NEW are identical"), "calls and bytecodes are: {same}");
    let diff =
        run(folder.path(), &["diff", "run.cct", "more.cct", "--column", "monitors", "--fail-above", "5%"]);
    assert!(diff.stdout.contains("+10 monitors (+10.53 %)"), "{}", diff.stdout);
    assert_ne!(diff.code, Some(0));
    let compare = run(folder.path(), &["compare", "run.cct", "more.cct", "--column", "monitors"]);
    assert!(compare.stdout.contains("monitors"), "{}", compare.stdout);
    shown(folder.path(), &["compare", "run.cct", "run.cct", "--column", "monitors"]);
}

#[test]
fn sums_have_columns_and_are_of_profiles_that_all_have_them() {
    let folder = stored();
    run(folder.path(), &["merge", "run.cct", "more.cct", "-o", "sum.cct"]).succeeds();
    let info = shown(folder.path(), &["info", "sum.cct"]);
    assert!(info.contains("\nmonitors    200 (--metric monitors shows them)"), "{info}");
    run(folder.path(), &["merge", "run.cct", "plain/run.cct", "-o", "no.cct"]).fails_saying(&[
        "cannot be added up",
        "columns",
        "monitors in",
    ]);
}

#[test]
fn tools_without_a_tree_count_no_monitors() {
    let folder = stored();
    for (tool, also) in [("trace", None), ("markers", Some("--markers=no.toml")), ("pcc", None)] {
        let tool = format!("--tool={tool}");
        let mut arguments = vec!["instrument", "no.jar", "-o", "out.jar", &*tool, "--monitors"];
        arguments.extend(also);
        run(folder.path(), &arguments).fails_saying(&["--monitors", "leave"]);
    }
}
