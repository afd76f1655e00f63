//! The fixtures' trees on JDK 9 and later: the same numbers for any release, compiler, collector
//! and heap.

use std::fs;
use std::path::PathBuf;

use crate::support::golden::{GoldenTree, flat};
use crate::support::{Blocks, Image, Java, Jdk, Run, fixture, jdks, mebibytes};

/// Fixtures with an expected tree, and their minimum release.
pub const TREES: [(&str, u32); 15] = [
    ("calls", 8),
    ("recursion", 8),
    ("exceptions", 8),
    ("control", 8),
    ("natives", 8),
    ("types", 8),
    ("lambdas", 8),
    ("initialisers", 8),
    ("causes", 8),
    ("threads", 8),
    ("turns", 8),
    ("records", 17),
    ("switches", 21),
    ("virtual", 21),
    ("prologues", 25),
];

/// Ways to run the same program, none of which may change a number.
const WAYS: [&[&str]; 7] = [
    &["-Xint"],
    &["-XX:TieredStopAtLevel=1"],
    &["-XX:-TieredCompilation"],
    &["-XX:+UseG1GC"],
    &["-XX:+UseParallelGC", "-Xmx64m"],
    &["-XX:+UseZGC", "-Xmx256m"],
    &["-Xmx24m", "-Xmn2m"],
];

/// The expected tree of a fixture: the one for the newest release up to this one, for this rule for
/// blocks if the rules differ.
pub fn golden(name: &str, blocks: Blocks, version: u32) -> GoldenTree {
    let folder = fixture(name);
    let since = (9..=version).rev().map(|n| format!("expected.{}.since{n}.txt", blocks.numbers()));
    let others =
        [format!("expected.{}.txt", blocks.numbers()), "expected.raw.txt".into(), "expected.txt".into()];
    let files = since.chain(others).map(|file| folder.join(file));
    let file = files.into_iter().find(|file| file.is_file());
    // The classes that the JVM generates differ between releases; their frames are ignored.
    GoldenTree::read(&file.unwrap()).without_generated()
}

fn run(mut java: Java, name: &str, golden: &GoldenTree) -> Run {
    if golden.threads.as_deref() == Some("each") {
        java.option("-Dcctrewrite.threads=each");
    }
    let main = format!("{}{}", name[..1].to_uppercase(), &name[1..]);
    let classes: PathBuf = fixture(name).join("classes");
    java.class_path([classes]).succeed(&main, &[])
}

fn trees(jdk: &'static Jdk) {
    trees_by(jdk, Image::rules(jdk));
}

/// The trees of all fixtures, on images built in each of these ways.
pub fn trees_by(jdk: &'static Jdk, rules: &[Blocks]) {
    for &blocks in rules {
        let image = Image::of(jdk, blocks);
        for (name, _) in TREES.iter().filter(|(_, since)| *since <= jdk.version) {
            let golden = golden(name, blocks, jdk.version);
            let run = run(image.java(name), name, &golden);
            golden.assert_equal(&run, &format!("{name} on JDK {}, {} blocks", jdk.version, blocks.name()));
            assert_eq!(run.profile().meta["blocks"], blocks.rule());
        }
    }
}

fn ways(jdk: &'static Jdk) {
    let image = Image::of(jdk, Blocks::Exact);
    for way in WAYS {
        // The Z collector is no experiment since 15.
        if way.contains(&"-XX:+UseZGC") && jdk.version < 15 {
            continue;
        }
        for (name, _) in TREES.iter().filter(|(_, since)| *since <= jdk.version) {
            let golden = golden(name, Blocks::Exact, jdk.version);
            let mut java = image.java(name);
            if way.iter().any(|option| option.ends_with("GC")) {
                java.forget("-XX:+UseSerialGC");
            }
            for option in way {
                java.option(*option);
            }
            let run = run(java, name, &golden);
            golden.assert_equal(&run, &format!("{name} on JDK {}, {way:?}", jdk.version));
        }
    }
}

/// Virtual threads on four carriers: the calls equal the program's own numbers.
fn load(jdk: &'static Jdk, arguments: &[&str], heap: &str) -> Run {
    load_on(jdk, 4, arguments, heap)
}

