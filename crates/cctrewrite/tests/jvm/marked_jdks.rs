//! Whole JDKs with markers (docs/research/markers.md, *Whole JDKs*):
//! `cctrewrite run --tool markers` and `cctrewrite jdk --tool markers`, with unchanged programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{Java, Jdk, assert_succeeded, fixture, folder, jdks};

/// A command after `--`, run in a folder on the marked image of a JDK. Each folder has a cache of
/// its own: images are large, and are removed with it.
fn run(jdk: &Jdk, here: &Path, options: &[&str], command: &[&str]) -> Output {
    let mut run = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    for variable in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"] {
        run.env_remove(variable);
    }
    run.current_dir(here).env("JAVA_HOME", jdk.home()).env("CCTREWRITE_CACHE", here.join("cache"));
    run.args(["run", "--tool", "markers"]).args(options).arg("--").args(command).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// The program, rules and client of `markers.rs`, with classes as compiled: the client is called
/// for the same events. The same image checks a property, whose report equals that of classes that
/// were marked beforehand.
fn programs_as_they_are(jdk: &'static Jdk) {
    let here = folder("marked-run");
    let (markers, typestate) = (fixture("markers"), fixture("typestate"));
    let rules = text(&markers.join("rules.toml"));
    let rules = ["--markers", &rules, "--typestate", "file-api"];
    let classes = text(&markers.join("classes"));
    let client = ["--client", "Recorder", "--client-path", &classes];
    let java = text(&jdk.path("bin/java"));
    let program = [&java, "-cp", &classes, "Places"];
    let heard = run(jdk, &here, &[&rules[..], &client].concat(), &program);
    assert_eq!(heard.status.code(), Some(0), "{}", said(&heard));
    assert_eq!(heard.stdout, b"0 1 2 bottom 2\nx1 4\n5 -1 -1\nleft 2\n3\n");
    let printed = fs::read_to_string(here.join("cctrewrite.markers")).unwrap();
    let events: Vec<&str> = printed.lines().filter(|line| !line.starts_with("cctrewrite: ")).collect();
    let expected = fs::read_to_string(markers.join("expected.txt")).unwrap();
    assert_eq!(events, expected.lines().collect::<Vec<_>>());
    let said_of_it = said(&heard);
    for line in [
        " delivered, of 36 markers in classes that came to one",
        "to see it: cctrewrite typestate report cctrewrite.typestate",
        "note: markers were inserted into classes of the program at load time: 36 in 2",
        "cctrewrite: a marked JDK of Java",
    ] {
        assert!(said_of_it.contains(line), "{line}: {said_of_it}");
    }

    // The image exists, since the rules are the same wherever they are; the command's exit code is
    // passed on, for any findings.
    let classes = text(&typestate.join("classes"));
    let copy = here.join("copy.toml");
    fs::copy(markers.join("rules.toml"), &copy).unwrap();
    let same = ["--markers", copy.to_str().unwrap(), "--typestate", "file-api"];
    let options = [&same[..], &["-o", "found.typestate"]].concat();
    let found = run(jdk, &here, &options, &[&java, "-cp", &classes, "tests.file.NoOpen"]);
    assert_eq!(found.status.code(), Some(0), "{}", said(&found));
    assert!(!said(&found).contains("a marked JDK of Java"), "{}", said(&found));
    let mut report = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    let report = report.args(["typestate", "report"]).arg(here.join("found.typestate")).output().unwrap();
    assert_eq!(report.status.code(), Some(1));
    let report = String::from_utf8(report.stdout).unwrap();
    let expected = fs::read_to_string(typestate.join("expected/NoOpen.txt")).unwrap();
    let first = expected.lines().next().unwrap();
    assert!(report.contains(first) && report.contains("tests.file.NoOpen.main (NoOpen.java:7)"), "{report}");

    // A JVM that reaches no marker writes a report, too; several JVMs write one each.
    let script = format!("java -cp {0} Loaded; java -cp {0} Loaded", text(&markers.join("classes")));
    let several = run(jdk, &here, &[&rules[..], &["-q"]].concat(), &["sh", "-c", &script]);
    assert_eq!(said(&several), "");
    let mut names: Vec<String> = fs::read_dir(here.join("cctrewrite.jvms"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["1.markers", "1.typestate", "2.markers", "2.typestate"]);
    // So does a halted JVM; a killed one is missing.
    let endings = text(&fixture("ending/classes"));
    let options = [&rules[..], &["-q", "-o", "halted.typestate"]].concat();
    let halted = run(jdk, &here, &options, &[&java, "-cp", &endings, "Ending", "halt"]);
    assert_eq!((halted.status.code(), said(&halted)), (Some(4), String::new()));
    assert!(here.join("halted.typestate").is_file() && here.join("halted.markers").is_file());
    let killed = format!(
        "mkfifo out; java -cp {endings} Ending wait > out & read line < out; kill -9 $!; wait $!; exit 0"
    );
    let killed = run(jdk, &here, &[&rules[..], &["-q"]].concat(), &["sh", "-c", &killed]);
    assert_eq!(killed.status.code(), Some(125), "{}", said(&killed));
    assert!(said(&killed).contains("left no output of its markers"), "{}", said(&killed));
}

/// Classes loaded before the superclasses that a rule refers to, classes of a loader of the
/// program's own, a lambda, a rule that matches nothing. No loader is asked for other classes than
/// without markers.
fn rules_by_ancestors(jdk: &'static Jdk) {
    let here = folder("marked-loaded");
    let rules = text(&fixture("markers").join("loaded.toml"));
    let classes = text(&fixture("markers").join("classes"));
    let java = text(&jdk.path("bin/java"));
    let output = run(jdk, &here, &["--markers", &rules], &[&java, "-cp", &classes, "Loaded"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let plain = b"3, asked for Loaded$Leaf Loaded$Middle Loaded$Base Loaded$Top\n";
    assert_eq!(output.stdout, plain);
    let printed = fs::read_to_string(here.join("cctrewrite.markers")).unwrap();
    let mut counts: Vec<&str> = printed
        .lines()
        .filter_map(|line| line.strip_prefix("cctrewrite: markers: "))
        .filter(|line| line.split(' ').nth(1).is_some_and(|class| class.starts_with("Loaded$")))
        .collect();
    counts.sort_unstable();
    let expected = [
        "1 Loaded$Leaf 0 work method Loaded$Leaf.work()V",
        "1 Loaded$Leaf 0 work method Loaded$Leaf.work()V",
        "1 Loaded$Middle 0 work method Loaded$Middle.work()V",
        "2 Loaded$Middle 0 work method Loaded$Middle.work()V",
        "3 Loaded$Three 0 next:p method Loaded$Three.next()Ljava/lang/Integer;",
        "3 Loaded$Three 1 next:p method Loaded$Three.next()Ljava/lang/Object;",
    ];
    assert_eq!(counts, expected, "{printed}");
    for line in [
        "11 delivered, of",
        "the rule for nowhere at method matches nothing, neither in the class library nor in a \
         class of this run",
        "hidden classes of the JVM (lambdas, method references), which cannot be marked: 1 (Loaded$$Lambda",
    ] {
        assert!(printed.contains(line), "{line}: {printed}");
    }
}

/// Markers that a file switches off before the program begins are off from the first one on.
fn switched_off(jdk: &'static Jdk) {
    let here = folder("marked-control");
    let rules = text(&fixture("markers").join("loaded.toml"));
    let classes = text(&fixture("markers").join("classes"));
    let control = here.join("control");
    fs::write(&control, "off work\n").unwrap();
    let options = ["--markers", &rules, "--marker-control", control.to_str().unwrap()];
    let output = run(jdk, &here, &options, &[&text(&jdk.path("bin/java")), "-cp", &classes, "Loaded"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let printed = fs::read_to_string(here.join("cctrewrite.markers")).unwrap();
    assert!(printed.contains("6 delivered, of"), "{printed}");
    assert!(
        !printed.lines().any(|line| line.contains(" work method ") && !line.contains(" 0 Loaded")),
        "{printed}"
    );
}

/// With a budget of zero few objects are tracked; the report says so.
fn a_budget(jdk: &'static Jdk) {
    let here = folder("marked-budget");
    let classes = text(&fixture("typestate").join("classes"));
    let options = ["--typestate", "file-api", "--typestate-budget", "0.001"];
    let command = [&text(&jdk.path("bin/java")), "-Xmx64m", "-cp", &classes, "Many"];
    let output = run(jdk, &here, &options, &command);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("note: the budget was exceeded"), "{}", said(&output));
    let mut report = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    let report =
        report.args(["typestate", "report"]).arg(here.join("cctrewrite.typestate")).output().unwrap();
    let report = String::from_utf8(report.stdout).unwrap();
    assert!(report.contains("objects were not followed, to keep within the budget"), "{report}");
}

/// A marked JDK to keep: moved, and used without messages, by its own `java`. The class library's
/// markers are delivered like those of one that `instrument` marked.
fn a_jdk_to_keep(jdk: &'static Jdk) {
    let here = folder("marked-jdk");
    let made = here.join("made");
    let mut make = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    make.arg("jdk").arg(jdk.home()).arg("-o").arg(&made).args(["--link", "--tool", "markers"]);
    let said = assert_succeeded(make.args(["--typestate", "streams"]));
    assert!(said.contains(": a marked JDK of Java") && said.contains(" of the class library"), "{said}");
    let home: PathBuf = here.join("moved");
    fs::rename(&made, &home).unwrap();
    let report = here.join("report");
    let home = Jdk::made(jdk.version, home);
    // The options for speed are built in, as in profiled JDKs.
    let flags =
        Java::new(&home, "marked-flags").option("-XX:+PrintFlagsFinal").option("-version").run("", &[]);
    let huge = flags.out.lines().find(|line| line.contains(" DontCompileHugeMethods ")).unwrap();
    assert!(huge.contains("= false"), "{huge}");
    let mut java = Java::new(&home, "marked-jdk");
    java.verify().class_path([fixture("typestate").join("classes")]);
    let run = java.option(format!("-Dcctrewrite.typestate.out={}", report.display())).succeed("Streams", &[]);
    assert_eq!(run.out, "closed\nclosed, too\ntrue\n");
    let mut shown = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    let shown = shown.args(["typestate", "report"]).arg(&report).output().unwrap();
    assert_eq!(shown.status.code(), Some(1));
    let shown = String::from_utf8(shown.stdout).unwrap();
    let of_program: Vec<&str> =
        shown.split("\n\n").filter(|found| found.contains("(Streams.java:")).collect();
    assert_eq!(of_program.len(), 3, "{shown}");
    for (found, said) in of_program.iter().zip([
        "FileStream: 'use' is not allowed after 'close'",
        "ReaderWriter: 'use' is not allowed after 'close'",
        "FileStream: the program ended after 'use'",
    ]) {
        assert!(found.contains(said), "{shown}");
    }
}

/// The JVM's thread that wakes virtual threads calls no client, and the report gives the number of
/// skipped calls. A client that took a lock there could make them wait for ever.
fn who_wakes_virtual_threads(jdk: &'static Jdk) {
    let here = folder("marked-waking");
    let rules = here.join("rules.toml");
    fs::write(&rules, "[[marker]]\ntoken = \"t\"\nat = \"method\"\nclass = \"java.util.concurrent.**\"\n")
        .unwrap();
    let nothing = text(&fixture("markers").join("classes"));
    let options = ["--markers", &text(&rules), "--client", "Nothing", "--client-path", &nothing];
    let classes = text(&fixture("virtual").join("classes"));
    let heard =
        run(jdk, &here, &options, &[&text(&jdk.path("bin/java")), "-cp", &classes, "Load", "locked", "200"]);
    assert_eq!(heard.status.code(), Some(0), "{}", said(&heard));
    assert!(heard.stdout.starts_with(b"calls Load.locked()V 200\n"));
    let printed = fs::read_to_string(here.join("cctrewrite.markers")).unwrap();
    assert!(printed.contains(" not delivered in the JVM's thread that wakes virtual threads"), "{printed}");
}

jdks!(runs, programs_as_they_are, feature);
jdks!(ancestors, rules_by_ancestors, feature);
jdks!(controlled, switched_off, feature);
jdks!(budgeted, a_budget, feature);
jdks!(kept, a_jdk_to_keep, feature);
jdks!(woken, who_wakes_virtual_threads, 25..);
