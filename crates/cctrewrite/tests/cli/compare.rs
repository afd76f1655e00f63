//! `cctrewrite compare`.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use cct_profile::merge::{MergeOptions, Threads, merge};
use cct_profile::{Method, Profile, ThreadTree, TreeBuilder};

use super::support::{Run, command, put, run, scratch, snapshot};

/// One context: depth (1 below the thread), method, calls, bytecodes.
type Node = (usize, u32, u64, u64);

const METHODS: [(&str, &str, &str); 5] = [
    ("app/Main", "main", "([Ljava/lang/String;)V"),
    ("app/Main", "step", "(I)J"),
    ("app/Main$$Lambda$7", "run", "()V"),
    ("java/lang/String", "charAt", "(I)C"),
    ("java/lang/Thread", "join", "()V"),
];

const BEFORE: [Node; 6] =
    [(1, 0, 1, 120), (2, 1, 1000, 9000), (3, 3, 250, 1234), (2, 3, 2, 10), (2, 2, 3, 33), (2, 4, 1, 7)];

/// Two fewer calls of `step`, with one bytecode more in total; `charAt` called from `main` once;
/// `join` polled more often.
const AFTER: [Node; 5] = [(1, 0, 1, 120), (2, 1, 998, 9001), (3, 3, 250, 1234), (2, 3, 1, 5), (2, 4, 5, 35)];

/// A profile as the runtime writes it. The seed determines MIDs and the numbers of lambdas.
fn profile(seed: u64, blocks: &str, main: &[Node], worker: &[Node]) -> Vec<u8> {
    let method = |&(class, name, descriptor): &(&str, &str, &str)| Method {
        class: class.replace('7', &seed.to_string()).into(),
        name: name.into(),
        descriptor: descriptor.into(),
        site: None,
        mid: seed << 7,
        flags: 0,
    };
    let thread = |name: &str, nodes: &[Node]| {
        let mut tree = TreeBuilder::new();
        let mut current = 0;
        for &(depth, method, calls, bytecodes) in nodes {
            (depth..=current).for_each(|_| tree.leave());
            tree.enter(method, calls, bytecodes).unwrap();
            current = depth;
        }
        ThreadTree { name: name.into(), threads: 1, flags: ThreadTree::ENDED, tree: tree.finish() }
    };
    let meta = [("blocks", blocks), ("exact", "yes"), ("main", "app.Main"), ("metrics", "calls+bytecodes")];
    let profile = Profile {
        meta: meta.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
        notes: vec![format!("classes of run {seed} were generated")],
        methods: METHODS.iter().map(method).collect(),
        threads: vec![thread("main", main), thread("worker", worker)],
        damage: Vec::new(),
    };
    let canonical = MergeOptions { threads: Threads::Apart, ..MergeOptions::default() };
    merge(&[&profile], canonical).unwrap().to_bytes().unwrap()
}

fn stored() -> tempfile::TempDir {
    let folder = scratch();
    put(folder.path(), "before.cct", &profile(7, "default", &BEFORE, &[(1, 2, 3, 33)]));
    put(folder.path(), "after.cct", &profile(8, "precise", &AFTER, &[(1, 2, 3, 33), (2, 3, 3, 15)]));
    folder
}

fn compare(folder: &Path, arguments: &[&str]) -> Run {
    let arguments: Vec<&str> = ["compare"].iter().chain(arguments).copied().collect();
    run(folder, &arguments)
}

/// Checks the exit code and that standard error is empty; returns the output.
fn ends(run: Run, code: i32) -> String {
    assert_eq!((run.code, &*run.stderr), (Some(code), ""), "{}", run.stdout);
    run.stdout
}

