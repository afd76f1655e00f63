//! Replay of a thread's events: its stack, step by step (Caserta and Zendra 2012, 4.1 to 4.3).
//!
//! Events contain their method's number, which shows missing events. A frame whose end is missing
//! ended when a frame below it does something. (A constructor whose `super()` throws has no handler
//! that could record its end, and neither has a stack that overflows.)

use cct_events::event::UnknownEvent;
use cct_events::structure::Recording;
use cct_events::{Decoder, Event};
use rustc_hash::FxHashMap;

use crate::found::TracedMethod;
use crate::implied_events::ThreadEvents;
use crate::position::{self, Began};
use crate::program::{Callee, Program};
use crate::sites::Signature;
use crate::stack::{Runs, Stack};

/// The type of an allocated object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Type<'p> {
    /// A class, or an array's descriptor.
    Named(&'p [u8]),
    /// A class, by the number of its name.
    Numbered(u32),
}

/// Events that are recorded on request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestedEvent<'p> {
    /// Objects, or arrays of one length, were allocated.
    Made {
        /// The objects' type.
        of: Type<'p>,
        /// Number of objects.
        count: u32,
        /// Number of elements, for arrays.
        length: u32,
    },
    /// The method requests the monitor of an object.
    Lock(u32),
    /// A synchronized method has begun, and holds the monitor of its receiver.
    Locked(u32),
    /// A monitor is released.
    Unlock(u32),
}

/// The interface of an analysis of a thread. Nodes are the analysis's own numbers for frames; the
/// root's is 0.
pub trait Visitor {
    /// Whether the analysis needs the calling call sites.
    const WANTS_SITES: bool = false;

    /// A method is entered, called by the frame with node `caller`. Returns the node of its frame.
    fn enter(&mut self, caller: u32, callee: Callee, method: Option<TracedMethod<'_>>) -> u32;

    /// The top frame is left.
    fn leave(&mut self, node: u32, by_exception: bool) {
        let _ = (node, by_exception);
    }

    /// A block begins, whose bytecodes are executed unless [`Visitor::take_back`] says otherwise.
    fn block(&mut self, node: u32, method: TracedMethod<'_>, block: u32, bytecodes: u32);

    /// The call site with this index in a method calls a method, which is entered next.
    fn called(&mut self, caller: TracedMethod<'_>, site: usize, callee: Callee) {
        let _ = (caller, site, callee);
    }

    /// An event that is recorded on request.
    fn noted(&mut self, node: u32, what: RequestedEvent<'_>) {
        let _ = (node, what);
    }

    /// Bytecodes of methods without blocks.
    fn bytecodes(&mut self, node: u32, bytecodes: u32);

    /// This many bytecodes of the block that began last in this frame were not executed.
    fn take_back(&mut self, node: u32, bytecodes: u32);

    /// The class of the receiver of the method that has just been entered.
    fn receiver(&mut self, node: u32, class: u32) {
        let _ = (node, class);
    }

    /// Whether the analysis needs further events. It may get a few more after returning false.
    fn wants_more(&self) -> bool {
        true
    }

    /// A class was loaded.
    fn class_loaded(&mut self, node: u32, class: u32) {
        let _ = (node, class);
    }
}

/// Oddities of a thread's events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Oddities {
    /// Ends of methods that had not begun.
    pub ends: u64,
    /// Blocks of methods that had not begun; they count as entered then.
    pub blocks: u64,
    /// Methods that are missing from the trace's static data.
    pub methods: u64,
    /// Frames without an end event.
    pub unended: u64,
    /// Gaps in the events.
    pub gaps: u64,
}

impl Oddities {
    /// Adds the oddities of another thread.
    pub fn add(&mut self, other: Oddities) {
        self.ends += other.ends;
        self.blocks += other.blocks;
        self.methods += other.methods;
        self.unended += other.unended;
        self.gaps += other.gaps;
    }
}

/// A frame of the simulated stack.
#[derive(Debug, Clone, Copy)]
struct Frame {
    node: u32,
    /// The method's number; `None` for a method without events of its own.
    method: Option<u32>,
    /// The running block.
    block: Option<u32>,
    /// Start of this block's callees in [`Replay::began`].
    began: usize,
    /// The first call site that has not called yet, if the analysis needs call sites.
    site: usize,
}

impl Runs for Frame {
    fn method(&self) -> Option<u32> {
        self.method
    }
}

/// A call site, as far as known.
#[derive(Debug, Clone, Copy)]
enum Site {
    /// The call site's bytecode index.
    At(u32),
    /// The call site's callee.
    Of(Option<Signature>),
}

/// The replay of one thread.
#[derive(Debug)]
pub struct Replay<'p, V> {
    program: &'p Program,
    /// The analysis.
    pub visitor: V,
    decoder: Decoder,
    whole: ThreadEvents<'p>,
    stack: Stack<Frame>,
    /// Callees in the running blocks of all frames, one frame's after the other's.
    began: Vec<Began>,
    /// How far the block came that an exception has left.
    partial: Option<u32>,
    /// The method looked up last.
    last: Option<(u32, TracedMethod<'p>)>,
    /// Stack sizes on top of which are methods that ended at once, if the VM has not been seen to
    /// call anything in them. Callees of the VM may have some, too.
    leaves: Vec<usize>,
    /// By method and block: the result of [`position::of_first`], which scans the block.
    firsts: FxHashMap<(u32, u32), Option<u32>>,
    /// Whether recording has paused: methods without a beginning may then continue.
    paused: bool,
    /// Oddities so far.
    pub oddities: Oddities,
    /// Number of events so far, including implied ones.
    pub events: u64,
}

impl<'p, V: Visitor> Replay<'p, V> {
    /// A thread without events so far.
    pub fn new(program: &'p Program, visitor: V) -> Self {
        Replay {
            program,
            visitor,
            decoder: Decoder::default(),
            whole: ThreadEvents::new(program),
            stack: Stack::default(),
            began: Vec::new(),
            partial: None,
            last: None,
            leaves: Vec::new(),
            firsts: FxHashMap::default(),
            paused: false,
            oddities: Oddities::default(),
            events: 0,
        }
    }

