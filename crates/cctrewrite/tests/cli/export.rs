//! `cctrewrite export`. `crates/export` tests the contents of the files.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use cct_export::FORMATS;
use cct_profile::{Method, Profile, ThreadTree, TreeBuilder};

use super::support::{Run, command, put, run, scratch};

fn profile(metrics: &str, step: u64) -> Vec<u8> {
    let method = |name: &str, mid| Method {
        class: "app/Main".into(),
        name: name.into(),
        descriptor: "(I)V".into(),
        site: None,
        mid,
        flags: 0,
    };
    let mut tree = TreeBuilder::new();
    tree.enter(0, 1, 120).unwrap();
    tree.enter(1, 1000, step).unwrap();
    tree.leave();
    tree.enter(2, 1, 3).unwrap();
    let threads =
        vec![ThreadTree { name: "main".into(), threads: 1, flags: ThreadTree::ENDED, tree: tree.finish() }];
    let methods = vec![method("main", 1), method("step", 2), method("tiny", 3)];
    let meta = [("main", "app.Main"), ("metrics", metrics)];
    let meta = meta.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Profile { meta, methods, threads, ..Profile::default() }.to_bytes().unwrap()
}

fn stored() -> tempfile::TempDir {
    let folder = scratch();
    put(folder.path(), "run.cct", &profile("calls+bytecodes", 9000));
    folder
}

fn export(folder: &Path, arguments: &[&str]) -> Run {
    let arguments: Vec<&str> = ["export"].iter().chain(arguments).copied().collect();
    run(folder, &arguments)
}

#[test]
fn every_format_is_written_and_the_same_each_time() {
    let folder = stored();
    for format in FORMATS.iter().map(|format| format.name) {
        for out in ["first", "second"] {
            let run =
                export(folder.path(), &["--format", format, "run.cct", "--min-percent", "0", "-o", out])
                    .succeeds();
            assert_eq!((run.stdout, run.stderr), (String::new(), String::new()));
        }
        let written = |name: &str| fs::read(folder.path().join(name)).unwrap();
        assert!(!written("first").is_empty() && written("first") == written("second"), "{format}");
        // Also on standard output.
        let arguments = ["export", "--format", format, "run.cct", "--min-percent", "0", "-o", "-"];
        let output = command().current_dir(folder.path()).args(arguments).output().unwrap();
        assert!(output.status.success() && output.stdout == written("first"), "{format}");
    }
}

#[test]
fn options_do_what_they_say() {
    let folder = stored();
    let collapsed = |options: &[&str]| {
        let options = [&["--format", "collapsed", "run.cct", "-o", "-"], options].concat();
        export(folder.path(), &options).succeeds()
    };
    assert_eq!(
        collapsed(&[]).stdout,
        "app.Main.main(int) 120\napp.Main.main(int);app.Main.step(int) 9000\napp.Main.main(int);app.Main.tiny(int) 3\n"
    );
    assert_eq!(
        collapsed(&["--metric", "calls", "--names", "short", "--per-thread"]).stdout,
        "[main];app.Main.main 1\n[main];app.Main.main;app.Main.step 1000\n[main];app.Main.main;app.Main.tiny 1\n"
    );
    assert_eq!(collapsed(&["--root", "*.step", "--names", "exact"]).stdout, "app.Main.step(I)V 9000\n");
    let cut = collapsed(&["--min-percent", "1"]);
    assert!(cut.stdout.ends_with("\napp.Main.main(int);[pruned] 3\n"), "{}", cut.stdout);
    assert_eq!(
        cut.stderr,
        "cctrewrite: 1 context with 1 call and 3 bytecodes pruned (below 1 % of the bytecodes), and added up as [pruned]\n"
    );
    let deep = collapsed(&["--depth", "1"]);
    assert!(deep.stdout.ends_with("\napp.Main.main(int);[pruned] 9003\n"), "{}", deep.stdout);
    let ignored = collapsed(&["--drop", "*.step", "--drop", "nobody"]);
    assert!(!ignored.stdout.contains("step"), "{}", ignored.stdout);
    assert_eq!(ignored.stderr, "cctrewrite: no method matches --drop 'nobody'\n");
}

