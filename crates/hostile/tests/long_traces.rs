//! Small traces that once caused much work: time that grew with the product of the number of events
//! and the size of one event's subject. Each test ends at once, or practically never.

#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use cct_events::structure::{MOST_IMPLIED, Name, Recording};
use cct_events::{Block, CallSite, Class, Event, Frame, FrameKind, FrameWriter, Method};
use cct_trace::executions::Executions;
use cct_trace::{Error, Trace, contexts, coverage, metrics};
use tempfile::TempDir;

/// Number of events of each trace.
const EVENTS: usize = 1_000_000;

/// Runs work that takes some seconds on a busy machine, without optimisation, and took many minutes
/// on an idle one.
fn in_time(work: impl FnOnce()) {
    let start = Instant::now();
    work();
    assert!(start.elapsed() < Duration::from_secs(60), "it took {:?}", start.elapsed());
}

/// A trace of a thread that repeats these events, with these methods.
fn trace(methods: Vec<Method>, events: &[Event]) -> (TempDir, PathBuf) {
    let mut packed = Vec::new();
    Class { name: (*b"A").into(), source: Some((*b"A.java").into()), methods, ..Class::default() }
        .pack(&mut packed);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.trace");
    let mut file = FrameWriter::new(Vec::new(), "").unwrap();
    file.frame(&Frame::new(FrameKind::Structure, 0, 0, &packed)).unwrap();
    let words: Vec<u8> =
        events.iter().flat_map(|event| event.words().to_vec()).flat_map(u32::to_le_bytes).collect();
    file.frame(&Frame::new(FrameKind::Events, 1, 0, &words)).unwrap();
    file.frame(&Frame::new(FrameKind::End, 0, 0, &[])).unwrap();
    std::fs::write(&path, file.into_inner()).unwrap();
    (folder, path)
}

fn method(name: impl Into<Name>, blocks: Vec<Block>) -> Method {
    Method {
        name: name.into(),
        descriptor: (*b"()V").into(),
        recording: Recording::Full,
        blocks,
        ..Method::default()
    }
}

/// A block of this many bytecodes.
fn block(start: u32, bytecodes: u32) -> Block {
    let mut block = Block { start, ..Block::default() };
    block.metrics[0] = bytecodes;
    block
}

fn start(method: u32) -> Event {
    Event::Start { method, has_receiver: false, ends_at_once: false }
}

fn end(method: u32) -> Event {
    Event::End { method, by_exception: false }
}

/// A method in which this many blocks follow the first one without an event, before its end.
fn one_after_the_other(blocks: u32) -> Vec<Method> {
    let next = |at: u32| Block { next: (at < blocks).then_some(at + 1), is_last: true, ..block(at, 1) };
    vec![method(*b"m", (0..=blocks).map(next).collect())]
}

/// 60,000 blocks that follow from each event: 60 billion of them. Traces of cctrewrite have an
/// event now and then.
#[test]
fn blocks_that_follow_from_an_event() {
    let (_folder, path) = trace(one_after_the_other(60_000), &vec![start(0); EVENTS]);
    assert!(std::fs::metadata(&path).unwrap().len() < 1 << 20);
    let refused = Trace::open(&path).unwrap_err();
    assert!(matches!(refused, Error::Unbounded { method: 0, .. }), "{refused}");
    assert!(refused.to_string().contains("more than 32 blocks of method 0"), "{refused}");
    // A cycle of such blocks, without an end.
    let round = vec![Block { next: Some(0), ..block(0, 1) }];
    let (_folder, path) = trace(vec![method(*b"m", round)], &[start(0)]);
    assert!(matches!(Trace::open(&path), Err(Error::Unbounded { .. })));
    // The maximum number is accepted, in the tree and alone.
    let (_folder, path) = trace(one_after_the_other(MOST_IMPLIED as u32), &[start(0); 1000]);
    let trace = Trace::open(&path).unwrap();
    let (profile, _) = contexts::profile(&trace).unwrap();
    assert_eq!(profile.threads[0].tree.nodes()[1].bytecodes, 1000 * (MOST_IMPLIED as u64 + 1));
    let (executions, _) = Executions::of(&trace).unwrap();
    assert_eq!(executions.of_method(0).unwrap().blocks, vec![1000; MOST_IMPLIED + 1]);
}