/// Checks exit code 2 and one line on standard error that contains these parts.
fn fails_saying(run: &Run, parts: &[&str]) {
    assert_eq!((run.code, &*run.stdout), (Some(2), ""), "{}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    assert!(run.stderr.starts_with("cctrewrite: "), "{}", run.stderr);
    for part in parts {
        assert!(run.stderr.contains(part), "{part:?} is not in {}", run.stderr);
    }
}

#[test]
fn differences_are_shown_as_text() {
    let folder = stored();
    let files = ["before.cct", "after.cct"];
    snapshot("compare.txt", &ends(compare(folder.path(), &files), 1));
    let options =
        ["--normalize-generated", "--per-thread", "--drop", "*.join", "--drop", "nobody", "--limit", "1"];
    let text = ends(compare(folder.path(), &[&files[..], &options].concat()), 1);
    snapshot("compare-options.txt", &text);
    let narrow = ends(compare(folder.path(), &[&files[..], &["--width", "40"]].concat()), 1);
    assert!(narrow.lines().all(|line| line.chars().count() <= 40), "{narrow}");
    assert!(!ends(compare(folder.path(), &[&files[..], &["--limit", "0"]].concat()), 1).contains(" < "));
}

#[test]
fn differences_are_written_for_programs() {
    let folder = stored();
    let options = ["before.cct", "after.cct", "--format", "json", "--limit", "1", "--normalize-generated"];
    let text = ends(compare(folder.path(), &options), 1);
    snapshot("compare.json", &text);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["equal"], false);
    let calls = ends(compare(folder.path(), &[&options[..], &["--calls-only"]].concat()), 1);
    let json: serde_json::Value = serde_json::from_str(&calls).unwrap();
    assert!(json["bytecodes"].is_null() && json["only_a"].get("bytecodes").is_none(), "{calls}");
}

#[test]
fn equal_profiles_have_exit_code_0() {
    let folder = stored();
    put(folder.path(), "again.cct", &profile(9, "default", &BEFORE, &[(1, 2, 3, 33)]));
    let raw = ends(compare(folder.path(), &["before.cct", "again.cct"]), 1);
    assert!(raw.contains("names of generated classes have numbers"), "{raw}");
    let same = ends(compare(folder.path(), &["before.cct", "again.cct", "--normalize-generated"]), 0);
    assert!(same.ends_with("\nA and B are equal.\n"), "{same}");
    assert!(same.contains("\nOverlap                         100.000000 %  100.000000 %\n"), "{same}");
    ends(compare(folder.path(), &["before.cct", "before.cct", "--per-thread"]), 0);
}

#[test]
fn a_list_of_contexts_is_as_good_as_the_profile() {
    let folder = stored();
    for names in [&[][..], &["--raw-names"]] {
        let options = [&["report", "before.cct", "--format", "contexts", "--per-thread"], names].concat();
        put(folder.path(), "before.txt", run(folder.path(), &options).succeeds().stdout.as_bytes());
        let options = ["before.cct", "before.txt", "--normalize-generated"];
        let text = ends(compare(folder.path(), &options), 0);
        assert!(text.contains("\nB           before.txt (list of contexts)\n"), "{text}");
        assert!(!text.contains("Differs") && text.contains("Note A B"), "{text}");
        ends(compare(folder.path(), &[&options[..], &["--per-thread"]].concat()), 0);
    }
}