/// Each line has the whole stack: a file of a few KB became gigabytes without a word.
#[test]
fn collapsed_stacks_that_would_be_very_large_are_pruned_unless_all_are_wanted() {
    const DEPTH: usize = 2_000;
    let folder = scratch();
    let mut deep = Profile::read(&profile("calls+bytecodes", 100_000_000)).unwrap();
    let mut tree = TreeBuilder::new();
    tree.enter(0, 1, 120).unwrap();
    tree.enter(1, 1000, 100_000_000).unwrap();
    tree.leave();
    for _ in 0..DEPTH {
        tree.enter(2, 1, 3).unwrap();
    }
    deep.threads[0].tree = tree.finish();
    put(folder.path(), "deep.cct", &deep.to_bytes().unwrap());
    let written = |options: &[&str]| {
        let options = [&["--format", "collapsed", "deep.cct", "-o", "out"], options].concat();
        let run = export(folder.path(), &options).succeeds();
        (run.stderr, fs::read_to_string(folder.path().join("out")).unwrap())
    };
    let (said, all) = written(&["--all"]);
    let size = all.len().div_ceil(1_000_000);
    assert!(size > 10, "{size} MB");
    assert_eq!(said, format!("cctrewrite: writes {size} MB\n"));
    let (said, pruned) = written(&[]);
    let sum = |text: &str| -> u64 {
        text.lines().map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
    };
    assert_eq!(sum(&pruned), sum(&all));
    assert!(pruned.len() < 1_000, "{pruned}");
    let mut lines = said.lines();
    assert_eq!(
        lines.next(),
        Some(&*format!(
            "cctrewrite: all contexts would take {size} MB, since each line has the whole stack; \
             --all writes them"
        ))
    );
    assert!(lines.next().unwrap().starts_with("cctrewrite: 2,000 contexts with 2,000 calls"), "{said}");
    // Whoever says what to keep gets it.
    assert_eq!(written(&["--min-percent", "0"]), (String::new(), all));
}

#[test]
fn pictures_are_pruned_and_say_so() {
    let folder = stored();
    let run = export(folder.path(), &["--format", "svg", "run.cct", "-o", "run.svg"]).succeeds();
    assert!(run.stderr.contains("1 context with 1 call and 3 bytecodes pruned"), "{}", run.stderr);
    assert!(run.stderr.ends_with(", and added up as [pruned]; --all keeps them\n"), "{}", run.stderr);
    // Whoever says what to prune knows the options.
    let chosen = ["--format", "svg", "run.cct", "-o", "run.svg", "--min-percent", "1"];
    let chosen = export(folder.path(), &chosen).succeeds();
    assert!(chosen.stderr.ends_with(", and added up as [pruned]\n"), "{}", chosen.stderr);
    let picture = fs::read_to_string(folder.path().join("run.svg")).unwrap();
    assert!(picture.contains("9,123 bytecodes in 3 contexts; 1 contexts pruned"), "{picture}");
}

#[test]
fn several_profiles_are_added_up_and_two_can_be_held_against_each_other() {
    let folder = stored();
    put(folder.path(), "more.cct", &profile("calls+bytecodes", 9500));
    let both = export(folder.path(), &["--format", "collapsed", "run.cct", "more.cct", "-o", "-"]).succeeds();
    assert!(both.stdout.contains(";app.Main.step(int) 18500\n"), "{}", both.stdout);
    export(folder.path(), &["--format", "icicle", "more.cct", "--diff", "run.cct", "-o", "diff.svg"])
        .succeeds();
    let picture = fs::read_to_string(folder.path().join("diff.svg")).unwrap();
    assert!(picture.contains("9,123 before, 9,623 after"), "{picture}");
    let mut precise = Profile::read(&profile("calls+bytecodes", 9000)).unwrap();
    let mut default = precise.clone();
    precise.meta.insert("blocks".to_owned(), "precise".to_owned());
    default.meta.insert("blocks".to_owned(), "default".to_owned());
    put(folder.path(), "precise.cct", &precise.to_bytes().unwrap());
    put(folder.path(), "default.cct", &default.to_bytes().unwrap());
    let options =
        ["--format", "svg", "precise.cct", "--diff", "default.cct", "--min-percent", "0", "-o", "diff.svg"];
    assert_eq!(
        export(folder.path(), &options).succeeds().stderr,
        "cctrewrite: warning: the profiles were recorded with different 'blocks' (default before, \
         precise after)\n"
    );
}

