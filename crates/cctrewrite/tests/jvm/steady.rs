//! A deterministic program has the same profile in every run on a `--reproducible` image, context
//! for context, with any compiler and any collector.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Image, Java, Jdk, Run, fixture, jdks};

/// Ways to run the program: the others are compared with the first.
const WAYS: [&[&str]; 14] = [
    &[],
    &[],
    &["-Xint"],
    &["-XX:TieredStopAtLevel=1"],
    &["-XX:-TieredCompilation"],
    &["-XX:+UseSerialGC", "-Xmx64m"],
    &["-XX:+UseParallelGC", "-Xmx1g"],
    &["-XX:+UseParallelGC", "-Xmx64m"],
    &["-XX:+UseG1GC", "-Xmx1g"],
    &["-XX:+UseG1GC", "-Xmx64m"],
    // In 64 MiB these run out of memory, and clear soft references.
    &["-XX:+UseZGC", "-Xmx1g"],
    &["-XX:+UseZGC", "-Xmx256m"],
    &["-XX:+UseShenandoahGC", "-Xmx1g"],
    &["-XX:+UseShenandoahGC", "-Xmx256m"],
];

const RUNS: usize = 4;

/// With equal hash codes: HotSpot's own threads may request one, which would change the main
/// thread's next one.
fn java(image: &Image, way: &[&str]) -> Java {
    let mut java = image.java_as_it_is("steady");
    java.option("-XX:hashCode=2");
    java.forget("-XX:+UseSerialGC").class_path([fixture("steady/classes")]);
    for option in way {
        java.option(*option);
    }
    java
}

/// The main thread must do the same; other threads clean up after the collector.
fn assert_equal(expected: &Run, found: &Run, ignored: &[&str], what: &str) {
    assert_eq!(found.out, expected.out, "{what}");
    let mut compare = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    let profiles: Vec<PathBuf> = [expected, found].map(Run::profile_path).into();
    compare.arg("compare").args(&profiles).args(["--thread", "main", "--limit", "3"]);
    for method in ignored {
        compare.args(["--drop", method]);
    }
    let output = compare.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{what}: {text}{}", String::from_utf8_lossy(&output.stderr));
}

/// System properties are in hash tables, and JDK 11 and 17 have fewer of them without compilers and
/// without compressed references. So a lookup takes another number of steps.
fn ignored(jdk: &Jdk, way: &[&str]) -> &'static [&'static str] {
    let has_fewer = way.contains(&"-Xint") || way.contains(&"-XX:+UseZGC");
    if has_fewer && jdk.version < 21 {
        &["java.util.Properties.getProperty", "jdk.internal.misc.VM.getSavedProperty"]
    } else {
        &[]
    }
}

/// Whether the plain JDK runs with these options.
fn knows(jdk: &Jdk, way: &[&str]) -> bool {
    let mut java = Command::new(jdk.path("bin/java"));
    java.args(["-XX:+UnlockExperimentalVMOptions"]).args(way).arg("-version");
    let knows = java.output().unwrap().status.success();
    if !knows {
        eprintln!("skipped: JDK {} has no {way:?}", jdk.version);
    }
    knows
}

fn with_all_compilers_and_collectors(jdk: &'static Jdk) {
    let image = Image::reproducible(jdk);
    let expected = java(image, WAYS[0]).succeed("Steady", &["2", "200"]);
    let profile = expected.profile();
    assert!(
        profile.notes.iter().any(|note| note.contains("the garbage collector ran")),
        "{:?}",
        profile.notes
    );
    let meta = &profile.meta;
    assert_eq!((meta["blocks"].as_str(), meta["exact"].as_str()), ("exact", "yes"));
    for way in &WAYS[1..] {
        if knows(jdk, way) {
            let found = java(image, way).succeed("Steady", &["2", "200"]);
            assert_equal(&expected, &found, ignored(jdk, way), &format!("JDK {}, {way:?}", jdk.version));
        }
    }
}

/// No collector runs, so the whole profile must be equal, byte for byte.
fn in_every_run(jdk: &'static Jdk) {
    let image = Image::reproducible(jdk);
    let class_paths: [(&str, &Path); 2] =
        [("Chance", &fixture("chance/classes")), ("Steady", &fixture("steady/classes"))];
    for (main, classes) in class_paths {
        let runs: Vec<Run> = (0..RUNS)
            .map(|_| {
                let mut java = image.java_as_it_is(main);
                java.option("-Xmn400m").option("-XX:hashCode=2").class_path([classes]);
                java.succeed(main, if main == "Steady" { &["1", "1"] } else { &[] })
            })
            .collect();
        let profile = runs[0].profile();
        assert_eq!((profile.meta["reproducible"].as_str(), &*profile.notes), ("yes", &[][..]));
        for run in &runs[1..] {
            assert_equal(&runs[0], run, &[], &format!("JDK {}, {main}", jdk.version));
        }
    }
}

jdks!(with_all_compilers_and_collectors, with_all_compilers_and_collectors, [27], all [11, 17, 21, 25, 26]);
jdks!(in_every_run, in_every_run, [17], all [11, 21, 25, 26, 27]);
