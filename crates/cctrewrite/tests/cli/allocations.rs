//! Profiles with counted objects, in all commands that read profiles.

use std::path::Path;

use cct_profile::Method;

use super::support::{Context, profile_of, put, run, scratch};

/// Depth (1 below the thread), class and name, calls, bytecodes. A type has no name.
type Node = (usize, &'static str, &'static str, u64, u64);

/// `main` calls `fill`, which allocates most.
const RUN: [Node; 6] = [
    (1, "app/Main", "main", 1, 120),
    (2, "app/Item", "", 3, 0),
    (2, "app/Main", "fill", 2, 400),
    (3, "app/Item", "", 90, 0),
    (3, "[I", "", 7, 0),
    (2, "app/Main", "idle", 5, 60),
];

/// A profile as the runtime writes it, with this number of `int[]` of `fill`; `objects` says
/// whether these are counted.
fn profile(objects: bool, arrays: u64) -> Vec<u8> {
    let method = |class: &str, name: &str| Method {
        class: class.into(),
        name: if name.is_empty() { "<new>" } else { name }.into(),
        descriptor: if name.is_empty() { "" } else { "()V" }.into(),
        site: None,
        mid: (class.len() + name.len()) as u64,
        flags: if name.is_empty() { Method::TYPE } else { 0 },
    };
    let context = |(depth, class, name, calls, bytecodes): Node| Context {
        depth,
        method: method(class, name),
        calls: if class == "[I" { arrays } else { calls },
        bytecodes,
    };
    let nodes = RUN.into_iter().filter(|node| objects || !node.2.is_empty());
    profile_of(&nodes.map(context).collect::<Vec<_>>(), objects.then_some(("allocations", "yes")))
}

/// `run.cct`, `more.cct` with more arrays, and in the folder `plain` the same run without objects.
fn stored() -> tempfile::TempDir {
    let folder = scratch();
    put(folder.path(), "run.cct", &profile(true, 7));
    put(folder.path(), "more.cct", &profile(true, 12));
    put(folder.path(), "plain/run.cct", &profile(false, 0));
    folder
}

fn shown(folder: &Path, arguments: &[&str]) -> String {
    run(folder, arguments).succeeds().stdout
}

/// Lines starting at the one with this prefix.
fn from<'t>(text: &'t str, start: &str) -> Vec<&'t str> {
    text.lines().skip_while(|line| !line.trim_start().starts_with(start)).collect()
}

#[test]
fn reports_are_what_they_are_without_objects() {
    let folder = stored();
    let plain = folder.path().join("plain");
    for arguments in [
        &["report", "run.cct", "--header", "full", "--top", "9", "--min-percent", "0"][..],
        &["report", "run.cct", "--format", "csv"],
        &["report", "run.cct", "--format", "contexts"],
        &["report", "run.cct", "--table", "shape"],
        &["export", "run.cct", "--format", "collapsed", "-o", "-"],
        &["export", "run.cct", "--format", "json", "-o", "-"],
        &["compare", "run.cct", "run.cct"],
    ] {
        let with = shown(folder.path(), arguments);
        let with: Vec<&str> = with.lines().filter(|line| !line.starts_with("Allocations ")).collect();
        let without = shown(&plain, arguments);
        assert_eq!(with, without.lines().collect::<Vec<_>>(), "{arguments:?}");
    }
    let info = shown(folder.path(), &["info", "run.cct"]);
    assert!(info.contains("\nAllocations 100 of 2 types"), "{info}");
    assert!(info.contains("\nContexts    3 of 3 methods\nCalls       8\n"), "{info}");
    run(folder.path(), &["compare", "run.cct", "plain/run.cct"]).succeeds();
}

