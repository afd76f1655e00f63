//! Traces with options (docs/research/trace.md): objects and monitors, the order between threads,
//! the last events, events in memory; and a compiler's contexts by both tools.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::events::{cctrewrite, java, rebuilt, text, tracing};
use crate::modern_counts;
use crate::support::{Blocks, Java, Jdk, assert_succeeded, fixture, folder, jdks};

/// The events of a method of the fixture, without those common to all traces.
fn below(method: &str, trace: &Path) -> Vec<String> {
    let dump = text(&["dump", "--thread", "main", "--below", method], trace);
    let is_noted =
        |line: &&str| ["alloc", "wants", "has the", "gives"].iter().any(|word| line.starts_with(word));
    dump.lines().map(str::trim_start).filter(is_noted).map(str::to_owned).collect()
}

/// Allocated objects have their type and length, and monitors have their objects.
fn objects(jdk: &'static Jdk) {
    let home = folder("trace-objects").join("jdk");
    let mut command = cctrewrite(&["jdk", "--tool", "trace", "--allocations", "--no-cds", "--link", "-q"]);
    assert_succeeded(command.arg(jdk.home()).arg("-o").arg(&home));
    let made = Jdk::made(jdk.version, home.clone());
    let mut java = Java::new(&made, "trace-made");
    java.verify().class_path([fixture("events").join("classes")]);
    let run = java.option("-Dcctrewrite.trace-mode=shared").succeed("Made", &[]);
    assert_eq!(run.out, "10\n");
    let trace = run.profile_path();
    assert_eq!(below("Made.one", &trace), ["alloc an object at bytecode index 0"]);
    let arrays = [
        "alloc an array of 2 at bytecode index 2",
        "alloc 2 arrays of 3, nested 1 deep, at bytecode index 2",
    ];
    assert_eq!(below("Made.arrays", &trace), arrays);
    assert_eq!(below("Made.chars", &trace), ["alloc an array of 5 at bytecode index 1"]);
    assert_eq!(below("Made.copy", &trace), ["alloc an array of 4 at bytecode index 1", "alloc [I of 4"]);
    let locked = below("Made.locked", &trace);
    let object = |line: &str| line.split("monitor of ").nth(1).map(|rest| rest[..8].to_owned()).unwrap();
    assert_eq!(locked.len(), 4, "{locked:?}");
    assert!(locked[0].starts_with("wants the monitor") && locked[1].starts_with("gives back"), "{locked:?}");
    assert!(locked.iter().all(|line| object(line) == object(&locked[0]) && object(line) != "00000000"));
    let own = below("Made.own", &trace);
    assert!(own.len() == 1 && own[0].starts_with("has the monitor") && object(&own[0]) != object(&locked[0]));
    // The object has a header of 12 bytes, and fields of 4 and 8.
    let metrics = text(&["metrics", "--json"], &trace);
    for known in ["memory.byteAllocationDensity", "memory.averageObjectSize", "concurrency.lock.percentile"] {
        assert!(
            metrics.contains(&format!("\"{known}\":")) && !metrics.contains(&format!("\"{known}\":null")),
            "{metrics}"
        );
    }

    // And waiting for a monitor that another thread holds is visible.
    let mut java = Java::new(&made, "trace-contended");
    java.verify().class_path([fixture("events").join("classes")]);
    let run = java.option("-Dcctrewrite.trace-mode=shared").succeed("Ordered", &[]);
    let dump = text(&["dump", "--in-order"], &run.profile_path());
    let wants = |line: &&str| line.contains("wants the monitor");
    assert!(dump.lines().any(|line| wants(&line)));
    let metrics = text(&["metrics"], &run.profile_path());
    let contended = metrics.lines().find(|line| line.contains("lockContendedDensity")).unwrap();
    assert!(contended.trim_start().parse_first() > 0.0, "{contended}");
    fs::remove_dir_all(home.parent().unwrap()).unwrap();
}

/// The number at the start of a line.
trait ParseFirst {
    fn parse_first(&self) -> f64;
}

impl ParseFirst for str {
    fn parse_first(&self) -> f64 {
        self.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or(f64::NAN)
    }
}

