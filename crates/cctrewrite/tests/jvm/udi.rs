//! User-defined instrumentation modules (`docs/research/udi.md`): both examples on the whole of
//! `rt.jar`, which then boots, and their counts and the profile's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use cct_test_classes::executable;

use crate::support::golden::GoldenTree;
use crate::support::{
    Java, Jdk, Library, assert_succeeded, copy_all, fixture, folder, instrument, jdks, lasting_folder,
    plain_programs,
};

fn example(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(below)
}

/// The example in Java, built as its page says, for JDK 8 and later.
fn entries(jdk: &Jdk) -> &'static Path {
    static JAR: OnceLock<PathBuf> = OnceLock::new();
    JAR.get_or_init(|| {
        let folder = lasting_folder("entries");
        let mut build = Command::new(example("entries/build.sh"));
        build.arg(&folder).env("CCTREWRITE", env!("CARGO_BIN_EXE_cctrewrite")).env("JAVA_HOME", jdk.home());
        assert_succeeded(&mut build);
        folder.join("entries.jar")
    })
}

/// The example in Rust, which is a separate program: next to the command, where cargo puts it.
fn monitors() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let built = Path::new(env!("CARGO_BIN_EXE_cctrewrite")).parent().unwrap();
        let mut cargo = Command::new(env!("CARGO"));
        cargo.current_dir(example("monitors")).args(["build", "--quiet", "--offline", "--target-dir"]);
        cargo.arg(built.parent().unwrap());
        if built.ends_with("release") {
            cargo.arg("--release");
        }
        assert_succeeded(&mut cargo);
        built.join("example-monitors")
    })
}

/// `rt.jar` and programs processed by a module, and the messages.
fn library(jdk: &'static Jdk, module: &Path, programs: &Path, at: &Path, more: &[&str]) -> (Library, String) {
    let out = at.join("out");
    let java = jdk.home().display().to_string();
    let options = [&["--udi", module.to_str().unwrap(), "--udi-java", &java], more].concat();
    let said = instrument(&[jdk.rt_jar(), programs.to_owned()], &[], &out, &options);
    (Library::of(jdk, vec![out.join("rt.jar")], out.join(programs.file_name().unwrap())), said)
}

/// The counts that a module wrote for a class.
fn count(file: &Path, class: &str) -> u64 {
    let text = fs::read_to_string(file).unwrap();
    let line = text.lines().find(|line| line.split_once(' ').is_some_and(|(_, name)| name == class));
    line.and_then(|line| line.split(' ').next()?.parse().ok()).unwrap_or_else(|| panic!("{class}: {text}"))
}

/// Each method reports its entry. The profile has the same calls as before, no further context of
/// the program, and nothing of the module's own. It has four more bytecodes for each call. The
/// module has counted the same calls.
#[test]
fn entries_of_methods() {
    let Some(jdk) = Jdk::find() else { return };
    let at = folder("udi-entries");
    let programs = at.join("programs");
    copy_all(&fixture("calls").join("classes"), &programs);
    let report = at.join("completeness.json");
    for carrier in ["argument", "thread"] {
        let more = ["--context", carrier, "--verify", "--report", report.to_str().unwrap()];
        let (library, said) = library(jdk, entries(jdk), &programs, &at, &more);
        // No class is skipped silently.
        assert!(said.contains("warning: java/lang/Object: the module left it out: "), "{said}");
        let report: serde_json::Value = serde_json::from_slice(&fs::read(&report).unwrap()).unwrap();
        assert_eq!(report["udi"]["aborted"][0]["class"], "java/lang/Object");
        assert!(report["udi"]["replaced"].as_u64().unwrap() > 15_000, "{}", report["udi"]);

        let counts = at.join("counts.txt");
        let mut java = library.java("udi-calls");
        let run = java.option(format!("-Dentries.out={}", counts.display())).succeed("Calls", &[]);
        GoldenTree::read(&fixture("calls").join("expected.txt"))
            .with_each_call(4)
            .assert_equal(&run, carrier);
        // main, <init>, f, g, h.
        assert_eq!(count(&counts, "Calls"), 1 + 1 + 1 + 10 + 65);
        assert!(count(&counts, "java/lang/String") > 100);
        let lines = run.contexts(false);
        assert!(!lines.iter().any(|line| line.contains("cctrewrite.udi") || line.contains("TreeMap.put")));
        let profile = run.profile();
        assert!(profile.notes.iter().any(|note| note.contains("module entries@")), "{:?}", profile.notes);
    }
}

