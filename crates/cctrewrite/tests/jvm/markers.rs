//! Markers (docs/research/markers.md): calls of clients for programs, event by event; and programs
//! with markers everywhere behave as before.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Java, Jdk, assert_succeeded, fixture, folder, jdks};

fn cctrewrite(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    command.args(arguments);
    command
}

/// A folder of classes with markers, and the option that names the runtime.
fn marked(classes: &Path, rules: &Path, name: &str, jdk: &Jdk) -> (PathBuf, String) {
    let output = folder(&format!("markers-{name}-{}", jdk.version)).join("classes");
    let mut command = cctrewrite(&["instrument", "--tool", "markers", "-q", "--markers"]);
    assert_succeeded(command.arg(rules).arg(classes).arg("-o").arg(&output));
    let flags = cctrewrite(&["flags"]).arg(&output).output().unwrap();
    assert!(flags.status.success(), "{flags:?}");
    (output, String::from_utf8(flags.stdout).unwrap().trim().to_owned())
}

fn java(jdk: &'static Jdk, name: &str, rules: &str) -> Java {
    let fixture = fixture("markers");
    let (output, flags) = marked(&fixture.join("classes"), &fixture.join(rules), name, jdk);
    let mut java = jdk.java(&format!("markers-{name}"));
    java.verify().option(flags).class_path([output]);
    java
}

/// The order of events, exits on every path, arguments of handlers, threads: all as derived by
/// hand.
fn places(jdk: &'static Jdk) {
    let out = folder(&format!("markers-heard-{}", jdk.version)).join("heard.txt");
    let mut java = java(jdk, "places", "rules.toml");
    java.option(format!("-Dcctrewrite.markers.out={}", out.display()));
    let run = java.option("-Dcctrewrite.markers.clients=Recorder").succeed("Places", &[]);
    assert_eq!(run.out, "0 1 2 bottom 2\nx1 4\n5 -1 -1\nleft 2\n3\n");
    let heard = fs::read_to_string(out).unwrap();
    let (events, summary): (Vec<&str>, Vec<&str>) =
        heard.lines().partition(|line| !line.starts_with("cctrewrite: "));
    let expected = fs::read_to_string(fixture("markers").join("expected.txt")).unwrap();
    for (heard, expected) in events.iter().zip(expected.lines()) {
        assert_eq!(*heard, expected);
    }
    assert_eq!(events.len(), expected.lines().count());
    let entered = events.iter().filter(|e| e.trim_start().starts_with(['>', '.'])).count();
    assert_eq!(
        summary,
        [format!("cctrewrite: markers: {entered} delivered, of 36 markers in classes that came to one")]
    );
}

/// Without a client the program is unchanged, and so it is with markers without subscribers.
fn silence(jdk: &'static Jdk) {
    let run = java(jdk, "silence", "rules.toml").succeed("Places", &[]);
    assert_eq!(run.out, "0 1 2 bottom 2\nx1 4\n5 -1 -1\nleft 2\n3\n");
    assert!(run.err.contains("0 delivered, of 36 markers"), "{}", run.err);
}

/// The output of `Switches`.
pub const SWITCHED: &str = "\
nobody: 
one client: a> a<
two clients: a> b> b< a<
disabled: 2 markers
disabled: 
enabled: a> b> b< a<
disabled inside: a> b> b< a<
enabled inside: 
after it: a> b> b< a<
a client comes there itself: a> b> c> c< b< a<
a client that throws: a> b> c> d> c< b< a< a> b> c> c< b< a<
an object left out: o> o<
another one: o> o<
taken in again: o> o<
depth 0 41 0
dead [gone], alive [kept].
heard of it: 
switched from outside
";