    /// Declares that earlier events are missing by intention: methods without a beginning may
    /// continue.
    pub fn begins_in_the_middle(&mut self) {
        self.paused = true;
    }

    /// Replays the next events.
    ///
    /// # Errors
    /// Fails if a word is no event.
    pub fn words(&mut self, bytes: &[u8]) -> Result<(), UnknownEvent> {
        let mut whole = std::mem::replace(&mut self.whole, ThreadEvents::new(self.program));
        let result = bytes.as_chunks::<4>().0.iter().try_for_each(|&word| {
            if let Some(event) = self.decoder.word(u32::from_le_bytes(word))? {
                whole.event(event, &mut |event| self.count(event));
            }
            Ok(())
        });
        self.whole = whole;
        result
    }

    fn count(&mut self, event: Event) {
        self.events += 1;
        self.event(event);
    }

    /// Handles missing events.
    pub fn gap(&mut self) {
        self.oddities.gaps += 1;
        self.decoder = Decoder::default();
        self.whole.gap();
    }

    /// Number of events that did not fit into a word.
    pub fn wides(&self) -> u64 {
        self.decoder.wides()
    }

    fn found(&mut self, number: u32) -> Option<TracedMethod<'p>> {
        match self.last {
            Some((last, found)) if last == number => Some(found),
            _ => {
                let found = self.program.method(number)?;
                self.last = Some((number, found));
                Some(found)
            }
        }
    }

    fn event(&mut self, event: Event) {
        // It may be between any two events, and is no action of the thread.
        if let Event::Order(_) = event {
            return;
        }
        while let Some(&size) = self.leaves.last() {
            let is_within = self.stack.len() > size
                || matches!(event, Event::Start { method, .. } if self.program.registers(method));
            if is_within {
                break;
            }
            self.leaves.pop();
            if self.stack.len() == size {
                self.pop(false);
            }
        }
        let partial = self.partial.take();
        match event {
            Event::Start { method, ends_at_once, .. } => self.start(method, ends_at_once),
            Event::End { method, by_exception } => self.end(method, by_exception, partial),
            Event::Block { method, block } => self.block(method, block, partial),
            Event::Partial(bytecodes) => self.partial = Some(bytecodes),
            Event::Leaf(bci) => self.site(bci, true),
            Event::Call(bci) => self.site(bci, false),
            Event::Returned(_) => {
                if self.stack.last().is_some_and(|top| top.method.is_none()) {
                    self.pop(false);
                }
            }
            Event::ById { id, ends_at_once } => {
                self.begin(Began::Unknown);
                if let Some(callee) = self.program.callee_with_id(id) {
                    self.push(callee, None, None);
                    if ends_at_once {
                        self.pop(false);
                    }
                } else {
                    self.oddities.methods += 1;
                }
            }
            Event::Receiver(class) => {
                let node = self.node();
                self.visitor.receiver(node, class);
            }
            Event::ClassLoaded(class) => {
                let node = self.node();
                self.visitor.class_loaded(node, class);
            }
            // After recording resumes, other methods may be running than when it paused.
            Event::Paused => {
                self.settle_all();
                while !self.stack.is_empty() {
                    self.pop(false);
                }
                self.paused = true;
            }
            Event::Made(bci) => self.made(bci, 0, 1, 0),
            Event::Array { bci, length } => self.made(bci, 0, 1, length),
            Event::Arrays { bci, level, count, length } => self.made(bci, level, count, length),
            Event::MadeByNative { class, length } => {
                let node = self.node();
                let of = Type::Numbered(class);
                self.visitor.noted(node, RequestedEvent::Made { of, count: 1, length });
            }
            Event::Lock { object, .. } => self.noted(RequestedEvent::Lock(object), partial),
            Event::Locked(object) => self.noted(RequestedEvent::Locked(object), partial),
            Event::Unlock { object, .. } => self.noted(RequestedEvent::Unlock(object), partial),
            Event::Padding | Event::Resumed(_) | Event::Order(_) => {}
            Event::Gap(_) => self.oddities.gaps += 1,
        }
    }

