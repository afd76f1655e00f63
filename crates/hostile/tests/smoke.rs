//! All fuzz targets, with a fixed number of cases from fixed seeds: they find faults that show up
//! quickly. `fuzz/` looks for those that take longer (docs/internals/fuzzing.md); `CASES=20` runs
//! twenty times as many cases here.

#![allow(clippy::unwrap_used)]

use cct_hostile::{Dice, TARGETS, target};

/// Runs a target on its seeds and on this many changed ones. Every input follows from the numbers
/// of its target and case.
fn smoke(name: &str, cases: u64) {
    let target = target(name);
    let seeds = (target.seeds)();
    assert!(!seeds.is_empty());
    seeds.iter().for_each(|seed| (target.run)(seed));
    let times = std::env::var("CASES").map_or(1, |times| times.parse().unwrap());
    let mut input = Vec::new();
    for case in 0..cases * times {
        let mut dice = Dice::new(case);
        // Changes accumulate for a while, as under libFuzzer.
        if case % 6 == 0 {
            input = dice.pick(&seeds).clone();
        }
        input = (target.mutate)(&input, &mut dice);
        let run = std::panic::AssertUnwindSafe(|| (target.run)(&input));
        if let Err(broken) = std::panic::catch_unwind(run) {
            let path = std::env::temp_dir().join(format!("cctrewrite-{name}-{case}"));
            std::fs::write(&path, &input).unwrap();
            eprintln!("case {case} of {name}: the input is {}", path.display());
            std::panic::resume_unwind(broken);
        }
    }
}

#[test]
fn class() {
    smoke("class", 12000);
}

#[test]
fn rewrite() {
    smoke("rewrite", 6000);
}

#[test]
fn loadtime() {
    smoke("loadtime", 3000);
}

#[test]
fn jar() {
    smoke("jar", 3000);
}

#[test]
fn image() {
    smoke("image", 3000);
}

#[test]
fn index() {
    smoke("index", 5000);
}

#[test]
fn profile() {
    smoke("profile", 4000);
}

#[test]
fn arena() {
    smoke("arena", 3000);
}

#[test]
fn contexts() {
    smoke("contexts", 1500);
}

#[test]
fn selection() {
    smoke("selection", 3000);
}

/// A target without a file would never run under libFuzzer.
#[test]
fn every_target_has_its_file_for_libfuzzer() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/fuzz_targets");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap().trim_end_matches(".rs").to_owned())
        .collect();
    files.sort();
    let mut names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    names.sort_unstable();
    assert_eq!(files, names);
    for name in names {
        let program = std::fs::read_to_string(format!("{folder}/{name}.rs")).unwrap();
        assert!(program.contains(&format!("target!({});", name.to_uppercase())), "{name}: {program}");
    }
}

#[test]
fn trace() {
    smoke("trace", 2000);
}

#[test]
fn last() {
    smoke("last", 1500);
}

#[test]
fn module() {
    smoke("module", 3000);
}

#[test]
fn marked() {
    smoke("marked", 3000);
}

#[test]
fn markers() {
    smoke("markers", 1500);
}

#[test]
fn properties() {
    smoke("properties", 3000);
}

#[test]
fn violations() {
    smoke("violations", 3000);
}

#[test]
fn values() {
    smoke("values", 6000);
}

#[test]
fn manifest() {
    smoke("manifest", 6000);
}

#[test]
fn options() {
    smoke("options", 6000);
}