/// Clients are added and removed, tokens and objects are switched, from inside and from outside.
fn switches(jdk: &'static Jdk) {
    let control = folder(&format!("markers-control-{}", jdk.version)).join("control");
    let mut java = java(jdk, "switches", "switches.toml");
    let run =
        java.option(format!("-Dcctrewrite.markers.control={}", control.display())).succeed("Switches", &[]);
    assert_eq!(run.out, SWITCHED);
    for line in [
        "4 not delivered, since clients came there themselves",
        "client Switches$2 threw java.lang.IllegalStateException: d and gets no more notifications",
    ] {
        assert!(run.err.contains(line), "{line}: {}", run.err);
    }
}

/// Markers at every location of a program with all features of class files, a client of all of
/// them, and the verifier. Only code that lists added members, or observes which classes are
/// requested, sees a difference.
fn everywhere(jdk: &'static Jdk) {
    let rules = folder(&format!("markers-rules-{}", jdk.version)).join("all.toml");
    fs::write(&rules, every_place()).unwrap();
    let classes = fixture("semantics").join("classes");
    let (output, flags) = marked(&classes, &rules, "everywhere", jdk);
    let plain = jdk.java("markers-plain").verify().class_path([classes]).succeed("Semantics", &[]);
    let mut java = jdk.java("markers-everywhere");
    java.verify().option(flags).option("-Dcctrewrite.markers.clients=Nothing");
    let run = java.class_path([output, fixture("markers").join("classes")]).succeed("Semantics", &[]);
    let seen = |run: &str| -> Vec<String> {
        let is_same =
            |line: &&str| !line.contains("cct$") && !line.contains("java.lang.ClassCastException, ");
        run.lines().filter(is_same).map(str::to_owned).collect()
    };
    let (plain, marked) = (seen(&plain.out), seen(&run.out));
    // Lists of fields with added ones, and numbers of requested classes.
    let missing: Vec<&String> = plain.iter().filter(|line| !marked.contains(line)).collect();
    assert!(missing.len() <= 8, "{missing:#?}");
    let added: Vec<&String> = marked.iter().filter(|line| !plain.contains(line)).collect();
    assert!(added.len() <= 1, "{added:#?}");
    let delivered = run.err.lines().find_map(|line| line.strip_prefix("cctrewrite: markers: "));
    let delivered = delivered.and_then(|line| line.split(' ').next()).unwrap().parse::<u64>().unwrap();
    assert!(delivered > 1_000_000, "{}", run.err);
}

/// A marked class library boots, fully verified, and its events are delivered: iterators of any
/// class, constructors that throw, from the launcher on.
fn library(jdk: &'static Jdk) {
    let fixture = fixture("markers");
    let output = folder(&format!("markers-library-{}", jdk.version)).join("library.jar");
    let mut command = cctrewrite(&["instrument", "--tool", "markers", "-q", "--markers"]);
    command.arg(fixture.join("library.toml")).arg("-o").arg(&output);
    match jdk.version {
        8 => command.arg(jdk.rt_jar()),
        _ => command.arg("--patches").arg(jdk.path("lib/modules")),
    };
    assert_succeeded(&mut command);
    let flags = cctrewrite(&["flags"]).arg(&output).output().unwrap();
    assert!(flags.status.success(), "{flags:?}");
    let mut java = jdk.java("markers-library");
    java.verify().class_path([fixture.join("classes")]);
    for flag in String::from_utf8(flags.stdout).unwrap().lines() {
        java.option(flag);
    }
    let run = java.succeed("Library", &[]);
    // The constructor begins when super() has returned: the one that throws was entered.
    let expected = "\
an iteration: >c <c >h <h >n <n >h <h >n <n >h <h
an exception: >c !c
a map: >p <p
nothing:
";
    assert_eq!(run.out, expected);
    assert!(run.err.contains("not delivered before the JVM had booted"), "{}", run.err);
}

