//! Outputs that were not built for each other are rejected before the program starts.

use std::fs;
use std::path::Path;

use crate::support::{Blocks, Jdk, Library, Run, fixture, folder, instrument};

/// Instruments `Hello` with these options, and runs it on a class library that counts exactly,
/// which is the default.
fn hello(jdk: &'static Jdk, library: &Path, options: &[&str]) -> (String, Run) {
    let output = folder("misfit-output").join("hello");
    instrument(&[fixture("hello/classes")], &[library.to_owned()], &output, options);
    let whole = Library::whole(jdk, Blocks::Exact);
    let mut java = whole.java("misfit");
    java.forget_class_path().class_path([&output]);
    (output.display().to_string(), java.run("Hello", &[]))
}

fn assert_refused(run: &Run, output: &str, key: &str) {
    run.assert_code(70);
    assert_eq!(run.out, "");
    for part in ["cctrewrite: ", "whole-exact", output, &format!("({key}="), "cctrewrite instrument"] {
        assert!(run.err.contains(part), "{part} is missing: {}", run.err);
    }
    assert_eq!(run.err.lines().count(), 1, "{}", run.err);
    assert!(!run.profile_path().exists());
}

#[test]
fn outputs_that_fit_run() {
    let Some(jdk) = Jdk::find() else { return };
    hello(jdk, &jdk.rt_jar(), &[]).1.assert_code(0);
}

#[test]
fn other_blocks_are_refused() {
    let Some(jdk) = Jdk::find() else { return };
    let (output, run) = hello(jdk, &jdk.rt_jar(), &["--blocks", "precise"]);
    assert_refused(&run, &output, "blocks");
}

#[test]
fn another_choice_for_intrinsics_is_refused() {
    let Some(jdk) = Jdk::find() else { return };
    let (output, run) = hello(jdk, &jdk.rt_jar(), &["--intrinsics", "native"]);
    assert_refused(&run, &output, "intrinsics");
}

#[test]
fn a_program_made_to_be_reproducible_is_refused_by_a_library_that_is_not() {
    let Some(jdk) = Jdk::find() else { return };
    let (output, run) = hello(jdk, &jdk.rt_jar(), &["--reproducible"]);
    assert_refused(&run, &output, "reproducible");
}

#[test]
fn a_program_with_activation_counters_is_refused_by_a_library_without() {
    let Some(jdk) = Jdk::find() else { return };
    let (output, run) = hello(jdk, &jdk.rt_jar(), &["--activation-counters"]);
    assert_refused(&run, &output, "activation");
}

#[test]
fn a_program_with_call_sites_is_refused_by_a_library_without() {
    let Some(jdk) = Jdk::find() else { return };
    let (output, run) = hello(jdk, &jdk.rt_jar(), &["--call-sites"]);
    assert_refused(&run, &output, "call-sites");
}

#[test]
fn a_program_with_a_cost_model_is_refused_by_a_library_without() {
    let Some(jdk) = Jdk::find() else { return };
    let (output, run) = hello(jdk, &jdk.rt_jar(), &["--cost-model", "unit"]);
    assert_refused(&run, &output, "cost-model");
}

#[test]
fn other_metrics_are_refused() {
    let Some(jdk) = Jdk::find() else { return };
    let (output, run) = hello(jdk, &jdk.rt_jar(), &["--metrics", "calls"]);
    // Without bytecodes there are no blocks: the first difference is reported.
    assert!(run.err.contains("(blocks=none)") || run.err.contains("(metrics=calls)"), "{}", run.err);
    assert!(run.err.contains(&output), "{}", run.err);
    run.assert_code(70);
}

#[test]
fn another_class_library_is_refused() {
    let Some(jdk) = Jdk::find() else { return };
    let other = folder("other-jdk");
    let extract = std::process::Command::new(jdk.path("bin/jar"))
        .current_dir(&other)
        .arg("xf")
        .arg(jdk.rt_jar())
        .arg("java/lang/Object.class")
        .status();
    assert!(extract.unwrap().success());
    let (output, run) = hello(jdk, &other, &[]);
    assert_refused(&run, &output, "jdk");
}

#[test]
fn a_damaged_index_is_refused() {
    let Some(jdk) = Jdk::find() else { return };
    let output = folder("damaged").join("hello");
    instrument(&[fixture("hello/classes")], &[jdk.rt_jar()], &output, &[]);
    let index = output.join("cctrewrite-output/index");
    let mut bytes = fs::read(&index).unwrap();
    bytes[0] ^= 1;
    fs::write(&index, bytes).unwrap();
    let mut java = Library::whole(jdk, Blocks::Exact).java("damaged");
    let run = java.forget_class_path().class_path([&output]).run("Hello", &[]);
    run.assert_code(70);
    assert!(run.err.contains(&output.display().to_string()), "{}", run.err);
}
