//! Implied events, which a trace omits since they follow from others
//! (docs/reference/formats/trace.md, "What has no event"). They are blocks that are the only
//! possible successor of the block before, and ends of methods after which nothing else could have
//! come. This module restores them, so that analyses see all events.

use cct_events::Event;
use cct_events::structure::{MOST_IMPLIED, Recording};

use crate::found::TracedMethod;
use crate::program::Program;
use crate::stack::{Runs, Stack};

/// A running method.
#[derive(Debug, Clone, Copy)]
struct RunningMethod<'p> {
    found: TracedMethod<'p>,
    number: u32,
    /// The block that began last, if known.
    block: Option<u32>,
}

impl Runs for RunningMethod<'_> {
    fn method(&self) -> Option<u32> {
        Some(self.number)
    }
}

/// The events of one thread, including implied ones.
#[derive(Debug)]
pub struct ThreadEvents<'p> {
    program: &'p Program,
    stack: Stack<RunningMethod<'p>>,
    /// Whether the previous event says how far a block came that an exception has left.
    is_left: bool,
    /// Whether the top method ends as soon as its receiver is known.
    is_over: bool,
}

impl<'p> ThreadEvents<'p> {
    /// A thread without events so far.
    pub fn new(program: &'p Program) -> Self {
        ThreadEvents { program, stack: Stack::default(), is_left: false, is_over: false }
    }

    /// Handles missing events: the running blocks are unknown from here.
    pub fn gap(&mut self) {
        self.stack.iter_mut().for_each(|running| running.block = None);
        (self.is_left, self.is_over) = (false, false);
    }

    /// Passes on an event, with the events that it implies before or after it.
    #[inline]
    pub fn event(&mut self, event: Event, see: &mut impl FnMut(Event)) {
        if self.is_over && !matches!(event, Event::Order(_) | Event::Receiver(_)) {
            self.finish(see);
        }
        let is_left = match event {
            Event::Order(_) => self.is_left,
            _ => std::mem::replace(&mut self.is_left, matches!(event, Event::Partial(_))),
        };
        match event {
            Event::Start { method, ends_at_once: false, has_receiver } => {
                see(event);
                self.start(method, has_receiver, see);
            }
            Event::Block { method, block } => self.block(method, block, is_left, see),
            Event::End { method, by_exception } => {
                if self.unwind(method) {
                    if !is_left && !by_exception {
                        self.pass(see);
                    }
                    self.stack.pop();
                }
                see(event);
            }
            Event::Paused => {
                self.stack.clear();
                see(event);
            }
            Event::Gap(_) => {
                self.gap();
                see(event);
            }
            _ => see(event),
        }
    }

    /// Passes on the events implied at the end.
    pub fn finish(&mut self, see: &mut impl FnMut(Event)) {
        if std::mem::take(&mut self.is_over) {
            self.end(see);
        }
    }

    fn start(&mut self, number: u32, has_receiver: bool, see: &mut impl FnMut(Event)) {
        let Some(found) = self.program.method(number) else { return };
        let has_blocks = matches!(found.method.recording, Recording::Full | Recording::Blocks);
        let block = (has_blocks && !found.method.entry_is_target).then_some(0);
        self.stack.push(RunningMethod { found, number, block });
        if block.is_some() && self.is_last() {
            // Its receiver follows the start.
            self.is_over = has_receiver;
            if !has_receiver {
                self.end(see);
            }
        }
    }

    fn block(&mut self, number: u32, block: u32, is_left: bool, see: &mut impl FnMut(Event)) {
        if self.unwind(number) {
            if !is_left {
                self.pass(see);
            }
        } else if let Some(found) = self.program.method(number) {
            self.stack.push(RunningMethod { found, number, block: None });
        }
        see(Event::Block { method: number, block });
        if let Some(top) = self.stack.last_mut().filter(|top| top.number == number) {
            top.block = Some(block);
            if self.is_last() {
                self.end(see);
            }
        }
    }

    /// Whether the top method has no further event after the current one.
    fn is_last(&self) -> bool {
        let Some(RunningMethod { found, block: Some(block), .. }) = self.stack.last() else { return false };
        found.method.blocks.get(*block as usize).is_some_and(|block| block.is_last)
    }