#[test]
fn monitors_of_blocks() {
    let Some(jdk) = Jdk::find() else { return };
    let at = folder("udi-monitors");
    let programs = at.join("programs");
    fs::create_dir(&programs).unwrap();
    let source = at.join("Locks.java");
    let text =
        "public class Locks { public static void main(String[] a) { Object lock = new Object(); int n = 0;
        for (int i = 0; i < 10; i++) { synchronized (lock) { synchronized (a) { n += i; } } }
        System.out.println(n); } }";
    fs::write(&source, text).unwrap();
    let mut javac = Command::new(jdk.path("bin/javac"));
    assert_succeeded(javac.arg("-d").arg(&programs).arg(&source));
    // The same file each time, whose hash the class library has; but it may end at its first class.
    let module = at.join("module");
    let text = format!(
        "if [ -n \"$ENDS\" ]; then printf 'CCTUDI01\\000\\000\\000\\000'; exit 3; fi\nexec '{}'",
        monitors().display()
    );
    executable::script(&module, &text).unwrap();
    let (library, said) = library(jdk, &module, &programs, &at, &["--verify"]);
    assert!(said.contains("given to module@"), "{said}");
    let counts = at.join("counts.txt");
    let run = library
        .java("udi-locks")
        .option(format!("-Dmonitors.out={}", counts.display()))
        .succeed("Locks", &[]);
    assert_eq!(run.out, "45\n");
    assert_eq!(count(&counts, "Locks"), 20);
    assert!(count(&counts, "java/util/zip/ZipFile") > 0);
    assert!(!run.contexts(false).iter().any(|line| line.contains("cctrewrite.udi")));

    // Unchanged, and passed to the module when it is loaded. If the module ends, the program goes
    // on, and the profile says so.
    for (ends, entered) in [("", 20), ("yes", 0)] {
        fs::remove_file(&counts).unwrap();
        let mut java = library.java("udi-load");
        java.forget_class_path().class_path([&programs]).through(&["env", &format!("ENDS={ends}")]);
        java.option(format!("-Dcctrewrite.udi={}", module.display()));
        let run = java.option(format!("-Dmonitors.out={}", counts.display())).succeed("Locks", &[]);
        assert_eq!(run.out, "45\n");
        let text = fs::read_to_string(&counts).unwrap();
        let own = text.lines().any(|line| line.ends_with(" Locks"));
        assert_eq!(own, entered > 0, "{text}");
        let notes = run.profile().notes.clone();
        let said = notes
            .iter()
            .any(|note| note.contains("ended without an answer for class Locks (exit status: 3)"));
        assert_eq!(said, entered == 0, "{notes:?}");
    }
}

#[test]
fn outputs_do_not_depend_on_the_number_of_threads() {
    let Some(jdk) = Jdk::find() else { return };
    let at = folder("udi-threads");
    let java = jdk.home().display().to_string();
    let made = |threads: &str| {
        let out = at.join(threads);
        let options = ["--udi", entries(jdk).to_str().unwrap(), "--udi-java", &java, "--threads", threads];
        let said = instrument(&[plain_programs().to_owned()], &[jdk.rt_jar()], &out, &options);
        assert!(!said.contains(" 0 replaced") && said.contains(" replaced, "), "{said}");
        let mut files: Vec<PathBuf> =
            fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|file| file.is_file());
        files.sort();
        files.iter().map(|file| fs::read(file).unwrap()).collect::<Vec<_>>()
    };
    let first = made("1");
    assert!(first.len() > 50);
    assert!(first == made("3"));
}

