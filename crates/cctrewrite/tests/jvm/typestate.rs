//! Typestate (docs/research/typestate.md): programs that satisfy properties and programs that do
//! not, and the reports.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::support::{Java, Jdk, Run, assert_succeeded, fixture, folder, jdks};

fn cctrewrite(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    command.args(arguments);
    command
}

/// The fixture with the markers of some properties, and the options of its JVMs.
struct PropertyFixture {
    jdk: &'static Jdk,
    name: String,
    classes: PathBuf,
    options: Vec<String>,
}

/// The results of a run.
struct CheckResult {
    run: Run,
    report: PathBuf,
}

impl PropertyFixture {
    /// `properties` are files of the fixture, or names of built-in ones.
    fn new(jdk: &'static Jdk, name: &str, properties: &[&str]) -> PropertyFixture {
        let classes = folder(&format!("typestate-{name}-{}", jdk.version)).join("classes");
        let mut command = cctrewrite(&["instrument", "--tool", "markers", "-q"]);
        for file in properties {
            let own = fixture("typestate").join(file);
            command.arg("--typestate").arg(if own.is_file() { own } else { file.into() });
        }
        assert_succeeded(command.arg(fixture("typestate").join("classes")).arg("-o").arg(&classes));
        let flags = cctrewrite(&["flags"]).arg(&classes).output().unwrap();
        assert!(flags.status.success(), "{flags:?}");
        let options = String::from_utf8(flags.stdout).unwrap().lines().map(str::to_owned).collect();
        PropertyFixture { jdk, name: name.to_owned(), classes, options }
    }

    fn run(&self, main: &str, options: &[&str]) -> CheckResult {
        let report = folder(&format!("typestate-report-{}", self.name)).join("report");
        let mut java: Java = self.jdk.java(&format!("typestate-{}", self.name));
        java.verify().class_path([&self.classes]);
        java.option(format!("-Dcctrewrite.typestate.out={}", report.display()));
        for option in self.options.iter().map(String::as_str).chain(options.iter().copied()) {
            java.option(option);
        }
        CheckResult { run: java.succeed(main, &[]), report }
    }
}

impl CheckResult {
    /// The report as text, without hash codes, and its exit code.
    fn text(&self) -> (String, Option<i32>) {
        let output = cctrewrite(&["typestate", "report"]).arg(&self.report).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let mut masked = String::new();
        for line in text.lines() {
            match line.split_once('@').and_then(|(before, rest)| Some((before, rest.split_once(' ')?.1))) {
                Some((before, rest)) => masked += &format!("{before}@... {rest}\n"),
                None => masked += &format!("{line}\n"),
            }
        }
        (masked, output.status.code())
    }

    fn json(&self) -> Value {
        let mut command = cctrewrite(&["typestate", "report", "--format", "json"]);
        serde_json::from_slice(&command.arg(&self.report).output().unwrap().stdout).unwrap()
    }

    fn property(&self, name: &str) -> Value {
        let json = self.json();
        let all = json["properties"].as_array().unwrap();
        all.iter().find(|property| property["name"] == name).unwrap().clone()
    }
}

/// The properties of the class library's own classes, which are marked. A program's errors with
/// streams are found at their locations, and nothing else of the program.
fn streams(jdk: &'static Jdk) {
    let output = folder(&format!("typestate-streams-{}", jdk.version)).join("library.jar");
    let mut command = cctrewrite(&["instrument", "--tool", "markers", "-q", "--typestate", "streams"]);
    command.arg("-o").arg(&output);
    match jdk.version {
        8 => command.arg(jdk.rt_jar()),
        _ => command.arg("--patches").arg(jdk.path("lib/modules")),
    };
    assert_succeeded(&mut command);
    let flags = cctrewrite(&["flags"]).arg(&output).output().unwrap();
    assert!(flags.status.success(), "{flags:?}");
    let options = String::from_utf8(flags.stdout).unwrap().lines().map(str::to_owned).collect();
    let classes = fixture("typestate").join("classes");
    let found = PropertyFixture { jdk, name: "streams".to_owned(), classes, options }.run("Streams", &[]);
    assert_eq!(found.run.out, "closed\nclosed, too\ntrue\n");
    let (text, code) = found.text();
    // Objects that were open before the JVM had booted violate nothing; neither do streams that the
    // class library itself leaves open, as the source of random numbers.
    assert_eq!(text.matches("\n  object   ").count(), 3, "{text}");
    assert!(!text.contains("at the beginning"), "{text}");
    let of_program: Vec<&str> = text.split("\n\n").filter(|found| found.contains("(Streams.java:")).collect();
    let [after_close, of_reader, left] = of_program[..] else { panic!("{text}") };
    for (found, said, place) in [
        (
            after_close,
            "FileStream: 'use' is not allowed after 'close'",
            "here     Streams.main (Streams.java:23)",
        ),
        (
            of_reader,
            "ReaderWriter: 'use' is not allowed after 'close'",
            "here     Streams.main (Streams.java:31)",
        ),
        (left, "FileStream: the program ended after 'use'", "before   Streams.main (Streams.java:18)"),
    ] {
        assert!(found.contains(said) && found.contains(place), "{text}");
    }
    assert_eq!(code, Some(1));
}