    /// Completes the top method.
    fn end(&mut self, see: &mut impl FnMut(Event)) {
        self.pass(see);
        if let Some(top) = self.stack.pop() {
            see(Event::End { method: top.number, by_exception: false });
        }
    }

    /// Passes on the implied blocks that follow the last event, each the only possible successor.
    fn pass(&mut self, see: &mut impl FnMut(Event)) {
        let Some(top) = self.stack.last_mut() else { return };
        let blocks = &top.found.method.blocks;
        // No path has more of them: a file that says so is rejected.
        for _ in 0..MOST_IMPLIED {
            let next = top.block.and_then(|block| blocks.get(block as usize)?.next);
            let Some(next) = next else { break };
            top.block = Some(next);
            see(Event::Block { method: top.number, block: next });
        }
    }

    /// Leaves the methods above one; returns whether it runs.
    fn unwind(&mut self, number: u32) -> bool {
        if self.stack.last().is_some_and(|top| top.number == number) {
            return true;
        }
        let Some(place) = self.stack.find(number) else { return false };
        while self.stack.len() > place + 1 {
            self.stack.pop();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cct_events::{Block, Class, Method};

    /// Method 0: a choice (0), two branches (1 and 2) that meet (3), where it returns. Method 1:
    /// the same, but the second branch calls method 2, which has one block.
    fn program() -> Program {
        let block = |next, is_last| Block { next, is_last, ..Block::default() };
        let method = |blocks: Vec<Block>| Method { recording: Recording::Full, blocks, ..Method::default() };
        let quiet = vec![block(None, false), block(Some(3), true), block(Some(3), true), block(None, true)];
        let calling =
            vec![block(None, false), block(Some(3), false), block(Some(3), false), block(None, false)];
        let methods = vec![method(quiet), method(calling), method(vec![block(None, true)])];
        let mut packed = Vec::new();
        Class { methods, ..Class::default() }.pack(&mut packed);
        let mut program = Program::default();
        program.add(&packed).unwrap();
        program.complete();
        program
    }

    fn start(method: u32) -> Event {
        Event::Start { method, has_receiver: false, ends_at_once: false }
    }

    fn block(method: u32, block: u32) -> Event {
        Event::Block { method, block }
    }

    fn end(method: u32, by_exception: bool) -> Event {
        Event::End { method, by_exception }
    }

    fn whole(written: &[Event]) -> Vec<Event> {
        let program = program();
        let (mut whole, mut seen) = (ThreadEvents::new(&program), Vec::new());
        for &event in written {
            whole.event(event, &mut |event| seen.push(event));
        }
        whole.finish(&mut |event| seen.push(event));
        seen
    }

    #[test]
    fn quiet_blocks_and_ends_are_put_back_at_once() {
        let seen = whole(&[start(0), block(0, 2), start(2), start(0), block(0, 1)]);
        let one = |way| [start(0), block(0, way), block(0, 3), end(0, false)];
        assert_eq!(seen, [&one(2)[..], &[start(2), end(2, false)], &one(1)].concat());
    }

    #[test]
    fn after_calls_they_come_with_the_next_event_unless_an_exception_does() {
        let seen = whole(&[start(1), block(1, 2), start(2), end(1, false)]);
        let called = [start(1), block(1, 2), start(2), end(2, false)];
        assert_eq!(seen, [&called[..], &[block(1, 3), end(1, false)]].concat());
        let thrown = [start(1), block(1, 2), Event::Partial(1), end(1, true)];
        assert_eq!(whole(&thrown), thrown);
    }

    #[test]
    fn a_receiver_is_reported_before_the_end() {
        let start = Event::Start { method: 2, has_receiver: true, ends_at_once: false };
        let (of, turn) = (Event::Receiver(7), Event::Order(3));
        assert_eq!(whole(&[start, turn, of]), [start, turn, of, end(2, false)]);
        assert_eq!(whole(&[start, of, start, of]), [start, of, end(2, false), start, of, end(2, false)]);
    }

    #[test]
    fn where_events_are_missing_nothing_is_made_up() {
        let (first, last) = ([start(1), block(1, 2)], [end(1, false)]);
        let missing = [&first[..], &[Event::Gap(0)], &last].concat();
        assert_eq!(whole(&missing), missing);
        assert_eq!(whole(&last), last);
    }
}
