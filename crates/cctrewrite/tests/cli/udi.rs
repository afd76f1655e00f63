//! `--udi`: misbehaving modules. (Tests with JVMs cover the others.)

use std::fs;
use std::path::Path;

use cct_test_classes::executable;

use super::support::{command, entry, jar, plain, put, run, sample, scratch};

/// A greeting without classes, for printf(1).
const GREETING: &str = "CCTUDI01\\000\\000\\000\\000";

fn module(folder: &Path, commands: &str) {
    executable::script(&folder.join("module"), commands).unwrap();
}

const INSTRUMENT: [&str; 7] =
    ["instrument", "app.jar", "-o", "out.jar", "--udi", "module", "--udi-timeout=2"];

#[test]
fn failures_name_the_class_and_write_nothing() {
    let folder = scratch();
    let home = folder.path();
    put(home, "app.jar", &jar(&[("p/B.class", &plain("p/B"))]));
    for (commands, parts) in [
        ("exit 3", &["module module", "ended without an answer", "exit status: 3"][..]),
        ("echo Hello, world; cat > /dev/null", &["its first bytes", "standard output"]),
        (&format!("printf '{GREETING}'; exit 4"), &["class p/B", "exit status: 4"]),
        (&format!("printf '{GREETING}'; exec sleep 20"), &["class p/B", "within 2 s", "--udi-timeout"]),
        (&format!("printf '{GREETING}\\007'; cat > /dev/null"), &["class p/B", "begins with 7"]),
        (
            &format!("printf '{GREETING}\\001\\000\\000\\000\\002no'; cat > /dev/null"),
            &["class p/B", "not a valid class file"],
        ),
        (&format!("printf '{GREETING}\\003\\000\\000\\000\\003bad'; cat > /dev/null"), &["class p/B", "bad"]),
        (&format!("printf '{GREETING}\\000\\000'; cat > /dev/null"), &["answered more"]),
        (&format!("printf '{GREETING}\\000'; cat > /dev/null; exit 5"), &["exit status: 5"]),
        (
            "printf 'CCTUDI01\\000\\000\\000\\001\\000\\000\\000\\001a\\000\\000\\000\\001b\\000'; cat > /dev/null",
            &["own class a"],
        ),
    ] {
        module(home, commands);
        run(home, &INSTRUMENT).fails_saying(parts);
        assert!(!home.join("out.jar").exists());
    }
    run(home, &["instrument", "app.jar", "-o", "out.jar", "--udi", "none.jar"]).fails_saying(&["none.jar"]);
}

/// A process that the module started goes on, and holds the pipes.
#[test]
fn a_module_that_does_not_answer_is_not_waited_for() {
    let folder = scratch();
    let home = folder.path();
    put(home, "app.jar", &jar(&[("p/B.class", &plain("p/B"))]));
    let started = std::time::Instant::now();
    for commands in [
        format!("printf '{GREETING}'; sleep 30; true"),
        format!("printf '{GREETING}'; exec >&-; sleep 30; true"),
    ] {
        module(home, &commands);
        // Reading the output waits for its end, so it goes to a file.
        let said = home.join("said");
        let mut command = command();
        command.current_dir(home).args(INSTRUMENT).stderr(fs::File::create(&said).unwrap());
        assert_eq!(command.status().unwrap().code(), Some(1));
        assert!(fs::read_to_string(&said).unwrap().contains("class p/B"));
    }
    assert!(started.elapsed().as_secs() < 25, "{:?}", started.elapsed());
}

#[test]
fn a_class_that_is_left_out_is_named() {
    let folder = scratch();
    let home = folder.path();
    put(home, "app.jar", &jar(&[("Sample.class", &sample())]));
    module(home, &format!("printf '{GREETING}\\002\\000\\000\\000\\010too hard'; cat > /dev/null"));
    let said = run(home, &[&INSTRUMENT[..], &["--report", "r.json"]].concat()).succeeds().stderr;
    assert!(said.contains("warning: Sample: the module left it out: too hard"), "{said}");
    assert!(said.contains("0 replaced, 0 kept, 1 left out"), "{said}");
    let report: serde_json::Value = serde_json::from_slice(&fs::read(home.join("r.json")).unwrap()).unwrap();
    assert_eq!(report["udi"]["aborted"][0]["reason"], "too hard");
    // As without the module.
    run(home, &["instrument", "app.jar", "-o", "plain.jar"]).succeeds();
    let class = |name: &str| entry(&home.join(name), "Sample.class");
    assert_eq!(class("out.jar").len(), class("plain.jar").len());
    let flags = run(home, &["flags", "out.jar"]).succeeds().stderr;
    assert!(flags.contains("the module module@") && flags.contains("only if -Dcctrewrite.udi"), "{flags}");
    // They do not fit together, and verify says why it cannot compare.
    run(home, &["flags", "out.jar", "plain.jar"]).fails_saying(&["udi=module@", "udi=none"]);
    let verify = run(home, &["verify", "app.jar", "out.jar"]);
    assert_eq!(verify.code, Some(2), "{}", verify.stderr);
    assert!(verify.stderr.contains("module@") && verify.stderr.contains("--verify"), "{}", verify.stderr);
}
