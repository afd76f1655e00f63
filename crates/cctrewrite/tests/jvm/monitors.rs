//! Entries into monitors by context (docs/use/monitors.md): a program that enters them in all
//! possible ways, with a different number for each way.

use std::process::Command;

use cct_columns::Column;
use cct_profile::Profile;

use crate::support::golden::GoldenTree;
use crate::support::{Blocks, Jdk, Library, Run, columns, fixture, jdks, profiled};

/// The program's class.
const PROGRAM: &str = "Monitors";

/// Monitor entries of the program's methods, derived by hand.
const EXPECTED: [(&str, u64); 12] = [
    ("blocks", 10),
    ("contended", 300),
    ("failing", 4),
    ("instance", 7),
    ("lambda$main$0", 2),
    ("many", 5),
    ("methodWithBlock", 6),
    ("nested", 15),
    ("ofClass", 6),
    ("recursive", 5),
    ("throwing", 8),
    ("unlinked", 2),
];

fn run(jdk: &'static Jdk, blocks: Blocks) -> Run {
    let mut java = profiled(jdk, blocks, "monitors");
    java.class_path([fixture("monitors/classes")]).succeed(PROGRAM, &[])
}

/// Monitor entries of the program's methods.
fn by_method(profile: &Profile) -> Vec<(&str, u64)> {
    columns::by_method(profile, Column::Monitors, PROGRAM)
}

fn each_entry_is_counted_once(jdk: &'static Jdk) {
    for blocks in [Blocks::Columns, Blocks::ColumnsAndAll] {
        let profile = run(jdk, blocks).profile();
        assert_eq!(by_method(&profile), EXPECTED, "{blocks:?}");
        let all = columns::by_context(&profile, Column::Monitors);
        let recursive: Vec<u64> = all.iter().filter(|c| c.1 == "recursive").map(|c| c.2).collect();
        assert_eq!(recursive, [1; 5], "one in each context");
        assert!(
            all.iter().any(|(class, _, count)| class.starts_with("java/") && *count > 0),
            "the JDK's own"
        );
        assert!(!profile.methods.iter().any(|m| m.class.is_empty()), "no cell is left among the contexts");
    }
}

jdks!(counted, each_entry_is_counted_once, feature);

/// Without its column the profile equals that of a run without counted monitors.
fn contexts_stay_what_they_are(jdk: &'static Jdk) {
    let mut java = profiled(jdk, Blocks::Columns, "calls-and-monitors");
    java.class_path([fixture("calls/classes")]);
    let profile = java.succeed("Calls", &[]).profile();
    let mut text = Vec::new();
    cct_profile::contexts::write_contexts(&profile, Default::default(), &mut text).unwrap();
    GoldenTree::read(&fixture("calls/expected.txt")).assert_lines(&String::from_utf8(text).unwrap());
}

jdks!(contexts, contexts_stay_what_they_are, [8]);

/// The runtime's own writer, in Java, writes the same.
#[test]
fn without_the_load_time_library() {
    let Some(jdk) = Jdk::find() else { return };
    let java = Library::whole(jdk, Blocks::Columns).java_without_load_time("monitors-alone");
    let profile = java.succeed(PROGRAM, &[]).profile();
    // Lambdas are generated while the program runs; their bodies are the program's.
    assert_eq!(by_method(&profile), EXPECTED);
}

/// A killed JVM leaves its columns, too.
fn killed(jdk: &'static Jdk) {
    let mut java = profiled(jdk, Blocks::Columns, "monitors-killed");
    java.class_path([fixture("monitors/classes")]);
    let mut jvm = java.option("-Dcctrewrite.arena=of-%p.arena").start(PROGRAM, &["wait"]);
    jvm.wait_for("ready");
    let arena = jvm.profile_path().with_file_name(format!("of-{}.arena", jvm.id()));
    let id = jvm.id().to_string();
    assert!(Command::new("kill").args(["-9", &id]).status().unwrap().success());
    jvm.wait();
    let output = Command::new(env!("CARGO_BIN_EXE_cctrewrite"))
        .args(["recover", arena.to_str().unwrap(), "-o", "-"])
        .output()
        .unwrap();
    let profile = Profile::read(&output.stdout).unwrap();
    assert_eq!(profile.meta["recovered"], "killed");
    assert_eq!(by_method(&profile), EXPECTED);
}

jdks!(recovered, killed, [17]);

/// Merged contexts have no cells: their monitor entries are missing, and a note says so.
fn past_the_bound(jdk: &'static Jdk) {
    let mut java = profiled(jdk, Blocks::Columns, "monitors-bound");
    java.class_path([fixture("monitors/classes")]);
    let profile = java.option("-Dcctrewrite.max-contexts=2000").succeed(PROGRAM, &[]).profile();
    let note = "columns of merged contexts are not counted";
    assert!(profile.notes.iter().any(|n| n == note), "{:?}", profile.notes);
    for (method, count) in by_method(&profile) {
        let expected = EXPECTED.iter().find(|(name, _)| *name == method).map(|(_, count)| *count);
        assert!(expected.is_some_and(|most| count <= most), "{method}: {count}");
    }
}

jdks!(bounded, past_the_bound, [17]);
