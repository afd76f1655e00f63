//! Classes that were rewritten neither beforehand nor, because the library is missing, when they
//! were defined.

use std::path::PathBuf;

use crate::support::golden::GoldenTree;
use crate::support::{Blocks, Java, Jdk, Library, fixture, folder, instrument};

/// A JVM with some classes rewritten, and the others unchanged.
fn java(jdk: &'static Jdk) -> Java {
    let plain = folder("raw-plain");
    let input = folder("raw-input").join("raw");
    std::fs::create_dir(&input).unwrap();
    let rewritten = ["RawBase", "RawMain", "RawEntries"];
    for name in rewritten.iter().chain(&["RawOverride", "RawHarmless", "RawCaller"]) {
        let file = format!("{name}.class");
        let to: &PathBuf = if rewritten.contains(name) { &input } else { &plain };
        std::fs::copy(fixture("raw/classes").join(&file), to.join(&file)).unwrap();
    }
    let output = folder("raw-output").join("raw");
    instrument(&[input], &[jdk.rt_jar()], &output, &[]);
    let mut java = Library::whole(jdk, Blocks::Exact).java_without_load_time("raw");
    java.class_path([output, plain]);
    java
}

#[test]
fn an_override_that_would_not_run_is_refused_with_the_remedy() {
    let Some(jdk) = Jdk::find() else { return };
    let run = java(jdk).succeed("RawMain", &["RawOverride"]);
    assert!(
        run.out.starts_with("IncompatibleClassChangeError: cctrewrite: class RawOverride "),
        "{}",
        run.out
    );
    for part in
        ["RawBase", "value()I", "cctrewrite instrument", "-Dcctrewrite.raw=warn", "-Dcctrewrite.raw=allow"]
    {
        assert!(run.out.contains(part), "{part} is missing: {}", run.out);
    }
}

#[test]
fn it_may_be_accepted_with_or_without_a_warning() {
    let Some(jdk) = Jdk::find() else { return };
    for (choice, warns) in [("warn", true), ("allow", false)] {
        let run = java(jdk).option(format!("-Dcctrewrite.raw={choice}")).succeed("RawMain", &["RawOverride"]);
        // The override is not called, as the message says.
        assert_eq!(run.out, "value 1\n");
        assert_eq!(run.err.contains("RawOverride"), warns, "{}", run.err);
        let notes = run.profile().notes;
        assert!(notes.iter().any(|n| n.contains("RawOverride") && n.contains("would not run")), "{notes:?}");
    }
}

#[test]
fn a_raw_class_without_such_an_override_runs_and_is_noted() {
    let Some(jdk) = Jdk::find() else { return };
    let run = java(jdk).succeed("RawMain", &["RawHarmless"]);
    assert_eq!((run.out.as_str(), run.err.as_str()), ("value 1\n", ""));
    let notes = run.profile().notes;
    assert!(notes.iter().any(|n| n.contains("not rewritten") && n.contains("RawHarmless")), "{notes:?}");
}

/// Its frames are missing; each of its callees is below its own caller, whatever the previous one
/// left in the thread.
#[test]
fn callees_of_raw_code_hang_below_its_caller() {
    let Some(jdk) = Jdk::find() else { return };
    let run = java(jdk).succeed("RawEntries", &[]);
    GoldenTree::read(&fixture("raw/expected.txt")).assert_equal(&run, "entries from raw code");
}

/// The classes that the JVM generates for lambdas have no frames; their callees are below their
/// callers.
#[test]
fn without_the_library_lambda_classes_are_passed_over() {
    let Some(jdk) = Jdk::find() else { return };
    let run =
        Library::whole(jdk, Blocks::Exact).java_without_load_time("raw-lambdas").succeed("Lambdas", &[]);
    GoldenTree::read(&fixture("lambdas/expected.raw.txt")).assert_equal(&run, "raw lambda classes");
}

#[test]
fn a_wrong_choice_stops_the_jvm() {
    let Some(jdk) = Jdk::find() else { return };
    let run = java(jdk).option("-Dcctrewrite.raw=sometimes").run("RawMain", &["RawHarmless"]);
    run.assert_code(70);
    assert!(run.err.contains("refuse, warn or allow"), "{}", run.err);
}
