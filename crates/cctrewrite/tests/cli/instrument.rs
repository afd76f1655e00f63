//! `cctrewrite instrument`, without errors.

use std::fs;

use super::support::{
    damaged_in_its_code, entry, files, first_entry, jar, object, plain, put, refused_by_jvms, run, sample,
    scratch,
};

#[test]
fn an_output_says_what_it_is_and_what_was_done() {
    let folder = scratch();
    let home = folder.path();
    put(home, "app.jar", &jar(&[("Sample.class", &sample()), ("notes.txt", b"hello")]));
    let run = run(home, &["instrument", "app.jar", "-o", "out.jar", "--report", "report.json"]).succeeds();
    assert_eq!(run.stdout, "");
    assert!(!run.stderr.contains(['\u{1b}', '\r']), "no progress in a pipe: {:?}", run.stderr);
    assert!(run.stderr.starts_with("out.jar: 1 class, 9 methods, "), "{}", run.stderr);
    assert!(run.stderr.contains("1  native "), "{}", run.stderr);
    let out = home.join("out.jar");
    assert_eq!(entry(&out, "cctrewrite-output/place")[..4], *b"app\n");
    assert_eq!(&entry(&out, "cctrewrite-output/index")[..4], b"CCTI");
    assert_eq!(entry(&out, "notes.txt"), b"hello");
    let report: serde_json::Value =
        serde_json::from_slice(&fs::read(home.join("report.json")).unwrap()).unwrap();
    assert_eq!(report["treatments"]["native"], 1);
    assert_eq!(files(home).len(), 3, "nothing else was left");
}

#[test]
fn quiet_means_quiet() {
    let folder = scratch();
    put(folder.path(), "app.jar", &jar(&[("Sample.class", &sample())]));
    assert_eq!(run(folder.path(), &["instrument", "-q", "app.jar", "-o", "out.jar"]).succeeds().stderr, "");
}

#[test]
fn neither_threads_nor_time_show_in_the_output() {
    let folder = scratch();
    let home = folder.path();
    let classes: Vec<(String, Vec<u8>)> =
        (0..50).map(|i| (format!("p/C{i}.class"), plain(&format!("p/C{i}")))).collect();
    let mut entries: Vec<(&str, &[u8])> = classes.iter().map(|(name, bytes)| (&**name, &**bytes)).collect();
    let sample = sample();
    entries.push(("Sample.class", &sample));
    put(home, "app.jar", &jar(&entries));
    for threads in ["1", "3"] {
        let out = format!("{threads}.jar");
        run(home, &["instrument", "app.jar", "-o", &out, "--threads", threads]).succeeds();
    }
    assert_eq!(fs::read(home.join("1.jar")).unwrap(), fs::read(home.join("3.jar")).unwrap());
}

#[test]
fn several_inputs_go_into_a_folder() {
    let folder = scratch();
    let home = folder.path();
    put(home, "a.jar", &jar(&[("Sample.class", &sample())]));
    put(home, "classes/p/B.class", &plain("p/B"));
    run(home, &["instrument", "a.jar", "classes", "-o", "out"]).succeeds();
    assert!(home.join("out/a.jar").is_file());
    assert!(home.join("out/classes/cctrewrite-output/index").is_file());
    // An earlier output is replaced.
    run(home, &["instrument", "a.jar", "classes", "-o", "out"]).succeeds();
}

#[test]
fn levels_change_the_size_alone() {
    let folder = scratch();
    let home = folder.path();
    put(home, "a.jar", &jar(&[("Sample.class", &sample())]));
    let size = |level: &str| {
        let out = format!("{level}.jar");
        run(home, &["instrument", "a.jar", "-o", &out, "--level", level]).succeeds();
        (fs::metadata(home.join(&out)).unwrap().len(), entry(&home.join(&out), "Sample.class"))
    };
    let ((fast, first), (small, second)) = (size("0"), size("9"));
    assert!(fast > small, "{fast} {small}");
    assert_eq!(first, second);
}

