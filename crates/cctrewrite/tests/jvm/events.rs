//! Traces (docs/research/trace.md): the paper's example, event by event; and trees rebuilt from
//! traces, which equal those that the profiler counts.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};

use crate::modern_counts;
use crate::support::{Blocks, Java, Jdk, Run, assert_succeeded, fixture, folder, jdks, scratch};

pub fn cctrewrite(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    command.args(arguments);
    command
}

/// A JDK that traces, made once for all tests.
pub fn tracing(jdk: &'static Jdk) -> &'static Jdk {
    static JDKS: Mutex<BTreeMap<u32, Arc<OnceLock<&'static Jdk>>>> = Mutex::new(BTreeMap::new());
    let cell = JDKS.lock().unwrap().entry(jdk.version).or_default().clone();
    cell.get_or_init(|| {
        let home = scratch().join(format!("tracing-{}", jdk.version));
        let mut command = cctrewrite(&["jdk", "--tool", "trace", "--no-cds", "--link", "-q"]);
        assert_succeeded(command.arg(jdk.home()).arg("-o").arg(&home));
        Box::leak(Box::new(Jdk::made(jdk.version, home)))
    })
}

/// A program on it; the trace has the path of a profile.
pub fn java(jdk: &'static Jdk, name: &str, classes: &str) -> Java {
    let mut java = Java::new(tracing(jdk), &format!("trace-{name}"));
    java.verify().class_path([fixture(classes).join("classes")]);
    java
}

pub fn text(arguments: &[&str], trace: &Path) -> String {
    let output =
        cctrewrite(&["trace"]).args(&arguments[..1]).arg(trace).args(&arguments[1..]).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The run with its trace replaced by the profile rebuilt from it.
pub fn rebuilt(run: Run) -> Run {
    let trace = run.folder.join("run.trace");
    fs::rename(run.profile_path(), &trace).unwrap();
    assert_succeeded(cctrewrite(&["trace", "contexts"]).arg(&trace).arg("-o").arg(run.profile_path()));
    run
}

/// The checker finds nothing in a whole JDK.
fn is_right(jdk: &'static Jdk) {
    let mut command = cctrewrite(&["verify", "-q"]);
    assert_succeeded(command.arg(jdk.home()).arg(tracing(jdk).home()));
}

jdks!(checked, is_right, [8], all[17]);

/// The events of `foo` in the paper's figure 3. Block 0 runs once, 1 for each test of the loop, 2
/// for the body, 3 and two calls for the first 50, 4 for `i++`, and 5 at the end.
fn events_of_foo() -> Vec<String> {
    let mut events = Vec::new();
    let mut say = |event: &str| events.push(event.to_owned());
    let sizes = [2, 3, 3, 5, 2, 1];
    let block = |number: usize| format!("block Figure3.foo()V {number} ({} bytecodes)", sizes[number]);
    say("start Figure3.foo()V");
    say(&block(0));
    for i in 0..100 {
        say(&block(1));
        say(&block(2));
        if i < 50 {
            say(&block(3));
            for callee in ["a()V", "b(I)V"] {
                say(&format!("start Figure3.{callee}"));
                say(&format!("block Figure3.{callee} 0 (7 bytecodes)"));
                say(&format!("end   Figure3.{callee}"));
            }
        }
        say(&block(4));
    }
    say(&block(1));
    say(&block(5));
    say("end   Figure3.foo()V");
    events
}

fn figure_3(jdk: &'static Jdk) {
    let run = java(jdk, "figure", "events").succeed("Figure3", &[]);
    assert_eq!(run.out, "1314\n");
    let trace = run.profile_path();
    let dump = text(&["dump", "--thread", "main", "--below", "Figure3.foo"], &trace);
    let events: Vec<&str> = dump.lines().skip(1).map(str::trim_start).collect();
    assert_eq!(events, events_of_foo());
    // The file contains only some of them.
    let in_file = text(&["info"], &trace);
    let in_file = in_file.lines().find_map(|line| line.strip_prefix("events: ")?.parse::<usize>().ok());
    let dumped = text(&["dump"], &trace).lines().filter(|line| line.starts_with("  ")).count();
    assert!(in_file.unwrap() < dumped * 9 / 10, "{in_file:?} of {dumped}");
    // The paper's numbers: types 01, 11 and 10, one method, blocks 0 to 5.
    let dump = text(&["dump", "--thread", "main", "--below", "Figure3.foo", "--numbers"], &trace);
    let numbers: Vec<u32> = dump.lines().skip(1).map(|n| n.trim().parse::<i32>().unwrap() as u32).collect();
    let method = numbers[0] >> 11 & 0x7FFFF;
    let of_foo: Vec<u32> = numbers.iter().copied().filter(|n| n >> 11 & 0x7FFFF == method).collect();
    assert_eq!((of_foo[0] >> 30, of_foo[1] >> 30, of_foo.last().unwrap() >> 30), (1, 3, 2));
    assert_eq!(of_foo.iter().filter(|&n| n >> 30 == 3).map(|n| n & 0x7FF).max(), Some(5));
}

/// The division that throws is the third bytecode of its block; the rest of the block was not
/// executed.
fn exceptions(jdk: &'static Jdk) {
    let run = java(jdk, "exception", "events").succeed("Figure3", &[]);
    let dump = text(&["dump", "--thread", "main", "--below", "Figure3.divide"], &run.profile_path());
    let of_divide = |line: &&str| line.contains("Figure3.divide") || line.contains("exception");
    let events: Vec<&str> = dump.lines().map(str::trim_start).filter(of_divide).collect();
    let expected = [
        "start Figure3.divide(I)I",
        "block Figure3.divide(I)I 0 (12 bytecodes)",
        "end   Figure3.divide(I)I",
        "start Figure3.divide(I)I",
        "block Figure3.divide(I)I 0 (12 bytecodes)",
        "left by an exception after 3 bytecodes",
        "block Figure3.divide(I)I 1 (3 bytecodes)",
        "end   Figure3.divide(I)I",
    ];
    assert_eq!(events, expected);
    let run = rebuilt(run);
    let info = cctrewrite(&["info"]).arg(run.profile_path()).output().unwrap();
    let info = String::from_utf8(info.stdout).unwrap();
    assert!(info.contains("\nRebuilt     from a trace\n") && !info.contains("\nAgent"), "{info}");
    let divide = run.contexts_from("Figure3.divide");
    assert!(divide.contains(&"2 18 Figure3.divide(I)I".to_owned()), "{divide:?}");
}

fn receivers_and_classes(jdk: &'static Jdk) {
    let mut java = java(jdk, "receivers", "events");
    let run = java.option("-Dcctrewrite.trace-receivers=yes").succeed("Figure3", &[]);
    let dump = text(&["dump", "--thread", "main"], &run.profile_path());
    let lines: Vec<&str> = dump.lines().map(str::trim_start).collect();
    let is_received = |pair: &[&str]| pair[0] == "start Figure3.foo()V" && pair[2] == "of    Figure3";
    assert!(lines.windows(3).any(is_received), "no receiver of foo");
    assert!(lines.contains(&"loaded Figure3"), "the class was never loaded");
}

/// The trace omits what runs while recording is off, and contains what follows.
fn switches(jdk: &'static Jdk) {
    let mut java = java(jdk, "switches", "events");
    let run = java.class_path([crate::selective::api()]).succeed("Switched", &[]);
    assert_eq!(run.out, "18 true false true\n");
    let dump = text(&["dump", "--thread", "main"], &run.profile_path());
    let is_own =
        |line: &&str| line.contains("Switched.") && !line.starts_with("block") || line.contains("recording");
    let lines: Vec<&str> = dump.lines().map(str::trim_start).filter(is_own).collect();
    let round = [
        "start Switched.outer(I)I",
        "start Switched.inner(I)I",
        "end   Switched.inner(I)I",
        "end   Switched.outer(I)I",
    ];
    let main = "Switched.main([Ljava/lang/String;)V";
    let (start, end) = (format!("start {main}"), format!("end   {main}"));
    let mut expected = vec![start.as_str()];
    expected.extend(round);
    expected.extend(["recording pauses", "recording resumes: part"]);
    expected.extend(round);
    expected.push(&end);
    assert_eq!(lines, expected);
}

/// `cctrewrite run --tool trace` writes a trace to the requested path, and rejects options of
/// profiles.
fn runs(jdk: &'static Jdk) {
    let folder = folder("trace-run");
    let trace = folder.join("out.trace");
    let run = |options: &[&str]| {
        let mut command = cctrewrite(&["run", "--tool", "trace", "-q", "-o"]);
        command.arg(&trace).args(options).arg("--jdk").arg(tracing(jdk).home()).args(["--", "java", "-cp"]);
        command.arg(fixture("events").join("classes")).arg("Figure3").current_dir(&folder).output().unwrap()
    };
    for option in [&["--max-contexts", "5"][..], &["--recursion", "2"]] {
        let output = run(option);
        assert!(String::from_utf8_lossy(&output.stderr).contains(option[0]), "{option:?}: {output:?}");
        assert!(!trace.exists());
    }
    let output = run(&[]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1314\n", "{output:?}");
    assert!(text(&["info"], &trace).contains("complete"));
    // And a tracing JDK does not profile.
    let mut command = cctrewrite(&["run", "--jdk"]);
    let output = command.arg(tracing(jdk).home()).args(["--", "java", "-version"]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("--tool trace"), "{output:?}");
}

/// The fixtures' trees, derived by hand.
fn trees(jdk: &'static Jdk) {
    for (name, _) in modern_counts::TREES.iter().filter(|(_, since)| *since <= jdk.version) {
        let golden = match jdk.version {
            8 => crate::counts::golden(name, Blocks::Exact),
            version => modern_counts::golden(name, Blocks::Exact, version),
        };
        let main = format!("{}{}", name[..1].to_uppercase(), &name[1..]);
        let run = rebuilt(java(jdk, name, name).succeed(&main, &[]));
        // A trace has threads, but not which would have shared a tree.
        let golden = if *name == "turns" { golden.without_threads() } else { golden };
        golden.assert_equal(&run, &format!("{name} on JDK {}, rebuilt from its trace", jdk.version));
    }
}

/// A killed JVM leaves the events written before.
fn killed(jdk: &'static Jdk) {
    let running = java(jdk, "killed", "frames").start("Frames", &[]);
    let process = running.id().to_string();
    let trace = running.profile_path();
    // It spins for seconds; the classes that it needs are loaded before.
    for _ in 0..5000 {
        std::thread::sleep(std::time::Duration::from_millis(2));
        if fs::metadata(&trace).is_ok_and(|file| file.len() > 200_000) {
            break;
        }
    }
    assert_succeeded(Command::new("kill").args(["-9", &process]));
    running.wait();
    let info = text(&["info"], &trace);
    assert!(info.contains("killed or crashed") || info.contains("cut off"), "{info}");
    let run_folder = trace.parent().unwrap().join("killed.cct");
    assert_succeeded(cctrewrite(&["trace", "contexts"]).arg(&trace).arg("-o").arg(&run_folder));
}

/// Actions of threads while the trace is being written at the end do not affect their earlier
/// events.
fn threads_that_go_on(jdk: &'static Jdk) {
    for round in 0..3 {
        let run = java(jdk, &format!("goes-on-{round}"), "events").succeed("GoesOn", &[]);
        let info = text(&["info"], &run.profile_path());
        assert!(info.contains("complete") && !info.contains("missing"), "{info}");
        let run = rebuilt(run);
        let info = cctrewrite(&["info"]).arg(run.profile_path()).output().unwrap();
        let info = String::from_utf8(info.stdout).unwrap();
        // Overwritten events would leave ends without beginnings, and blocks of methods that are
        // not running.
        assert!(!info.contains("have no entry") && !info.contains("does not describe"), "{info}");
        let workers = run.contexts_from("GoesOn$1.run");
        let calls = |name: &str| -> u64 {
            let line = workers.iter().find(|line| line.ends_with(name)).unwrap();
            line.split_whitespace().next().unwrap().parse().unwrap()
        };
        let [outer, middle, inner] = ["GoesOn.outer(I)V", "GoesOn.middle(I)V", "GoesOn.inner(I)V"].map(calls);
        // Each of the four is in the middle of its work.
        assert!(
            outer > 1000 && middle.abs_diff(2 * outer) <= 8 && inner.abs_diff(middle) <= 4,
            "{workers:?}"
        );
    }
}

jdks!(figure, figure_3, feature);
jdks!(thrown, exceptions, feature);
jdks!(receivers, receivers_and_classes, [8, 17]);
jdks!(rebuilt_trees, trees, feature);
jdks!(kills, killed, [17]);
jdks!(ends, threads_that_go_on, [8, 17]);
jdks!(switched, switches, [8, 17]);
jdks!(run, runs, [17]);

/// Options of counting are rejected by name.
#[test]
fn settings_of_profiles_are_refused() {
    let Some(jdk) = Jdk::find() else { return };
    let folder = scratch().join("refused");
    for option in [
        &["--metrics", "calls"][..],
        &["--blocks", "default"],
        &["--activation-counters"],
        &["--call-sites"],
        &["--cost-model", "unit"],
        &["--context", "thread"],
    ] {
        let mut command = cctrewrite(&["jdk", "--tool", "trace", "-q", "-o"]);
        let output = command.arg(&folder).args(option).arg(jdk.home()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && said.contains(option[0]) && !folder.exists(),
            "{option:?}: {said}"
        );
    }
    let output =
        cctrewrite(&["instrument", "--tool", "trace", "-o", "x.jar"]).arg(jdk.rt_jar()).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("cctrewrite jdk"), "{output:?}");
}