/// A block of 60,000 call sites, none of which calls the callee. The names are so long that
/// comparing two takes long too.
fn caller_of(callee: &Name) -> Vec<Method> {
    let site = |at: u32| CallSite {
        bci: at,
        place: at + 1,
        opcode: 184,
        name: (*b"other").into(),
        descriptor: (*b"()V").into(),
        ..CallSite::default()
    };
    let calls: Vec<CallSite> = (0..60_000).map(site).collect();
    let caller = Method { calls, ..method(*b"caller", vec![block(0, 60_000)]) };
    vec![caller, method(callee.clone(), vec![block(0, 1)])]
}

/// Metrics look up the call site of each call; every call searched all of them.
#[test]
fn a_block_of_many_call_sites() {
    let long: Name = vec![b'x'; 60_000].into();
    let calls = [start(1), end(1)].repeat(EVENTS / 2);
    let (_folder, path) = trace(caller_of(&long), &[&[start(0)], &calls[..]].concat());
    in_time(|| assert!(!metrics::of(&Trace::open(&path).unwrap()).unwrap().0.is_empty()));
}

/// A frame that an exception leaves in the middle is recognised by its calls.
#[test]
fn many_calls_of_a_block_that_is_left() {
    let calls = [start(1), end(1)].repeat(EVENTS / 2);
    let (_folder, path) = trace(caller_of(&(*b"m").into()), &[&[start(0)], &calls[..]].concat());
    in_time(|| drop(contexts::profile(&Trace::open(&path).unwrap()).unwrap()));
}

/// Frames without an end, each in a block of 60,000 bytecodes without a call.
#[test]
fn many_frames_that_are_left_in_a_long_block() {
    let callee = Method { code: vec![0; 60_000].into(), ..method(*b"m", vec![block(0, 60_000)]) };
    let caller = method(*b"caller", vec![block(0, 1), block(1, 1)]);
    let again = Event::Block { method: 0, block: 1 };
    let left = [start(1), again].repeat(EVENTS / 2);
    let (_folder, path) = trace(vec![caller, callee], &[&[start(0)], &left[..]].concat());
    in_time(|| drop(contexts::profile(&Trace::open(&path).unwrap()).unwrap()));
}

/// Ends of methods that have not begun, with as many frames on the stack: each end was searched in
/// all of them.
#[test]
fn many_ends_of_what_has_not_begun() {
    let methods = vec![method(*b"m", vec![block(0, 1)]), method(*b"other", vec![block(0, 1)])];
    let events = [vec![start(0); EVENTS / 2], vec![end(1); EVENTS / 2]].concat();
    let (_folder, path) = trace(methods, &events);
    in_time(|| {
        let (_, oddities) = Executions::of(&Trace::open(&path).unwrap()).unwrap();
        assert_eq!(oddities.ends, EVENTS as u64 / 2);
    });
}

/// Blocks that claim to have 4 billion bytecodes, of which a report adds up the numbers.
#[test]
fn blocks_of_as_many_bytecodes_as_can_be_said() {
    let (_folder, path) = trace(vec![method(*b"m", vec![block(0, u32::MAX); 1000])], &[start(0), end(0)]);
    in_time(|| {
        let trace = Trace::open(&path).unwrap();
        let (ways, _) = coverage::ways(&trace).unwrap();
        let mut report = Vec::new();
        coverage::jacoco(&trace, &ways, &|_| true, &mut report).unwrap();
        assert!(String::from_utf8(report).unwrap().contains("<class name=\"A\""));
    });
}