    fn noted(&mut self, what: RequestedEvent<'_>, partial: Option<u32>) {
        self.partial = partial;
        let node = self.node();
        self.visitor.noted(node, what);
    }

    /// An instruction of the top frame has allocated something.
    fn made(&mut self, bci: u32, level: u32, count: u32, length: u32) {
        let node = self.node();
        let found = self.stack.last().and_then(|top| top.method).and_then(|number| self.found(number));
        match found.and_then(|found| found.method.made_at(bci)?.get(level as usize..)) {
            Some(of) => self.visitor.noted(node, RequestedEvent::Made { of: Type::Named(of), count, length }),
            None => self.oddities.methods += 1,
        }
    }

    /// Reports which call site of the top frame calls.
    fn report_site(&mut self, callee: Callee, site: Site) {
        let Some(&Frame { method: Some(number), block: Some(block), site: from, .. }) = self.stack.last()
        else {
            return;
        };
        let Some(found) = self.found(number) else { return };
        let method = found.method;
        let end = method.blocks.get(block as usize + 1).map_or(u32::MAX, |next| next.start);
        let at = match site {
            Site::At(bci) => position::site_at(method, bci, from),
            Site::Of(signature) => {
                signature.and_then(|callee| self.program.sites().next(found, callee, from))
            }
        };
        let at = at.filter(|&at| method.calls.get(at).is_some_and(|site| site.bci < end));
        if let (Some(at), Some(top)) = (at, self.stack.last_mut()) {
            top.site = at + 1;
            self.visitor.called(found, at, callee);
        }
    }

    fn node(&self) -> u32 {
        self.stack.last().map_or(0, |top| top.node)
    }

    /// A callee begins in the running block.
    fn begin(&mut self, what: Began) {
        if self.stack.last().is_some_and(|top| top.block.is_some()) {
            self.began.push(what);
        }
    }

    fn push(&mut self, callee: Callee, found: Option<TracedMethod<'p>>, number: Option<u32>) {
        let caller = self.node();
        let node = self.visitor.enter(caller, callee, found);
        self.stack.push(Frame { node, method: number, block: None, began: self.began.len(), site: 0 });
    }

    fn pop(&mut self, by_exception: bool) {
        if let Some(top) = self.stack.pop() {
            self.began.truncate(top.began);
            self.visitor.leave(top.node, by_exception);
        }
    }

    fn start(&mut self, number: u32, ends_at_once: bool) {
        self.begin(Began::Method(number));
        let Some(found) = self.found(number) else {
            self.oddities.methods += 1;
            return;
        };
        let callee = self.program.callee(found);
        if V::WANTS_SITES {
            self.report_site(callee, Site::Of(self.program.sites().signature(found)));
        }
        self.push(callee, Some(found), Some(number));
        if ends_at_once {
            let bytecodes = found.method.blocks.first().map_or(0, |block| block.bytecodes());
            let node = self.node();
            if bytecodes > 0 {
                self.visitor.bytecodes(node, bytecodes);
            }
            self.pop(false);
        } else if !found.method.entry_is_target
            && matches!(found.method.recording, Recording::Full | Recording::Blocks)
        {
            self.run(found, 0);
        }
    }

