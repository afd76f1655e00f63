//! `cctrewrite bench`: exact counts of entries, compared with a file.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use crate::support::{Jdk, fixture, folder, jdks, scratch};

/// The output, messages and exit code of the command.
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
    /// The command on a version of the fixture. Its temporary files are below the folder.
    fn command(&self, version: &str, arguments: &[&str]) -> Command {
        self.command_on(&fixture("bench").join(version), arguments)
    }

    /// The command on the classes of a fixture.
    fn command_on(&self, fixture: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
        command.current_dir(&self.folder).env("CCTREWRITE_CACHE", scratch().join("cache-of-runs"));
        command.env("TMPDIR", &self.folder).args(["bench", "-q", "--jdk"]).arg(self.jdk.home());
        command.arg("-c").arg(fixture.join("classes")).args(arguments);
        command
    }

    /// Runs the command.
    fn run(&self, version: &str, arguments: &[&str]) -> Result {
        let output = self.command(version, arguments).output().unwrap();
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
    assert!(none.stderr.contains("no baseline cctrewrite-bench.json"), "{}", none.stderr);

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
        serde_json::json!([
            { "method": "Work.loop()V", "base": 910, "new": 1110, "file": "Work.java", "line": 10 }
        ])
    );
    assert_eq!(bench.run("after", &["--fail-above", "22%"]).code, Some(0));
    assert_eq!(bench.run("after", &["--fail-above", "21.97%"]).code, Some(1));

    // An entry without stored counts does not count as passed. (The number of wake-ups of a thread
    // that joins varies.)
    let unknown = bench.run("before", &["Work.loop", "Work.elsewhere", "--runs", "1"]);
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.stdout.contains("Work.elsewhere is not in the baseline"), "{}", unknown.stdout);
    assert!(unknown.stdout.contains("other threads executed"), "{}", unknown.stdout);
    let other = bench.run("before", &["--warm-up", "2"]);
    assert_eq!(other.code, Some(2));
    assert!(other.stderr.contains("was made with other warm-up (1) than now (2)"), "{}", other.stderr);

    // Counts of another JDK are no baseline, unless the user says so.
    let text = fs::read_to_string(&file).unwrap();
    let hash = json(&file)["jdk"].as_str().unwrap().to_owned();
    fs::write(&file, text.replace(&hash, "00ff00ff00ff00ff")).unwrap();
    let refused = bench.run("before", &[]);
    assert_eq!((refused.code, &*refused.stdout), (Some(2), ""));
    for part in ["on another JDK", "class library 00ff00ff00ff00ff", &hash, "--allow-mismatch"] {
        assert!(refused.stderr.contains(part), "{}", refused.stderr);
    }
    let allowed = bench.run("before", &["--allow-mismatch"]);
    assert_eq!(allowed.code, Some(0), "{}", allowed.stderr);
    let verdict = allowed.stdout.lines().last().unwrap();
    assert!(verdict.contains("only the program's own classes were compared"), "{verdict}");
    assert_eq!(bench.run("after", &["--allow-mismatch"]).code, Some(1));
}

/// The methods of the baseline are the program's, each with the library's work below it.
fn the_library_is_added_to_its_callers(jdk: &'static Jdk) {
    let bench = Bench { jdk, folder: folder("bench-library") };
    let file = bench.folder.join("cctrewrite-bench.json");
    assert_eq!(bench.run("before", &["--update", "--collapse-library", "Work.fill"]).code, Some(0));
    let fill = json(&file)["entries"]["Work.fill"].clone();
    assert_eq!(fill["methods"].as_object().unwrap().values().collect::<Vec<_>>(), [&fill["all"]]);
    assert!(fill["all"][1].as_u64() > fill["program"][1].as_u64(), "{fill}");
    assert_eq!(bench.run("before", &["--collapse-library"]).code, Some(0));
    let other = bench.run("before", &[]);
    assert_eq!(other.code, Some(2), "{}", other.stdout);
    assert!(other.stderr.contains("was made with other settings"), "{}", other.stderr);
}