#[test]
fn either_side_may_be_standard_input() {
    let folder = stored();
    for arguments in [["-", "after.cct"], ["before.cct", "-"]] {
        let mut command = command();
        command.current_dir(folder.path()).arg("compare").args(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let piped = if arguments[0] == "-" { "before.cct" } else { "after.cct" };
        let bytes = std::fs::read(folder.path().join(piped)).unwrap();
        child.stdin.take().unwrap().write_all(&bytes).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let expected = ends(compare(folder.path(), &["before.cct", "after.cct"]), 1);
        let shown = String::from_utf8(output.stdout).unwrap();
        assert_eq!(shown.replace("standard input", piped), expected);
    }
    fails_saying(&compare(folder.path(), &["-", "-"]), &["standard input can be given only once"]);
}

#[test]
fn parts_of_profiles_are_compared() {
    let folder = stored();
    let files = ["before.cct", "after.cct"];
    let with = |options: &[&str]| compare(folder.path(), &[&files[..], options].concat());
    let step = ends(with(&["--root", "app/Main.step", "--calls-only"]), 1);
    assert!(step.contains("\nCompared    calls, sum of all threads, from 'app/Main.step' down\n"), "{step}");
    assert!(step.contains("\nCalls     1,250  1,248     +2\n"), "{step}");
    ends(with(&["--root", "java.lang.String.charAt", "--thread", "main"]), 1);
    fails_saying(&with(&["--root", "app.Main.main", "--drop", "*"]), &["'app.Main.main'"]);
    let worker = ends(with(&["--thread", "work*", "--normalize-generated", "--drop", "java.*"]), 0);
    assert!(worker.contains("sum of threads 'work*'"), "{worker}");
}

#[test]
fn what_was_cut_off_is_no_equality() {
    let folder = stored();
    let whole = std::fs::read(folder.path().join("before.cct")).unwrap();
    // Without the end mark: all trees are there.
    put(folder.path(), "cut.cct", &whole[..whole.len() - 16]);
    let options = ["report", "before.cct", "--format", "contexts", "--raw-names"];
    let list = run(folder.path(), &options).succeeds().stdout;
    let last = list.trim_end().rfind('\n').unwrap() + 1;
    put(folder.path(), "cut.txt", &list.as_bytes()[..last]);
    for (cut, message) in [("cut.cct", "the profile is truncated"), ("cut.txt", "the list is truncated")] {
        for (files, side) in [(["before.cct", cut], "B"), ([cut, "before.cct"], "A")] {
            let run = compare(folder.path(), &files);
            assert_eq!(run.code, Some(3), "{}", run.stderr);
            assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
            assert!(run.stderr.starts_with(&format!("cctrewrite: {cut}: {message}")), "{}", run.stderr);
            assert!(run.stdout.contains(&format!("\nINCOMPLETE {side} ")), "{}", run.stdout);
            assert!(run.stdout.ends_with("part of an input is missing.\n"), "{}", run.stdout);
        }
    }
    let json = compare(folder.path(), &["cut.cct", "cut.cct", "--format", "json"]);
    assert_eq!(json.code, Some(3));
    assert!(json.stdout.contains("\"equal\": true") && json.stdout.contains("\"incomplete\": true"));
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let folder = stored();
    let home = folder.path();
    put(home, "text.txt", b"no profile at all\n");
    put(home, "empty.cct", b"");
    put(home, "bad.txt", b"# a list\n1 2 app.Main.main()V\n1 x app.Main.main()V\n");
    put(home, "calls.txt", b"1 - app.Main.main()V\n");
    put(home, "merged.txt", b"1 2 app.Main.main()V\n");
    put(home, "newer.txt", b"# cctrewrite contexts 2  format: other\n");
    let mut flipped = profile(7, "default", &BEFORE, &[]);
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0x10;
    put(home, "flipped.cct", &flipped);
    let against = |other: &str, options: &[&str]| compare(home, &[&["before.cct", other], options].concat());
    fails_saying(&against("text.txt", &[]), &["text.txt", "neither a profile", "line 1"]);
    fails_saying(&against("empty.cct", &[]), &["empty.cct", "empty"]);
    fails_saying(&against("bad.txt", &[]), &["bad.txt", "line 3", "'x' is not a count"]);
    fails_saying(&against("newer.txt", &[]), &["newer.txt", "format version 2"]);
    fails_saying(&against("flipped.cct", &[]), &["flipped.cct", "checksum"]);
    fails_saying(&against("missing.cct", &[]), &["missing.cct", "No such file"]);
    fails_saying(&against(".", &[]), &[".: "]);
    fails_saying(&against("calls.txt", &[]), &["calls.txt", "B counts only calls"]);
    ends(against("calls.txt", &["--calls-only"]), 1);
    fails_saying(
        &against("merged.txt", &["--per-thread"]),
        &["B, a list of contexts, has the sum \
                                                               of all threads"],
    );
    fails_saying(&against("after.cct", &["--root", "app.Main.nobody"]), &["'app.Main.nobody'"]);
    fails_saying(&against("after.cct", &["--thread", "nobody"]), &["thread 'nobody'"]);
}
