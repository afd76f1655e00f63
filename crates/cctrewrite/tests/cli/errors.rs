//! `cctrewrite instrument`, on errors: one clear line, exit code 1, nothing lost, nothing partly
//! written.

use std::fs;
use std::path::Path;

use cct_events::file::Thread;
use cct_events::{Event, Frame, FrameKind, FrameWriter};

use super::support::{class, entry, files, jar, plain, put, run, sample, scratch};

/// Runs the command with an existing output, and checks that nothing changed.
fn refused(home: &Path, arguments: &[&str], parts: &[&str]) {
    let before = files(home);
    let arguments: Vec<&str> = ["instrument"].iter().chain(arguments).copied().collect();
    run(home, &arguments).fails_saying(parts);
    assert_eq!(files(home), before, "{arguments:?} changed something");
}

#[test]
fn bad_classes() {
    let folder = scratch();
    let home = folder.path();
    put(home, "out.jar", b"an earlier file");
    let good = sample();
    let cut = &good[..good.len() / 2];
    put(home, "cut.jar", &jar(&[("Good.class", &plain("Good")), ("p/Cut.class", cut)]));
    put(home, "magic.jar", &jar(&[("p/Fake.class", b"#!/bin/sh\n")]));
    put(home, "empty.jar", &jar(&[("p/Empty.class", b"")]));
    put(home, "classes/p/Cut.class", cut);
    refused(
        home,
        &["cut.jar", "-o", "out.jar"],
        &["cut.jar!/p/Cut.class", "truncated", "--keep-bad-classes"],
    );
    refused(home, &["magic.jar", "-o", "out.jar"], &["magic.jar!/p/Fake.class", "not a class file"]);
    refused(home, &["empty.jar", "-o", "out.jar"], &["empty.jar!/p/Empty.class", "truncated"]);
    refused(home, &["classes", "-o", "out"], &["classes/p/Cut.class", "truncated"]);
}

/// Names come from strangers, and terminals obey control characters: each message about them is one
/// line, which cannot be taken for another.
#[test]
fn names_that_command_terminals() {
    let folder = scratch();
    let home = folder.path();
    let name = "p/\u{1b}[2J\u{9b}31m\rA\nwarning: B.class";
    put(home, "named.jar", &jar(&[(name, b"\xCA\xFE\xBA\xBE")]));
    let told = "named.jar!/p/\\u{1b}[2J\\u{9b}31m\\rA\\nwarning: B.class: ";
    run(home, &["instrument", "named.jar", "-o", "out.jar"]).fails_saying(&[told]);
    let kept = run(home, &["instrument", "--keep-bad-classes", "named.jar", "-o", "out.jar"]).succeeds();
    assert!(kept.stderr.starts_with(&format!("note: {told}kept as it is")), "{}", kept.stderr);
    assert_eq!(entry(&home.join("out.jar"), name), b"\xCA\xFE\xBA\xBE");
    // A name in a class file, and the path of the class.
    let place = "q/\u{1b}]0;x\u{7}.class";
    put(home, "class.jar", &jar(&[(place, &class("p/A", Some("\u{1b}[8mB")))]));
    let shown = run(home, &["explain", "class.jar", "p.A"]).succeeds().stdout;
    assert!(
        shown.contains("\\u{1b}[8mB") && shown.contains("class.jar!/q/\\u{1b}]0;x\\u{7}.class"),
        "{shown}"
    );
    assert!(shown.chars().all(|c| c == '\n' || !c.is_control()), "{shown:?}");
}

