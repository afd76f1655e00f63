//! Events as words of 32 bits: two of type, 19 of method, 11 of block (Caserta and Zendra 2012,
//! Fig. 2).
//!
//! | bits 31..30 | bits 29..11 | bits 10..0 |
//! |---|---|---|
//! | 01 method start | method | flags: 1 a [`Event::Receiver`] follows, 2 it ends at once |
//! | 10 method end | method | flags: 1 by an exception |
//! | 11 basic block | method | block |
//! | 00 others | kind (bits 29..25), payload (bits 24..0) | |
//!
//! Larger values are not cut off: a preceding word of kind *wide* has the upper bits.

/// Bits of a method's number in a word.
pub const METHOD_BITS: u32 = 19;

/// Bits of a block's number in a word.
pub const BLOCK_BITS: u32 = 11;

/// Bits of the payload of other events.
pub const PAYLOAD_BITS: u32 = 25;

const START: u32 = 1;
const END: u32 = 2;
const BLOCK: u32 = 3;

const RECEIVER_FOLLOWS: u32 = 1;
const ENDS_AT_ONCE: u32 = 2;
const BY_EXCEPTION: u32 = 1;

/// Kinds of events of type 00.
pub(crate) mod kind {
    pub const PADDING: u32 = 0;
    pub const CLASS_LOADED: u32 = 1;
    pub const RECEIVER: u32 = 2;
    pub const WIDE: u32 = 3;
    pub const PARTIAL: u32 = 4;
    pub const LEAF: u32 = 5;
    pub const CALL: u32 = 6;
    pub const RETURNED: u32 = 7;
    pub const BY_ID: u32 = 8;
    pub const PAUSED: u32 = 9;
    pub const RESUMED: u32 = 10;
    pub const GAP: u32 = 11;
    pub const ORDER: u32 = 12;
    pub const MADE: u32 = 13;
    pub const ARRAY: u32 = 14;
    pub const ARRAYS: u32 = 15;
    pub const MADE_BY_NATIVE: u32 = 16;
    pub const LOCK: u32 = 17;
    pub const LOCKED: u32 = 18;
    pub const UNLOCK: u32 = 19;
}

/// Something that a thread did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// Unused room.
    Padding,
    /// A method begins, and with it its first block, unless that is the target of a jump and has an
    /// event of its own.
    Start {
        /// The method's number.
        method: u32,
        /// Whether a [`Event::Receiver`] follows.
        has_receiver: bool,
        /// Whether it ends at once: its actions and its end are not recorded.
        ends_at_once: bool,
    },
    /// A method ends.
    End {
        /// The method's number.
        method: u32,
        /// Whether by an exception.
        by_exception: bool,
    },
    /// A basic block begins.
    Block {
        /// The method's number.
        method: u32,
        /// The block's, in that method.
        block: u32,
    },
    /// A class was loaded.
    ClassLoaded(u32),
    /// The class of the receiver of the method that has just begun.
    Receiver(u32),
    /// An exception has left the running block after this many of its bytecodes, including the one
    /// that threw.
    Partial(u32),
    /// The running method has called a method without events of its own, at this bytecode index.
    Leaf(u32),
    /// The running method has called a method without events of its own, at this bytecode index,
    /// and that method may call back. It is the caller of what begins next.
    Call(u32),
    /// A method without events of its own has returned.
    Returned(u32),
    /// A method begins that is identified by its id alone, which is in the next two words.
    ById {
        /// The method's id.
        id: u64,
        /// Whether it ends at once.
        ends_at_once: bool,
    },
    /// Recording pauses.
    Paused,
    /// Recording resumes; 0, or one plus the number of this part's name.
    Resumed(u32),
    /// Events are missing.
    Gap(u32),
    /// A turn, in a trace that keeps the order between threads. The following events of this thread
    /// come after all with a smaller number, in any thread.
    Order(u64),
    /// The instruction at this bytecode index has allocated an object.
    Made(u32),
    /// An instruction has allocated an array.
    Array {
        /// The bytecode index.
        bci: u32,
        /// Number of elements.
        length: u32,
    },
    /// An instruction has allocated the arrays inside an array.
    Arrays {
        /// The bytecode index.
        bci: u32,
        /// The level inside; at least 1.
        level: u32,
        /// Number of arrays.
        count: u32,
        /// Number of elements of each.
        length: u32,
    },
    /// The native that runs, or was called last, has allocated an object of this class.
    MadeByNative {
        /// The number of the class's name.
        class: u32,
        /// Number of elements, for an array.
        length: u32,
    },
    /// The instruction at this bytecode index requests the monitor of the object with this
    /// identity.
    Lock {
        /// The bytecode index.
        bci: u32,
        /// The object.
        object: u32,
    },
    /// The synchronized method that has just begun holds the monitor of this object.
    Locked(u32),
    /// The instruction at this bytecode index has released the monitor of this object.
    Unlock {
        /// The bytecode index.
        bci: u32,
        /// The object.
        object: u32,
    },
}