/// Optimisations of markers do not change the delivered events. The cases: clients of entries
/// alone; methods in which nothing happens; a marker stack whose objects are allocated again many
/// times while regions are open; threads in turns.
fn cheaply(jdk: &'static Jdk) {
    let run = java(jdk, "cheap", "cheap.toml").succeed("Cheap", &[]);
    let expected = "\
entries alone: .Outer [] .Get .Set .Nothing [] .Catches .Throws []
both ends: .Outer >Outer=0 [1 mOuter] .Get >Get=0 <Get=0 .Set >Set=0 <Set=5 .Nothing >Nothing <Nothing [1 mOuter] <Outer=5 .Catches >Catches=5 .Throws >Throws=5 !Throws=5 [1 mCatches] <Catches=5
off: 9
nobody: [] []
again: .Get >Get=5 <Get=5
a marker inside: .Read >Read=5 .Read >Read=5 <Read=5
deep: 40081 entries, 0 wrong
threads: 124281 entries, 0 wrong
at last: []
";
    assert_eq!(run.out, expected);
}

/// The first output of Edges.java. A loop is one entry, whether its exit is delivered or not; a
/// client is asked once whether it is simple.
const BEGINNING: &str = "\
a loop: 1 entries, 0 exits
a loop of two: 2 entries, 0 exits; 1 entries, 1 exits
asked: 1, 2 entries, 0 exits
";

/// The stack overflows in the middle of the program, of deliveries, and of handlers, hundreds of
/// times. No exit is delivered without its entry, and nothing stays open.
fn overflowing(jdk: &'static Jdk) {
    let run = java(jdk, "overflowing", "edges.toml").option("-Xss512k").succeed("Edges", &["overflows"]);
    let expected =
        "no stack left: 0 and 0 exits without an entry, 0 and 0 entries left, outside\nheard: true\n";
    assert_eq!(run.out, format!("{BEGINNING}{expected}"));
}

/// A client of entries alone gets each of them, while other clients, also of exits, are added,
/// throw, and are not called any more.
fn changing(jdk: &'static Jdk) {
    let run = java(jdk, "changing", "edges.toml").succeed("Edges", &["changes"]);
    assert_eq!(run.out, format!("{BEGINNING}others come and go: 4000000 entries, 0 exits\n"));
    assert!(run.err.contains("threw java.lang.IllegalStateException: enough and gets no more notifications"));
}

/// A client throws while it subscribes, and a class that waits for that is being initialised:
/// neither waits for the other.
fn beginning(jdk: &'static Jdk) {
    let run = java(jdk, "beginning", "edges.toml").succeed("Edges", &["beginnings"]);
    assert_eq!(run.out, format!("{BEGINNING}thrown while a class begins: gone on\n"));
}

/// A client throws when it is asked which events to skip: the program does not see it.
fn choosing(jdk: &'static Jdk) {
    let run = java(jdk, "choosing", "edges.toml").succeed("Edges$Alone", &[]);
    assert_eq!(run.out, "the program goes on\n");
    let line =
        "client Edges$Choosy threw java.lang.IllegalStateException: undecided and gets no more notifications";
    assert!(run.err.contains(line), "{}", run.err);
}

pub fn every_place() -> String {
    let mut rules = String::new();
    for (at, context) in [
        ("method", "[\"receiver\", \"arguments\"]"),
        ("loop", "[\"receiver\"]"),
        ("loop-header", "[\"receiver\"]"),
        ("block", "[\"receiver\"]"),
        ("call", "[\"receiver\", \"arguments\"]"),
        ("handler", "[\"receiver\"]"),
        ("allocation", "[\"receiver\"]"),
        ("field-read", "[\"receiver\"]"),
        ("field-write", "[\"receiver\"]"),
    ] {
        rules += &format!("[[marker]]\ntoken = \"{at}\"\nat = \"{at}\"\ncontext = {context}\n");
    }
    rules
}

jdks!(place, places, feature);
jdks!(silent, silence, feature);
jdks!(switched, switches, feature);
jdks!(libraries, library, feature);
jdks!(cheap, cheaply, feature);
jdks!(overflows, overflowing, feature);
jdks!(changes, changing, feature);
jdks!(begins, beginning, feature);
jdks!(chooses, choosing, feature);
jdks!(all_places, everywhere, [8], all [17, 25]);
