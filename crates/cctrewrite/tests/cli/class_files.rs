//! `cctrewrite instrument` on single class files.

use std::fs;

use super::support::{Run, entry, files, jar, object, plain, put, run, sample, scratch};

/// The output is the class as in a jar; `verify` and `explain` take class files, too.
#[test]
fn a_class_file_gives_a_class_file() {
    let folder = scratch();
    let home = folder.path();
    put(home, "Sample.class", &sample());
    put(home, "app.jar", &jar(&[("Sample.class", &sample())]));
    let done = run(home, &["instrument", "Sample.class", "-o", "out.class", "--verify"]).succeeds();
    assert!(done.stderr.contains("out.class: 1 class, 9 methods, "), "{}", done.stderr);
    run(home, &["instrument", "-q", "app.jar", "-o", "out.jar"]).succeeds();
    assert_eq!(fs::read(home.join("out.class")).unwrap(), entry(&home.join("out.jar"), "Sample.class"));
    run(home, &["verify", "Sample.class", "out.class"]).succeeds();
    let explained = run(home, &["explain", "Sample.class", "Sample", "--no-code"]).succeeds().stdout;
    assert!(explained.contains("Sample"), "{explained}");
}

/// Into a folder, together with a jar, and with markers instead of counts.
#[test]
fn folders_and_other_inputs_take_class_files() {
    let folder = scratch();
    let home = folder.path();
    put(home, "Sample.class", &sample());
    put(home, "a.jar", &jar(&[("p/A.class", &plain("p/A"))]));
    put(home, "there/note.txt", b"kept");
    run(home, &["instrument", "-q", "Sample.class", "-o", "there"]).succeeds();
    run(home, &["instrument", "-q", "Sample.class", "a.jar", "-o", "both"]).succeeds();
    let alone = fs::read(home.join("there/Sample.class")).unwrap();
    assert_ne!(alone, sample());
    assert_eq!(fs::read(home.join("both/Sample.class")).unwrap(), alone);
    assert!(home.join("both/a.jar").is_file() && home.join("there/note.txt").is_file());

    put(home, "rules.toml", b"[[marker]]\ntoken = \"m\"\nat = \"method\"\n");
    let markers = ["--tool", "markers", "--markers", "rules.toml", "--verify"];
    let arguments = [&["instrument", "-q", "Sample.class", "-o", "marked.class"][..], &markers].concat();
    run(home, &arguments).succeeds();
    run(home, &["verify", "Sample.class", "marked.class"]).succeeds();
}

/// A name under which no JVM finds the class gives a message, and does not stop the run.
#[test]
fn a_name_that_does_not_fit_is_said() {
    let folder = scratch();
    let home = folder.path();
    put(home, "B.class", &plain("p/A"));
    let said = |run: Run| run.succeeds().stderr;
    let stderr = said(run(home, &["instrument", "-q", "B.class", "-o", "out.class"]));
    assert!(
        stderr.contains(
            "out.class: holds the class p/A, which JVMs look for in p/A.class; rename the file to A.class"
        ),
        "{stderr}"
    );
    assert_eq!(said(run(home, &["instrument", "-q", "B.class", "-o", "A.class"])), "");
}

#[test]
fn what_cannot_be_is_refused() {
    let folder = scratch();
    let home = folder.path();
    put(home, "a/A.class", &plain("p/A"));
    put(home, "b/A.class", &plain("q/A"));
    put(home, "Object.class", &object());
    put(home, "cut.class", &sample()[..100]);
    put(home, "other/note.txt", b"kept");
    let before = files(home);
    let refused = |arguments: &[&str], parts: &[&str]| {
        run(home, &[&["instrument"], arguments].concat()).fails_saying(parts);
    };
    refused(&["-", "-o", "out"], &["-: standard input cannot be an input", "name a file"]);
    refused(&["a/A.class", "-o", "-"], &["output -: outputs cannot go to standard output", "name a file"]);
    refused(&["Object.class", "-o", "out.class"], &["Object.class: java.lang.Object needs the runtime"]);
    refused(&["a/A.class", "-o", "a/A.class"], &["is the input a/A.class"]);
    refused(&["a/A.class", "b/A.class", "-o", "out"], &["two inputs are called A.class"]);
    refused(&["a/A.class", "-o", "out.class", "--if-changed"], &["a/A.class: ", "--if-changed"]);
    refused(&["cut.class", "-o", "out.class"], &["cut.class", "truncated"]);
    run(home, &["instrument", "a/A.class", "-q", "-o", "A.class"]).succeeds();
    refused(&["A.class", "-o", "other"], &["class p/A is already instrumented"]);
    fs::remove_file(home.join("A.class")).unwrap();
    assert_eq!(files(home), before, "something was left");
}
