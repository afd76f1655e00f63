//! Stacks look as before, for all ways to read them.

use crate::support::{ALL_BLOCKS, Blocks, Jdk, Library, Run, assert_same_lines, plain_programs};

/// The option that `cctrewrite flags` prints for it.
const DEEPER: &str = "-XX:MaxJavaStackTraceDepth=4096";

fn plain(jdk: &Jdk, option: &str) -> Run {
    let mut java = jdk.java("traces-plain");
    let run = java.class_path([plain_programs()]).option(option).run("Traces", &[]);
    // It ends with an exception that nobody catches.
    run.assert_code(1);
    assert!(run.out.lines().count() > 1000, "{}", run.out);
    run
}

fn assert_same(expected: &Run, run: &Run, what: &str) {
    run.assert_code(1);
    let [before, now] = [&expected, &run].map(|run| run.out.lines().collect::<Vec<_>>());
    assert_same_lines(&before, &now, what);
    assert_eq!(run.err, expected.err, "{what}");
}

/// Stack traces in many forms. Exceptions of application and library classes, printed, serialized,
/// read element by element; stacks of threads by `Thread` and by management, with monitors; callers
/// that logging, a security manager and `Reflection` find; uncaught exceptions.
#[test]
fn no_frame_is_added_and_none_is_missing() {
    let Some(jdk) = Jdk::find() else { return };
    let expected = plain(jdk, "-Dplain");
    for blocks in ALL_BLOCKS {
        for record in ["on", "off"] {
            let mut java = Library::whole(jdk, blocks).java("traces");
            java.option(DEEPER).option(format!("-Dcctrewrite.record={record}"));
            assert_same(&expected, &java.run("Traces", &[]), &format!("{blocks:?}, record={record}"));
        }
    }
}

#[test]
fn outputs_of_several_runs_hide_the_same_frames() {
    let Some(jdk) = Jdk::find() else { return };
    let run = Library::rt_alone(jdk).java("traces-alone").option(DEEPER).run("Traces", &[]);
    assert_same(&plain(jdk, "-Dplain"), &run, "rt.jar alone");
}

#[test]
fn traces_end_where_the_user_wants() {
    let Some(jdk) = Jdk::find() else { return };
    for (depth, enough) in [(10, 4096), (3000, 12_000)] {
        let expected = plain(jdk, &format!("-XX:MaxJavaStackTraceDepth={depth}"));
        let mut java = Library::whole(jdk, Blocks::Exact).java("traces-depth");
        java.option(format!("-XX:MaxJavaStackTraceDepth={enough}"));
        let run = java.option(format!("-Dcctrewrite.depth={depth}")).run("Traces", &[]);
        assert_same(&expected, &run, &format!("{depth} frames"));
    }
}

#[test]
fn a_jvm_with_too_low_a_limit_says_so() {
    let Some(jdk) = Jdk::find() else { return };
    let profile = Library::whole(jdk, Blocks::Exact).java("traces-short").succeed("Hello", &[]).profile();
    assert!(profile.notes.iter().any(|note| note.contains(DEEPER)), "{:?}", profile.notes);
    let mut java = Library::whole(jdk, Blocks::Exact).java("traces-wrong");
    let run = java.option("-Dcctrewrite.depth=deep").run("Hello", &[]);
    run.assert_code(70);
    assert!(run.err.contains("-Dcctrewrite.depth=deep"), "{}", run.err);
}
