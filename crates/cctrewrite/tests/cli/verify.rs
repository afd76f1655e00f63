//! `cctrewrite verify`, and `instrument --verify`.

use std::fs;
use std::path::Path;

use super::support::{Run, data, entry, jar, object, plain, put, run, sample, scratch, snapshot};

/// A jar with a jar in it, instrumented.
fn instrumented(home: &Path, options: &[&str]) {
    let inner = jar(&[("p/Inner.class", &plain("p/Inner"))]);
    let entries: [(&str, &[u8]); 3] =
        [("Sample.class", &sample()), ("lib/inner.jar", &inner), ("notes.txt", b"hello")];
    put(home, "app.jar", &jar(&entries));
    let arguments = [&["instrument", "-q", "app.jar", "-o", "out.jar"], options].concat();
    run(home, &arguments).succeeds();
}

/// `out.jar` with another class in it.
fn with_class(home: &Path, name: &str, bytes: &[u8]) {
    let entries: Vec<(&str, Vec<u8>)> = ["Sample.class", "lib/inner.jar", "cctrewrite-output/index"]
        .into_iter()
        .filter(|entry| *entry != name)
        .map(|entry_name| (entry_name, entry(&home.join("out.jar"), entry_name)))
        .chain([(name, bytes.to_vec())])
        .collect();
    let entries: Vec<(&str, &[u8])> = entries.iter().map(|(name, bytes)| (*name, &**bytes)).collect();
    put(home, "out.jar", &jar(&entries));
}

/// Checks that there are findings, and no other error.
fn finds(run: &Run, parts: &[&str]) {
    assert_eq!((run.code, &*run.stderr), (Some(1), ""), "{}", run.stdout);
    for part in parts {
        assert!(run.stdout.contains(part), "{part:?} is not in {}", run.stdout);
    }
}

#[test]
fn valid_outputs_have_no_findings() {
    let folder = scratch();
    let home = folder.path();
    instrumented(home, &["--verify"]);
    let right = run(home, &["verify", "app.jar", "out.jar"]).succeeds();
    assert_eq!(right.stderr, "");
    snapshot("verify.txt", &right.stdout);
    assert_eq!(run(home, &["verify", "-q", "app.jar", "out.jar"]).succeeds().stdout, "");
    let json = run(home, &["verify", "app.jar", "out.jar", "--format", "json"]).succeeds().stdout;
    snapshot("verify.json", &json);
}

#[test]
fn all_ways_of_counting_are_known() {
    let ways: [&[&str]; 5] = [
        &["--blocks", "precise"],
        &["--blocks", "default"],
        &["--metrics", "calls"],
        &["--activation-counters"],
        &["--exclude", "**"],
    ];
    for options in ways {
        let folder = scratch();
        instrumented(folder.path(), options);
        run(folder.path(), &["verify", "app.jar", "out.jar"]).succeeds();
    }
}

/// Values of contexts are checked by the choice in the output's index, during the rewriting and
/// afterwards.
#[test]
fn values_of_contexts_are_known() {
    let ways: [&[&str]; 4] = [
        &["--pcc-at", "Sample.*"],
        &["--pcc-at", "**.*", "--pcc-only", "Sample.<init>"],
        &["--reproducible"],
        &["--exclude", "**"],
    ];
    for options in ways {
        let folder = scratch();
        let home = folder.path();
        instrumented(home, &[&["--tool", "pcc", "--verify"], options].concat());
        let right = run(home, &["verify", "app.jar", "out.jar"]).succeeds().stdout;
        assert!(right.contains("none, since contexts are values"), "{right}");
    }
    // With another choice the same classes are wrong.
    let folder = scratch();
    let home = folder.path();
    let of = |at: &str| {
        instrumented(home, &["--tool", "pcc", "--pcc-at", at]);
        entry(&home.join("out.jar"), "Sample.class")
    };
    let (some, _) = (of("Sample.*"), of("Other.*"));
    with_class(home, "Sample.class", &some);
    finds(
        &run(home, &["verify", "app.jar", "out.jar"]),
        &["records the value of a method that was not chosen", "names another provenance"],
    );
}

/// Markers are removed as the class's attribute lists them, during the marking and afterwards; for
/// patches and folders of classes, too.
#[test]
fn markers_are_known() {
    let folder = scratch();
    let home = folder.path();
    let rules = "[[marker]]\ntoken = \"m\"\nat = \"method\"\n[[marker]]\ntoken = \"l\"\nat = \"loop\"\n";
    put(home, "rules.toml", rules.as_bytes());
    let options = ["--tool", "markers", "--markers", "rules.toml", "--verify"];
    instrumented(home, &options);
    let right = run(home, &["verify", "app.jar", "out.jar"]).succeeds().stdout;
    assert!(
        right.contains("with markers") && right.contains("pieces of code that notify clients of markers"),
        "{right}"
    );
    assert!(right.contains("not checked: where loops are left: Sample."), "{right}");
    let json = run(home, &["verify", "app.jar", "out.jar", "--format", "json"]).succeeds().stdout;
    assert!(json.contains("\"with markers\""), "{json}");

    // Bits that are off from the start, for which no client would be called.
    let mut class = entry(&home.join("out.jar"), "Sample.class");
    let on = class.windows(5).position(|w| w == [3, 0xFF, 0xFF, 0xFF, 0xFF]).unwrap();
    class[on + 4] = 0;
    let entries: [(&str, &[u8]); 3] = [
        ("Sample.class", &class),
        ("lib/inner.jar", &entry(&home.join("out.jar"), "lib/inner.jar")),
        ("cctrewrite-output/markers", &entry(&home.join("out.jar"), "cctrewrite-output/markers")),
    ];
    put(home, "out.jar", &jar(&entries));
    finds(
        &run(home, &["verify", "app.jar", "out.jar"]),
        &["Sample.class: cct$markers0I: it is added, but not by instrumentation"],
    );
}

