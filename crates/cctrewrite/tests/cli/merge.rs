//! `cctrewrite merge` and `cctrewrite info`.

use std::io::Write;
use std::process::Stdio;

use super::profiles::{RUN, WORKER, profile, usual};
use super::support::{command, put, run, scratch, snapshot};

fn stored() -> tempfile::TempDir {
    let folder = scratch();
    let home = folder.path();
    put(home, "a/run.cct", &usual());
    put(
        home,
        "b/run.cct",
        &profile(&[("exact", "no"), ("java.version", "26")], &[("main", &RUN), ("other", &WORKER)]),
    );
    put(home, "c.cct", &usual());
    folder
}

#[test]
fn profiles_of_many_runs_become_one() {
    let folder = stored();
    let home = folder.path();
    run(home, &["merge", "a/run.cct", "b/run.cct", "c.cct", "-o", "all.cct"]).succeeds();
    snapshot("info-merged.txt", &run(home, &["info", "all.cct"]).succeeds().stdout);
    run(home, &["merge", "c.cct", "b/run.cct", "a/run.cct", "-o", "other-order.cct"]).succeeds();
    let bytes = |name: &str| std::fs::read(home.join(name)).unwrap();
    assert_eq!(bytes("all.cct"), bytes("other-order.cct"));
    let added_up = run(home, &["report", "a/run.cct", "b/run.cct", "c.cct"]).succeeds().stdout;
    assert_eq!(added_up, run(home, &["report", "all.cct"]).succeeds().stdout);
    for (threads, trees) in [("all", "1 tree"), ("apart", "6 trees")] {
        let arguments = ["merge", "a/run.cct", "b/run.cct", "c.cct", "--threads", threads, "-o", "t.cct"];
        run(home, &arguments).succeeds();
        let info = run(home, &["info", "t.cct"]).succeeds().stdout;
        assert!(info.contains(&format!("\nThreads     6 in {trees}, ")), "{info}");
    }
}

#[test]
fn standard_streams_are_files_too() {
    let folder = stored();
    let mut command = command();
    command.current_dir(folder.path()).args(["merge", "-", "c.cct", "-o", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&usual()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    put(folder.path(), "sum.cct", &output.stdout);
    let info = run(folder.path(), &["info", "sum.cct"]).succeeds().stdout;
    assert!(
        info.contains("\nCalls       2,544\n") && info.contains("\nMerged      standard input\n"),
        "{info}"
    );
}

#[test]
fn profiles_that_cannot_be_added_up_are_refused() {
    let folder = stored();
    let home = folder.path();
    put(home, "precise.cct", &profile(&[("blocks", "precise")], &[("main", &RUN)]));
    let refused = |arguments: &[&str], parts: &[&str]| {
        run(home, &[&["merge"], arguments].concat()).fails_saying(parts);
    };
    refused(
        &["c.cct", "precise.cct", "-o", "x.cct"],
        &["blocks", "default in c.cct and precise in precise.cct"],
    );
    refused(&["c.cct", "a/run.cct", "-o", "c.cct"], &["c.cct is both input and output"]);
    refused(&["-", "-", "-o", "x.cct"], &["standard input can be given only once"]);
    refused(&["missing.cct", "-o", "x.cct"], &["missing.cct"]);
    assert!(!home.join("x.cct").exists());
}

#[test]
fn intact_parts_of_a_truncated_profile_are_added_up() {
    let folder = stored();
    let home = folder.path();
    let bytes = usual();
    put(home, "cut.cct", &bytes[..bytes.len() - 16]);
    let merged = run(home, &["merge", "c.cct", "cut.cct", "-o", "x.cct"]);
    assert_eq!(merged.code, Some(3), "{}", merged.stderr);
    assert!(merged.stderr.starts_with("cctrewrite: cut.cct: the profile is truncated"), "{}", merged.stderr);
    let info = run(home, &["info", "x.cct"]).succeeds().stdout;
    assert!(info.contains("\nNote        cut.cct: the profile is truncated after "), "{info}");
    let cut = run(home, &["info", "cut.cct"]);
    assert_eq!(cut.code, Some(3));
    assert!(cut.stdout.contains("\nINCOMPLETE  the profile is truncated after "), "{}", cut.stdout);
}

#[test]
fn a_profile_is_described() {
    let folder = stored();
    let provenance = ("provenance", "modules blocks=default jdk=00ff\napp.jar blocks=default jdk=none");
    put(folder.path(), "run.cct", &profile(&[provenance], &[("main", &RUN), ("worker", &WORKER)]));
    snapshot("info.txt", &run(folder.path(), &["info", "run.cct"]).succeeds().stdout);
    let json = run(folder.path(), &["info", "run.cct", "c.cct", "--format", "json"]).succeeds().stdout;
    snapshot("info.json", &json);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["profiles"][1]["totals"]["bytecodes"], 10_984);
    run(folder.path(), &["info", "."]).fails_saying(&[".: "]);
}

#[test]
fn classes_are_left_out_and_counted() {
    let folder = stored();
    let home = folder.path();
    run(home, &["merge", "c.cct", "-o", "less.cct", "--except", "java.**"]).succeeds();
    let info = run(home, &["info", "less.cct"]).succeeds().stdout;
    assert!(info.contains("\nSelection   without java.**\n"), "{info}");
    assert!(
        info.contains(
            "classes were dropped (without java.**): 4 contexts with 258 calls and \
                           1,634 bytecodes"
        ),
        "{info}"
    );
    let report = run(home, &["report", "less.cct", "--format", "contexts"]).succeeds().stdout;
    let mut contexts = report.lines().filter(|line| !line.starts_with('#'));
    assert!(contexts.all(|line| !line.contains("java.")), "{report}");
    run(home, &["merge", "c.cct", "-o", "x.cct", "--only", "a["]).fails_saying(&["bad glob", "a["]);
}