/// Table 4.3 of the thesis. `NoEof` violates only the property that requires `eof`.
fn micro(jdk: &'static Jdk) {
    let checked = PropertyFixture::new(jdk, "micro", &["file-api"]);
    for main in ["Main", "NoEof", "NoOpen", "NoClose", "NoCloseDead"] {
        let found = checked.run(&format!("tests.file.{main}"), &[]);
        let expected = fs::read_to_string(fixture("typestate").join(format!("expected/{main}.txt"))).unwrap();
        let (text, code) = found.text();
        assert_eq!(text, expected, "{main}");
        assert_eq!(code, Some(i32::from(main != "Main")), "{main}");
        let said = if main == "Main" { "no violations" } else { "violations were found" };
        assert!(found.run.err.contains(said), "{}", found.run.err);
    }
}

/// Table 4.4: the number of events of the thesis, and of those that change something.
fn adaptive(jdk: &'static Jdk) {
    let file = fixture("typestate").join("file.toml");
    let checked = PropertyFixture::new(jdk, "adaptive", &[file.to_str().unwrap()]);
    for (options, events) in [(&[][..], 4), (&["-Dcctrewrite.typestate.adaptive=no"], 6_000_008)] {
        let found = checked.run("tests.file.Main", options);
        assert_eq!(found.run.out, "218999976\n");
        let property = found.property("FileApi");
        assert_eq!((&property["events"], &property["objects"]), (&events.into(), &2.into()));
        // No event was unused: objects were checked before any delivery.
        assert_eq!(property["passed"], 0);
        let delivered = format!("markers: {events} delivered");
        assert!(found.run.err.contains(&delivered), "{}", found.run.err);
    }
}

fn pairs(jdk: &'static Jdk) {
    let checked = PropertyFixture::new(jdk, "pairs", &["pairs.toml", "iterator-of-collection"]);
    let expected = fs::read_to_string(fixture("typestate").join("expected/Pairs.txt")).unwrap();
    for options in [&[][..], &["-Dcctrewrite.typestate.adaptive=no"]] {
        let found = checked.run("Pairs", options);
        assert_eq!(found.run.out, "changed\nabcd\nfalse\n".replace("abcd", "bcd"));
        let (text, code) = found.text();
        // The number of events may differ.
        let violations = text.lines().filter(|line| !line.contains(" objects, "));
        let violations: String = violations.map(|line| format!("{line}\n")).collect();
        assert_eq!(violations, expected, "{options:?}");
        assert_eq!(code, Some(1));
        assert_eq!(found.property("ReaderOfSource")["objects"], 7);
    }
}

/// Objects of 800 bytes, 400,000 of them, in a heap of 32 MiB: their records do not keep them
/// alive. Each unclosed one is found, dead or alive.
fn many(jdk: &'static Jdk) {
    let checked = PropertyFixture::new(jdk, "many", &["file-api"]);
    let found = checked.run("Many", &["-Xmx32m"]);
    assert_eq!(found.run.out, "done\n");
    for name in ["FileApi", "FileApiEof"] {
        assert_eq!(found.property(name)["objects"], 400_000);
        let json = found.json();
        let of = |v: &&Value| v["property"] == name;
        let counts = json["violations"].as_array().unwrap().iter().filter(of);
        let counts: Vec<(&str, u64)> =
            counts.map(|v| (v["kind"].as_str().unwrap(), v["count"].as_u64().unwrap())).collect();
        assert_eq!(counts.iter().map(|(_, count)| count).sum::<u64>(), 4_000, "{counts:?}");
        assert!(counts.iter().any(|&(kind, count)| kind == "death" && count > 300), "{counts:?}");
    }
}

/// With a budget of zero few objects are tracked; the report says so, and has no false findings.
fn budget(jdk: &'static Jdk) {
    let checked = PropertyFixture::new(jdk, "budget", &["file-api"]);
    let found = checked.run("Many", &["-Xmx64m", "-Dcctrewrite.typestate.budget=0.001"]);
    let property = found.property("FileApi");
    let unsampled = property["unsampled"].as_u64().unwrap();
    assert!((30_000..400_000).contains(&unsampled), "{property}");
    let json = found.json();
    for violation in json["violations"].as_array().unwrap() {
        assert_ne!(violation["kind"], "event", "{violation}");
    }
    assert!(json["notes"].to_string().contains("the budget was exceeded"), "{}", json["notes"]);
    assert!(found.text().0.contains("objects were not followed, to keep within the budget"));
}

fn shared(jdk: &'static Jdk) {
    let file = fixture("typestate").join("file.toml");
    let found = PropertyFixture::new(jdk, "shared", &[file.to_str().unwrap()]).run("Shared", &[]);
    let expected = fs::read_to_string(fixture("typestate").join("expected/Shared.txt")).unwrap();
    // The methods that started the thread depend on the JDK.
    let (text, _) = found.text();
    assert!(text.starts_with(&expected), "{text}");
    assert!(text.ends_with("FileApi: 1 objects, 501 events, 1 violations\n"), "{text}");
}

jdks!(micro_programs, micro, feature);
jdks!(events_that_change_something, adaptive, feature);
jdks!(pairs_of_objects, pairs, feature);
jdks!(many_objects, many, feature);
jdks!(budgets, budget, feature);
jdks!(shared_objects, shared, feature);
jdks!(streams_of_the_class_library, streams, feature);
