//! The events of all threads in one order, of a trace that keeps it (`--trace-mode shared`).
//!
//! A thread says when its turn begins; until another's does all its events follow one another. So the turns of all threads, merged by their numbers, are the one
//! trace; of each thread no more than a chunk is in memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use cct_events::{Decoder, Event};

use crate::file::{Chunks, Error, ThreadChunks, Trace};

/// A thread's events, as they come.
struct Stream<'t> {
    chunks: Chunks<'t>,
    words: Vec<u8>,
    at: usize,
    decoder: Decoder,
}

impl Stream<'_> {
    fn next(&mut self) -> Result<Option<Event>, Error> {
        loop {
            let Some(word) = self.words.get(self.at..).and_then(|rest| rest.first_chunk()) else {
                let Some(chunk) = self.chunks.next() else { return Ok(None) };
                (self.words, self.at) = (chunk?.words, 0);
                continue;
            };
            self.at += 4;
            // What this version does not know is no event.
            if let Ok(Some(event)) = self.decoder.word(u32::from_le_bytes(*word)) {
                return Ok(Some(event));
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
