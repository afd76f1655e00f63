//! `cctrewrite trace` on handmade traces.

use cct_events::file::Thread;
use cct_events::structure::Recording;
use cct_events::{Block, Class, Event, Frame, FrameKind, FrameWriter, Method};

use crate::support::{put, run, scratch};

/// A thread that calls `A.a` ten times, which calls `A.b`, in two chunks; also returns the offset
/// of the second one.
fn calls() -> (Vec<u8>, usize) {
    let mut block = Block::default();
    block.metrics[0] = 10;
    let method = |name: &str| Method {
        name: name.as_bytes().into(),
        descriptor: (*b"()V").into(),
        recording: Recording::Full,
        blocks: vec![block.clone()],
        ..Method::default()
    };
    let mut packed = Vec::new();
    Class { name: (*b"A").into(), methods: vec![method("a"), method("b")], ..Class::default() }
        .pack(&mut packed);
    let start = |method| Event::Start { method, has_receiver: false, ends_at_once: false };
    let end = |method| Event::End { method, by_exception: false };
    let words: Vec<u8> = [start(0), start(1), end(1), end(0)]
        .repeat(5)
        .iter()
        .flat_map(|event| event.words().to_vec())
        .flat_map(u32::to_le_bytes)
        .collect();
    let thread = Thread { name: "main".to_owned(), id: 1, flags: 0 };
    let mut trace = FrameWriter::new(Vec::new(), "").unwrap();
    trace.frame(&Frame::new(FrameKind::Structure, 0, 0, &packed)).unwrap();
    trace.frame(&Frame::new(FrameKind::Thread, 1, 0, &thread.bytes())).unwrap();
    trace.frame(&Frame::new(FrameKind::Events, 1, 0, &words)).unwrap();
    let second = trace.written as usize;
    trace.frame(&Frame::new(FrameKind::Events, 1, 1, &words)).unwrap();
    trace.frame(&Frame::new(FrameKind::End, 0, 0, &[])).unwrap();
    (trace.into_inner(), second)
}

#[test]
fn a_timeline_has_the_longest_calls_and_says_what_it_leaves_out() {
    let folder = scratch();
    let home = folder.path();
    put(home, "a.trace", &calls().0);
    let timeline = |options: &[&str]| {
        let run = run(home, &[&["trace", "timeline", "a.trace", "--least=0"], options].concat()).succeeds();
        let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let events = json["traceEvents"].as_array().unwrap().clone();
        let bars = events.iter().filter(|event| event["ph"] == "X");
        (bars.map(|bar| bar["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>(), run.stderr)
    };
    assert_eq!(
        timeline(&[]),
        (["A.a", "A.b"].repeat(10).iter().map(ToString::to_string).collect(), String::new())
    );
    let (bars, said) = timeline(&["--limit=4"]);
    assert_eq!(bars, ["A.a"; 4]);
    assert_eq!(
        said,
        "note: shows the 4 longest calls, the shortest with 20 bytecodes; 16 more are omitted (--limit)\n"
    );
}

/// The replay ends after the requested calls.
#[test]
fn a_replay_ends_where_enough_was_seen() {
    let folder = scratch();
    let home = folder.path();
    let (mut trace, second) = calls();
    trace[second + 30] ^= 1;
    put(home, "a.trace", &trace);
    let run_with = |limit: &str| run(home, &["trace", "replay", "a.trace", "--limit", limit]);
    let few = run_with("3").succeeds();
    assert_eq!(few.stdout, "thread 1 main\n  A.a()V\n    A.b()V\n  A.a()V\n");
    run_with("11").fails_saying(&["a.trace", "damaged"]);
}