/// The words of an event, at most four.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Words {
    words: [u32; 4],
    length: u8,
}

impl std::ops::Deref for Words {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.words[..usize::from(self.length)]
    }
}

impl Words {
    fn one(word: u32) -> Words {
        Words { words: [word, 0, 0, 0], length: 1 }
    }

    /// A word of another kind, and the words after it.
    fn more(kind: u32, payload: u32, behind: &[u32]) -> Words {
        let mut words = Words::other(kind, payload);
        for &word in behind {
            words.words[usize::from(words.length)] = word;
            words.length += 1;
        }
        words
    }

    fn other(kind: u32, payload: u32) -> Words {
        Words::one(kind << PAYLOAD_BITS | payload & ((1 << PAYLOAD_BITS) - 1))
    }

    /// A word with a method and further bits, after a word with their upper bits if they have any.
    fn of_method(of: u32, method: u32, low: u32) -> Words {
        let word =
            of << 30 | (method & ((1 << METHOD_BITS) - 1)) << BLOCK_BITS | low & ((1 << BLOCK_BITS) - 1);
        let (above, beyond) = (method >> METHOD_BITS, low >> BLOCK_BITS);
        if above == 0 && beyond == 0 {
            return Words::one(word);
        }
        // 13 and 5 bits: a method has at most 65535 bytes of code.
        let wide = kind::WIDE << PAYLOAD_BITS | above << 5 | beyond & 0x1F;
        Words { words: [wide, word, 0, 0], length: 2 }
    }
}

impl Event {
    /// The event's words.
    pub fn words(self) -> Words {
        match self {
            Event::Padding => Words::other(kind::PADDING, 0),
            Event::Start { method, has_receiver, ends_at_once } => {
                let receiver = if has_receiver { RECEIVER_FOLLOWS } else { 0 };
                let ends = if ends_at_once { ENDS_AT_ONCE } else { 0 };
                Words::of_method(START, method, receiver | ends)
            }
            Event::End { method, by_exception } => {
                Words::of_method(END, method, if by_exception { BY_EXCEPTION } else { 0 })
            }
            Event::Block { method, block } => Words::of_method(BLOCK, method, block),
            Event::ClassLoaded(class) => Words::other(kind::CLASS_LOADED, class),
            Event::Receiver(class) => Words::other(kind::RECEIVER, class),
            Event::Partial(bytecodes) => Words::other(kind::PARTIAL, bytecodes),
            Event::Leaf(bci) => Words::other(kind::LEAF, bci),
            Event::Call(bci) => Words::other(kind::CALL, bci),
            Event::Returned(bci) => Words::other(kind::RETURNED, bci),
            Event::ById { id, ends_at_once } => {
                Words::more(kind::BY_ID, u32::from(ends_at_once), &[id as u32, (id >> 32) as u32])
            }
            Event::Paused => Words::other(kind::PAUSED, 0),
            Event::Resumed(name) => Words::other(kind::RESUMED, name),
            Event::Gap(why) => Words::other(kind::GAP, why),
            Event::Order(number) => Words::more(kind::ORDER, (number >> 32) as u32, &[number as u32]),
            Event::Made(bci) => Words::other(kind::MADE, bci),
            Event::Array { bci, length } => Words::more(kind::ARRAY, bci, &[length]),
            Event::Arrays { bci, level, count, length } => {
                Words::more(kind::ARRAYS, level << 16 | bci & 0xFFFF, &[count, length])
            }
            Event::MadeByNative { class, length } => Words::more(kind::MADE_BY_NATIVE, class, &[length]),
            Event::Lock { bci, object } => Words::more(kind::LOCK, bci, &[object]),
            Event::Locked(object) => Words::more(kind::LOCKED, 0, &[object]),
            Event::Unlock { bci, object } => Words::more(kind::UNLOCK, bci, &[object]),
        }
    }
}