    /// A block of the top frame begins.
    fn run(&mut self, found: TracedMethod<'p>, block: u32) {
        let bytecodes = found.method.blocks.get(block as usize).map_or(0, |block| block.bytecodes());
        if let Some(top) = self.stack.last_mut() {
            top.block = Some(block);
            if V::WANTS_SITES {
                let start = found.method.blocks.get(block as usize).map_or(0, |block| block.start);
                top.site = found.method.calls.partition_point(|site| site.bci < start);
            }
            self.began.truncate(top.began);
            self.visitor.block(top.node, found, block, bytecodes);
        }
    }

    /// Leaves the frames above that of a method; returns whether there is one.
    fn unwind(&mut self, number: u32) -> bool {
        if self.stack.last().is_some_and(|top| top.method == Some(number)) {
            return true;
        }
        let Some(place) = self.stack.find(number) else { return false };
        while self.stack.len() > place + 1 {
            if self.stack.last().is_some_and(|top| top.method.is_some()) {
                self.oddities.unended += 1;
                self.settle(self.stack.len() - 1);
            }
            self.pop(true);
        }
        true
    }

    fn end(&mut self, number: u32, by_exception: bool, partial: Option<u32>) {
        if !self.unwind(number) {
            self.oddities.ends += u64::from(!self.paused);
            return;
        }
        self.interrupt(partial);
        self.pop(by_exception);
    }

    fn block(&mut self, number: u32, block: u32, partial: Option<u32>) {
        let Some(found) = self.found(number) else {
            self.oddities.methods += 1;
            return;
        };
        if !self.unwind(number) {
            self.oddities.blocks += u64::from(!self.paused);
            self.push(self.program.callee(found), Some(found), Some(number));
        }
        self.interrupt(partial);
        self.run(found, block);
    }

    /// An exception has left the block of the top frame.
    fn interrupt(&mut self, partial: Option<u32>) {
        let (Some(executed), Some(top)) = (partial, self.stack.last().copied()) else { return };
        let (Some(number), Some(block)) = (top.method, top.block) else { return };
        self.take_back(top.node, number, block, executed);
    }

    fn take_back(&mut self, node: u32, number: u32, block: u32, executed: u32) {
        let Some(found) = self.found(number) else { return };
        let all = found.method.blocks.get(block as usize).map_or(0, |block| block.bytecodes());
        if let Some(rest) = all.checked_sub(executed).filter(|&rest| rest > 0) {
            self.visitor.take_back(node, rest);
        }
    }

    /// Settles a frame that did not reach the end of its block: the part after its last call was
    /// not executed.
    fn settle(&mut self, place: usize) {
        let frame = self.stack[place];
        let end = self.stack.get(place + 1).map_or(self.began.len(), |above| above.began);
        let (Some(number), Some(block)) = (frame.method, frame.block) else { return };
        let Some(found) = self.found(number) else { return };
        let began = &self.began[frame.began.min(end)..end];
        let program = self.program;
        let is_top = place + 1 == self.stack.len();
        let executed = position::of_last(program, found, block as usize, began).or_else(|| {
            let look = || position::of_first(found.method, block as usize);
            is_top.then(|| *self.firsts.entry((number, block)).or_insert_with(look)).flatten()
        });
        if let Some(executed) = executed {
            self.take_back(frame.node, number, block, executed);
        }
    }

    fn settle_all(&mut self) {
        for place in (0..self.stack.len()).rev() {
            self.settle(place);
        }
    }

    /// An event of a call site names its callee.
    fn site(&mut self, bci: u32, ends_at_once: bool) {
        // An earlier callee without an end event has ended.
        while self.stack.last().is_some_and(|top| top.method.is_none()) {
            self.pop(false);
        }
        self.begin(Began::At(bci));
        let found = self.stack.last().and_then(|top| top.method).and_then(|number| self.found(number));
        let Some((callee, site)) = found.and_then(|found| self.program.callee_at(found, bci)) else {
            self.oddities.methods += 1;
            return;
        };
        let bytecodes = site.bytecodes;
        if V::WANTS_SITES {
            self.report_site(callee, Site::At(bci));
        }
        self.push(callee, None, None);
        if bytecodes > 0 {
            let node = self.node();
            self.visitor.bytecodes(node, bytecodes);
        }
        if ends_at_once {
            self.leaves.push(self.stack.len());
        }
    }

    /// Ends the replay: methods that still run did not reach their ends.
    pub fn finish(mut self) -> (V, Oddities, u64) {
        std::mem::replace(&mut self.whole, ThreadEvents::new(self.program))
            .finish(&mut |event| self.count(event));
        self.settle_all();
        (self.visitor, self.oddities, self.events)
    }
}
