//! `--natives`: messages of the command.

use super::support::{jar, put, run, sample, scratch};

const BY_PREFIX: [&str; 4] = ["--natives", "prefix", "--context", "thread"];

#[test]
fn other_names_need_contexts_that_the_thread_carries() {
    let folder = scratch();
    put(folder.path(), "app.jar", &jar(&[("Sample.class", &sample())]));
    run(folder.path(), &["instrument", "app.jar", "-o", "out.jar", "--natives", "prefix"])
        .fails_saying(&["--natives prefix", "--context thread"]);
    assert!(!folder.path().join("out.jar").exists());
    run(folder.path(), &["explain", "app.jar", "Sample", "--natives", "prefix"])
        .fails_saying(&["--context thread"]);
    let arguments = [&["instrument", "app.jar", "-o", "out.jar"][..], &BY_PREFIX].concat();
    let said = run(folder.path(), &arguments).succeeds().stderr;
    assert!(said.contains("1  prefixed"), "{said}");
    run(folder.path(), &["verify", "app.jar", "out.jar"]).succeeds();
}

#[test]
fn replacements_of_natives_are_listed() {
    let folder = scratch();
    put(folder.path(), "app.jar", &jar(&[("Sample.class", &sample())]));
    let arguments = [&["explain", "app.jar", "Sample", "later"][..], &BY_PREFIX].concat();
    let text = run(folder.path(), &arguments).succeeds().stdout;
    for part in ["prefixed: native under another name", "cct$native$later", "cct$enter", "cct$carry"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// Outputs that represent natives in different ways do not run together.
#[test]
fn outputs_must_agree() {
    let folder = scratch();
    put(folder.path(), "app.jar", &jar(&[("Sample.class", &sample())]));
    let arguments = [&["instrument", "app.jar", "-o", "a.jar"][..], &BY_PREFIX].concat();
    run(folder.path(), &arguments).succeeds();
    let arguments = ["instrument", "app.jar", "-o", "b.jar", "--natives", "none", "--context", "thread"];
    run(folder.path(), &arguments).succeeds();
    run(folder.path(), &["flags", "a.jar", "b.jar"]).fails_saying(&["natives", "prefix", "none"]);
}