fn load_on(jdk: &'static Jdk, carriers: u32, arguments: &[&str], heap: &str) -> Run {
    let start = |mut java: Java| {
        java.option(format!("-Djdk.virtualThreadScheduler.parallelism={carriers}")).option(heap);
        java.class_path([fixture("virtual/classes")]).succeed("Load", arguments)
    };
    let expected = start(jdk.java("load-plain"));
    let image = Image::of(jdk, Blocks::Exact);
    let found = start(image.java("load"));
    let what = format!("{arguments:?} on JDK {}", jdk.version);
    assert_eq!(found.out, expected.out, "{what}");
    let methods = flat(&found);
    let mut checked = 0;
    for line in expected.out.lines().filter_map(|line| line.strip_prefix("calls ")) {
        let (method, calls) = line.rsplit_once(' ').unwrap();
        let counted = methods.get(method).map(|(calls, _)| calls.to_string());
        assert_eq!(counted.as_deref(), Some(calls), "{what}: {method}");
        checked += 1;
    }
    assert!(checked >= 2, "{}", expected.out);
    eprintln!("{what}: plain {}; profiled {}", last(&expected.err), last(&found.err));
    found
}

fn last(text: &str) -> &str {
    text.lines().last().unwrap_or_default()
}

fn migrating(jdk: &'static Jdk) {
    load(jdk, &["work", "10000", "10"], "-Xmx2g");
}

/// Virtual threads that are all parked at once, each with a tree: exact sums, nothing merged, and
/// at most this much memory, in MiB.
fn all_parked(jdk: &'static Jdk, threads: &str, heap: &str, bound: u64) {
    let available = mebibytes(&fs::read_to_string("/proc/meminfo").unwrap_or_default(), "MemAvailable:");
    if available.is_none_or(|available| available < bound + bound / 4) {
        eprintln!("skipped: {threads} parked threads may take {bound} MiB, and {available:?} are available");
        return;
    }
    let run = load(jdk, &["parked", threads], heap);
    assert!((100..bound).contains(&run.peak), "JDK {}: {} MiB", jdk.version, run.peak);
    eprintln!("{threads} parked threads on JDK {}: {} MiB", jdk.version, run.peak);
    let profile = run.profile();
    assert!(profile.threads.len() as u64 > threads.parse().unwrap());
    let merged = profile.methods.iter().find(|method| method.class.starts_with("[contexts merged"));
    assert_eq!(merged, None, "JDK {}: {:?}", jdk.version, profile.notes);
}

fn parked(jdk: &'static Jdk) {
    all_parked(jdk, "100000", "-Xmx2g", 3072);
}

/// Takes a minute and a half, and the memory of a large machine: only on request, `MILLION=1 cargo
/// test --release -p cctrewrite --test jvm -- a_million`.
fn a_million(jdk: &'static Jdk) {
    if std::env::var_os("MILLION").is_some() {
        all_parked(jdk, "1000000", "-Xmx5g", 17 << 10);
    } else {
        eprintln!("skipped: a million virtual threads, MILLION=1 asks for them");
    }
}

fn short_lived(jdk: &'static Jdk) {
    load(jdk, &["short", "100000"], "-Xmx2g");
}

/// Since JDK 24 a virtual thread that waits for a monitor releases its carrier. A thread of the
/// JVM's own resumes it, which also grows a tree. That thread used to wait for the runtime's memory
/// behind the one that it should wake. Then everybody waited for ever, in one JVM of four like
/// these.
fn woken_while_trees_grow(jdk: &'static Jdk) {
    for _ in 0..12 {
        load_on(jdk, 64, &["parked", "3000"], "-Xmx2g");
    }
}

jdks!(trees, trees, [17, 25, 27], all [11, 21, 26]);
jdks!(ways, ways, [25], all [11, 17, 21, 26, 27]);
jdks!(migrating, migrating, 21..);
jdks!(parked, parked, [25], all [21, 26, 27]);
jdks!(a_million, a_million, 25..);
jdks!(short_lived, short_lived, 21..);
jdks!(woken_while_trees_grow, woken_while_trees_grow, [27], all [25, 26]);
