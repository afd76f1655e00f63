//! Traces: the static side of real classes, and events that a run could have recorded.

use std::fs;
use std::io::Write;

use cct_events::file::Thread;
use cct_events::ring::{HEAD, area_size, head, offset};
use cct_events::{Class, Event, Frame, FrameKind, FrameWriter};
use cct_rewrite::{ClassSummary, Rewriter, Role, World};
use cct_settings::{Settings, Tool};

use super::repository;

/// The static side of these classes, as the rewriter writes it.
fn structure() -> Vec<u8> {
    let names = ["Figure3", "Made", "Ordered", "Ordered$1", "Switched"];
    let files = names
        .map(|name| fs::read(repository().join(format!("fixtures/events/classes/{name}.class"))).unwrap());
    let summaries = files.iter().map(|bytes| (Role::Input, ClassSummary::parse(bytes).unwrap()));
    let settings = Settings { tool: Tool::Trace, allocations: true, ..Settings::default() };
    let provenance = cct_rewrite::provenance(&settings, "test", None);
    let rewriter = Rewriter::new(World::new(summaries), settings, provenance, |_| true).unwrap();
    files.iter().flat_map(|bytes| rewriter.rewrite(bytes).unwrap().structure.unwrap()).collect()
}

/// The number of a method.
fn method(structure: &[u8], class: &str, name: &str) -> u32 {
    let mut rest = structure;
    while let Some(found) = Class::unpack(&mut rest) {
        if *found.name == *class.as_bytes() {
            let at = found.methods.iter().position(|method| *method.name == *name.as_bytes()).unwrap();
            return found.first_method + at as u32;
        }
    }
    panic!("no class {class}")
}

/// The events of a thread: calls with blocks, an exception, objects, monitors, natives, a gap,
/// pauses.
fn events(structure: &[u8], is_ordered: bool) -> Vec<u8> {
    let number = |class: &str, name: &str| method(structure, class, name);
    let (main, looping, b, divide) = (
        number("Figure3", "main"),
        number("Figure3", "foo"),
        number("Figure3", "b"),
        number("Figure3", "divide"),
    );
    let (arrays, locked) = (number("Made", "arrays"), number("Made", "locked"));
    let start = |method| Event::Start { method, has_receiver: false, ends_at_once: false };
    let end = |method| Event::End { method, by_exception: false };
    let block = |method, block| Event::Block { method, block };
    let mut events = vec![
        start(main),
        Event::ClassLoaded(1),
        Event::Made(0),
        Event::Start { method: looping, has_receiver: true, ends_at_once: false },
        Event::Receiver(1),
    ];
    for _ in 0..3 {
        events.extend([
            block(looping, 1),
            block(looping, 2),
            block(looping, 3),
            start(b),
            end(b),
            block(looping, 4),
        ]);
    }
    events.extend([block(looping, 1), block(looping, 5), end(looping)]);
    events.extend([start(divide), Event::Partial(3), block(divide, 1), end(divide)]);
    events.extend([
        start(arrays),
        Event::Array { bci: 2, length: 2 },
        Event::Arrays { bci: 2, level: 1, count: 2, length: 3 },
        end(arrays),
        start(locked),
        Event::Locked(9),
        Event::Lock { bci: 3, object: 9 },
        Event::Unlock { bci: 9, object: 9 },
        Event::End { method: locked, by_exception: true },
        Event::Leaf(4),
        Event::Call(4),
        Event::ById { id: 77, ends_at_once: true },
        Event::MadeByNative { class: 2, length: 5 },
        Event::Returned(4),
        Event::Gap(1),
        Event::Paused,
        Event::Resumed(0),
        Event::Padding,
        end(main),
    ]);
    let order = is_ordered.then_some(Event::Order(1));
    let words = order.into_iter().chain(events).flat_map(|event| event.words().to_vec());
    words.flat_map(u32::to_le_bytes).collect()
}

/// Writes the frames of a trace of two threads, of the kinds that `is_wanted` accepts.
pub fn frames(file: &mut FrameWriter<impl Write>, is_wanted: impl Fn(FrameKind) -> bool) {
    let structure = structure();
    let events = events(&structure, true);
    let thread = |name: &str, flags| Thread { name: name.to_owned(), id: 1, flags }.bytes();
    let (first, rest) = events.split_at(events.len() / 8 * 4);
    for frame in [
        Frame::new(FrameKind::Meta, 0, 0, b"main=Figure3\nexact=yes\n"),
        Frame::new(FrameKind::Structure, 0, 0, &structure),
        Frame::new(FrameKind::Thread, 1, 0, &thread("main", 0)),
        Frame::new(FrameKind::Thread, 2, 0, &thread("pool-1", Thread::DAEMON)),
        Frame::new(FrameKind::ClassName, 1, 0, b"Figure3"),
        Frame::new(FrameKind::ClassName, 2, 0, b"[I"),
        Frame::new(FrameKind::Events, 1, 0, first),
        Frame::new(FrameKind::Events, 2, 0, &events),
        Frame::new(FrameKind::Events, 1, 1, rest),
        Frame::new(FrameKind::Notes, 0, 0, b"a note\n"),
        Frame::new(FrameKind::End, 0, 0, b""),
    ] {
        if is_wanted(frame.head.kind) {
            file.frame(&frame).unwrap();
        }
    }
}

/// Traces: a whole one, one with the order between threads, one of the last events, one without its
/// end, an empty one.
pub fn traces() -> Vec<Vec<u8>> {
    let file = |provenance: &str, is_wanted: &dyn Fn(FrameKind) -> bool| {
        let mut file = FrameWriter::new(Vec::new(), provenance).unwrap();
        frames(&mut file, is_wanted);
        file.into_inner()
    };
    vec![
        file("tool=trace\n", &|_| true),
        file("tool=trace\nmode=shared\n", &|_| true),
        file("tool=trace\nlast=50\n", &|_| true),
        file("", &|kind| kind != FrameKind::End),
        file("", &|_| false),
    ]
}

/// Files of last events from a killed JVM: an area in use, and one that is not.
pub fn lasts() -> Vec<Vec<u8>> {
    const HALF: usize = 256;
    const BASE: u64 = 0x7F00_0000_0000;
    let events = events(&structure(), false);
    let file = |begins_behind: bool, behind: u64| {
        let mut bytes = head(HALF, "/nowhere/structure").unwrap();
        let mut area = vec![0; area_size(HALF)];
        let start = BASE + (HEAD + if begins_behind { HALF } else { 0 }) as u64;
        let mut put = |at: usize, value: u64| area[at..at + 8].copy_from_slice(&value.to_le_bytes());
        put(offset::PLACE, start + 64);
        put(offset::START, start);
        put(offset::BASE, BASE);
        put(offset::BEHIND, behind);
        put(offset::THREAD, 1 | 3 << 32);
        let halves = &mut area[HEAD..HEAD + 2 * HALF];
        for (byte, event) in halves.iter_mut().zip(events.iter().cycle()) {
            *byte = *event;
        }
        bytes.extend_from_slice(&area);
        bytes.extend_from_slice(&vec![0; area_size(HALF)]);
        bytes
    };
    vec![file(false, 0), file(true, HALF as u64)]
}
