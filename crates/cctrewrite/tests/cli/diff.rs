//! `cctrewrite diff`.

use std::path::Path;

use super::profiles::{CHAR_AT, Node, RUN, STEP, WORKER, profile, usual};
use super::support::{Run, put, run, scratch, snapshot};

/// The usual run with two changes. A line of the loop in `step` is longer by two bytecodes in each
/// of its thousand calls, and a `step` of the worker calls `charAt`.
fn changed() -> Vec<u8> {
    let mut main = RUN;
    assert_eq!(main[1], (2, STEP, 1000, 9000));
    main[1].3 += 2000;
    let worker: Vec<Node> =
        WORKER[..2].iter().copied().chain([(3, CHAR_AT, 3, 15)]).chain([WORKER[2]]).collect();
    profile(&[("java.version", "26")], &[("main", &main), ("worker", &worker)])
}

fn stored() -> tempfile::TempDir {
    let folder = scratch();
    put(folder.path(), "base.cct", &usual());
    put(folder.path(), "new.cct", &changed());
    folder
}

/// The difference of the two, which are of different JDKs.
fn diff(folder: &Path, options: &[&str]) -> Run {
    run(folder, &[&["diff", "base.cct", "new.cct", "--allow-mismatch"], options].concat())
}

/// Checks the exit code and that standard error is empty; returns the output.
fn ends(run: Run, code: i32) -> String {
    assert_eq!((run.code, &*run.stderr), (Some(code), ""), "{}", run.stdout);
    run.stdout
}

#[test]
fn a_changed_line_shows_as_method_and_context() {
    let folder = stored();
    let text = ends(diff(folder.path(), &[]), 0);
    snapshot("diff.txt", &text);
    let options =
        ["--by", "class", "--per-thread", "--sort", "relative", "--limit", "1", "--fail-above", "18"];
    snapshot("diff-options.txt", &ends(diff(folder.path(), &options), 1));
    let narrow = ends(diff(folder.path(), &["--width", "40"]), 0);
    assert!(narrow.lines().all(|line| line.chars().count() <= 40), "{narrow}");
}

/// The selection keeps hardly any of what has grown, so that a limit over it would pass.
#[test]
fn a_limit_over_a_small_part_is_refused() {
    let folder = stored();
    let limit = ["--fail-above", "1%"];
    for selection in [["--drop", "app.Main.*"], ["--root", "app.tree.Node.walk"], ["--thread", "worker"]] {
        let with = |options: &[&str]| diff(folder.path(), &[&selection, options].concat());
        let refused = with(&limit);
        assert_eq!((refused.code, &*refused.stdout), (Some(2), ""), "{selection:?}: {}", refused.stderr);
        for part in ["the selection keeps ", "% of the bytecodes of BASE", "--keep-at-least"] {
            assert!(refused.stderr.contains(part), "{selection:?}: {}", refused.stderr);
        }
        // Without a limit nothing is judged, and the share is shown.
        let shown = ends(with(&[]), 0);
        assert!(shown.lines().any(|line| line.starts_with("Selected ")), "{shown}");
        let allowed = with(&[&limit[..], &["--keep-at-least", "0"]].concat());
        assert!(matches!(allowed.code, Some(0 | 1)), "{}", allowed.stderr);
    }
    // Nearly everything: the limit holds.
    ends(diff(folder.path(), &["--drop", "*.hashCode", "--fail-above", "1%"]), 1);
    let whole = ends(diff(folder.path(), &["--fail-above", "1%"]), 1);
    assert!(!whole.contains("\nSelected "), "{whole}");
}

/// The library below a method counts in the view, and `--only` keeps too little for a limit.
#[test]
fn a_limit_over_dropped_classes_is_refused_and_one_over_the_view_is_not() {
    let folder = stored();
    let limits = ["--fail-above", "1%"];
    let with = |options: &[&str]| diff(folder.path(), &[&limits, options].concat());
    let only = with(&["--only", "java.**"]);
    assert_eq!((only.code, &*only.stdout), (Some(2), ""), "{}", only.stderr);
    assert!(only.stderr.contains("% of the bytecodes of BASE"), "{}", only.stderr);
    let view = ends(with(&["--mine", "app.Main"]), 1);
    assert!(view.contains(" (library)\n") && view.contains("all but app.Main as (library)"), "{view}");
    let totals =
        |text: &str| text.lines().filter(|line| line.ends_with(" bytecodes")).map(str::to_owned).next();
    assert_eq!(totals(&view), totals(&ends(with(&[]), 1)));
    // What `merge --only` dropped, no limit checks.
    for name in ["base", "new"] {
        let (file, part) = (format!("{name}.cct"), format!("{name}-only.cct"));
        run(folder.path(), &["merge", &file, "-o", &part, "--only", "app.**"]).succeeds();
    }
    let parts = ["diff", "base-only.cct", "new-only.cct", "--allow-mismatch", "--fail-above", "1%"];
    let refused = run(folder.path(), &parts);
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    assert!(refused.stderr.contains("BASE is without the work of some classes (only app.**)"));
    assert_eq!(run(folder.path(), &[&parts[..], &["--keep-at-least", "0"]].concat()).code, Some(1));
}

