//! Traces for tests.

use std::fs;

use cct_events::structure::Recording;
use cct_events::{Block, Class, Event, Frame, FrameKind, FrameWriter, Method};
use tempfile::TempDir;

use crate::Trace;

/// Methods with one block of ten bytecodes each: `A.m0`, `A.m1` ...
pub fn class(methods: u32) -> Frame {
    let mut block = Block::default();
    block.metrics[0] = 10;
    let method = |number| Method {
        name: format!("m{number}").into_bytes().into(),
        descriptor: (*b"()V").into(),
        id: u64::from(number) + 1,
        recording: Recording::Full,
        blocks: vec![block.clone()],
        ..Method::default()
    };
    let methods = (0..methods).map(method).collect();
    let mut packed = Vec::new();
    Class { name: (*b"A").into(), methods, ..Class::default() }.pack(&mut packed);
    Frame::new(FrameKind::Structure, 0, 0, &packed)
}

/// The start of a method.
pub fn start(method: u32) -> Event {
    Event::Start { method, has_receiver: false, ends_at_once: false }
}

/// The end of a method.
pub fn end(method: u32) -> Event {
    Event::End { method, by_exception: false }
}

/// A thread's chunk with this number.
pub fn chunk(thread: u32, sequence: u32, events: &[Event]) -> Frame {
    let words = events.iter().flat_map(|event| event.words().to_vec());
    Frame::new(FrameKind::Events, thread, sequence, &words.flat_map(u32::to_le_bytes).collect::<Vec<u8>>())
}

/// A trace of these frames and an end, in a folder.
pub fn trace(provenance: &str, frames: impl IntoIterator<Item = Frame>) -> (TempDir, Trace) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.trace");
    let mut file = FrameWriter::new(Vec::new(), provenance).unwrap();
    frames.into_iter().for_each(|frame| file.frame(&frame).unwrap());
    file.frame(&Frame::new(FrameKind::End, 0, 0, &[])).unwrap();
    fs::write(&path, file.into_inner()).unwrap();
    let trace = Trace::open(&path).unwrap();
    (folder, trace)
}