#[test]
fn intact_parts_of_a_truncated_profile_are_exported() {
    let folder = stored();
    let bytes = fs::read(folder.path().join("run.cct")).unwrap();
    // Inside the end mark: everything else is sound.
    put(folder.path(), "cut.cct", &bytes[..bytes.len() - 10]);
    for format in FORMATS.iter().map(|format| format.name) {
        for files in [&["cut.cct"][..], &["run.cct", "cut.cct"]] {
            let arguments = [&["--format", format, "--min-percent", "0", "-o", "out"], files].concat();
            let run = export(folder.path(), &arguments);
            assert_eq!(run.code, Some(3), "{}", run.stderr);
            assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
            assert!(
                run.stderr.starts_with("cctrewrite: cut.cct: the profile is truncated"),
                "{}",
                run.stderr
            );
            assert!(!fs::read(folder.path().join("out")).unwrap().is_empty());
        }
    }
}

#[test]
fn failed_commands_leave_no_file() {
    let folder = stored();
    put(folder.path(), "calls.cct", &profile("calls", 0));
    put(folder.path(), "text.cct", b"no profile");
    put(folder.path(), "out", b"what stood there");
    let mut flipped = profile("calls+bytecodes", 9000);
    // In the names, without which nothing can be written.
    let place = flipped.windows(4).position(|four| four == b"STRS").unwrap();
    flipped[place + 15] ^= 0x10;
    put(folder.path(), "flipped.cct", &flipped);
    for (arguments, parts) in [
        (&["--format", "json", "text.cct", "-o", "out"][..], &["text.cct", "not a profile"][..]),
        (&["--format", "json", "flipped.cct", "-o", "out"], &["flipped.cct", "checksum"]),
        (&["--format", "json", "missing.cct", "-o", "out"], &["missing.cct", "No such file"]),
        (
            &["--format", "svg", "calls.cct", "--metric", "bytecodes", "-o", "out"],
            &["calls.cct", "counts calls only"],
        ),
        (
            &["--format", "svg", "run.cct", "--root", "nobody", "-o", "out"],
            &["no context has the method 'nobody'"],
        ),
        (&["--format", "json", "run.cct", "--diff", "run.cct", "-o", "out"], &["--diff is for"]),
        (&["--format", "json", "-", "-", "-o", "out"], &["standard input"]),
        (&["--format", "json", "run.cct", "-o", "run.cct"], &["would replace the input"]),
        (&["--format", "json", "run.cct", "-o", "no/folder/out"], &["cannot write"]),
        (&["--format", "json", "run.cct", "calls.cct", "-o", "out"], &["cannot be added up", "metrics"]),
    ] {
        export(folder.path(), arguments).fails_saying(parts);
        assert_eq!(fs::read(folder.path().join("out")).unwrap(), b"what stood there");
        let files = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(files, 5, "{arguments:?} left something behind");
    }
}

#[test]
fn a_reader_that_has_had_enough_is_no_error() {
    let folder = scratch();
    let mut tree = TreeBuilder::new();
    (0..5000).for_each(|_| tree.enter(0, 1, 1).unwrap());
    let method = Method {
        class: "A".into(),
        name: "f".into(),
        descriptor: "()V".into(),
        site: None,
        mid: 1,
        flags: 0,
    };
    let threads =
        vec![ThreadTree { name: "main".into(), threads: 1, flags: ThreadTree::ENDED, tree: tree.finish() }];
    let bytes = Profile { methods: vec![method], threads, ..Profile::default() }.to_bytes().unwrap();
    put(folder.path(), "deep.cct", &bytes);
    for format in FORMATS.iter().map(|format| format.name) {
        let arguments = ["export", "--format", format, "deep.cct", "-o", "-"];
        let mut command = command();
        command.current_dir(folder.path()).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{format}");
        assert!(!String::from_utf8(output.stderr).unwrap().contains("error"), "{format}");
    }
}