/// A word in a trace that is no event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the word {0:#010x} is not an event of this version")]
pub struct UnknownEvent(pub u32);

/// Decodes the events of one thread from its words, in pieces of any size.
#[derive(Debug, Clone, Default)]
pub struct Decoder {
    wide: Option<u32>,
    open: Option<Open>,
    wides: u64,
}

/// An event of several words, some of which are still to follow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Open {
    kind: u32,
    payload: u32,
    left: u8,
    /// The word after the first, if it has been read.
    second: u32,
}

impl Open {
    /// Number of words after one of this kind.
    pub(crate) fn behind(kind: u32) -> u8 {
        match kind {
            kind::BY_ID | kind::ARRAYS => 2,
            kind::ORDER | kind::ARRAY | kind::MADE_BY_NATIVE | kind::LOCK | kind::LOCKED | kind::UNLOCK => 1,
            _ => 0,
        }
    }

    /// Completes the event with its last word.
    fn event(self, last: u32) -> Event {
        let Open { kind, payload, second, .. } = self;
        match kind {
            kind::BY_ID => {
                Event::ById { id: u64::from(last) << 32 | u64::from(second), ends_at_once: payload != 0 }
            }
            kind::ARRAYS => {
                let (bci, level) = (payload & 0xFFFF, payload >> 16);
                Event::Arrays { bci, level, count: second, length: last }
            }
            kind::ORDER => Event::Order(u64::from(payload) << 32 | u64::from(last)),
            kind::ARRAY => Event::Array { bci: payload, length: last },
            kind::MADE_BY_NATIVE => Event::MadeByNative { class: payload, length: last },
            kind::LOCK => Event::Lock { bci: payload, object: last },
            kind::LOCKED => Event::Locked(last),
            _ => Event::Unlock { bci: payload, object: last },
        }
    }
}

impl Decoder {
    /// The event that this word completes, if it does.
    ///
    /// # Errors
    /// Fails if this version does not know the word.
    #[inline]
    pub fn word(&mut self, word: u32) -> Result<Option<Event>, UnknownEvent> {
        if let Some(open) = &mut self.open {
            if open.left > 1 {
                (open.left, open.second) = (open.left - 1, word);
                return Ok(None);
            }
            let event = open.event(word);
            self.open = None;
            return Ok(Some(event));
        }
        let of = word >> 30;
        if of != 0 {
            let mut method = word >> BLOCK_BITS & ((1 << METHOD_BITS) - 1);
            let mut low = word & ((1 << BLOCK_BITS) - 1);
            if let Some(wide) = self.wide.take() {
                method |= wide >> 5 << METHOD_BITS;
                low |= (wide & 0x1F) << BLOCK_BITS;
            }
            return Ok(Some(match of {
                START => Event::Start {
                    method,
                    has_receiver: low & RECEIVER_FOLLOWS != 0,
                    ends_at_once: low & ENDS_AT_ONCE != 0,
                },
                END => Event::End { method, by_exception: low & BY_EXCEPTION != 0 },
                _ => Event::Block { method, block: low },
            }));
        }
        let (kind, payload) = (word >> PAYLOAD_BITS, word & ((1 << PAYLOAD_BITS) - 1));
        let left = Open::behind(kind);
        if left > 0 {
            self.open = Some(Open { kind, payload, left, second: 0 });
            return Ok(None);
        }
        Ok(Some(match kind {
            kind::PADDING => Event::Padding,
            kind::CLASS_LOADED => Event::ClassLoaded(payload),
            kind::RECEIVER => Event::Receiver(payload),
            kind::WIDE => {
                self.wide = Some(payload);
                self.wides += 1;
                return Ok(None);
            }
            kind::PARTIAL => Event::Partial(payload),
            kind::LEAF => Event::Leaf(payload),
            kind::CALL => Event::Call(payload),
            kind::RETURNED => Event::Returned(payload),
            kind::MADE => Event::Made(payload),
            kind::PAUSED => Event::Paused,
            kind::RESUMED => Event::Resumed(payload),
            kind::GAP => Event::Gap(payload),
            _ => return Err(UnknownEvent(word)),
        }))
    }