fn uncounted_parts_are_reported(jdk: &'static Jdk) {
    let bench = Bench { jdk, folder: folder("bench-trouble") };
    let varies = bench.run("before", &["--update", "Work.time", "Work.loop"]);
    assert_eq!(varies.code, Some(1), "{}", varies.stderr);
    for part in [
        "FAILED: Work.time varies between ",
        " by more than 5 %, and is not stored",
        "differs first in Work.time()",
        "Work.time reads the clock (java.lang.System.nanoTime, 1 call): pass the time in",
    ] {
        assert!(varies.stdout.contains(part), "{part}: {}", varies.stdout);
    }
    let file = json(&bench.folder.join("cctrewrite-bench.json"));
    assert_eq!(file["entries"].as_object().unwrap().keys().collect::<Vec<_>>(), ["Work.loop"]);
    for (entry, why) in [
        ("Work.fail", "threw an exception:\njava.lang.IllegalStateException: it failed"),
        ("Work.exit", "ended the JVM, with exit code 0"),
        ("Work.none", "cannot be run: java.lang.NoSuchMethodException: Work.none()"),
        ("No.loop", "cannot be run: java.lang.ClassNotFoundException: No"),
        ("loop", "is not an entry"),
        ("Work/../loop.x", "is not an entry"),
    ] {
        let run = bench.run("before", &["--update", entry]);
        assert_eq!((run.code, &*run.stdout), (Some(2), ""), "{entry}");
        assert!(run.stderr.contains(why), "{entry}: {}", run.stderr);
    }
    // A gate over nothing would always pass: no file is written, and one without entries is
    // refused.
    let nothing = Bench { jdk, folder: folder("bench-nothing") };
    let place = nothing.folder.join("cctrewrite-bench.json");
    let varies = nothing.run("before", &["--update", "Work.time"]);
    assert_eq!((varies.code, place.exists()), (Some(1), false), "{}", varies.stdout);
    let empty =
        Value::Object(serde_json::Map::from_iter(file.as_object().unwrap().iter().map(|(key, value)| {
            match key.as_str() {
                "entries" => (key.clone(), serde_json::json!({})),
                _ => (key.clone(), value.clone()),
            }
        })));
    fs::write(&place, empty.to_string()).unwrap();
    let gate = nothing.run("before", &["--fail-above", "5%"]);
    assert_eq!((gate.code, &*gate.stdout), (Some(2), ""));
    assert!(gate.stderr.contains("has no entries, so nothing would be checked"), "{}", gate.stderr);
}

/// The stored counts of an entry: calls and bytecodes.
fn stored(file: &Path, entry: &str) -> (u64, u64) {
    let pair = json(file)["entries"][entry]["all"].clone();
    (pair[0].as_u64().unwrap(), pair[1].as_u64().unwrap())
}