/// Names in a trace are escaped for terminals.
#[test]
fn traces_that_command_terminals() {
    let folder = scratch();
    let home = folder.path();
    let mut trace = FrameWriter::new(Vec::new(), "tool=trace\n").unwrap();
    let thread = Thread { name: "\u{1b}[2Jmain".to_owned(), id: 1, flags: 0 };
    let event = Event::Start { method: 7, has_receiver: false, ends_at_once: false };
    let words: Vec<u8> = event.words().iter().flat_map(|word| word.to_le_bytes()).collect();
    for frame in [
        Frame::new(FrameKind::Meta, 0, 0, b"main=\x1b[2JA\n"),
        Frame::new(FrameKind::Thread, 1, 0, &thread.bytes()),
        Frame::new(FrameKind::Events, 1, 0, &words),
        Frame::new(FrameKind::Notes, 0, 0, b"\x1b[2Ja note\n"),
        Frame::new(FrameKind::End, 0, 0, b""),
    ] {
        trace.frame(&frame).unwrap();
    }
    put(home, "a.trace", &trace.into_inner());
    for arguments in [&["info"][..], &["dump"], &["replay"]] {
        let run = run(home, &[&["trace"], arguments, &["a.trace"]].concat()).succeeds();
        assert!(run.stdout.contains("\\u{1b}[2J"), "{}", run.stdout);
        let said = run.stdout + &run.stderr;
        assert!(said.chars().all(|c| c == '\n' || !c.is_control()), "{said:?}");
    }
}

#[test]
fn bad_jars() {
    let folder = scratch();
    let home = folder.path();
    put(home, "out.jar", b"an earlier file");
    put(home, "text.jar", b"this is no jar");
    put(home, "none.jar", b"");
    let good = jar(&[("Sample.class", &sample())]);
    put(home, "cut.jar", &good[..good.len() - 30]);
    refused(home, &["text.jar", "-o", "out.jar"], &["text.jar", "not a jar"]);
    refused(home, &["none.jar", "-o", "out.jar"], &["none.jar", "empty"]);
    refused(home, &["cut.jar", "-o", "out.jar"], &["cut.jar", "truncated"]);
}

/// Each message names the option that raises the limit, and the option works.
#[test]
fn inputs_that_unfold_beyond_their_limits() {
    let folder = scratch();
    let home = folder.path();
    let nested = jar(&[("in.jar", &jar(&[("Sample.class", &sample())]))]);
    put(home, "nested.jar", &nested);
    // Two entries that inflate to 2 MiB of repetitive bytes.
    put(home, "bomb.jar", &jar(&[("a.jar", &vec![0; 2 << 20]), ("b.jar", &vec![0; 2 << 20])]));
    let (nested, bomb) = (["nested.jar", "-o", "out.jar"], ["bomb.jar", "-o", "out.jar"]);
    refused(home, &[&nested[..], &["--max-depth=0"]].concat(), &["nested.jar!/in.jar", "(max-depth)"]);
    refused(home, &[&nested[..], &["--max-entry=10"]].concat(), &["nested.jar!/in.jar", "(max-entry)"]);
    refused(home, &[&bomb[..], &["--max-ratio=2000", "--max-total=3M"]].concat(), &["(max-total)"]);
    refused(home, &bomb, &["bomb.jar!/a.jar", "more than 250 times as many", "(max-ratio)"]);
    run(home, &["instrument", "bomb.jar", "-o", "out.jar", "--max-ratio=2000"]).succeeds();
    run(home, &["explain", "nested.jar", "Sample", "--max-depth=0"]).fails_saying(&["(max-depth)"]);
}

#[test]
fn two_classes_of_one_name() {
    let folder = scratch();
    let home = folder.path();
    let (one, other) = (plain("p/A"), class("p/A", Some("p/B")));
    // The library that writes jars rejects duplicates, so the second name is changed afterwards.
    let mut twice = jar(&[("p/A.class", &one), ("p/X.class", &other)]);
    for at in 0..twice.len() - 9 {
        if &twice[at..at + 9] == b"p/X.class" {
            twice[at + 2] = b'A';
        }
    }
    put(home, "twice.jar", &twice);
    refused(home, &["twice.jar", "-o", "out.jar"], &["twice.jar!/p/A.class", "two entries of this name"]);
    // In different places it is valid, and reported.
    put(home, "a.jar", &jar(&[("p/A.class", &one)]));
    put(home, "b.jar", &jar(&[("p/A.class", &other)]));
    let run = run(home, &["instrument", "a.jar", "b.jar", "-o", "out"]).succeeds();
    assert!(run.stderr.contains("note: class p/A occurs twice"), "{}", run.stderr);
}