#[test]
fn wrong_outputs_are_found() {
    let folder = scratch();
    let home = folder.path();
    instrumented(home, &[]);
    let mut class = entry(&home.join("out.jar"), "Sample.class");
    // The version.
    class[7] -= 1;
    with_class(home, "Sample.class", &class);
    finds(
        &run(home, &["verify", "app.jar", "out.jar"]),
        &["out.jar!/Sample.class: the version of the class differs"],
    );
    finds(
        &run(home, &["verify", "app.jar", "out.jar", "-q", "--format", "json"]),
        &["\"problem\": \"the version"],
    );
    // With another rule there are several findings.
    instrumented(home, &["--blocks", "default"]);
    let other = run(home, &["verify", "app.jar", "out.jar", "--blocks", "precise", "--limit", "1"]);
    snapshot("verify-findings.txt", &other.stdout);
    finds(&other, &["--limit 0 shows all"]);
}

#[test]
fn classes_have_counterparts() {
    let folder = scratch();
    let home = folder.path();
    instrumented(home, &[]);
    with_class(home, "Other.class", &plain("Other"));
    finds(&run(home, &["verify", "app.jar", "out.jar"]), &["Other.class: the original has no such class"]);
    put(home, "app.jar", &jar(&[("Sample.class", &sample()), ("Gone.class", &plain("Gone"))]));
    run(home, &["instrument", "-q", "app.jar", "-o", "out.jar"]).succeeds();
    put(
        home,
        "more.jar",
        &jar(&[("Sample.class", &sample()), ("Gone.class", &plain("Gone")), ("A.class", &plain("A"))]),
    );
    finds(
        &run(home, &["verify", "more.jar", "out.jar"]),
        &["more.jar: A.class: the class is missing from the output"],
    );
}

/// A class was rewritten together with a native that its callers count; in the output there is one
/// of that name with a body instead.
#[test]
fn classes_of_an_output_belong_together() {
    let folder = scratch();
    let home = folder.path();
    let class = |name: &str| fs::read(data(name)).unwrap();
    let caller = class("Caller.class");
    let instrumented = |name: &str, callee: &[u8]| {
        put(home, name, &jar(&[("Caller.class", &caller), ("Counted.class", callee)]));
        run(home, &["instrument", "-q", name, "-o", "out.jar"]).succeeds();
        ["Caller.class", "Counted.class", "cctrewrite-output/index"]
            .map(|entry_name| entry(&home.join("out.jar"), entry_name))
    };
    let [_, with_body, _] = instrumented("body.jar", &class("CountedWithBody.class"));
    let [rewritten, _, index] = instrumented("native.jar", &class("Counted.class"));
    let right = run(home, &["verify", "native.jar", "out.jar"]).succeeds().stdout;
    assert!(right.contains("calls of methods that only their callers count: 1\n"), "{right}");
    put(
        home,
        "out.jar",
        &jar(&[
            ("Caller.class", &rewritten),
            ("Counted.class", &with_body),
            ("cctrewrite-output/index", &index),
        ]),
    );
    finds(
        &run(home, &["verify", "body.jar", "out.jar"]),
        &["Caller: call(LCounted;)I: bytecode index 1", "the callee is counted twice: here and by itself"],
    );
}

#[test]
fn folders_and_lone_classes_are_checked_too() {
    let folder = scratch();
    let home = folder.path();
    put(home, "classes/Sample.class", &sample());
    put(home, "classes/java/lang/Object.class", &object());
    run(home, &["instrument", "-q", "classes", "-o", "inst"]).succeeds();
    let whole = run(home, &["verify", "classes", "inst"]).succeeds().stdout;
    assert!(
        whole.contains("2 compared with their originals") && whole.contains(" of the runtime"),
        "{whole}"
    );
    // With any rule that fits.
    run(home, &["verify", "classes/Sample.class", "inst/Sample.class"]).succeeds();
    run(home, &["verify", "classes/Sample.class", "inst/Sample.class", "--blocks", "exact"]).succeeds();
    let swapped = run(home, &["verify", "inst/Sample.class", "classes/Sample.class"]);
    finds(&swapped, &["inst" /* nothing of it is the original's */].map(|_| "classes/Sample.class"));
}

#[test]
fn unreadable_files_are_no_findings() {
    let folder = scratch();
    let home = folder.path();
    put(home, "a.jar", b"no jar");
    let missing = run(home, &["verify", "a.jar", "b.jar"]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.stderr.starts_with("cctrewrite: "), "{}", missing.stderr);
    fs::create_dir_all(home.join("jdk/lib")).unwrap();
    put(home, "jdk/lib/rt.jar", &jar(&[]));
    let home_and_jar = run(home, &["verify", "jdk", "a.jar"]);
    assert_eq!(home_and_jar.code, Some(2));
    assert!(home_and_jar.stderr.contains("name two homes"), "{}", home_and_jar.stderr);
}

#[test]
fn the_threads_do_not_show() {
    let folder = scratch();
    let home = folder.path();
    instrumented(home, &["--blocks", "default"]);
    let with = |threads| {
        run(home, &["verify", "app.jar", "out.jar", "--blocks", "exact", "--threads", threads]).stdout
    };
    assert_eq!(with("1"), with("3"));
}
