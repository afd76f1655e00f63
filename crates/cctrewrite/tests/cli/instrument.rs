//! `cctrewrite instrument`, when all goes well.

use std::fs;

use super::support::{entry, files, jar, object, plain, put, run, sample, scratch};

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
    assert_eq!(entry(&out, "cctrewrite-output/place"), b"app\n");
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
    // Made for the same JDK, whichever way it was named.
    for output in ["with-output.jar", "with-original.jar"] {
        run(home, &["flags", "rt.jar", output]).succeeds();
    }
    let other = ["instrument", "app.jar", "--library", "rt.jar", "--blocks", "precise", "-o", "precise.jar"];
    run(home, &other).fails_saying(&["rt.jar", "blocks", "same options"]);
}

#[test]
fn what_is_no_class_can_be_kept() {
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