/// Entries on a whole image, with the program instrumented for it. (The program's class calls a
/// class of the module's own, from another module.)
fn entries_on_an_image(jdk: &'static Jdk) {
    let at = folder("udi-image");
    let (image, programs) = (at.join("image"), at.join("programs"));
    let java = jdk.home().display().to_string();
    let options = ["--udi", entries(jdk).to_str().unwrap(), "--udi-java", &java];
    let mut make = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    assert_succeeded(make.arg("jdk").arg(jdk.home()).arg("-o").arg(&image).arg("--link").args(options));
    let library = [jdk.home().to_owned()];
    instrument(&[fixture("calls").join("classes")], &library, &programs, &options);
    let counts = at.join("counts.txt");
    let mut java = Java::new(&Jdk::made(jdk.version, image), "udi-image");
    java.verify().class_path([&programs]).option(format!("-Dentries.out={}", counts.display()));
    let run = java.succeed("Calls", &[]);
    GoldenTree::read(&fixture("calls").join("expected.txt")).with_each_call(4).assert_equal(&run, "image");
    assert_eq!(count(&counts, "Calls"), 1 + 1 + 1 + 10 + 65);
    assert!(count(&counts, "java/util/HashMap") > 10);
    assert!(!run.contexts(false).iter().any(|line| line.contains("cctrewrite.udi")));
    let left_out = "except those that were rewritten at load time";
    assert!(run.profile().notes.iter().any(|note| note.contains(left_out)));

    // The unchanged program: its class goes to the module when it is loaded, and so do those that
    // the JVM generates for its lambdas.
    let mut java = Java::new(&Jdk::made(jdk.version, at.join("image")), "udi-load");
    let module = [("udi", entries(jdk)), ("udi-java", jdk.home())];
    java.verify().class_path([fixture("calls").join("classes")]);
    java.option(format!("-Dentries.out={}", counts.display()));
    for (key, path) in module {
        java.option(format!("-Dcctrewrite.{key}={}", path.display()));
    }
    let run = java.succeed("Calls", &[]);
    GoldenTree::read(&fixture("calls").join("expected.txt"))
        .with_each_call(4)
        .assert_equal(&run, "load time");
    assert_eq!(count(&counts, "Calls"), 1 + 1 + 1 + 10 + 65);
    let notes = run.profile().notes.clone();
    assert!(notes.iter().any(|note| note.contains("module entries@")), "{notes:?}");
    assert!(!notes.iter().any(|note| note.contains(left_out)), "{notes:?}");

    // `run` does all of it. The JVM generates a lambda's class.
    let profile = at.join("run.cct");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    command.arg("run").arg("--jdk").arg(at.join("image")).args(["-q", "-o"]).arg(&profile).args(options);
    command.args(["--", "java", "-cp"]).arg(fixture("lambdas").join("classes"));
    assert_succeeded(command.arg(format!("-Dentries.out={}", counts.display())).arg("Lambdas"));
    assert!(count(&counts, "Lambdas") > 1);
    let text = fs::read_to_string(&counts).unwrap();
    assert!(text.lines().any(|line| line.contains(" Lambdas$$Lambda")), "{text}");

    // The class library's classes do not fit another module.
    let other = at.join("other.jar");
    fs::copy(entries(jdk), &other).unwrap();
    let mut java = Java::new(&Jdk::made(jdk.version, at.join("image")), "udi-other");
    java.class_path([fixture("calls").join("classes")]);
    let said = java.option(format!("-Dcctrewrite.udi={}", other.display())).run("Calls", &[]);
    said.assert_code(70);
    assert!(said.err.contains("the module entries@"), "{}", said.err);
}

jdks!(images, entries_on_an_image, [17]);
