//! All built-in properties on whole marked JDKs (docs/research/typestate.md): a program of correct
//! uses has no finding, and in a program of seeded violations each is found, and nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::{Jdk, fixture, folder, jdks};

const PROPERTIES: [&str; 7] =
    ["connection", "file-api", "iterator", "iterator-of-collection", "iterator-once", "lock", "streams"];

/// The report about a program. Class library and program have markers of all built-in properties,
/// alone or with a calling-context tree.
fn run(jdk: &Jdk, here: &Path, is_counted: bool, main: &str) -> Value {
    let mut run = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    for variable in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"] {
        run.env_remove(variable);
    }
    run.current_dir(here).env("JAVA_HOME", jdk.home()).env("CCTREWRITE_CACHE", here.join("cache"));
    run.args(["run", "-o", main]).args(if is_counted { &[][..] } else { &["--tool", "markers"] });
    for property in PROPERTIES {
        run.args(["--typestate", property]);
    }
    // The class library opens the jar and leaves it open.
    let jar = here.join("program.jar");
    if !jar.exists() {
        jdk.pack(&jar, &[fixture("typestate").join("classes")]);
    }
    run.arg("--").arg(jdk.path("bin/java")).arg("-cp").arg(jar).arg(main);
    let output = run.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.ends_with("done\n"), "{printed}\n{}", said(&output));
    let report = here.join(if is_counted { format!("{main}.typestate") } else { main.to_owned() });
    let mut command = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    let found = command.args(["typestate", "report", "--format", "json"]).arg(&report).output().unwrap();
    let found: Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!(found["whole"], true);
    found
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The violations of a report: how each is written in the fixture, by the line of its event, or of
/// the last event of an object that ended. `count` objects are in brackets if there are several.
fn violations(report: &Value) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for violation in report["violations"].as_array().unwrap() {
        let text = |key: &str| violation[key].as_str();
        let event = text("event").unwrap_or("end");
        let when = text("after").map_or("at the beginning".to_owned(), |after| format!("after {after}"));
        let count = match violation["count"].as_u64().unwrap() {
            1 => String::new(),
            count => format!(" ({count})"),
        };
        let site = if violation["site"].is_object() { &violation["site"] } else { &violation["first"] };
        let place = format!("{}:{}", site["file"].as_str().unwrap_or("?"), site["line"]);
        let property = text("property").unwrap();
        all.entry(place).or_default().push(format!("{property}: {event} {when}{count}"));
    }
    all.values_mut().for_each(|texts| texts.sort());
    all
}

/// The violations that comments of a fixture announce, each above its line.
fn announced(name: &str) -> BTreeMap<String, Vec<String>> {
    let source = fs::read_to_string(fixture("typestate").join(name)).unwrap();
    let comment = |(at, line): (usize, &'_ str)| Some((at, line.trim().strip_prefix("//! ")?.to_owned()));
    let comments = source.lines().enumerate().filter_map(comment);
    comments
        .map(|(at, texts)| {
            let mut texts: Vec<String> = texts.split("; ").map(str::to_owned).collect();
            texts.sort();
            (format!("{name}:{}", at + 2), texts)
        })
        .collect()
}

fn property<'r>(report: &'r Value, name: &str) -> &'r Value {
    report["properties"].as_array().unwrap().iter().find(|property| property["name"] == name).unwrap()
}

/// Both programs on the image of a JDK.
fn check(jdk: &'static Jdk, is_counted: bool) {
    let here = folder("typestate-corpus");
    let correct = run(jdk, &here, is_counted, "Correct");
    assert_eq!(violations(&correct), BTreeMap::new());
    // The program's own iterators over collections of known types, as its source has them: those of
    // the class library are not followed, nor those over concurrent collections.
    let in_collections = 3 * 10 + 4 + 2;
    let in_views = 3 * 5;
    let (in_lists, without_effect) = (3 + 2, 2);
    let iterators = in_collections + in_views + in_lists + without_effect;
    assert_eq!(property(&correct, "IteratorOfCollection")["objects"], iterators);
    let lock = property(&correct, "Lock");
    assert_eq!((&lock["unknown"], &lock["objects"]), (&1.into(), &6.into()), "{lock}");
    for name in ["StatementOfConnection", "ResultSetOfStatement", "FileStream", "ReaderWriter", "Socket"] {
        assert!(property(&correct, name)["objects"].as_u64().unwrap() > 1, "{name}: {correct}");
    }

    let seeded = run(jdk, &here, is_counted, "Seeded");
    assert_eq!(violations(&seeded), announced("Seeded.java"));
}

fn alone(jdk: &'static Jdk) {
    check(jdk, false);
}

fn counted(jdk: &'static Jdk) {
    check(jdk, true);
}

jdks!(with_markers_alone, alone, feature);
jdks!(with_a_tree, counted, [17]);