    /// Number of events that did not fit into a word.
    pub fn wides(&self) -> u64 {
        self.wides
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[u32]) -> Vec<Event> {
        let mut decoder = Decoder::default();
        words.iter().filter_map(|&word| decoder.word(word).unwrap()).collect()
    }

    #[test]
    fn numbers_are_those_of_the_paper() {
        // Fig. 3 of the paper: method number 5328, with five blocks.
        let method = 5328;
        let figure =
            [1084653569, -1062830080, -1062830079, -1062830078, -1062830077, -1062830076, -2136571904];
        let mut events = vec![Event::Start { method, has_receiver: true, ends_at_once: false }];
        events.extend((0..5).map(|block| Event::Block { method, block }));
        events.push(Event::End { method, by_exception: false });
        assert_eq!(events.iter().map(|event| event.words()[0] as i32).collect::<Vec<_>>(), figure);
        assert_eq!(read(&figure.map(|number: i32| number as u32)), events);
    }

    #[test]
    fn all_written_data_reads_back() {
        arbtest::arbtest(|u| {
            let mut events = Vec::new();
            for _ in 0..u.int_in_range(0..=20)? {
                let method = if u.ratio(1, 2)? { u.int_in_range(0..=1 << 20)? } else { u.arbitrary()? };
                let payload = u.int_in_range(0..=(1 << PAYLOAD_BITS) - 1)?;
                events.push(match u.int_in_range(0..=20)? {
                    0 => Event::Start { method, has_receiver: u.arbitrary()?, ends_at_once: u.arbitrary()? },
                    1 => Event::End { method, by_exception: u.arbitrary()? },
                    2 => Event::Block { method, block: u.arbitrary::<u16>()?.into() },
                    3 => Event::ClassLoaded(payload),
                    4 => Event::Receiver(payload),
                    5 => Event::Partial(payload),
                    6 => Event::Leaf(payload),
                    7 => Event::Call(payload),
                    8 => Event::Returned(payload),
                    9 => Event::ById { id: u.arbitrary()?, ends_at_once: u.arbitrary()? },
                    10 => Event::Paused,
                    11 => Event::Resumed(payload),
                    12 => Event::Order(u.int_in_range(0..=(1 << 57) - 1)?),
                    13 => Event::Made(payload),
                    14 => Event::Array { bci: payload, length: u.arbitrary()? },
                    15 => Event::Arrays {
                        bci: u.arbitrary::<u16>()?.into(),
                        level: u.arbitrary::<u8>()?.into(),
                        count: u.arbitrary()?,
                        length: u.arbitrary()?,
                    },
                    16 => Event::MadeByNative { class: payload, length: u.arbitrary()? },
                    17 => Event::Lock { bci: payload, object: u.arbitrary()? },
                    18 => Event::Locked(u.arbitrary()?),
                    19 => Event::Unlock { bci: payload, object: u.arbitrary()? },
                    _ => Event::Gap(payload),
                });
            }
            let words: Vec<u32> = events.iter().flat_map(|event| event.words().to_vec()).collect();
            assert_eq!(read(&words), events);
            Ok(())
        });
    }

    #[test]
    fn small_events_take_one_word() {
        let block = |method, block| Event::Block { method, block }.words().len();
        assert_eq!(block((1 << METHOD_BITS) - 1, (1 << BLOCK_BITS) - 1), 1);
        assert_eq!((block(1 << METHOD_BITS, 0), block(0, 1 << BLOCK_BITS)), (2, 2));
        assert_eq!(Decoder::default().word(31 << PAYLOAD_BITS), Err(UnknownEvent(31 << PAYLOAD_BITS)));
    }
}
