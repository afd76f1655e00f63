//! Cost models (CCCP 5.2): cycles derived by hand, and a model with cost one for each bytecode,
//! which counts bytecodes.

use std::fs;
use std::process::Command;

use cct_profile::{Metric, Profile};

use crate::support::golden::GoldenTree;
use crate::support::{Blocks, Image, Jdk, Run, assert_same_lines, fixture, folder, jdks, profiled, scratch};
use crate::{counts, modern_counts};

/// Fixtures whose cycles on JOP were derived by hand (`fixtures/*/expected.jop.txt`).
const BY_HAND: [&str; 3] = ["calls", "recursion", "costs"];

/// Fixtures whose bytecodes were derived by hand.
const FIXTURES: [&str; 9] =
    ["calls", "recursion", "exceptions", "control", "natives", "types", "lambdas", "initialisers", "causes"];

/// Fixtures without class loading: the length of class files depends on their rewriting, and the
/// library reads them.
const WITH_LIBRARY: [&str; 4] = ["calls", "recursion", "exceptions", "control"];

fn run(jdk: &'static Jdk, blocks: Blocks, name: &str) -> Run {
    let mut java = profiled(jdk, blocks, name);
    let main = format!("{}{}", name[..1].to_uppercase(), &name[1..]);
    java.class_path([fixture(name).join("classes")]).succeed(&main, &[])
}

/// On JDK 8 in classes that were rewritten beforehand (for `costs`, at load time), later at load
/// time.
fn cycles_are_those_derived_by_hand(jdk: &'static Jdk) {
    for name in BY_HAND {
        let run = run(jdk, Blocks::Jop, name);
        GoldenTree::read(&fixture(name).join("expected.jop.txt")).assert_equal(&run, name);
        let profile = run.profile();
        assert_eq!(Metric::of_profile(&profile).name(), "cycles");
        assert!(profile.meta["cost-model"].starts_with("jop@"), "{}", profile.meta["cost-model"]);
        // The cost that callers count for it: its `return`, and nothing for fetching one word.
        let object = ";java.lang.Object.<init>()V";
        let lines = run.contexts(false);
        let inits: Vec<&String> = lines.iter().filter(|line| line.ends_with(object)).collect();
        assert!(!inits.is_empty());
        for line in inits {
            let mut numbers = line.split(' ').map(|n| n.parse::<u64>());
            let (Some(Ok(calls)), Some(Ok(cycles))) = (numbers.next(), numbers.next()) else {
                panic!("{line}")
            };
            assert_eq!(cycles, 21 * calls, "{line}");
        }
    }
}

jdks!(by_hand, cycles_are_those_derived_by_hand, feature);

/// In each context of the fixtures, and of the class library below some of them.
fn unit_costs_are_bytecodes(jdk: &'static Jdk) {
    const ALL: [(Blocks, Blocks); 3] = [
        (Blocks::Unit, Blocks::Exact),
        (Blocks::UnitPrecise, Blocks::Precise),
        (Blocks::UnitDefault, Blocks::Default),
    ];
    // Each pair needs images of its own, so later JDKs run only the usual rule.
    let pairs = if jdk.version == 8 { &ALL[..] } else { &ALL[..1] };
    for &(unit, plain) in pairs {
        for name in FIXTURES {
            let golden = match jdk.version {
                8 => counts::golden(name, plain),
                version => modern_counts::golden(name, plain, version),
            };
            let cost = run(jdk, unit, name);
            golden.assert_equal(&cost, &format!("{name}, {}", unit.name()));
            assert!(cost.profile().meta["cost-model"].starts_with("unit@"));
            // All of JDK 8's library below them behaves the same in each run.
            if jdk.version == 8 && WITH_LIBRARY.contains(&name) {
                let [cost, bytecodes] = [cost, run(jdk, plain, name)].map(|run| counts::stable(&run, name));
                assert_same_lines(&cost, &bytecodes, &format!("{name}, {}", unit.name()));
            }
        }
        // Nothing else uses these images.
        if jdk.version > 8 {
            Image::remove(jdk, unit);
        }
    }
}

jdks!(unit, unit_costs_are_bytecodes, feature);

/// Threads of the JVM do not run on the target.
#[test]
fn threads_of_the_jvm_are_left_out() {
    let Some(jdk) = Jdk::of_version(17) else { return };
    let threads = |option: Option<&str>| {
        let mut java = Image::of(jdk, Blocks::Jop).java("costs-threads");
        java.class_path([fixture("calls/classes")]);
        option.map(|option| java.option(option));
        let profile = java.succeed("Calls", &[]).profile();
        let names: Vec<String> = profile.threads.iter().map(|thread| thread.name.to_string()).collect();
        (names, profile.meta.get("system-threads").cloned())
    };
    let (left, said) = threads(None);
    assert!(left.iter().any(|name| name == "main"), "{left:?}");
    assert!(!left.iter().any(|name| name == "Common-Cleaner" || name == "Finalizer"), "{left:?}");
    assert_eq!(said.as_deref(), Some("left out"));
    let (kept, said) = threads(Some("-Dcctrewrite.system-threads=yes"));
    assert!(kept.iter().any(|name| name == "Common-Cleaner" || name == "Finalizer"), "{kept:?}");
    assert_eq!(said, None);
}

/// The page's `run` commands, with a fixture as the program.
#[test]
fn the_page_s_commands() {
    let Some(jdk) = Jdk::of_version(17) else { return };
    let page = include_str!("../../../../docs/research/cost-models.md");
    let lines: Vec<&str> = page.lines().filter(|line| line.starts_with("    cctrewrite run")).collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    let here = folder("costs-page");
    let classes = fixture("calls/classes");
    for line in lines {
        let line = line.replace("-cp classes Main", &format!("-cp {} Calls", classes.display()));
        let mut command = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
        command
            .current_dir(&here)
            .env("JAVA_HOME", jdk.home())
            .env("CCTREWRITE_CACHE", scratch().join("cache-of-costs"));
        let output = command.args(line.split_whitespace().skip(1)).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.contains(" cycles in "), "{said}");
        let profile = Profile::read(&fs::read(here.join("cctrewrite.cct")).unwrap()).unwrap();
        let keeps = line.contains("--system-threads");
        assert_eq!(profile.meta.contains_key("system-threads"), !keeps, "{line}");
        assert_eq!(profile.threads.iter().any(|thread| &*thread.name == "Common-Cleaner"), keeps, "{line}");
    }
}
