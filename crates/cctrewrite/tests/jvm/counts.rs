//! The fixtures' trees, derived by hand, with default and precise blocks.

use std::fs;

use crate::support::golden::GoldenTree;
use crate::support::{ALL_BLOCKS, Blocks, Jdk, Library, Run, assert_same_lines, fixture};

/// Fixtures with an expected tree.
pub const PROGRAMS: [&str; 11] = [
    "calls",
    "recursion",
    "exceptions",
    "control",
    "natives",
    "lambdas",
    "threads",
    "turns",
    "causes",
    "initialisers",
    "types",
];

/// The expected tree of a fixture on JDK 8.
pub fn golden(name: &str, blocks: Blocks) -> GoldenTree {
    let folder = fixture(name);
    let own = folder.join(format!("expected.{}.txt", blocks.numbers()));
    GoldenTree::read(&if own.is_file() { own } else { folder.join("expected.txt") })
}

fn run(library: &Library, name: &str, golden: &GoldenTree) -> Run {
    let mut java = library.java(name);
    if golden.threads.as_deref() == Some("each") {
        java.option("-Dcctrewrite.threads=each");
    }
    let main = format!("{}{}", name[..1].to_uppercase(), &name[1..]);
    java.succeed(&main, &[])
}

/// The lines that do not depend on time: everything in the program's own threads, except how they
/// wait for each other.
pub fn stable(run: &Run, name: &str) -> Vec<String> {
    let main = format!("[main];{}{}.main(", name[..1].to_uppercase(), &name[1..]);
    let own = |path: &str| {
        path.starts_with(&main) || ["[worker-", "[turn-", "[boom]"].iter().any(|t| path.starts_with(t))
    };
    let waits =
        |path: &str| path.contains("java.lang.Thread.join(") || path.contains("java.lang.Thread.exit(");
    let lines = run.contexts(true).into_iter();
    let path = |line: &str| line.splitn(3, ' ').nth(2).unwrap_or_default().to_owned();
    lines.filter(|line| own(&path(line)) && !waits(&path(line))).collect()
}

/// Two runs, by both rules: the expected tree, and the same bytes below the program's entry.
fn check(name: &str) {
    check_by(name, &ALL_BLOCKS);
}

/// Checks a fixture in each of these ways.
pub fn check_by(name: &str, ways: &[Blocks]) {
    let Some(jdk) = Jdk::find() else { return };
    for &blocks in ways {
        let golden = golden(name, blocks);
        let library = Library::whole(jdk, blocks);
        let runs = [run(library, name, &golden), run(library, name, &golden)];
        for run in &runs {
            golden.assert_equal(run, &format!("{name}, {} blocks", blocks.name()));
            assert_eq!(run.profile().meta["blocks"], blocks.rule());
        }
        let [first, second] = runs.each_ref().map(|run| stable(run, name));
        assert!(!first.is_empty());
        assert_same_lines(&first, &second, &format!("{name}: two runs"));
    }
}

#[test]
fn the_example_of_the_paper() {
    check("calls");
}

#[test]
fn recursion() {
    check("recursion");
}

#[test]
fn exceptions_of_all_implicit_kinds() {
    check("exceptions");
}

#[test]
fn switches_loops_monitors_and_wide_instructions() {
    check("control");
}

#[test]
fn natives_and_what_they_call_back() {
    check("natives");
}

#[test]
fn natives_have_contexts_of_their_own() {
    let Some(jdk) = Jdk::find() else { return };
    for blocks in ALL_BLOCKS {
        let run = run(Library::whole(jdk, blocks), "natives", &golden("natives", blocks));
        let lines = run.contexts(false);
        let wanted = fs::read_to_string(fixture("natives/contains.txt")).unwrap();
        for line in wanted.lines().filter(|line| !line.starts_with('#')) {
            assert!(lines.iter().any(|l| l == line), "missing: {line}");
        }
    }
}

#[test]
fn lambdas_hang_under_who_calls_them() {
    check("lambdas");
}

#[test]
fn each_thread_has_its_tree() {
    check("threads");
}

/// By default a thread may reuse the tree of one that has ended; the sums are the same.
#[test]
fn threads_add_up() {
    let Some(jdk) = Jdk::find() else { return };
    for blocks in ALL_BLOCKS {
        let run = Library::whole(jdk, blocks).java("threads-leased").succeed("Threads", &[]);
        golden("threads", blocks).without_threads().assert_equal(&run, "sum of all threads");
    }
}

#[test]
fn threads_of_like_names_that_follow_each_other_share_a_tree() {
    check("turns");
    let Some(jdk) = Jdk::find() else { return };
    let run = run(Library::whole(jdk, Blocks::Default), "turns", &golden("turns", Blocks::Default));
    let threads = run.profile().threads;
    let turns: Vec<u64> = threads.iter().filter(|t| &*t.name == "turn-#").map(|t| t.threads).collect();
    assert_eq!(turns, [3]);
}

/// On `cctrewrite instrument rt.jar -o inst_rt.jar`, with the programs instrumented in a run of
/// their own.
#[test]
fn rt_jar_alone_is_enough() {
    let Some(jdk) = Jdk::find() else { return };
    let library = Library::rt_alone(jdk);
    for name in PROGRAMS {
        let golden = golden(name, Blocks::Exact);
        golden.assert_equal(&run(library, name, &golden), &format!("{name} on rt.jar alone"));
    }
}

/// Class initialisers are below the method whose bytecode triggered them.
#[test]
fn class_initialisers_are_counted() {
    check("initialisers");
}

/// Exceptions, class initialisers, and a loader of the program's own are below the method whose
/// bytecode triggered them. Without the library that walks the stack they are not.
#[test]
fn calls_by_the_jvm_hang_below_their_cause() {
    check("causes");
    let Some(jdk) = Jdk::find() else { return };
    let run = Library::whole(jdk, Blocks::Exact).java_without_load_time("causes").succeed("Causes", &[]);
    let differences = golden("causes", Blocks::Exact).differences(&run);
    for misplaced in [
        "ArithmeticException.<init>",
        "NullPointerException.<init>",
        "Init.<clinit>",
        "CausesPart.<clinit>",
        "loadClass",
    ] {
        assert!(differences.contains(misplaced), "{misplaced}: {differences}");
    }
}

#[test]
fn interfaces_proxies_inner_classes_enums_and_strings() {
    check("types");
}