#[test]
fn an_instrumented_class_library_is_a_library() {
    let folder = scratch();
    let home = folder.path();
    put(home, "jdk/lib/rt.jar", &jar(&[("java/lang/Object.class", &object())]));
    put(home, "jdk/lib/jce.jar", &jar(&[("j/J.class", &plain("j/J"))]));
    put(home, "app.jar", &jar(&[("Sample.class", &sample())]));
    run(home, &["instrument", "jdk/lib/rt.jar", "-o", "rt.jar"]).succeeds();
    run(home, &["instrument", "app.jar", "--library", "rt.jar", "-o", "with-output.jar"]).succeeds();
    run(home, &["instrument", "app.jar", "--library", "jdk/lib/rt.jar", "-o", "with-original.jar"])
        .succeeds();
    // Built for the same JDK, however it was named.
    for output in ["with-output.jar", "with-original.jar"] {
        run(home, &["flags", "rt.jar", output]).succeeds();
    }
    let other = ["instrument", "app.jar", "--library", "rt.jar", "--blocks", "precise", "-o", "precise.jar"];
    run(home, &other).fails_saying(&["rt.jar", "blocks", "same options"]);
}

#[test]
fn other_files_can_be_kept() {
    let folder = scratch();
    let home = folder.path();
    put(home, "a.jar", &jar(&[("Sample.class", &sample()), ("fake.class", b"I am no class")]));
    let run = run(home, &["instrument", "a.jar", "-o", "out.jar", "--keep-bad-classes"]).succeeds();
    assert!(
        run.stderr.contains("note: a.jar!/fake.class: kept as it is: not a class file"),
        "{}",
        run.stderr
    );
    assert_eq!(entry(&home.join("out.jar"), "fake.class"), b"I am no class");
}

#[test]
fn a_notice_is_given_once() {
    let folder = scratch();
    let home = folder.path();
    put(home, "a.jar", &jar(&[("Sample.class", &sample()), ("lib/not.jar", b"no jar")]));
    let run = run(home, &["instrument", "a.jar", "-o", "out.jar"]).succeeds();
    assert_eq!(run.stderr.matches("a.jar!/lib/not.jar").count(), 1, "{}", run.stderr);
}