#[test]
fn objects_are_a_metric_of_their_own() {
    let folder = stored();
    let text = shown(
        folder.path(),
        &["report", "run.cct", "--metric", "allocations", "--min-percent", "0", "--top", "9"],
    );
    let expected = "\
Types, and methods that allocate, by objects
objects  inclusive       %  method
     97         97   97.00  app.Main.fill()
     93         93   93.00  new app.Item
      7          7    7.00  new int[]
      3        100  100.00  app.Main.main()

All threads: contexts, in objects
objects  inclusive       %  context
      0        100  100.00  app.Main.main()
      0         97   97.00    app.Main.fill()
     90         90   90.00      new app.Item
      7          7    7.00      new int[]
      3          3    3.00    new app.Item
";
    assert_eq!(from(&text, "Types").join("\n").trim(), expected.trim());
    let full = shown(folder.path(), &["report", "run.cct", "--metric", "allocations", "--header", "full"]);
    assert!(full.contains("\nCounted     objects and arrays, by type\n"), "{full}");
    let short = shown(folder.path(), &["report", "run.cct"]);
    assert!(
        short.starts_with("app.Main") && short.contains(", 100 objects (--metric allocations)\n"),
        "{short}"
    );
    // By groups, objects belong to the allocating methods.
    let by_class = shown(
        folder.path(),
        &["report", "run.cct", "--metric", "allocations", "--by", "class", "--format", "csv"],
    );
    assert_eq!(by_class.lines().nth(1), Some("100,100,100.000000,100,100.000000,app.Main"));
    let collapsed = shown(
        folder.path(),
        &["export", "run.cct", "--metric", "allocations", "--format", "collapsed", "-o", "-"],
    );
    assert_eq!(
        collapsed,
        "app.Main.main();app.Main.fill();new app.Item 90\napp.Main.main();app.Main.fill();new int[] 7\napp.Main.main();new app.Item 3\n"
    );
    for format in ["svg", "speedscope", "pprof", "otlp", "callgrind", "parquet", "json"] {
        let arguments = ["export", "run.cct", "--metric", "allocations", "--format", format, "-o", "out"];
        run(folder.path(), &arguments).succeeds();
    }
    run(folder.path(), &["report", "run.cct", "--metric", "allocations", "--html", "page.html"]).succeeds();
    run(folder.path(), &["report", "plain/run.cct", "--metric", "allocations"])
        .fails_saying(&["the profile does not count objects"]);
}

#[test]
fn objects_are_compared_and_gated() {
    let folder = stored();
    run(folder.path(), &["diff", "run.cct", "more.cct", "--fail-above", "0"]).succeeds();
    let failed = run(folder.path(), &["diff", "run.cct", "more.cct", "--allocations", "--fail-above", "4"]);
    assert_eq!(failed.code, Some(1));
    assert!(failed.stdout.contains("TOO MUCH: the total: +5 allocations (+5.00 %)"), "{}", failed.stdout);
    assert!(failed.stdout.contains("new int[] < app.Main.fill() < app.Main.main()"), "{}", failed.stdout);
    run(folder.path(), &["diff", "run.cct", "more.cct", "--allocations", "--fail-above", "5"]).succeeds();
    let compared = run(folder.path(), &["compare", "run.cct", "more.cct", "--allocations"]);
    assert_eq!(compared.code, Some(1));
    assert!(compared.stdout.contains("different allocations"), "{}", compared.stdout);
    // A list of contexts is an input like others.
    let list =
        shown(folder.path(), &["report", "run.cct", "--metric", "allocations", "--format", "contexts"]);
    put(folder.path(), "list.txt", list.as_bytes());
    run(folder.path(), &["compare", "run.cct", "list.txt", "--allocations"]).succeeds();
}

#[test]
fn sums_have_the_objects_of_all() {
    let folder = stored();
    run(folder.path(), &["merge", "run.cct", "more.cct", "-o", "sum.cct"]).succeeds();
    let info = shown(folder.path(), &["info", "sum.cct"]);
    assert!(info.contains("\nAllocations 205 of 2 types"), "{info}");
    run(folder.path(), &["merge", "run.cct", "plain/run.cct", "-o", "mixed.cct"])
        .fails_saying(&["different 'allocations'"]);
}