/// Threads that take turns do so in the trace, too.
fn ordered(jdk: &'static Jdk) {
    let mut java = java(jdk, "ordered", "events");
    let run = java.option("-Dcctrewrite.trace-mode=shared").succeed("Ordered", &[]);
    assert_eq!(run.out, "-1\n");
    let dump = text(&["dump", "--in-order"], &run.profile_path());
    let steps: Vec<&str> = dump
        .lines()
        .filter(|line| line.ends_with("start Ordered.step(I)V"))
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    assert_eq!(steps.len(), 100);
    assert!(steps[0] != steps[1], "{steps:?}");
    for (place, thread) in steps.iter().enumerate() {
        assert_eq!(*thread, steps[place % 2], "step {place}: {steps:?}");
    }
    // The tree is unchanged.
    let mut java = self::java(jdk, "ordered-calls", "calls");
    let run = rebuilt(java.option("-Dcctrewrite.trace-mode=shared").succeed("Calls", &[]));
    golden(jdk, "calls").assert_equal(&run, "calls, from a trace that keeps the order between threads");
    // A trace without the order does not invent one.
    let trace = self::java(jdk, "unordered", "events").succeed("Figure3", &[]).profile_path();
    let output = cctrewrite(&["trace", "dump", "--in-order"]).arg(&trace).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("--trace-mode shared"), "{output:?}");
}

fn golden(jdk: &Jdk, name: &str) -> crate::support::golden::GoldenTree {
    match jdk.version {
        8 => crate::counts::golden(name, Blocks::Exact),
        version => modern_counts::golden(name, Blocks::Exact, version),
    }
}

/// Of each thread the trace has the last events, and at most twice as many as requested.
fn last(jdk: &'static Jdk) {
    let mut java = java(jdk, "last", "events");
    let run = java.option("-Dcctrewrite.trace-last=500").succeed("Figure3", &[]);
    let trace = run.profile_path();
    assert!(!beside(&trace).exists());
    let dump = text(&["dump", "--thread", "main"], &trace);
    let events = dump.lines().count();
    assert!((500..2000).contains(&events), "{events} events");
    assert!(dump.contains("end   Figure3.main"), "{dump}");
    let info = text(&["info"], &trace);
    assert!(info.contains("complete") && info.contains("last events") && !info.contains("missing"), "{info}");
    drop(rebuilt(run));
}

/// Recording begins with a method, or covers a method's extents alone.
fn by_method(jdk: &'static Jdk) {
    let own = |trace: &Path| {
        let dump = text(&["dump", "--thread", "main"], trace);
        let is_own = |line: &&str| line.starts_with("start Figure3") || line.starts_with("recording");
        dump.lines().map(str::trim_start).filter(is_own).map(str::to_owned).collect::<Vec<_>>()
    };
    let mut java = java(jdk, "extent", "events");
    let run = java.option("-Dcctrewrite.extent=Figure3.b,Figure3.divide").succeed("Figure3", &[]);
    let starts = own(&run.profile_path());
    let (on, b, divide) = ("recording resumes", "start Figure3.b(I)V", "start Figure3.divide(I)I");
    let mut expected = [[on, b, "recording pauses"]; 50].concat();
    // `main` has no event between its two calls: there is no pause.
    expected.extend([on, divide, divide, "recording pauses"]);
    assert_eq!(starts, expected);
    let mut java = self::java(jdk, "start-at", "events");
    let run = java.option("-Dcctrewrite.start-at=Figure3.divide").succeed("Figure3", &[]);
    assert_eq!(own(&run.profile_path()), [on, divide, divide]);
    let mut java = self::java(jdk, "start-at-nothing", "events");
    let run = java.option("-Dcctrewrite.start-at=Figure3.never").succeed("Figure3", &[]);
    assert!(text(&["info"], &run.profile_path()).contains("has not been entered"));
}

/// The file of last events of a killed JVM.
fn beside(trace: &Path) -> std::path::PathBuf {
    let mut path = trace.as_os_str().to_owned();
    path.push(".last");
    path.into()
}

