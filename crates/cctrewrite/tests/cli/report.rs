//! `cctrewrite report`.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use cct_profile::merge::{MergeOptions, Threads, merge};
use cct_profile::{Method, Profile, ThreadTree, TreeBuilder};

use super::profiles::usual;
use super::support::{command, jar, plain, put, run, scratch, snapshot};

fn method(class: &str, name: &str, descriptor: &str, mid: u64) -> Method {
    Method {
        class: class.into(),
        name: name.into(),
        descriptor: descriptor.into(),
        site: None,
        mid,
        flags: 0,
    }
}

fn thread(name: &str, flags: u64, tree: TreeBuilder) -> ThreadTree {
    ThreadTree { name: name.into(), threads: 1, flags, tree: tree.finish() }
}

/// A small profile as the runtime writes it.
fn profile() -> Vec<u8> {
    let methods = vec![
        method("app/Main", "main", "([Ljava/lang/String;)V", 1),
        method("app/Main", "step", "(I)J", 2),
        method("app/Main$$Lambda$7", "run", "()V", 3),
        method("java/lang/String", "charAt", "(I)C", 4),
    ];
    let mut main = TreeBuilder::new();
    main.enter(0, 1, 120).unwrap();
    main.enter(1, 1000, 9000).unwrap();
    main.enter(3, 250, 1234).unwrap();
    main.leave();
    main.leave();
    main.enter(3, 2, 10).unwrap();
    main.leave();
    main.leave();
    let mut worker = TreeBuilder::new();
    worker.enter(2, 3, 33).unwrap();
    worker.enter(1, 3, 27).unwrap();
    let meta = [("blocks", "default"), ("exact", "no"), ("main", "app.Main"), ("metrics", "calls+bytecodes")];
    let profile = Profile {
        meta: meta.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
        notes: vec!["not exact without -XX:-OmitStackTraceInFastThrow: ...".to_owned()],
        methods,
        threads: vec![thread("main", ThreadTree::ENDED, main), thread("pool-#-thread-#", 0, worker)],
        damage: Vec::new(),
    };
    let canonical = MergeOptions { threads: Threads::Apart, ..MergeOptions::default() };
    merge(&[&profile], canonical).unwrap().to_bytes().unwrap()
}

fn stored() -> tempfile::TempDir {
    let folder = scratch();
    put(folder.path(), "run.cct", &profile());
    folder
}

fn report(folder: &Path, options: &[&str]) -> String {
    let arguments: Vec<&str> = ["report", "run.cct"].iter().chain(options).copied().collect();
    let run = run(folder, &arguments).succeeds();
    assert_eq!(run.stderr, "");
    run.stdout
}

#[test]
fn a_profile_is_shown_as_text() {
    let folder = stored();
    snapshot("report.txt", &report(folder.path(), &["--top", "3"]));
    let each = ["--per-thread", "--min-percent", "0", "--depth", "2", "--top", "9", "--sort", "calls"];
    snapshot("report-per-thread.txt", &report(folder.path(), &each));
    let narrow = report(folder.path(), &["--width", "40"]);
    let tree = narrow.split_once("\n\n").unwrap().1;
    assert!(tree.lines().all(|line| line.chars().count() <= 40), "{tree}");
}

#[test]
fn a_profile_is_listed_for_programs() {
    let folder = stored();
    let contexts = report(folder.path(), &["--format", "contexts"]);
    snapshot("contexts.txt", &contexts);
    let each = report(folder.path(), &["--format", "contexts", "--per-thread"]);
    assert!(each.contains("\n3 33 [pool-#-thread-#];app.Main$$Lambda.run()V\n"), "{each}");
    let raw = report(folder.path(), &["--format", "contexts", "--raw-names"]);
    assert!(raw.contains("\n3 33 app.Main$$Lambda$7.run()V\n"), "{raw}");
}

#[test]
fn standard_input_is_a_file_too() {
    let folder = stored();
    let arguments = ["report", "-", "--format", "contexts"];
    let mut child = command().args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&profile()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), report(folder.path(), &["--format", "contexts"]));
}

#[test]
fn several_profiles_are_added_up() {
    let folder = stored();
    put(folder.path(), "again.cct", &profile());
    let both =
        run(folder.path(), &["report", "run.cct", "again.cct", "--format", "contexts"]).succeeds().stdout;
    assert!(both.contains("\n2 240 app.Main.main([Ljava/lang/String,)V\n"), "{both}");
}

