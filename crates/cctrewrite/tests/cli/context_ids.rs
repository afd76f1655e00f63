//! Ids of contexts: shown by reports, selected by `--context`, and the same in all profiles.

use cct_profile::{ContextId, FrameId, Method};

use super::support::{Context, profile_of, put, run, scratch, snapshot};

/// Depth (1 below the thread), name, calls, bytecodes.
type Node = (usize, &'static str, u64, u64);

const RUN: [Node; 6] = [
    (1, "main", 1, 100),
    (2, "step", 5, 50),
    (3, "walk", 9, 40),
    (4, "walk", 3, 30),
    (2, "walk", 1, 7),
    (3, "step", 2, 2000),
];

/// More work, other callees first, and one context more.
const LATER: [Node; 6] = [
    (1, "main", 1, 100),
    (2, "walk", 1, 7),
    (2, "other", 1, 7),
    (2, "step", 5, 50),
    (3, "walk", 10, 45),
    (4, "walk", 4, 35),
];

fn profile(nodes: &[Node]) -> Vec<u8> {
    let context = |&(depth, name, calls, bytecodes): &Node| Context {
        depth,
        method: Method {
            class: "app/Main".into(),
            name: name.into(),
            descriptor: "(I)V".into(),
            site: None,
            mid: name.len() as u64,
            flags: 0,
        },
        calls,
        bytecodes,
    };
    profile_of(&nodes.iter().map(context).collect::<Vec<_>>(), None)
}

fn stored() -> tempfile::TempDir {
    let folder = scratch();
    put(folder.path(), "run.cct", &profile(&RUN));
    put(folder.path(), "later.cct", &profile(&LATER));
    folder
}

fn id(path: &[&str]) -> String {
    let callee =
        |caller: ContextId, name: &&str| caller.callee(FrameId::of_text(&format!("app.Main.{name}(I)V")));
    path.iter().fold(ContextId::ROOT, callee).to_string()
}

#[test]
fn reports_show_ids_and_select_by_them() {
    let folder = stored();
    let shown = |arguments: &[&str]| run(folder.path(), arguments).succeeds().stdout;
    let tree = shown(&["report", "run.cct", "--ids", "--min-percent", "0"]);
    snapshot("context-ids.txt", &tree);
    let walk = id(&["main", "step", "walk"]);
    assert!(tree.contains(&format!("#{walk} ")), "{tree}");
    assert!(shown(&["report", "run.cct", "--ids", "--hot-path"]).contains(&id(&["main", "walk", "step"])));

    let contexts = shown(&["report", "run.cct", "--context", &walk, "--format", "contexts"]);
    let lines: Vec<&str> = contexts.lines().filter(|line| !line.starts_with('#')).collect();
    let path = "app.Main.main(I)V;app.Main.step(I)V;app.Main.walk(I)V";
    assert_eq!(lines, [format!("9 40 {path}"), format!("3 30 {path};app.Main.walk(I)V")]);
    let headed = shown(&["report", "run.cct", "--context", &format!("#{walk}")]);
    assert!(headed.contains(&format!("context #{walk}")), "{headed}");

    let json = |file: &str| -> Vec<(String, String)> {
        let object = shown(&["report", file, "--format", "json", "--min-percent", "0"]);
        let object: serde_json::Value = serde_json::from_str(&object).unwrap();
        let rows = object["trees"][0]["contexts"].as_array().unwrap().iter();
        let text = |row: &serde_json::Value, key: &str| row[key].as_str().unwrap().to_owned();
        rows.map(|row| (text(row, "name"), text(row, "id"))).collect()
    };
    let (run_ids, later_ids) = (json("run.cct"), json("later.cct"));
    for same in [&["main"][..], &["main", "step"], &["main", "step", "walk", "walk"], &["main", "walk"]] {
        let name = format!("app.Main.{}(I)V", same[same.len() - 1]);
        let row = (name, id(same));
        assert!(run_ids.contains(&row) && later_ids.contains(&row), "{row:?}");
    }
    // A folded path is not that of a context.
    let folded = shown(&["report", "run.cct", "--format", "json", "--fold-recursion"]);
    assert!(!folded.contains("\"id\""), "{folded}");
}

#[test]
fn a_difference_of_one_context() {
    let folder = stored();
    let walk = id(&["main", "step", "walk"]);
    let shown = run(folder.path(), &["diff", "run.cct", "later.cct", "--context", &walk, "--format", "json"]);
    let object: serde_json::Value = serde_json::from_str(&shown.succeeds().stdout).unwrap();
    assert_eq!((&object["bytecodes"]["base"], &object["bytecodes"]["new"]), (&70.into(), &80.into()));
    let other = id(&["main", "other"]);
    let shown = run(folder.path(), &["diff", "run.cct", "later.cct", "--context", &other]).succeeds().stdout;
    assert!(shown.contains(&format!("BASE has no context with the id {other}")), "{shown}");
}

#[test]
fn ids_that_no_context_has_are_named() {
    let folder = stored();
    let fails = |arguments: &[&str], code: i32| {
        let run = run(folder.path(), arguments);
        assert_eq!(run.code, Some(code), "{}", run.stderr);
        run.stderr
    };
    let unknown = fails(&["report", "run.cct", "--context", "0123456789abcdef"], 1);
    assert!(
        unknown.contains("no context has the id 0123456789abcdef; `report --ids` shows ids"),
        "{unknown}"
    );
    let both = fails(&["diff", "run.cct", "later.cct", "--context", "0123456789abcdef"], 2);
    assert!(both.contains("no context of either side has the id 0123456789abcdef"), "{both}");
    let wrong = fails(&["report", "run.cct", "--context", "main"], 2);
    assert!(wrong.contains("expected the id of a context, 16 hexadecimal digits"), "{wrong}");
    for label in ["calls=1", "inclusive_monitors=1", "Run=1", "1=1", "run"] {
        let refused = fails(&["export", "run.cct", "--format", "parquet", "-o", "t", "--label", label], 2);
        assert!(refused.contains("--label"), "{refused}");
    }
    let twice = ["export", "run.cct", "--format", "parquet", "-o", "t", "--label", "a=1", "--label", "a=2"];
    assert!(fails(&twice, 1).contains("two --label have the same column"));
    let format = ["export", "run.cct", "--format", "json", "-o", "t", "--label", "a=1"];
    assert!(fails(&format, 1).contains("choose --format parquet"));
}
