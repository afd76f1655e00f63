//! Events as rewritten code writes them (docs/reference/formats/trace.md): their words, and the
//! code that writes one (docs/research/trace.md).

use cct_classfile::{Bci, ClassFile, Code};
use cct_jdk::helpers::Helper;

use crate::op::{Kind, Op};
use crate::probe::Reader;

/// Bits of a method's number in a word, and of a block's.
const METHOD_BITS: u32 = 19;
const BLOCK_BITS: u32 = 11;

/// Bits of the payload of other events.
const PAYLOAD_BITS: u32 = 25;

/// The kind of a word with upper bits of the next one.
const WIDE: u32 = 3;

/// The kind of a word about an object.
const MADE: u32 = 13;

/// An event, as far as its first word is a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Event {
    /// A method starts; it may end at once.
    Start { method: u32, ends_at_once: bool },
    /// A method ends.
    End { method: u32, by_exception: bool },
    /// A block of a method begins.
    Block { method: u32, block: u32 },
    /// A call of a method without events of its own that calls nothing.
    Leaf(Bci),
    /// A call of a method that may call back.
    Call(Bci),
    /// The return of such a callee.
    Returned(Bci),
    /// An object was allocated.
    Made(Bci),
    /// An array was allocated.
    Array(Bci),
    /// Nested arrays were allocated, this many levels deep.
    Arrays(Bci, u32),
    /// A thread requests a monitor.
    Lock(Bci),
    /// A synchronized method has entered its monitor.
    Locked,
    /// A thread releases a monitor.
    Unlock(Bci),
}

/// Words of an event: one, or two if its number needs more bits.
fn numbered(of: u32, method: u32, low: u32) -> (u32, Option<u32>) {
    let word = of << 30 | (method & ((1 << METHOD_BITS) - 1)) << BLOCK_BITS | low & ((1 << BLOCK_BITS) - 1);
    match (method >> METHOD_BITS, low >> BLOCK_BITS) {
        (0, 0) => (word, None),
        (above, beyond) => (WIDE << PAYLOAD_BITS | above << 5 | beyond & 0x1F, Some(word)),
    }
}

impl Event {
    fn words(self) -> (u32, Option<u32>) {
        let other =
            |kind: u32, payload: u32| (kind << PAYLOAD_BITS | payload & ((1 << PAYLOAD_BITS) - 1), None);
        match self {
            Event::Start { method, ends_at_once } => numbered(1, method, if ends_at_once { 2 } else { 0 }),
            Event::End { method, by_exception } => numbered(2, method, by_exception.into()),
            Event::Block { method, block } => numbered(3, method, block),
            Event::Leaf(bci) => other(5, bci),
            Event::Call(bci) => other(6, bci),
            Event::Returned(bci) => other(7, bci),
            Event::Made(bci) => other(MADE, bci),
            Event::Array(bci) => other(14, bci),
            Event::Arrays(bci, level) => other(15, level << 16 | bci & 0xFFFF),
            Event::Lock(bci) => other(17, bci),
            Event::Locked => other(18, 0),
            Event::Unlock(bci) => other(19, bci),
        }
    }

    /// Pushes its first word, for helpers that write the others.
    pub fn word(self) -> Op<'static> {
        Op::Int(self.words().0 as i32)
    }

    /// Whether it takes one word.
    pub fn is_single(self) -> bool {
        self.words().1.is_none()
    }

    /// The code that writes it. `record` is the local with the thread's record, `partial` the local
    /// that says, after an exception, how far the block came.
    pub fn ops(self, record: u16, partial: Option<u16>) -> Vec<Op<'static>> {
        let mut ops = vec![Op::Load(Kind::Long, record)];
        ops.extend(partial.map(|local| Op::Load(Kind::Int, local)));
        ops.extend(match (self.words(), partial) {
            ((word, None), None) => [Op::Int(word as i32), Op::Helper(Helper::Event)],
            ((word, None), Some(_)) => [Op::Int(word as i32), Op::Helper(Helper::Caught)],
            ((first, Some(second)), partial) => {
                let both = u64::from(second) << 32 | u64::from(first);
                let helper = if partial.is_some() { Helper::CaughtWide } else { Helper::Wide };
                [Op::Long(both as i64), Op::Helper(helper)]
            }
        });
        ops
    }
}

/// The number of the method whose start these two operations write, if they write one.
pub fn started(pushed: Op<'_>, helper: Op<'_>) -> Option<u32> {
    let (above, word) = match (pushed, helper) {
        (Op::Int(word), Op::Helper(Helper::Event | Helper::Receiver)) => (0, word as u32),
        (Op::Long(both), Op::Helper(Helper::Wide)) => {
            let (wide, word) = (both as u32, (both as u64 >> 32) as u32);
            (wide >> 5 & 0x1FFF, word)
        }
        _ => return None,
    };
    (word >> 30 == 1).then_some(above << METHOD_BITS | word >> BLOCK_BITS & ((1 << METHOD_BITS) - 1))
}

/// Whether code of a class writes events of objects or monitors.
pub fn are_of_objects(class: &ClassFile<'_>) -> bool {
    let is_one = |pushed: Op<'_>, helper: Op<'_>| match (pushed, helper) {
        (
            _,
            Op::Helper(
                Helper::Array | Helper::Monitor | Helper::Copy | Helper::Result | Helper::ResultArrays,
            ),
        ) => true,
        (Op::Int(word), Op::Helper(Helper::Event)) => word as u32 >> PAYLOAD_BITS == MADE,
        _ => false,
    };
    class.methods.iter().any(|method| {
        let Ok(Some(code)) = Code::of(class, method) else { return false };
        let reader = Reader::new(class, &code);
        (1..reader.steps.len()).any(|at| is_one(reader.op(at - 1), reader.op(at)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_documents() {
        let words = |event: Event| event.words();
        assert_eq!(words(Event::Start { method: 1, ends_at_once: false }), (0x4000_0800, None));
        assert_eq!(words(Event::Start { method: 1, ends_at_once: true }), (0x4000_0802, None));
        assert_eq!(words(Event::End { method: 2, by_exception: true }), (0x8000_1001, None));
        assert_eq!(words(Event::Block { method: 3, block: 4 }), (0xC000_1804, None));
        // 2^19 and 2048 do not fit.
        let wide = Event::Block { method: (1 << 19) + 5, block: 2048 + 7 };
        assert_eq!(words(wide), (3 << 25 | 1 << 5 | 1, Some(0xC000_2807)));
        assert_eq!(words(Event::Leaf(9)), (5 << 25 | 9, None));
        assert_eq!(words(Event::Arrays(9, 2)), (15 << 25 | 2 << 16 | 9, None));
    }

    #[test]
    fn the_number_of_a_start_is_read() {
        for method in [0, 77, (1 << 19) + 5] {
            let ops = Event::Start { method, ends_at_once: false }.ops(3, None);
            assert_eq!(started(ops[1], ops[2]), Some(method));
            let ops = Event::End { method, by_exception: false }.ops(3, None);
            assert_eq!(started(ops[1], ops[2]), None);
        }
    }
}