#[test]
fn intact_parts_of_a_truncated_profile_are_shown() {
    let folder = scratch();
    let bytes = profile();
    put(folder.path(), "cut.cct", &bytes[..bytes.len() - 20]);
    for format in ["text", "contexts"] {
        let run = run(folder.path(), &["report", "cut.cct", "--format", format]);
        assert_eq!(run.code, Some(3), "{}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        assert!(run.stderr.starts_with("cctrewrite: cut.cct: the profile is truncated"), "{}", run.stderr);
        assert!(
            run.stdout.contains("step(") && run.stdout.to_lowercase().contains("incomplete"),
            "{}",
            run.stdout
        );
    }
}

#[test]
fn what_is_no_profile_is_refused() {
    let folder = scratch();
    put(folder.path(), "text.cct", b"no profile at all");
    let mut flipped = profile();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0x10;
    put(folder.path(), "flipped.cct", &flipped);
    run(folder.path(), &["report", "text.cct"]).fails_saying(&["text.cct", "not a profile"]);
    run(folder.path(), &["report", "flipped.cct"]).fails_saying(&["flipped.cct", "checksum"]);
    run(folder.path(), &["report", "missing.cct"]).fails_saying(&["missing.cct", "No such file"]);
    run(folder.path(), &["report", "."]).fails_saying(&[".: "]);
}

#[test]
fn a_reader_that_has_had_enough_is_no_error() {
    let folder = scratch();
    // More than a pipe holds.
    let mut tree = TreeBuilder::new();
    (0..5000).for_each(|_| tree.enter(0, 1, 1).unwrap());
    let methods = vec![method("app/Main", "recursive", "()V", 1)];
    let threads = vec![thread("main", ThreadTree::ENDED, tree)];
    let bytes = Profile { methods, threads, ..Profile::default() }.to_bytes().unwrap();
    put(folder.path(), "deep.cct", &bytes);
    for format in ["text", "contexts"] {
        let arguments = ["report", "deep.cct", "--min-percent", "0", "--format", format];
        let mut command = command();
        command.current_dir(folder.path()).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    }
}

/// The usual profile, reported with these options.
fn of_usual(options: &[&str]) -> String {
    let folder = scratch();
    put(folder.path(), "run.cct", &usual());
    report(folder.path(), options)
}

#[test]
fn parts_of_a_profile_are_shown() {
    let focus = ["--focus", "java.lang.*", "--drop", "*.step", "--min-percent", "0", "--metric", "calls"];
    snapshot("report-selection.txt", &of_usual(&[&focus[..], &["--top", "9"]].concat()));
    let root = of_usual(&["--root", "app.tree.Node.walk", "--thread", "main", "--fold-recursion"]);
    // 30 + 60 + 80 bytecodes of 10,984; calls 1 + 2 + 4.
    assert!(
        root.contains("\nSelected: 1.55 % (170 bytecodes): threads 'main', from 'app.tree.Node.walk' down\n"),
        "{root}"
    );
    assert!(root.contains("\n    7  170        170  100.00  app.tree.Node.walk(Node)\n"), "{root}");
    let contexts = of_usual(&["--format", "contexts", "--focus", "*.hashCode"]);
    assert!(contexts.ends_with("\n3 0 app.Main$$Lambda.run()V;app.Main.step(I)J;java.lang.Object.hashCode()I\n4 0 app.Main.main([Ljava/lang/String,)V;app.tree.Node.walk(Lapp/tree/Node,)V;app.tree.Node.walk(Lapp/tree/Node,)V;app.tree.Node.walk(Lapp/tree/Node,)V;java.lang.Object.hashCode()I\n"), "{contexts}");
}

#[test]
fn what_is_selected_must_be_there() {
    let folder = scratch();
    put(folder.path(), "run.cct", &usual());
    let with = |options: &[&str]| run(folder.path(), &[&["report", "run.cct"], options].concat());
    with(&["--root", "a.B.c"]).fails_saying(&["no context has the method 'a.B.c'"]);
    with(&["--focus", "a.B.c"]).fails_saying(&["no context has a method 'a.B.c'"]);
    let suggests = |option, name, found| {
        let text = format!("'{name}'; did you mean {found}?");
        with(&[option, name]).fails_saying(&[&text]);
    };
    suggests("--root", "Nod.walk", "app.tree.Node.walk");
    suggests("--focus", "node.walk", "app.tree.Node.walk");
    suggests("--thread", "mian", "main");
    with(&["--thread", "nobody"]).fails_saying(&["no thread 'nobody'"]);
    with(&["--by", "jar"]).fails_saying(&["do not record the class path", "--classes"]);
    let unmatched = with(&["--drop", "a.B.c"]).succeeds();
    assert_eq!(unmatched.stderr, "cctrewrite: no method matches --drop 'a.B.c'\n");
}

#[test]
fn callers_of_a_method_are_shown() {
    let folder = scratch();
    put(folder.path(), "run.cct", &usual());
    let with = |options: &[&str]| run(folder.path(), &[&["report", "run.cct"], options].concat());
    let all = with(&["--callers", "Node.walk", "--min-percent", "0"]).succeeds().stdout;
    snapshot("report-callers.txt", all.split_once("\n\n").unwrap().1);
    assert!(all.contains("\nSelected: 1.55 % (170 bytecodes): through 'Node.walk'\n"), "{all}");
    with(&["--callers", "Nod.walk"]).fails_saying(&["did you mean app.tree.Node.walk?"]);
    with(&["--callers", "Node.walk", "--format", "json"]).fails_saying(&["--callers is for text"]);
    let short = with(&["--callers", "Node.walk", "--depth", "0"]).succeeds().stdout;
    let mut last = short.trim_end().lines().rev();
    assert_eq!(last.next().map(str::trim), Some("... callers beyond --depth 0"), "{short}");
    assert!(last.next().is_some_and(|line| line.ends_with("  app.tree.Node.walk(Node)")), "{short}");
}

#[test]
fn earlier_names_of_options_still_work() {
    let folder = scratch();
    put(folder.path(), "run.cct", &usual());
    let with = |options: &[&str]| run(folder.path(), &[&["report", "run.cct"], options].concat()).succeeds();
    let (now, before) = (with(&["--drop", "*.step"]), with(&["--ignore", "*.step"]));
    assert_eq!((&*now.stderr, &now.stdout), ("", &before.stdout));
    assert_eq!(before.stderr, "note: --ignore of `cctrewrite report` is called --drop now\n");
    let merge =
        |option| run(folder.path(), &["merge", "run.cct", "-o", "less.cct", option, "java.**"]).succeeds();
    let of = |said: &str| {
        said.lines().filter(|line| line.starts_with("note: --")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        of(&merge("--ignore").stderr),
        ["note: --ignore of `cctrewrite merge` is called --except now"]
    );
    let less = std::fs::read(folder.path().join("less.cct")).unwrap();
    assert!(of(&merge("--except").stderr).is_empty());
    assert_eq!(std::fs::read(folder.path().join("less.cct")).unwrap(), less);
}

/// Whoever reads a name in a report can ask for it.
#[test]
fn names_are_taken_as_reports_write_them() {
    let folder = scratch();
    put(folder.path(), "run.cct", &usual());
    let table = run(folder.path(), &["report", "run.cct", "--top", "50"]).succeeds().stdout;
    let shown: BTreeSet<&str> = table
        .lines()
        .filter_map(|line| line.rsplit("  ").next())
        .filter(|name| {
            name.ends_with(')')
                && name.split('(').next().is_some_and(|name| name.contains('.') && !name.contains(' '))
        })
        .collect();
    assert!(shown.len() > 3, "{table}");
    for name in shown {
        run(folder.path(), &["report", "run.cct", "--focus", name]).succeeds();
    }
}

#[test]
fn groups_of_methods_are_shown() {
    let mut all = String::new();
    for by in ["class", "package", "thread"] {
        let shown = of_usual(&["--by", by, "--min-percent", "0", "--top", "9", "--sort", "inclusive"]);
        all += shown.split_once("\n\n").unwrap().1;
    }
    snapshot("report-groups.txt", &all);
}

#[test]
fn jars_are_known_from_the_class_path() {
    let folder = scratch();
    put(folder.path(), "run.cct", &usual());
    let tree = jar(&[("app/tree/Node.class", &plain("app/tree/Node"))]);
    let main = plain("app/Main");
    put(
        folder.path(),
        "app.jar",
        &jar(&[("BOOT-INF/classes/app/Main.class", &main), ("lib/tree.jar", &tree)]),
    );
    let options = ["--by", "jar", "--classes", "app.jar", "--format", "csv"];
    assert_eq!(
        report(folder.path(), &options),
        "calls,self,self_percent,inclusive,inclusive_percent,jar\n\
         1007,9180,83.576111,10984,100.000000,app.jar\n\
         258,1634,14.876184,1634,14.876184,(not found)\n\
         7,170,1.547706,170,1.547706,app.jar!/lib/tree.jar\n"
    );
    let by_module = report(folder.path(), &["--by", "module", "--classes", "app.jar", "--format", "csv"]);
    assert!(by_module.contains(",(unnamed module) app.jar\n"), "{by_module}");
}

#[test]
fn a_report_is_written_for_programs() {
    let options = ["--format", "json", "--top", "3", "--per-thread", "--focus", "app.*", "--depth", "3"];
    let text = of_usual(&options);
    snapshot("report.json", &text);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["total"], 10_984);
    let all = of_usual(&["--format", "json", "--min-percent", "0"]);
    let json: serde_json::Value = serde_json::from_str(&all).unwrap();
    let list = |value: &serde_json::Value| value.as_array().unwrap().clone();
    let own = list(&json["table"]).iter().map(|row| row["self"].as_u64().unwrap()).sum::<u64>();
    let contexts = list(&json["trees"][0]["contexts"]);
    let in_tree = contexts.iter().map(|row| row["self"].as_u64().unwrap()).sum::<u64>();
    assert_eq!((own, in_tree, contexts.len()), (10_984, 10_984, 11));
    assert!(json["selected"].is_null() && json["totals"]["bytecodes"] == 10_984);
}