#[test]
fn limits_over_different_recordings_are_refused() {
    let folder = stored();
    let refused = |base: &str, new: &str, part: &str| {
        let free = run(folder.path(), &["diff", base, new]);
        assert_eq!(free.code, Some(0), "{}", free.stderr);
        let run = run(folder.path(), &["diff", base, new, "--fail-above", "90000%"]);
        assert_eq!((run.code, &*run.stdout), (Some(2), ""), "{}", run.stderr);
        assert!(run.stderr.contains(part) && run.stderr.contains("--allow-mismatch"), "{}", run.stderr);
        free.stdout
    };
    let free = refused("base.cct", "new.cct", "the JDK (25.0.1 and 26)");
    assert!(free.ends_with(" in all; the JDK differs (25.0.1, 26).\n"), "{free}");
    let json = ends(run(folder.path(), &["diff", "base.cct", "new.cct", "--format", "json"]), 0);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let jdks = serde_json::json!([{ "what": "the JDK", "base": "25.0.1", "new": "26" }]);
    assert_eq!(json["mismatches"], jdks);
    put(folder.path(), "noisy.cct", &profile(&[("reproducible", "no")], &[("main", &RUN)]));
    put(folder.path(), "pinned.cct", &profile(&[("reproducible", "yes")], &[("main", &RUN)]));
    refused("noisy.cct", "pinned.cct", "--reproducible (no and yes)");
    run(folder.path(), &["merge", "base.cct", "-o", "view.cct", "--collapse-library"]).succeeds();
    refused("base.cct", "view.cct", "the collapsed library (none and the JDK)");
}

/// A change that two recordings of one version may show is said to be one.
#[test]
fn small_changes_may_be_noise() {
    let folder = stored();
    let of = |name: &str, bytecodes: u64| {
        let mut nodes = RUN;
        nodes[1].3 += bytecodes;
        put(folder.path(), name, &profile(&[("reproducible", "no")], &[("main", &nodes)]));
    };
    of("a.cct", 0);
    of("b.cct", 200);
    of("c.cct", 2000);
    let excess = |new: &str| ends(run(folder.path(), &["diff", "a.cct", new, "--fail-above", "0"]), 1);
    let noise = "two recordings of one version may differ as much";
    assert!(excess("b.cct").contains(noise) && !excess("c.cct").contains(noise));
}

#[test]
fn the_same_profile_is_identical() {
    let folder = stored();
    let same = |options: &[&str]| {
        let run = run(folder.path(), &[&["diff", "base.cct", "same.cct"], options].concat());
        ends(run, 0)
    };
    std::fs::copy(folder.path().join("base.cct"), folder.path().join("same.cct")).unwrap();
    assert!(same(&[]).ends_with("\nBASE and NEW are identical.\n"));
    let judged = same(&["--fail-above", "0", "--fail-method-above", "0%"]);
    assert!(judged.ends_with("\nBASE and NEW are identical; within the limits.\n"), "{judged}");
    let json: serde_json::Value = serde_json::from_str(&same(&["--format", "json"])).unwrap();
    assert_eq!(json["identical"], true);
    assert_eq!(same(&["--format", "csv"]).lines().count(), 1);
}

/// Whoever forgets `-o` overwrites the first profile, and compares the second with itself.
#[test]
fn a_file_compared_with_itself_is_named() {
    let folder = stored();
    let run = run(folder.path(), &["diff", "base.cct", "./base.cct"][..]);
    assert_eq!(run.code, Some(0));
    assert!(run.stderr.contains("BASE and NEW are the same file"), "{}", run.stderr);
}

