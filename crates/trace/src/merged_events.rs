//! The events of all threads in one order, for a trace that keeps it (`--trace-mode shared`).
//!
//! A thread records when its turn begins; until another thread's turn, its events follow one
//! another. So the turns of all threads, merged by their numbers, are the whole trace. Memory holds
//! at most one chunk of each thread that has begun and not ended.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use cct_events::{Decoder, Event};

use crate::file::{Error, ThreadChunks, Trace};
use crate::implied_events::ThreadEvents;

/// The stream of a thread's events.
struct Stream<'t> {
    trace: &'t Trace,
    thread: &'t ThreadChunks,
    /// The index of the chunk after the current one.
    next_chunk: usize,
    words: Vec<u8>,
    at: usize,
    decoder: Decoder,
    whole: ThreadEvents<'t>,
    /// Events that the last word encodes or implies.
    events: VecDeque<Event>,
    /// Whether anything but a turn has been read.
    has_begun: bool,
}

impl Stream<'_> {
    fn next(&mut self) -> Result<Option<Event>, Error> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(Some(event));
            }
            let events = &mut self.events;
            let Some(word) = self.words.get(self.at..).and_then(|rest| rest.first_chunk()) else {
                if self.next_chunk == self.thread.count() {
                    self.words = Vec::new();
                    self.whole.finish(&mut |event| events.push_back(event));
                    return Ok(self.events.pop_front());
                }
                // An unreadable chunk is skipped, so that a caller who continues reaches the end.
                self.next_chunk += 1;
                let chunk = self.trace.chunk(self.thread, self.next_chunk - 1)?;
                if chunk.is_behind_gap {
                    self.whole.gap();
                }
                (self.words, self.at) = (chunk.words, 0);
                continue;
            };
            self.at += 4;
            // A word that this version does not know is no event.
            if let Ok(Some(event)) = self.decoder.word(u32::from_le_bytes(*word)) {
                self.whole.event(event, &mut |event| events.push_back(event));
            }
        }
    }

    /// Waits for a later turn. There may be many more threads without events so far than run at
    /// once: such a thread frees its chunk and reads it again later.
    fn wait(&mut self) {
        if !self.has_begun && self.next_chunk == 1 && self.events.is_empty() {
            self.words = Vec::new();
            self.next_chunk = 0;
            // Once: a chunk of turns alone would be read again for each of them.
            self.has_begun = true;
        }
    }

    /// Continues at the thread's turn.
    fn go_on(&mut self) -> Result<(), Error> {
        if self.next_chunk == 0 && self.at > 0 {
            self.next_chunk = 1;
            self.words = self.trace.chunk(self.thread, 0)?.words;
        }
        Ok(())
    }
}

/// The events of all threads, in their order.
pub struct MergedEvents<'t> {
    streams: Vec<Stream<'t>>,
    /// The next turn of each thread by its number, the earliest first.
    turns: BinaryHeap<Reverse<(u64, usize)>>,
    running: Option<usize>,
}

impl<'t> MergedEvents<'t> {
    /// Merges some threads of a trace. Events before a thread's first turn, whose beginning is
    /// missing, come first.
    pub fn of(trace: &'t Trace, threads: impl IntoIterator<Item = &'t ThreadChunks>) -> Self {
        let stream = |thread| Stream {
            trace,
            thread,
            next_chunk: 0,
            words: Vec::new(),
            at: 0,
            decoder: Decoder::default(),
            whole: ThreadEvents::new(&trace.program),
            events: VecDeque::new(),
            has_begun: false,
        };
        let streams: Vec<Stream<'t>> = threads.into_iter().map(stream).collect();
        let turns = (0..streams.len()).map(|stream| Reverse((0, stream))).collect();
        MergedEvents { streams, turns, running: None }
    }

    /// The next event, and the index of its thread among the given ones.
    fn next_event(&mut self) -> Result<Option<(usize, Event)>, Error> {
        loop {
            let running = match self.running {
                Some(running) => running,
                None => {
                    let Some(Reverse((_, next))) = self.turns.pop() else { return Ok(None) };
                    self.running = Some(next);
                    self.streams[next].go_on()?;
                    next
                }
            };
            let stream = &mut self.streams[running];
            match stream.next()? {
                Some(Event::Order(turn)) => {
                    stream.wait();
                    self.turns.push(Reverse((turn, running)));
                    self.running = None;
                }
                Some(event) => {
                    stream.has_begun = true;
                    return Ok(Some((running, event)));
                }
                None => self.running = None,
            }
        }
    }
}

impl Iterator for MergedEvents<'_> {
    type Item = Result<(usize, Event), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_event().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{chunk, class, end, start, trace};

    /// Consecutive threads with one chunk each: memory holds nothing of threads that have not
    /// begun, or have ended.
    #[test]
    fn who_has_not_begun_or_has_ended_takes_no_memory() {
        let all = 3000;
        let thread = |number: u32| {
            let mut events = vec![Event::Order(u64::from(number) + 1)];
            events.extend([start(0), end(0)].repeat(10));
            chunk(number, 0, &events)
        };
        let (_folder, trace) = trace("mode=shared", std::iter::once(class(1)).chain((0..all).map(thread)));
        let open_files = || std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        let before = open_files();
        let mut merged = MergedEvents::of(&trace, &trace.threads);
        let (mut last, mut seen) = (0, 0);
        while let Some(event) = merged.next() {
            let (thread, _) = event.unwrap();
            assert!(thread >= last);
            (last, seen) = (thread, seen + 1);
            if seen % 1000 == 1 {
                let chunks = merged.streams.iter().filter(|stream| stream.words.capacity() > 0);
                assert!(chunks.count() <= 2, "event {seen}");
                // Other tests run concurrently.
                assert!(open_files() < before + 500, "event {seen}");
            }
        }
        assert_eq!((last + 1, seen), (all as usize, all as usize * 20));
    }

    /// A caller who continues after a damaged chunk reaches the end.
    #[test]
    fn a_damaged_chunk_is_one_error() {
        let chunks =
            [chunk(1, 0, &[Event::Order(1), start(0)]), chunk(1, 1, &[end(0)]), chunk(1, 2, &[start(0)])];
        let (folder, trace) = trace("mode=shared", std::iter::once(class(1)).chain(chunks));
        let path = folder.path().join("a.trace");
        let mut bytes = std::fs::read(&path).unwrap();
        // The last byte of the chunk in the middle: two heads and four bytes follow it.
        let at = bytes.len() - 28 - 28 - 4 - 1;
        bytes[at] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        let seen: Vec<bool> =
            MergedEvents::of(&trace, &trace.threads).take(100).map(|event| event.is_ok()).collect();
        assert_eq!(seen, [true, false, true]);
    }
}
