//! `cctrewrite bench`: exact counts of entries, held against a file.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{Jdk, fixture, folder, jdks, scratch};

/// What the command printed and said, and its exit code.
struct Result {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

struct Bench<'a> {
    jdk: &'a Jdk,
    folder: std::path::PathBuf,
}

impl Bench<'_> {
    /// Runs the command on a version of the fixture.
    fn run(&self, version: &str, arguments: &[&str]) -> Result {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
        command.current_dir(&self.folder).env("CCTREWRITE_CACHE", scratch().join("cache-of-runs"));
        command.args(["bench", "-q", "--jdk"]).arg(self.jdk.home());
        command.arg("-c").arg(fixture("bench").join(version).join("classes"));
        let output = command.args(arguments).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Result { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn counts_are_held_against_a_file(jdk: &'static Jdk) {
    let bench = Bench { jdk, folder: folder("bench") };
    let file = bench.folder.join("cctrewrite-bench.json");
    let none = bench.run("before", &["Work.loop"]);
    assert_eq!((none.code, file.exists()), (Some(2), false), "{}", none.stdout);
    assert!(none.stderr.contains("there is no baseline cctrewrite-bench.json"), "{}", none.stderr);

    let stored = bench.run("before", &["--update", "Work.loop", "Work.fill"]);
    assert_eq!((stored.code, &*stored.stderr), (Some(0), ""), "{}", stored.stdout);
    let entries = &json(&file)["entries"];
    assert_eq!(entries["Work.loop"]["all"], serde_json::json!([1, 910]));
    assert_eq!(entries["Work.loop"]["methods"], serde_json::json!({ "Work.loop()V": [1, 910] }));
    let fill = &entries["Work.fill"];
    assert_eq!(fill["methods"]["java.lang.Integer.valueOf(I)Ljava/lang/Integer;"][0], 100);
    assert_eq!(fill["program"][0], 1);

    let same = bench.run("before", &["--format", "json"]);
    let found: Value = serde_json::from_str(&same.stdout).unwrap();
    assert_eq!((same.code, &found["fails"], &found["compared"]), (Some(0), &false.into(), &"all".into()));
    let longer = bench.run("after", &["--format", "json"]);
    let found: Value = serde_json::from_str(&longer.stdout).unwrap();
    let of = |entry: &str| {
        found["entries"].as_array().unwrap().iter().find(|e| e["entry"] == entry).cloned().unwrap()
    };
    assert_eq!((longer.code, of("Work.fill")["status"].as_str()), (Some(1), Some("passes")));
    assert_eq!(of("Work.loop")["change"], serde_json::json!({ "base": 910, "new": 1110 }));
    assert_eq!(
        of("Work.loop")["methods"],
        serde_json::json!([{ "method": "Work.loop()V", "base": 910, "new": 1110 }])
    );
    assert_eq!(bench.run("after", &["--fail-above", "22%"]).code, Some(0));
    assert_eq!(bench.run("after", &["--fail-above", "21.97%"]).code, Some(1));

    // An entry of which nothing was stored is not taken for good.
    // (How often a thread that joins is woken is not the same twice.)
    let unknown = bench.run("before", &["Work.loop", "Work.elsewhere", "--runs", "1"]);
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.stdout.contains("Work.elsewhere is not in the baseline"), "{}", unknown.stdout);
    assert!(unknown.stdout.contains("other threads executed"), "{}", unknown.stdout);
    let other = bench.run("before", &["--warm-up", "2"]);
    assert_eq!(other.code, Some(2));
    assert!(other.stderr.contains("was made with other warm-up (1) than now (2)"), "{}", other.stderr);
}

fn what_cannot_be_counted_is_said(jdk: &'static Jdk) {
    let bench = Bench { jdk, folder: folder("bench-trouble") };
    let varies = bench.run("before", &["--update", "Work.time", "Work.loop"]);
    assert_eq!(varies.code, Some(1), "{}", varies.stderr);
    assert!(varies.stdout.contains("Work.time is not the same twice: Work.time()V"), "{}", varies.stdout);
    let file = json(&bench.folder.join("cctrewrite-bench.json"));
    assert_eq!(file["entries"].as_object().unwrap().keys().collect::<Vec<_>>(), ["Work.loop"]);
    for (entry, why) in [
        ("Work.fail", "ended with an exception:\njava.lang.IllegalStateException: it failed"),
        ("Work.exit", "ended the JVM, with exit code 0"),
        ("Work.none", "cannot be run: java.lang.NoSuchMethodException: Work.none()"),
        ("No.loop", "cannot be run: java.lang.ClassNotFoundException: No"),
        ("loop", "is no entry"),
        ("Work/../loop.x", "is no entry"),
    ] {
        let run = bench.run("before", &["--update", entry]);
        assert_eq!((run.code, &*run.stdout), (Some(2), ""), "{entry}");
        assert!(run.stderr.contains(why), "{entry}: {}", run.stderr);
    }
}

jdks!(entries, counts_are_held_against_a_file, 8: jdk_8, 17: jdk_17, 25: jdk_25);
jdks!(trouble, what_cannot_be_counted_is_said, 17: jdk_17);