#[test]
fn growth_above_a_limit_fails() {
    let folder = stored();
    let code = |options: &[&str]| {
        let run = diff(folder.path(), options);
        assert_eq!(run.stderr, "");
        run.code
    };
    // 2015 of 10984 bytecodes are 18.345 %; step: 2000 of 9027 are 22.16 %; charAt: 15 of 1234 are
    // 1.22 %.
    assert_eq!(code(&["--fail-above", "18.346%"]), Some(0));
    assert_eq!(code(&["--fail-above", "18.344%"]), Some(1));
    assert_eq!(code(&["--fail-method-above", "22.2"]), Some(0));
    assert_eq!(code(&["--fail-method-above", "22"]), Some(1));
    let of_part =
        |options: &[&str]| code(&[&["--fail-method-above", "1", "--keep-at-least", "0"], options].concat());
    assert_eq!(of_part(&["--drop", "*.step"]), Some(0));
    assert_eq!(of_part(&["--focus", "*.charAt"]), Some(1));
    // 15 bytecodes are 0.14 % of the total.
    assert_eq!(of_part(&["--focus", "*.charAt", "--min-percent", "2"]), Some(0));
    assert_eq!(code(&["--fail-above", "0", "--calls-only"]), Some(1));
    // In the other direction it is less.
    ends(run(folder.path(), &["diff", "new.cct", "base.cct", "--fail-above", "0", "--allow-mismatch"]), 0);
}

#[test]
fn differences_are_written_for_programs() {
    let folder = stored();
    for (format, name) in
        [("json", "diff.json"), ("csv", "diff.csv"), ("junit", "diff.xml"), ("github", "diff-github.txt")]
    {
        let options =
            ["--format", format, "--fail-above", "1%", "--fail-method-above", "20%", "--limit", "2"];
        let text = ends(diff(folder.path(), &options), 1);
        snapshot(name, &text);
        if format == "json" {
            let json: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(json["bytecodes"]["new"], 12_999);
        }
    }
    let passed = ends(diff(folder.path(), &["--format", "junit", "--fail-method-above", "50"]), 0);
    assert!(passed.contains("<testsuites tests=\"1\" failures=\"0\">"), "{passed}");
    let free = ends(diff(folder.path(), &["--format", "junit"]), 0);
    assert!(free.contains("name=\"difference\"/>"), "{free}");
}

#[test]
fn truncated_output_is_never_a_success() {
    let folder = stored();
    let whole = std::fs::read(folder.path().join("base.cct")).unwrap();
    put(folder.path(), "cut.cct", &whole[..whole.len() - 16]);
    let run = run(folder.path(), &["diff", "base.cct", "cut.cct", "--fail-above", "0"]);
    assert_eq!(run.code, Some(3));
    assert!(run.stderr.starts_with("cctrewrite: cut.cct: the profile is truncated"), "{}", run.stderr);
    assert!(run.stdout.contains("\nINCOMPLETE NEW  "), "{}", run.stdout);
    assert!(run.stdout.ends_with("identical; within the limits, but part of an input is missing.\n"));
}

#[test]
fn incomparable_profiles_are_an_error() {
    let folder = stored();
    put(folder.path(), "calls.txt", b"1 - app.Main.main()V\n");
    let trouble = |arguments: &[&str], part: &str| {
        let run = run(folder.path(), &[&["diff"], arguments].concat());
        assert_eq!((run.code, &*run.stdout), (Some(2), ""), "{}", run.stderr);
        assert!(run.stderr.contains(part), "{}", run.stderr);
    };
    trouble(&["base.cct", "calls.txt"], "--calls-only");
    trouble(&["base.cct", "missing.cct"], "No such file");
    trouble(&["-", "-"], "standard input can be given only once");
    trouble(&["base.cct", "new.cct", "--by", "module"], "--classes");
    trouble(&["base.cct", "new.cct", "--by", "thread"], "--per-thread");
    trouble(&["base.cct", "new.cct", "--root", "a.B.c"], "'a.B.c'");
    trouble(&["base.cct", "new.cct", "--fail-above", "much"], "expected a percentage");
    let list = run(folder.path(), &["report", "--format", "contexts", "base.cct"]).succeeds().stdout;
    put(folder.path(), "base.txt", list.as_bytes());
    let same = ends(run(folder.path(), &["diff", "base.cct", "base.txt"]), 0);
    assert!(same.contains("base.txt (list of contexts)"), "{same}");
    assert!(same.ends_with("identical.\n"), "{same}");
}