#[test]
fn inputs_that_cannot_be_had() {
    let folder = scratch();
    let home = folder.path();
    put(home, "a.jar", &jar(&[("Sample.class", &sample())]));
    refused(home, &["missing.jar", "-o", "out.jar"], &["missing.jar", "No such file"]);
    refused(home, &["a.jar", "--library", "missing.jar", "-o", "out.jar"], &["missing.jar"]);
    refused(home, &["a.jar", "a.jar", "-o", "out"], &["a.jar", "twice"]);
    refused(home, &["a.jar", "./a.jar", "-o", "out"], &["a.jar", "twice"]);
    refused(home, &["a.jar", "-o", "out.jar", "--include", "["], &["bad glob"]);
}

#[cfg(unix)]
#[test]
fn inputs_that_may_not_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let folder = scratch();
    let home = folder.path();
    let secret = put(home, "secret.jar", &jar(&[("Sample.class", &sample())]));
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&secret).is_ok() {
        eprintln!("skipped: this user may read everything");
        return;
    }
    refused(home, &["secret.jar", "-o", "out.jar"], &["secret.jar", "Permission denied"]);
}

#[test]
fn outputs_that_would_destroy_something() {
    let folder = scratch();
    let home = folder.path();
    put(home, "a.jar", &jar(&[("Sample.class", &sample())]));
    put(home, "b/a.jar", &jar(&[("p/B.class", &plain("p/B"))]));
    put(home, "classes/p/B.class", &plain("p/B"));
    put(home, "full/precious.txt", b"precious");
    fs::hard_link(home.join("a.jar"), home.join("link.jar")).unwrap();
    refused(home, &["a.jar", "-o", "a.jar"], &["a.jar", "is the input"]);
    refused(home, &["a.jar", "-o", "."], &["is the input"]);
    refused(home, &["a.jar", "-o", "b/../a.jar"], &["is the input"]);
    refused(home, &["a.jar", "-o", "link.jar"], &["is the input"]);
    refused(home, &["classes", "-o", "classes/out"], &["inside the input"]);
    refused(home, &["classes", "-o", "full"], &["full", "not empty"]);
    refused(home, &["classes", "-o", "a.jar"], &["a.jar", "is a file"]);
    refused(home, &["a.jar", "-o", "gone/out.jar"], &["gone", "No such file"]);
    refused(home, &["a.jar", "classes", "-o", "gone/out"], &["gone/out", "No such file"]);
    refused(home, &["a.jar", "b/a.jar", "-o", "out"], &["two inputs are called a.jar"]);
    refused(home, &["classes", "-o", "full", "--library", "a.jar"], &["full", "not empty"]);
    refused(
        home,
        &["b/a.jar", "-o", "a.jar", "--library", "link.jar", "--library", "a.jar"],
        &["is the library a.jar"],
    );
    // The folder for several outputs is created, and removed again.
    put(home, "fake.jar", &jar(&[("F.class", b"")]));
    refused(home, &["a.jar", "fake.jar", "-o", "out"], &["fake.jar"]);
}

#[test]
fn reports_that_would_destroy_something() {
    let folder = scratch();
    let home = folder.path();
    put(home, "a.jar", &jar(&[("Sample.class", &sample())]));
    refused(home, &["a.jar", "-o", "out.jar", "--report", "a.jar"], &["a.jar", "is the input"]);
    refused(home, &["a.jar", "-o", "out.jar", "--report", "./out.jar"], &["report", "also an output"]);
    refused(home, &["a.jar", "-o", "out.jar", "--report", "."], &["report", "folder"]);
    refused(home, &["a.jar", "-o", "out.jar", "--report", "gone/r.json"], &["gone", "No such file"]);
}

#[test]
fn what_was_instrumented_before() {
    let folder = scratch();
    let home = folder.path();
    put(home, "a.jar", &jar(&[("Sample.class", &sample())]));
    run(home, &["instrument", "a.jar", "-o", "once.jar"]).succeeds();
    refused(home, &["once.jar", "-o", "twice.jar"], &["Sample", "already instrumented"]);
}
