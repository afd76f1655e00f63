//! Block counts of traces (docs/research/trace.md), compared with a program that counts its own
//! blocks. The tracer itself must not be in any trace, in any mode.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use cct_events::{Decoder, Event};
use cct_trace::{ThreadEvents, Trace};

use crate::events::{java, text};
use crate::support::{Jdk, Run, fixture, jdks};

/// Modes of traces.
const MODES: [&[&str]; 4] = [
    &["-Dcctrewrite.trace-mode=thread"],
    &["-Dcctrewrite.trace-mode=shared", "-Dcctrewrite.trace-receivers=yes"],
    &["-Dcctrewrite.trace-memory=100k", "-Dcctrewrite.trace-receivers=yes"],
    &["-Dcctrewrite.trace-last=3000"],
];

fn run(jdk: &'static Jdk, program: &str, mode: &[&str]) -> Run {
    let mut java = java(jdk, "own", "events");
    for option in mode {
        java.option(*option);
    }
    if program == "Switched" {
        java.class_path([crate::selective::api()]);
    }
    java.succeed(program, &[])
}

/// The line numbers of the marked lines in the program's source, by their marks.
fn marks() -> BTreeMap<u64, u64> {
    let source = fs::read_to_string(fixture("events/OwnCounts.java")).unwrap();
    let marked = source.lines().zip(1..).filter_map(|(line, number)| {
        let (mark, _) = line.trim_start().strip_prefix("/*")?.split_once("*/")?;
        Some((mark.parse().ok()?, number))
    });
    marked.collect()
}

/// The executions of each marked line match the program's own counts: by the blocks in a trace and
/// those that they imply.
fn counts(jdk: &'static Jdk) {
    let marks = marks();
    assert_eq!(marks.len(), 47);
    for mode in &MODES[..3] {
        let run = run(jdk, "OwnCounts", mode);
        let lcov = text(&["coverage", "--format", "lcov", "--classes", "OwnCounts"], &run.profile_path());
        let executed: BTreeMap<u64, u64> = lcov
            .lines()
            .filter_map(|line| {
                let (line, times) = line.strip_prefix("DA:")?.split_once(',')?;
                Some((line.parse().unwrap(), times.parse().unwrap()))
            })
            .collect();
        let mut said = 0;
        for line in run.out.lines() {
            let (mark, times) = line.split_once(' ').unwrap();
            let times: u64 = times.parse().unwrap();
            assert!(times > 0, "mark {mark} is never reached");
            let line = marks[&mark.parse().unwrap()];
            assert_eq!(executed[&line], times, "mark {mark}, line {line}, {mode:?}");
            said += 1;
        }
        assert_eq!(said, marks.len());
    }
}

/// Whether a class is the tracer's. The classes in programs that talk to it are theirs.
fn is_own(class: &str) -> bool {
    let class = class.replace('.', "/");
    class.starts_with("cctrewrite/") && !class.starts_with("cctrewrite/api/")
        || class.starts_with("java/lang/Cct")
}

/// The tracer's events among all events of a trace, including implied ones; and the number of all.
fn own_events(path: &Path) -> (u64, Vec<String>) {
    let trace = Trace::open(path).unwrap();
    let (mut events, mut own) = (0, Vec::new());
    for thread in &trace.threads {
        let mut whole = ThreadEvents::new(&trace.program);
        let mut decoder = Decoder::default();
        let mut see = |event: Event| {
            events += 1;
            let is_own = match event {
                Event::Start { method, .. } | Event::End { method, .. } | Event::Block { method, .. } => {
                    let found = trace.program.method(method).expect("a method of the static side");
                    is_own(&String::from_utf8_lossy(&found.class.name))
                        || found.method.name.starts_with(b"cct$")
                }
                Event::ById { id, .. } => {
                    let callee = trace.program.callee_with_id(id);
                    callee.is_some_and(|at| is_own(&trace.program.callees()[at.0 as usize].class))
                }
                Event::ClassLoaded(class) | Event::Receiver(class) | Event::MadeByNative { class, .. } => {
                    is_own(&trace.class_names[&class])
                }
                _ => false,
            };
            if is_own {
                own.push(format!("{}: {event:?}", thread.thread.name));
            }
        };
        for chunk in trace.chunks(thread) {
            for &word in chunk.unwrap().words.as_chunks::<4>().0 {
                if let Some(event) = decoder.word(u32::from_le_bytes(word)).unwrap() {
                    whole.event(event, &mut see);
                }
            }
        }
        whole.finish(&mut see);
    }
    let known = |name: &str| {
        let of_jvms = [
            "main",
            "Reference Handler",
            "Finalizer",
            "Signal Dispatcher",
            "Common-Cleaner",
            "DestroyJavaVM",
            "Notification Thread",
        ];
        // The JVM's last thread has its events before its name, which may not reach the file any
        // more.
        name.is_empty() || of_jvms.contains(&name) || name.starts_with("Thread-")
    };
    let threads = trace.threads.iter().filter(|thread| !known(&thread.thread.name));
    own.extend(threads.map(|thread| format!("thread {}", thread.thread.name)));
    (events, own)
}

/// The tracer is in no trace: its classes, its additions to others, its threads, in all uses.
fn nothing_of_the_tracer(jdk: &'static Jdk) {
    for program in ["OwnCounts", "Switched"] {
        for mode in MODES {
            let (events, own) = own_events(&run(jdk, program, mode).profile_path());
            assert!(events > 1000, "{program}, {mode:?}: {events} events");
            assert!(
                own.is_empty(),
                "{program}, {mode:?}: {} of {events}: {:?}",
                own.len(),
                &own[..own.len().min(9)]
            );
        }
    }
}

jdks!(blocks, counts, feature);
jdks!(tracer, nothing_of_the_tracer, feature);
