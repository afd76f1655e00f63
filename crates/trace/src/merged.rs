//! The events of all threads in one order, of a trace that keeps it (`--trace-mode shared`).
//!
//! A thread says when its turn begins; until another's does all its events follow one another. So the turns of all threads, merged by their numbers, are the one
//! trace; of each thread no more than a chunk is in memory.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use cct_events::{Decoder, Event};

use crate::file::{Chunks, Error, ThreadChunks, Trace};
use crate::implied::Whole;

/// A thread's events, as they come.
struct Stream<'t> {
    chunks: Chunks<'t>,
    words: Vec<u8>,
    at: usize,
    decoder: Decoder,
    whole: Whole<'t>,
    /// Events that are implied by the last word, or that it is.
    events: VecDeque<Event>,
}

impl Stream<'_> {
    fn next(&mut self) -> Result<Option<Event>, Error> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(Some(event));
            }
            let events = &mut self.events;
            let Some(word) = self.words.get(self.at..).and_then(|rest| rest.first_chunk()) else {
                let Some(chunk) = self.chunks.next() else {
                    self.whole.finish(&mut |event| events.push_back(event));
                    return Ok(self.events.pop_front());
                };
                let chunk = chunk?;
                if chunk.is_behind_gap {
                    self.whole.gap();
                }
                (self.words, self.at) = (chunk.words, 0);
                continue;
            };
            self.at += 4;
            // What this version does not know is no event.
            if let Ok(Some(event)) = self.decoder.word(u32::from_le_bytes(*word)) {
                self.whole.event(event, &mut |event| events.push_back(event));
            }
        }
    }
}

/// Events of all threads, in their order.
pub struct Merged<'t> {
    streams: Vec<Stream<'t>>,
    /// Whose turn it is at which number, the next one first.
    turns: BinaryHeap<Reverse<(u64, usize)>>,
    running: Option<usize>,
}

impl<'t> Merged<'t> {
    /// Those of some threads of a trace. What a thread did before its first turn, where the beginning is missing, comes first.
    ///
    /// # Errors
    /// When the file cannot be opened any more.
    pub fn of(trace: &'t Trace, threads: impl IntoIterator<Item = &'t ThreadChunks>) -> Result<Self, Error> {
        let stream = |thread| {
            Ok(Stream {
                chunks: trace.chunks(thread)?,
                words: Vec::new(),
                at: 0,
                decoder: Decoder::default(),
                whole: Whole::new(&trace.program),
                events: VecDeque::new(),
            })
        };
        let streams: Vec<Stream<'t>> = threads.into_iter().map(stream).collect::<Result<_, Error>>()?;
        let turns = (0..streams.len()).map(|stream| Reverse((0, stream))).collect();
        Ok(Merged { streams, turns, running: None })
    }

    /// The next event, and whose it is: the place of the thread among those that were given.
    fn next_event(&mut self) -> Result<Option<(usize, Event)>, Error> {
        loop {
            let running = match self.running {
                Some(running) => running,
                None => {
                    let Some(Reverse((_, next))) = self.turns.pop() else { return Ok(None) };
                    self.running = Some(next);
                    next
                }
            };
            match self.streams[running].next()? {
                Some(Event::Order(turn)) => {
                    self.turns.push(Reverse((turn, running)));
                    self.running = None;
                }
                Some(event) => return Ok(Some((running, event))),
                None => self.running = None,
            }
        }
    }
}

impl Iterator for Merged<'_> {
    type Item = Result<(usize, Event), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_event().transpose()
    }
}
