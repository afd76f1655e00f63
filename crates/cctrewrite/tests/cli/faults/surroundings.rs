//! The surroundings of a run do not affect any output: clock, locale, time zone, home, working
//! folder, threads, times of files.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::super::support::put;
use super::{Contents, WORKS, contents, ended, stored};

/// Runs the work with these environment variables; returns the output.
fn made(work: &super::Work, home: &Path, environment: &[(&str, &str)], threads: &str) -> Contents {
    let mut command = super::command();
    command.current_dir(home).envs(environment.iter().copied());
    command.args(work.arguments.iter().map(|a| a.replace("--threads=2", threads)));
    let run = ended(command.output().unwrap());
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let place = home.join(work.output);
    let found = contents(&place).map(|files| {
        let relative = |path: &Path| path.strip_prefix(home).unwrap().to_path_buf();
        files.into_iter().map(|(path, bytes)| (relative(&path), bytes)).collect()
    });
    let _ = fs::remove_dir_all(&place).or_else(|_| fs::remove_file(&place));
    found
}

#[test]
fn the_environment_is_in_no_output() {
    let environments: [&[(&str, &str)]; 6] = [
        &[("LANG", "C"), ("LC_ALL", "C"), ("TZ", "UTC")],
        &[("LANG", "tr_TR.UTF-8"), ("LC_ALL", "tr_TR.UTF-8"), ("TZ", "Pacific/Kiritimati")],
        &[("LANG", "ar_EG"), ("LC_ALL", "ar_EG"), ("TZ", "America/St_Johns")],
        &[("HOME", "/nowhere"), ("USER", "someone"), ("TMPDIR", "/nowhere/either")],
        &[("SOURCE_DATE_EPOCH", "0")],
        &[("SOURCE_DATE_EPOCH", "4102444800"), ("COLUMNS", "40"), ("RAYON_NUM_THREADS", "3")],
    ];
    for work in &WORKS {
        let folder = stored();
        let expected = made(work, folder.path(), &[], "--threads=1");
        assert!(expected.is_some());
        for environment in environments {
            assert!(made(work, folder.path(), environment, "--threads=2") == expected, "{environment:?}");
        }
        for threads in ["--threads=3", "--threads=8", "--threads=64"] {
            assert!(made(work, folder.path(), &[], threads) == expected, "{} {threads}", work.output);
        }
        // In another folder, with other names above it.
        let other = stored();
        assert!(made(work, other.path(), &[], "--threads=2") == expected, "{}", work.output);
    }
}

/// Files from 1970, from the future, and from now.
#[test]
fn the_times_of_files_are_in_no_output() {
    for work in &WORKS {
        let folder = stored();
        let home = folder.path();
        let expected = made(work, home, &[], "--threads=2");
        let far = SystemTime::UNIX_EPOCH + Duration::from_secs(4_102_444_800);
        for time in [SystemTime::UNIX_EPOCH, far] {
            for (path, _) in super::super::support::files(home) {
                fs::File::open(&path).and_then(|file| file.set_modified(time)).unwrap();
            }
            assert!(made(work, home, &[], "--threads=2") == expected, "{} {time:?}", work.output);
        }
    }
}

