//! JVM options without which compiled code misses calls.

use crate::support::{Blocks, Jdk, Library};

const ALWAYS: [&str; 4] = [
    "-XX:MaxJavaStackTraceDepth=4096",
    "-XX:-OmitStackTraceInFastThrow",
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:DisableIntrinsic=_equals,_profileBoolean,_isCompileConstant",
];

const WITH_RAW_CLASSES: [&str; 2] = ["-XX:-EliminateAutoBox", "-XX:-OptimizeStringConcat"];

#[test]
fn missing_options_are_named_in_the_profile() {
    let Some(jdk) = Jdk::find() else { return };
    let profile = Library::whole(jdk, Blocks::Exact).java("inexact").succeed("Calls", &[]).profile();
    assert_eq!(profile.meta["exact"], "no");
    for option in ["OmitStackTraceInFastThrow", "_equals", "_profileBoolean", "_isCompileConstant"] {
        let named = profile.notes.iter().any(|n| n.starts_with("not exact without") && n.contains(option));
        assert!(named, "{option}: {:?}", profile.notes);
    }
    assert!(!profile.notes.iter().any(|n| n.contains("EliminateAutoBox")), "{:?}", profile.notes);
}

#[test]
fn with_all_of_them_the_profile_is_exact() {
    let Some(jdk) = Jdk::find() else { return };
    let mut java = Library::whole(jdk, Blocks::Exact).java("exact");
    for option in ALWAYS {
        java.option(option);
    }
    let profile = java.succeed("Calls", &[]).profile();
    assert_eq!((profile.meta["exact"].as_str(), profile.notes.as_slice()), ("yes", &[][..]));
}

#[test]
fn classes_that_were_not_rewritten_ask_for_more() {
    let Some(jdk) = Jdk::find() else { return };
    let run = |more: &[&str]| {
        let mut java = Library::whole(jdk, Blocks::Exact).java_without_load_time("exact-lambdas");
        for option in ALWAYS.iter().chain(more) {
            java.option(*option);
        }
        java.succeed("Lambdas", &[]).profile()
    };
    let without = run(&[]);
    assert_eq!(without.meta["exact"], "no");
    for option in WITH_RAW_CLASSES {
        assert!(without.notes.iter().any(|n| n.contains(option)), "{option}: {:?}", without.notes);
    }
    assert_eq!(run(&WITH_RAW_CLASSES).meta["exact"], "yes");
}