/// The last events are also available if the JVM is killed.
fn last_of_the_killed(jdk: &'static Jdk) {
    let mut java = java(jdk, "last-killed", "events");
    let mut running = java.option("-Dcctrewrite.trace-last=1000").start("Endless", &[]);
    let trace = running.profile_path();
    running.wait_for("ready");
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert_succeeded(Command::new("kill").args(["-9", &running.id().to_string()]));
    running.wait();
    assert!(beside(&trace).exists());
    let info = text(&["info"], &trace);
    assert!(info.contains("killed or crashed") && info.contains("last events"), "{info}");
    let dump = text(&["dump", "--thread", "main"], &trace);
    let events: Vec<&str> = dump.lines().collect();
    assert!(events.len() >= 1000, "{dump}");
    assert!(events.last().unwrap().contains("Endless."), "{:?}", events.last());
    let profile = trace.with_extension("rebuilt.cct");
    assert_succeeded(cctrewrite(&["trace", "contexts"]).arg(&trace).arg("-o").arg(&profile));
    // Without that file a note says what is missing.
    fs::remove_file(beside(&trace)).unwrap();
    assert!(text(&["info"], &trace).contains("is missing"));
}

/// Classes of an archive of the user contain numbers in their code that another JVM assigned. The
/// JVM writes no trace rather than one with wrong methods.
fn with_an_archive(jdk: &'static Jdk) {
    let options: &[&str] =
        if jdk.version < 25 { &["SharedArchiveFile"] } else { &["SharedArchiveFile", "AOTCache"] };
    for option in options {
        let mut java = java(jdk, "archive", "events");
        let run = java.option(format!("-XX:{option}=app.jsa")).run("Figure3", &[]);
        run.assert_code(70);
        assert!(run.err.contains("archive") && run.err.contains(option), "{}", run.err);
        assert!(!run.profile_path().exists());
    }
}

/// Events kept in memory are the same.
fn in_memory(jdk: &'static Jdk) {
    for memory in ["1g", "20k"] {
        let mut java = java(jdk, &format!("memory-{memory}"), "exceptions");
        let option = format!("-Dcctrewrite.trace-memory={memory}");
        let run = rebuilt(java.option(option).succeed("Exceptions", &[]));
        golden(jdk, "exceptions")
            .assert_equal(&run, &format!("exceptions, with {memory} of events in memory"));
    }
    // An invalid size is rejected, and the program runs.
    let mut java = java(jdk, "memory-bad", "events");
    let run = java.option("-Dcctrewrite.trace-memory=much").run("Figure3", &[]);
    assert!(run.err.contains("trace-memory"), "{}", run.err);
}

