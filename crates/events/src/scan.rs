//! The methods of events, found without decoding: a tracer scans each word that it writes, so this
//! must be very cheap.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::event::{BLOCK_BITS, METHOD_BITS, Open, PAYLOAD_BITS, kind};

/// Number of words that are checked together.
const GROUP: usize = 32;

/// The types of events that have a method.
const OF_METHODS: std::ops::RangeInclusive<u32> = 1..=3;

/// Scanner for methods in the words of one thread, starting at an event.
#[derive(Debug, Clone, Copy, Default)]
struct Scanner {
    /// Upper bits of the next event's method.
    above: u32,
    /// Number of the next words that are part of an event.
    behind: u8,
}

impl Scanner {
    /// Whether the next word starts an event.
    fn is_between_events(self) -> bool {
        self.above == 0 && self.behind == 0
    }

    /// The method of the event that this word completes, if it has one.
    fn word(&mut self, word: u32) -> Option<u32> {
        if self.behind > 0 {
            // Part of an event, whatever it looks like.
            self.behind -= 1;
            return None;
        }
        match (word >> 30, word >> PAYLOAD_BITS) {
            (0, kind::WIDE) => {
                self.above = (word & ((1 << PAYLOAD_BITS) - 1)) >> 5 << METHOD_BITS;
                None
            }
            (0, kind) => {
                self.behind = Open::behind(kind);
                None
            }
            _ => Some(word >> BLOCK_BITS & ((1 << METHOD_BITS) - 1) | std::mem::take(&mut self.above)),
        }
    }
}

/// The methods of all events in these bytes, in order. The bytes must start at an event.
pub fn methods(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let mut scanner = Scanner::default();
    words(bytes).filter_map(move |word| scanner.word(word))
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    bytes.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word))
}

/// Methods whose static data is written already, for any number of threads.
///
/// It has a bit for each possible upper part of a word (type and method). The bit says that such a
/// word is an event by itself, and that its method is familiar. So most words of most traces cost
/// one load. Methods whose number does not fit into a word are never familiar.
#[derive(Debug)]
pub struct Familiar(Box<[AtomicU64]>);

impl Familiar {
    /// Creates a set without familiar methods.
    pub fn new() -> Familiar {
        let none = Familiar((0..1 << (32 - BLOCK_BITS - 6)).map(|_| AtomicU64::new(0)).collect());
        let alone = |kind| kind != kind::WIDE && Open::behind(kind) == 0;
        for kind in (0..1 << (30 - PAYLOAD_BITS)).filter(|&kind| alone(kind)) {
            for payload in 0..1 << (PAYLOAD_BITS - BLOCK_BITS) {
                none.set(kind << (PAYLOAD_BITS - BLOCK_BITS) | payload);
            }
        }
        none
    }

    /// Makes a method familiar.
    pub fn add(&self, method: u32) {
        if method < 1 << METHOD_BITS {
            OF_METHODS.for_each(|of| self.set(of << METHOD_BITS | method));
        }
    }

    /// The unfamiliar methods in these bytes, each at least once. The bytes must start at an event.
    pub fn news(&self, bytes: &[u8]) -> Vec<u32> {
        let mut news = Vec::new();
        let mut scanner = Scanner::default();
        for group in bytes.chunks(4 * GROUP) {
            let all = words(group).fold(true, |all, word| all & self.has(word >> BLOCK_BITS));
            if all && scanner.is_between_events() {
                continue;
            }
            for method in words(group).filter_map(|word| scanner.word(word)) {
                let fits = method < 1 << METHOD_BITS;
                if !(fits && self.has(*OF_METHODS.start() << METHOD_BITS | method))
                    && news.last() != Some(&method)
                {
                    news.push(method);
                }
            }
        }
        news
    }

    fn set(&self, beginning: u32) {
        self.0[beginning as usize / 64].fetch_or(1 << (beginning % 64), Ordering::Release);
    }

    fn has(&self, beginning: u32) -> bool {
        // A thread that sees a bit may write events after everything that the thread which set it
        // wrote before.
        self.0[beginning as usize / 64].load(Ordering::Acquire) >> (beginning % 64) & 1 != 0
    }
}

impl Default for Familiar {
    fn default() -> Familiar {
        Familiar::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Event;

    fn bytes(events: &[Event]) -> Vec<u8> {
        let words = events.iter().flat_map(|event| event.words().to_vec());
        words.flat_map(u32::to_le_bytes).collect()
    }

    fn block(method: u32) -> Event {
        Event::Block { method, block: 5000 }
    }

    /// An event whose last word looks like one of upper bits.
    const ARRAY: Event = Event::Array { bci: 1, length: kind::WIDE << PAYLOAD_BITS | 32 };

    #[test]
    fn methods_are_found_without_decoding() {
        let events = [block(3), Event::Leaf(7), ARRAY, block(1 << 20), block(4)];
        assert_eq!(methods(&bytes(&events)).collect::<Vec<_>>(), [3, 1 << 20, 4]);
    }

    #[test]
    fn unknown_names_are_new_and_known_ones_are_not() {
        let familiar = Familiar::new();
        let large = (1 << METHOD_BITS) - 1;
        let end = Event::End { method: 5, by_exception: true };
        let start = Event::Start { method: large, has_receiver: false, ends_at_once: false };
        let events =
            bytes(&[Event::Leaf(7), end, Event::Made(0), start, Event::Block { method: 0, block: 0 }]);
        assert_eq!(familiar.news(&events), [5, large, 0]);
        for method in [5, 0] {
            familiar.add(method);
        }
        assert_eq!(familiar.news(&events), [large]);
        familiar.add(large);
        assert_eq!(familiar.news(&events), []);
        familiar.add(1 << METHOD_BITS);
        assert_eq!(familiar.news(&bytes(&[block(1 << METHOD_BITS)])), [1 << METHOD_BITS]);
    }

    #[test]
    fn news_are_the_unfamiliar_ones_of_all_methods() {
        arbtest::arbtest(|u| {
            let familiar = Familiar::new();
            let known: Vec<u32> =
                u.arbitrary_iter::<u8>()?.take(20).map(|n| n.map(u32::from)).collect::<Result<_, _>>()?;
            known.iter().for_each(|&method| familiar.add(method));
            let mut events = Vec::new();
            while !u.is_empty() {
                let method = u32::from(u.arbitrary::<u8>()?) << u.choose(&[0, 0, 0, 12])?;
                let other = [
                    ARRAY,
                    Event::Leaf(9),
                    Event::Order(u64::MAX),
                    Event::ById { id: u64::MAX, ends_at_once: false },
                ];
                for _ in 0..*u.choose(&[1, 40])? {
                    events.push(match u.arbitrary()? {
                        Some(true) => *u.choose(&other)?,
                        _ => Event::Block { method, block: 1 },
                    });
                }
            }
            let bytes = bytes(&events);
            let mut expected: Vec<u32> = methods(&bytes).filter(|method| !known.contains(method)).collect();
            let mut news = familiar.news(&bytes);
            for list in [&mut expected, &mut news] {
                list.sort_unstable();
                list.dedup();
            }
            assert_eq!(news, expected);
            Ok(())
        });
    }
}