/// All places in the sources of the tool, and of the runtime, that read a clock or a file's time.
/// Each has the use of the result.
const CLOCKS: &[(&str, &str)] = &[
    ("crates/cctrewrite/src/bench_command/causes.rs", "names of methods that programs call"),
    ("crates/cctrewrite/src/bench_command/markdown.rs", "of a test"),
    ("crates/cctrewrite/src/bench_command/testing.rs", "of a test"),
    ("crates/cctrewrite/src/cache_command.rs", "how long ago images were used"),
    (
        "crates/build/src/image/cache.rs",
        "when an image was used; how long a lock is waited for, by a monotonic clock",
    ),
    ("crates/build/src/image/check.rs", "of a test"),
    ("crates/build/src/image/jvm.rs", "how long a JVM may take; a monotonic clock"),
    ("crates/build/src/image/prune.rs", "how long ago images were used, and which go for that"),
    ("crates/build/src/image/stamp.rs", "of a test"),
    ("crates/build/src/load_time/mod.rs", "of a test"),
    ("crates/build/src/load_time/stale.rs", "how long ago libraries were used, and which go for that"),
    ("crates/build/src/load_time/unpacked.rs", "when a library was used"),
    ("crates/build/src/image/time_limit.rs", "whether a wait has taken too long; a monotonic clock"),
    ("crates/build/src/image/use_of_image.rs", "how long it took, on standard error"),
    ("crates/cctrewrite/src/jdk_command/mod.rs", "how long it took, on standard error"),
    ("crates/build/src/image/tree.rs", "copies of files keep their times"),
    ("crates/build/src/instrument/mod.rs", "how long it took, on standard error"),
    (
        "crates/cctrewrite/src/run_command/collection.rs",
        "for how long profiles are waited for; a monotonic clock",
    ),
    (
        "crates/cctrewrite/src/run_command/no_jvm.rs",
        "how long a JVM that is tried may take; a monotonic clock",
    ),
    (
        "crates/cctrewrite/src/run_command/signals.rs",
        "how long ago the command ended when a signal comes; a monotonic clock",
    ),
    ("crates/archive/src/jar/against_zip.rs", "of a test"),
    (
        "crates/build/src/image/known_hashes.rs",
        "of a test; otherwise times of files are compared with each other",
    ),
    ("crates/cctrewrite/src/args/running.rs", "when a running JVM is looked at next; monotonic"),
    ("crates/cctrewrite/src/recover_command/snapshot.rs", "when the next snapshot is due; monotonic"),
    ("crates/cctrewrite/src/top_command/mod.rs", "the time between two looks at a JVM; monotonic"),
    ("crates/cctrewrite/src/progress.rs", "how long a step took, with --verbose; monotonic"),
    ("crates/cctrewrite/src/run_command/execution.rs", "how long the command ran, with --verbose; monotonic"),
    ("crates/flow/src/corpus.rs", "of a test"),
    ("crates/jdk/src", "names of methods that programs call"),
    ("crates/profile/src/read/damaged.rs", "of a test"),
    ("crates/rewrite/src", "names of methods that programs call"),
    (
        "jdk-wrap/markers/cctrewrite/typestate",
        "what part of the time an analysis takes that has a budget; monotonic",
    ),
];

/// A clock that jumps can do harm only where one is read.
#[test]
fn clocks_are_read_nowhere_else() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let words = [
        "SystemTime",
        "UNIX_EPOCH",
        "Instant::",
        ".modified()",
        ".accessed()",
        ".created()",
        "currentTimeMillis",
        "nanoTime",
        "lastModified",
        "java.time",
        "new Date",
    ];
    let mut looked_at = 0;
    let mut found = std::collections::BTreeSet::new();
    for below in ["crates", "jdk-wrap"] {
        for (path, contents) in super::super::support::files(&root.join(below)) {
            let name = path.strip_prefix(&root).unwrap().display().to_string();
            let is_source = name.ends_with(".rs") || name.ends_with(".java") || name.ends_with(".c");
            if !is_source
                || name.contains("/tests")
                || name.contains("/examples/")
                || name.starts_with("crates/hostile/")
            {
                continue;
            }
            looked_at += 1;
            let text = String::from_utf8(contents.unwrap()).unwrap();
            // A comment about clocks reads none.
            let is_code = |line: &&str| !line.trim_start().starts_with(['/', '*']);
            let reads = |line: &str| words.iter().any(|word| line.contains(word));
            if text.lines().filter(is_code).any(reads) {
                found.insert(name);
            }
        }
    }
    assert!(looked_at > 300, "{looked_at}");
    let is_known = |name: &String| CLOCKS.iter().any(|(known, _)| name.starts_with(known));
    let unknown: Vec<&String> = found.iter().filter(|name| !is_known(name)).collect();
    assert!(unknown.is_empty(), "these read a clock or the time of a file: {unknown:?}");
    for (known, _) in CLOCKS {
        assert!(found.iter().any(|name| name.starts_with(known)), "{known} reads no clock any more");
    }
}

/// Added entries have a fixed time, and the others keep theirs; so SOURCE_DATE_EPOCH has no effect.
#[test]
fn entries_of_a_jar_keep_their_times_and_new_ones_have_none() {
    let folder = stored();
    let home = folder.path();
    let time = zip::DateTime::from_date_and_time(1999, 12, 31, 23, 59, 58).unwrap();
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().last_modified_time(time);
    writer.start_file("Sample.class", options).unwrap();
    std::io::Write::write_all(&mut writer, &super::sample()).unwrap();
    put(home, "dated.jar", &writer.finish().unwrap().into_inner());
    let mut command = super::command();
    command.env("SOURCE_DATE_EPOCH", "4102444800").current_dir(home);
    let run = ended(command.args(["instrument", "dated.jar", "-o", "out.jar"]).output().unwrap());
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let mut archive = zip::ZipArchive::new(fs::File::open(home.join("out.jar")).unwrap()).unwrap();
    let mut added = 0;
    for index in 0..archive.len() {
        let entry = archive.by_index(index).unwrap();
        let found = entry.last_modified().unwrap();
        if entry.name().unwrap() == "Sample.class" {
            assert_eq!(found, time);
        } else {
            assert_eq!(found, zip::DateTime::default(), "1980-01-01, the first that there is");
            added += 1;
        }
    }
    assert!(added > 0);
}