/// The rounds of `Work.spin` are the argument of the entry.
fn entries_have_arguments(jdk: &'static Jdk) {
    let bench = Bench { jdk, folder: folder("bench-arguments") };
    let file = bench.folder.join("cctrewrite-bench.json");
    let entries = [
        ("new Work(20).spin", 20),
        ("Work.ofTwice(15, PLAIN).spin()", 30),
        ("Work.ofTwice(0x14, NEGATED).spin", 0),
        ("Work.spin", 1),
    ];
    let mut arguments = vec!["--update", "--runs", "2"];
    arguments.extend(entries.map(|(entry, _)| entry));
    let all = bench.run("before", &arguments);
    assert_eq!((all.code, &*all.stderr), (Some(0), ""), "{}", all.stdout);
    for (entry, rounds) in entries {
        // Each round: iload, ifle, getstatic, iconst, iadd, putstatic, iinc, goto.
        assert_eq!(stored(&file, entry), (1, 6 + 8 * rounds), "{entry}");
    }
    // Overloads: a string, a whole number, two arguments.
    let takes = [r#"Work.take("a, (b)")"#, "Work.take(2)", "Work.take(70.5, false)", "Work.take(70, true)"];
    let mut arguments = vec!["--update", "--runs", "1", "--profiles", "kept"];
    arguments.extend(takes);
    assert_eq!(bench.run("before", &arguments).code, Some(0));
    let rounds = |entry| {
        let methods = json(&file)["entries"][entry]["methods"].clone();
        (methods["Work.spin()V"][1].as_u64().unwrap() - 6) / 8
    };
    assert_eq!(takes.map(rounds), [6, 200, 70, 0]);
    assert!(bench.folder.join("kept/Work.take%282%29.cct").is_file());
    assert_eq!(bench.run("before", &["--runs", "1"]).code, Some(0), "all entries of the file");
    for (entry, why) in [
        ("Work.take(true, 1, 2)", "NoSuchMethodException: Work.take(...); there are ["),
        ("new Work(1, 2).spin", "NoSuchMethodException: Work(...); there are ["),
        ("Work.spin.loop", "ClassNotFoundException: Work.spin"),
        ("Work.take(1", "is not an entry; write it as"),
    ] {
        let run = bench.run("before", &["--update", entry]);
        assert_eq!((run.code, &*run.stdout), (Some(2), ""), "{entry}");
        assert!(run.stderr.contains(why), "{entry}: {}", run.stderr);
    }
}

/// An entry whose counts vary a little is stored with its range. Later runs stay within it, or are
/// called flaky; more work is a regression.
fn a_flaky_entry_is_no_regression(jdk: &'static Jdk) {
    let bench = Bench { jdk, folder: folder("bench-flaky") };
    let file = bench.folder.join("cctrewrite-bench.json");
    let update = bench.run("before", &["--update", "Work.drift"]);
    assert_eq!((update.code, &*update.stderr), (Some(0), ""), "{}", update.stdout);
    for part in [
        "between 5 JVMs",
        "Work.drift reads the clock (java.lang.System.nanoTime, 1 call)",
        "1 entry stored in cctrewrite-bench.json; 1 with a range, since their counts vary",
    ] {
        assert!(update.stdout.contains(part), "{part}: {}", update.stdout);
    }
    let entry = &json(&file)["entries"]["Work.drift"];
    let (least, most) = (entry["least"][1].as_u64().unwrap(), entry["all"][1].as_u64().unwrap());
    assert!(least < most && most < least + least / 100, "{least} {most}");

    // The gate on a stored range that no run exceeds, that every run exceeds, and that some do.
    let gate = |all: u64, runs: &str| {
        let mut changed = json(&file);
        changed["entries"]["Work.drift"]["all"][1] = all.into();
        fs::write(&file, changed.to_string()).unwrap();
        let run = bench.run("before", &["--format", "json", "--runs", runs]);
        let found: Value = serde_json::from_str(&run.stdout).unwrap();
        (run.code, found["entries"][0].clone())
    };
    let (code, within) = gate(2 * most, "2");
    assert_eq!((code, within["status"].as_str()), (Some(0), Some("passes")));
    let (code, above) = gate(least / 2, "2");
    assert_eq!((code, above["status"].as_str()), (Some(1), Some("exceeds")));
    assert_eq!(above["methods"][0]["file"], "Work.java");
    let source = fs::read_to_string(fixture("bench/before/Work.java")).unwrap();
    let line = source.lines().position(|line| line.contains("10_000 + System.nanoTime")).unwrap() as u64 + 1;
    assert_eq!(above["methods"][0]["line"], line);
    // Of twelve JVMs, one or more on either side of the middle.
    let (code, between) = gate(least.midpoint(most), "12");
    assert_eq!((code, between["status"].as_str()), (Some(1), Some("flaky")), "{between}");
    let failure = between["failure"].as_str().unwrap();
    assert!(failure.contains("Work.drift is flaky, which does not prove a regression: 12 JVMs"), "{failure}");
    assert_eq!(between["variation"]["causes"][0]["source"], "clock");
    assert_eq!(between["variation"]["first"]["path"], serde_json::json!(["Work.drift()"]));

    let annotations = bench.run("before", &["--format", "github", "--runs", "12"]);
    assert!(annotations.stdout.starts_with("::error file=Work.java,line="), "{}", annotations.stdout);
}

/// The summary, the numbers for services, and the history of a regression.
fn a_pull_request_has_a_summary_and_a_history(jdk: &'static Jdk) {
    let bench = Bench { jdk, folder: folder("bench-pull-request") };
    let file = |name: &str| bench.folder.join(name);
    let run = |version: &str, arguments: &[&str]| {
        let run = bench.run(version, arguments);
        assert_eq!(run.stderr, "", "{version} {arguments:?}");
        run
    };
    let history = ["--history", "history.jsonl"];
    let stored = [&["--update", "Work.loop", "Work.fill", "--runs", "2", "--revision", "a1"], &history[..]];
    assert_eq!(run("before", &stored.concat()).code, Some(0));
    let same = [&["--format", "bencher", "--revision", "b2", "--time", "12:00"], &history[..]];
    let same = run("before", &same.concat());
    let found: Value = serde_json::from_str(&same.stdout).unwrap();
    assert_eq!(
        (same.code, &found["Work.loop"]),
        (Some(0), &serde_json::json!({ "bytecodes": { "value": 910 }, "calls": { "value": 1 } }))
    );
    let longer = [&["--format", "markdown", "--revision", "c3", "--summary", "summary.md"], &history[..]];
    let longer = run("after", &longer.concat());
    assert_eq!(longer.code, Some(1));
    for line in [
        "**cctrewrite bench failed.** 2 entries: 1 grew by more than 0 %",
        "| `Work.loop` | 910 | 1,110 | +200 (+21.98 %) | **exceeds** | ▁▁█ +200 (+21.98 %) in 3 runs |",
        "#### `Work.loop`: methods that grew most",
        "| `Work.loop()V` | 910 | 1,110 | +200 | `Work.java:10` |",
    ] {
        assert!(longer.stdout.lines().any(|printed| printed == line), "{line}: {}", longer.stdout);
    }
    assert_eq!(fs::read_to_string(file("summary.md")).unwrap(), longer.stdout);

    let lines = fs::read_to_string(file("history.jsonl")).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |entry: &str| lines.iter().filter(|line| line["entry"] == entry).cloned().collect::<Vec<_>>();
    let loops: Vec<[Value; 4]> = of("Work.loop")
        .iter()
        .map(|line| ["revision", "status", "value", "time"].map(|key| line[key].clone()))
        .collect();
    let expected = serde_json::json!([
        ["a1", "stored", 910, null],
        ["b2", "passes", 910, "12:00"],
        ["c3", "exceeds", 1110, null]
    ]);
    assert_eq!((serde_json::json!(loops), of("Work.fill").len()), (expected, 3));

    // What docs/ci/pull-requests.md shows. The counts of the class library depend on the JDK.
    let page = include_str!("../../../../docs/ci/pull-requests.md");
    let shown: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("    ")).collect();
    let shown = shown.iter().filter(|line| line.ends_with("  Work.loop") || line.contains(" in c3: "));
    let mut history_command = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    let printed = history_command.current_dir(&bench.folder).args(["bench", "history", "history.jsonl"]);
    let printed = String::from_utf8(printed.output().unwrap().stdout).unwrap();
    assert_eq!(shown.clone().count(), 2);
    for line in shown {
        assert!(printed.lines().any(|printed| printed == *line), "{line}: {printed}");
    }

    // A run that fails before its end appends nothing, and a damaged history stops a run at once.
    let written = fs::read(file("history.jsonl")).unwrap();
    let failed = [&["--update", "Work.loop", "Work.fail"], &history[..]];
    assert_eq!(bench.run("before", &failed.concat()).code, Some(2));
    assert_eq!(fs::read(file("history.jsonl")).unwrap(), written);
    fs::write(file("damaged.jsonl"), &written[..written.len() - 9]).unwrap();
    let damaged = bench.run("before", &["--history", "damaged.jsonl"]);
    assert_eq!((damaged.code, &*damaged.stdout), (Some(2), ""));
    assert!(damaged.stderr.contains("damaged.jsonl, line 6: no line of a history"), "{}", damaged.stderr);

    let items = run("after", &["--format", "github-benchmark", "Work.loop"]);
    let items: Value = serde_json::from_str(&items.stdout).unwrap();
    assert_eq!((&items[0]["name"], &items[0]["value"]), (&"Work.loop".into(), &1110.into()));
}