#[cfg(unix)]
#[test]
fn nobody_has_to_listen() {
    let folder = scratch();
    let home = folder.path();
    put(home, "a.jar", &jar(&[("Sample.class", &sample())]));
    let mut command = super::support::command();
    command.current_dir(home).args(["instrument", "a.jar", "-o", "out.jar"]);
    let mut child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_class_without_room_for_more_constants_stays_as_it_is_and_the_rest_goes_on() {
    let original = sample();
    let class = cct_classfile::ClassFile::parse(&original).unwrap();
    let mut filled = cct_classfile::edit::ClassEdit::new(&class);
    for i in 0.. {
        if filled.additions.count().unwrap() >= 65_530 {
            break;
        }
        filled.additions.utf8(format!("constant {i}").as_bytes()).unwrap();
    }
    let full = filled.finish().unwrap();

    let folder = scratch();
    let home = folder.path();
    put(home, "app.jar", &jar(&[("Sample.class", &full), ("p/Other.class", &plain("p/Other"))]));
    let run = run(home, &["instrument", "app.jar", "-o", "out.jar"]).succeeds();
    let why = "the class would need more than 65535 constants; the class stays as it is, and is missing from the tree";
    assert!(run.stderr.contains("warning: class Sample: ") && run.stderr.contains(why), "{}", run.stderr);
    assert_eq!(entry(&home.join("out.jar"), "Sample.class"), full);
    assert_ne!(entry(&home.join("out.jar"), "p/Other.class"), plain("p/Other"));
}

#[test]
fn classes_that_jvms_refuse_are_not_made_acceptable() {
    for (refused, why) in refused_by_jvms() {
        let folder = scratch();
        let home = folder.path();
        put(home, "app.jar", &jar(&[("Sample.class", &refused), ("p/Other.class", &plain("p/Other"))]));
        let run = run(home, &["instrument", "app.jar", "-o", "out.jar"]).succeeds();
        let stays = "for which JVMs refuse it; the class stays as it is, and is missing from the tree";
        assert!(run.stderr.contains("warning: class Sample"), "{}", run.stderr);
        assert!(run.stderr.contains(why) && run.stderr.contains(stays), "{}", run.stderr);
        assert_eq!(entry(&home.join("out.jar"), "Sample.class"), refused, "{why}");
        assert_ne!(entry(&home.join("out.jar"), "p/Other.class"), plain("p/Other"));
    }
}

/// The survey does not read code; a fault that is found in code later is handled like one that is
/// found at once.
#[test]
fn a_class_whose_code_is_damaged_is_kept_like_others() {
    let (damaged, why) = damaged_in_its_code();
    let folder = scratch();
    let home = folder.path();
    put(home, "app.jar", &jar(&[("Sample.class", &damaged), ("p/Other.class", &plain("p/Other"))]));
    let arguments = ["instrument", "app.jar", "-o", "out.jar"];
    run(home, &arguments).fails_saying(&["app.jar!/Sample.class", why]);
    let run = run(home, &[&arguments[..], &["--keep-bad-classes"]].concat()).succeeds();
    assert!(
        run.stderr.contains("reference; the class stays as it is, and is missing from the tree"),
        "{}",
        run.stderr
    );
    assert_eq!(entry(&home.join("out.jar"), "Sample.class"), damaged);
    assert_ne!(entry(&home.join("out.jar"), "p/Other.class"), plain("p/Other"));
}

/// A jar with a manifest and the sample.
fn with_manifest(main: &str) -> Vec<u8> {
    jar(&[("META-INF/MANIFEST.MF", main.as_bytes()), ("Sample.class", &sample())])
}

#[test]
fn up_to_date_outputs_are_left_alone() {
    let folder = scratch();
    let home = folder.path();
    put(home, "app.jar", &jar(&[("Sample.class", &sample())]));
    put(home, "lib.jar", &jar(&[("p/Lib.class", &plain("p/Lib"))]));
    let make = |options: &[&str]| {
        let basic = ["instrument", "app.jar", "--library", "lib.jar", "-o", "out.jar", "--if-changed"];
        let run = run(home, &[&basic[..], options].concat()).succeeds();
        run.stderr == "out.jar: up to date\n"
    };
    assert!(!make(&[]), "there was nothing");
    let first = fs::read(home.join("out.jar")).unwrap();
    assert!(make(&[]));
    // A new time is not a change.
    put(home, "app.jar", &jar(&[("Sample.class", &sample())]));
    assert!(make(&["--threads", "1"]));
    assert!(!make(&["--blocks", "precise"]));
    assert!(!make(&[]));
    assert_eq!(fs::read(home.join("out.jar")).unwrap(), first);
    put(home, "lib.jar", &jar(&[("p/Lib.class", &plain("p/Lib")), ("p/More.class", &plain("p/More"))]));
    assert!(!make(&[]), "a library decides about call sites");
    assert!(make(&[]));
    put(home, "app.jar", &jar(&[("Sample.class", &sample()), ("notes", b"")]));
    assert!(!make(&[]));
    assert!(!make(&["--report", "report.json"]), "the report is missing");
    assert!(make(&["--report", "report.json"]));
    put(home, "out.jar", b"no jar");
    assert!(!make(&[]));
    // Without the option the command runs.
    let again = run(home, &["instrument", "app.jar", "--library", "lib.jar", "-o", "out.jar"]).succeeds();
    assert!(again.stderr.starts_with("out.jar: 1 class"), "{}", again.stderr);
}

#[test]
fn a_manifest_says_how_its_jar_was_instrumented_if_asked_to() {
    let folder = scratch();
    let home = folder.path();
    put(home, "app.jar", &with_manifest("Manifest-Version: 1.0\nMain-Class: Sample\n\n"));
    run(home, &["instrument", "app.jar", "-o", "plain.jar"]).succeeds();
    let manifest = |name: &str| String::from_utf8(entry(&home.join(name), "META-INF/MANIFEST.MF")).unwrap();
    assert_eq!(manifest("plain.jar"), "Manifest-Version: 1.0\nMain-Class: Sample\n\n");
    run(home, &["instrument", "app.jar", "-o", "out.jar", "--manifest"]).succeeds();
    let text = manifest("out.jar").replace("\r\n ", "");
    assert!(
        text.starts_with("Manifest-Version: 1.0\nMain-Class: Sample\nInstrumented-By: cctrewrite "),
        "{text}"
    );
    assert!(
        text.contains(
            "\nInstrumented-With: activation=no allocations=no blocks=exact call-sites=no context=argument format=1 intrinsics=bytecode jdk=none "
        ),
        "{text}"
    );
    // A jar without a manifest gets one, at the start, where `JarInputStream` finds it.
    put(home, "bare.jar", &jar(&[("Sample.class", &sample())]));
    run(home, &["instrument", "bare.jar", "-o", "out.jar", "--manifest"]).succeeds();
    assert!(manifest("out.jar").starts_with("Manifest-Version: 1.0\r\nInstrumented-By: "));
    assert_eq!(first_entry(&home.join("out.jar")), "META-INF/MANIFEST.MF");
}

#[test]
fn jars_on_the_class_path_of_a_manifest_are_rewritten_where_they_are_looked_for() {
    let folder = scratch();
    let home = folder.path();
    let class_path = "Class-Path: lib/a%20b.jar missing.jar lib/ http://x/y.jar\n\n";
    put(home, "in/app.jar", &with_manifest(&format!("Manifest-Version: 1.0\n{class_path}")));
    // Names a jar next to itself, and the application, which is known.
    let lib = "Manifest-Version: 1.0\nClass-Path: c.jar ../app.jar\n\n";
    put(home, "in/lib/a b.jar", &with_manifest(lib));
    put(home, "in/lib/c.jar", &jar(&[("p/C.class", &plain("p/C"))]));
    fs::create_dir(home.join("out")).unwrap();
    let args = ["instrument", "in/app.jar", "-o", "out/app.jar"];
    let alone = run(home, &args).succeeds();
    assert!(alone.stderr.contains("names lib (1 in all), which are not beside it"), "{}", alone.stderr);
    assert!(!home.join("out/lib").exists());
    let args = [&args[..], &["--class-path"]].concat();
    let made = |stderr: &str| {
        assert!(!stderr.contains("not beside it"), "{stderr}");
        for name in ["app.jar", "lib/a b.jar", "lib/c.jar"] {
            assert_eq!(
                &entry(&home.join("out").join(name), "cctrewrite-output/index")[..4],
                b"CCTI",
                "{name}"
            );
        }
        fs::remove_dir_all(home.join("out/lib")).unwrap();
    };
    // The folder lib/ is on the class path itself, and contains the others.
    made(&run(home, &args).succeeds().stderr);
    let class_path = class_path.replace("lib/ ", "");
    put(home, "in/app.jar", &with_manifest(&format!("Manifest-Version: 1.0\n{class_path}")));
    made(&run(home, &args).succeeds().stderr);
    // A jar in another folder would need an output in another folder.
    put(home, "in/app.jar", &with_manifest("Manifest-Version: 1.0\nClass-Path: ../other.jar\n\n"));
    put(home, "other.jar", &jar(&[("p/C.class", &plain("p/C"))]));
    run(home, &args).fails_saying(&["names ../other.jar, which is not in its folder"]);
}