/// javac compiles a class, on one image and then on the other at the same path. The contexts of all
/// threads are equal, calls and bytecodes.
fn compiler(jdk: &'static Jdk) {
    let folder = folder("trace-javac");
    let home = folder.join("jdk");
    let source = folder.join("Ten.java");
    fs::write(
        &source,
        "import java.util.*;\npublic class Ten {\n    public static void main(String[] arguments) {\n        List<String> list = new ArrayList<>();\n        \
         for (String a : arguments) {\n            list.add(a.trim());\n        }\n        Collections.sort(list);\n        System.out.println(list);\n    }\n}\n",
    )
    .unwrap();
    let empty = folder.join("empty");
    fs::create_dir_all(&empty).unwrap();
    let left = folder.join("left");
    for (name, options) in [("profile", &[][..]), ("trace", &["--tool", "trace"])] {
        let mut command = cctrewrite(&["jdk", "--reproducible", "--no-cds", "--link", "-q"]);
        assert_succeeded(command.args(options).arg(jdk.home()).arg("-o").arg(&home));
        let mut command = Command::new(home.join("bin/java"));
        // Identity hash codes determine positions in tables, and the collector determines when its
        // own threads run: it also runs for classes' metadata.
        command.args(["-XX:hashCode=2", "-Xms1g", "-Xmn900m", "-XX:MetaspaceSize=512m", "-XX:+UseSerialGC"]);
        command.arg(format!("-Dcctrewrite.out={}", left.display()));
        let out = folder.join("out");
        fs::create_dir_all(&out).unwrap();
        // The class library to compile against, and the compiler's own jar, are the plain ones.
        if jdk.version == 8 {
            command.arg("-cp").arg(jdk.tools_jar()).arg("com.sun.tools.javac.Main");
            command.arg("-bootclasspath").arg(jdk.rt_jar()).arg("-extdirs").arg(&empty);
        } else {
            command.args(["-m", "jdk.compiler/com.sun.tools.javac.Main", "--release", "11"]);
        }
        command.args(["-proc:none", "-cp"]).arg(&empty).arg("-d").arg(&out).arg(&source);
        assert_succeeded(command.current_dir(&folder));
        assert!(out.join("Ten.class").is_file());
        fs::rename(&left, folder.join(name)).unwrap();
        fs::remove_dir_all(&out).unwrap();
        fs::remove_dir_all(&home).unwrap();
    }
    let rebuilt = folder.join("rebuilt.cct");
    assert_succeeded(cctrewrite(&["trace", "contexts"]).arg(folder.join("trace")).arg("-o").arg(&rebuilt));
    let mut compare = cctrewrite(&["compare", "--per-thread", "--limit", "3"]);
    // Two profiles of one image differ in these too: a table of names with random order, work after
    // a collection, and the loading order of the classes in a signature (docs/ci/reproducible.md,
    // what is not pinned).
    let by_chance = [
        "java.lang.ClassLoader.getClassLoadingLock",
        "jdk.internal.ref.CleanerImpl.run",
        "java.lang.Class.getDeclaredMethods0",
    ];
    for ignored in by_chance {
        compare.args(["--drop", ignored]);
    }
    if jdk.version == 25 {
        // It reads the bytes of lib/modules, which differ; and its read position, when a class is
        // loaded, depends on the same order.
        for reads in ["ImageLocation.decompress", "BasicImageReader.slice"] {
            compare.args(["--drop", &format!("jdk.internal.jimage.{reads}")]);
        }
    }
    if jdk.version != 17 {
        // Before the JVM's live phase profiles differ from traces (docs/research/trace.md).
        compare.args(["--root", "com.sun.tools.javac.Main.main"]);
    }
    let output = compare.arg(folder.join("profile")).arg(&rebuilt).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let contexts = said.lines().find_map(|line| line.strip_prefix("Contexts")).unwrap();
    let contexts: u64 = contexts.split_whitespace().next().unwrap().replace(',', "").parse().unwrap();
    assert!(contexts > 100_000, "{said}");
    fs::remove_dir_all(&folder).unwrap();
}

/// `run` passes on the trace's options, and rejects them for a profile.
fn through_run(jdk: &'static Jdk) {
    let folder = folder("trace-run-modes");
    let trace = folder.join("out.trace");
    let run = |options: &[&str]| {
        let mut command = cctrewrite(&["run", "-q", "-o"]);
        command.arg(&trace).args(options).arg("--jdk").arg(tracing(jdk).home()).args(["--", "java", "-cp"]);
        command.arg(fixture("events").join("classes")).arg("Figure3").current_dir(&folder).output().unwrap()
    };
    for (option, value) in [("--trace-mode", "shared"), ("--trace-last", "9"), ("--trace-memory", "1m")] {
        let output = run(&[option, value]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(option) && said.contains("--tool trace"), "{said}");
    }
    let output =
        run(&["--tool", "trace", "--trace-mode", "shared", "--trace-last", "3000", "--trace-receivers"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1314\n", "{output:?}");
    let dump = text(&["dump", "--in-order"], &trace);
    assert!(dump.contains(" of    Figure3"), "{dump}");
    assert!(text(&["info"], &trace).contains("last events"));
}

jdks!(made, objects, feature);
jdks!(in_order, ordered, [17], all[8]);
jdks!(last_events, last, feature);
jdks!(last_events_of_the_killed, last_of_the_killed, [17]);
jdks!(methods, by_method, [8, 17]);
jdks!(archived, with_an_archive, [25], all[17]);
jdks!(memory, in_memory, [8], all[17]);
jdks!(javac, compiler, [17], all [8, 25]);
jdks!(run_modes, through_run, [17]);