/// What an entry executes after it has switched the recording is not counted, and that is said.
fn an_entry_that_switches_the_recording_is_named(jdk: &'static Jdk) {
    let bench = Bench { jdk, folder: folder("bench-switches") };
    let run = |entry: &str| {
        let arguments = ["--update", "--runs", "1", entry];
        let output = bench.command_on(&fixture("regions"), &arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{entry}");
        String::from_utf8(output.stderr).unwrap()
    };
    for entry in ["Regions.block", "Regions.ends"] {
        let said = run(entry);
        assert!(said.contains(&format!("{entry}: the entry itself switches the recording")), "{said}");
    }
    assert_eq!(run("Regions.other"), "");
}

jdks!(arguments, entries_have_arguments, [8, 25]);
jdks!(switches, an_entry_that_switches_the_recording_is_named, [17]);
jdks!(flaky, a_flaky_entry_is_no_regression, [17]);
jdks!(entries, counts_are_held_against_a_file, feature);
jdks!(pull_request, a_pull_request_has_a_summary_and_a_history, [17, 25]);
jdks!(library, the_library_is_added_to_its_callers, [17]);
jdks!(trouble, uncounted_parts_are_reported, [17]);

/// The harness process of a process, once it exists.
fn harness_of(parent: u32) -> u32 {
    let tasks = format!("/proc/{parent}/task");
    let children = || -> Vec<u32> {
        let tasks = fs::read_dir(&tasks).into_iter().flatten().flatten();
        let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
        lists
            .flat_map(|list| list.split_whitespace().map(|id| id.parse().unwrap()).collect::<Vec<_>>())
            .collect()
    };
    let is_harness = |id: &u32| {
        let command_line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&command_line).contains("cctrewrite.bench.Harness")
    };
    for _ in 0..6_000 {
        if let Some(found) = children().into_iter().find(is_harness) {
            return found;
        }
        sleep(Duration::from_millis(20));
    }
    panic!("process {parent} started no harness");
}

