//! `cctrewrite report --table`.

use std::path::Path;

use super::profiles::{CHAR_AT, MAIN, RUN, STEP, profile, usual};
use super::support::{jar, object, plain, put, run, scratch, snapshot};

fn table(folder: &Path, arguments: &[&str]) -> String {
    let arguments = [&["report", "--table"], arguments].concat();
    let run = run(folder, &arguments).succeeds();
    assert_eq!(run.stderr, "");
    run.stdout
}

fn stored() -> tempfile::TempDir {
    let folder = scratch();
    put(folder.path(), "run.cct", &usual());
    put(folder.path(), "short.cct", &profile(&[], &[("main", &RUN[..3])]));
    folder
}

#[test]
fn each_profile_has_a_row() {
    let folder = stored();
    let mut all = String::new();
    for which in ["natives", "library", "shape", "overlap"] {
        all += &format!("{which}\n{}\n", table(folder.path(), &[which, "run.cct", "short.cct"]));
    }
    snapshot("tables.txt", &all);
}

#[test]
fn tables_are_written_for_programs() {
    let folder = stored();
    let csv = table(folder.path(), &["natives", "run.cct", "--format", "csv"]);
    // 7 of 1272 calls in 2 of 11 contexts.
    assert_eq!(
        csv,
        "file,native_contexts,native_contexts_percent,native_calls,native_calls_percent,contexts,calls\n\
         run.cct,2,18.181818,7,0.550314,11,1272\n"
    );
    let json = table(folder.path(), &["overlap", "run.cct", "short.cct", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    // Of 1272 calls 1251 are in both, which are all calls of the other: each share is smaller in
    // the first.
    let calls = json["rows"][0]["calls_percent"].as_f64().unwrap();
    assert!((calls - 1251.0 / 1272.0 * 100.0).abs() < 1e-9, "{json}");
    assert_eq!((&json["format"], &json["version"]), (&"cctrewrite table".into(), &1.into()));
}

#[test]
fn the_jdk_is_known_by_its_classes() {
    let folder = scratch();
    // A library whose package looks like the JDK's.
    let main = profile(&[], &[("main", &[(1, MAIN, 1, 0), (2, CHAR_AT, 30, 0), (2, STEP, 70, 0)])]);
    put(folder.path(), "run.cct", &main);
    put(folder.path(), "rt.jar", &jar(&[("java/lang/Object.class", &object())]));
    put(folder.path(), "lib.jar", &jar(&[("java/lang/String.class", &plain("java/lang/String"))]));
    let shares = |options: &[&str]| {
        let csv = table(folder.path(), &[&["library", "run.cct", "--format", "csv"], options].concat());
        csv.lines().nth(1).unwrap().to_owned()
    };
    assert_eq!(shares(&[]), "run.cct,70.000000,0.000000,30.000000,0.000000,100,1,0");
    let looked_up = shares(&["--classes", "lib.jar", "--classes", "rt.jar"]);
    assert_eq!(looked_up, "run.cct,100.000000,0.000000,0.000000,0.000000,100,1,0");
}

#[test]
fn tables_that_cannot_be_made_are_refused() {
    let folder = stored();
    let refused = |arguments: &[&str], parts: &[&str]| {
        run(folder.path(), &[&["report", "--table"], arguments].concat()).fails_saying(parts);
    };
    refused(&["overlap", "run.cct"], &["at least two"]);
    put(folder.path(), "calls.txt", b"1 - app.Main.main()V\n");
    refused(
        &["overlap", "run.cct", "calls.txt"],
        &["B counts only calls", "`cctrewrite compare --calls-only`"],
    );
    refused(&["overlap", "run.cct", "-"], &["standard input"]);
    refused(&["shape", "run.cct", "--format", "contexts"], &["text, json or csv"]);
    refused(&["shape", "run.cct", "--root", "no.Such"], &["run.cct", "'no.Such'"]);
}