fn a_killed_bench_leaves_nothing_to_the_next(jdk: &'static Jdk) {
    let bench = Bench { jdk, folder: folder("killed-bench") };
    let left = || {
        let names = fs::read_dir(&bench.folder).unwrap().map(|entry| entry.unwrap().file_name());
        let names = names.map(|name| name.into_string().unwrap());
        names.filter(|name| name.ends_with(".bench")).collect::<Vec<String>>()
    };
    let succeed = || {
        let stored = bench.run("before", &["--update", "Work.loop"]);
        assert_eq!((stored.code, &*stored.stderr), (Some(0), ""), "{}", stored.stdout);
    };
    succeed();
    assert_eq!(left(), [""; 0]);
    let baseline = fs::read(bench.folder.join("cctrewrite-bench.json")).unwrap();

    // An entry that waits for ever.
    let mut killed = bench.command("before", &["--update", "java.util.concurrent.locks.LockSupport.park"]);
    let mut killed = killed.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let harness = harness_of(killed.id());
    killed.kill().unwrap();
    killed.wait().unwrap();
    let abandoned = left();
    assert_eq!(abandoned.len(), 1);
    // Its JVM still loads classes from it.
    succeed();
    assert_eq!(left(), abandoned);
    assert!(Command::new("kill").args(["-9", &harness.to_string()]).status().unwrap().success());
    // It holds the lock until the system has closed its files.
    let is_gone = || {
        succeed();
        left().is_empty()
    };
    assert!((0..20).any(|_| is_gone()));
    assert_eq!(fs::read(bench.folder.join("cctrewrite-bench.json")).unwrap(), baseline);
}
jdks!(killed, a_killed_bench_leaves_nothing_to_the_next, [17]);
