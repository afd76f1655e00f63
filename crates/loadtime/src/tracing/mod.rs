//! Traces (docs/research/trace.md): the threads' buffers, and the file.
//!
//! Rewritten code fills a thread's buffer. When it is full the thread comes here, leaves it to the
//! writer and goes on with an empty one. There are few buffers on their way to the file at any
//! time: where the writer does not keep up, threads write theirs themselves, and so wait for the
//! disk.
//!
//! A thread is in a native meanwhile, so no collection waits for it. No lock is held that Java code
//! could wait for.

mod known;
mod last;
mod natives;
mod options;
mod output;
mod private;
mod record;

pub use natives::register;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError, RwLock};

use cct_events::file::Thread;
use cct_events::{Event, Frame, FrameKind};
use cct_rewrite::tracing::Numbers;
use rustc_hash::FxHashMap;

use known::Known;
use last::Last;
use options::Options;
use output::{Job, Output};
use record::{Buffer, Record};

static TRACER: OnceLock<Tracer> = OnceLock::new();

/// What makes the trace of this JVM; `None` if none is made.
pub fn tracer() -> Option<&'static Tracer> {
    TRACER.get()
}

/// The trace of a JVM.
#[derive(Debug)]
pub struct Tracer {
    output: Output,
    /// Where the last events of threads are, if these are all that is kept.
    last: Option<Last>,
    /// Who spoke last, and how often that has changed, where the order between threads is kept.
    order: Option<AtomicU64>,
    /// Held by whoever flushes, and alone by who ends the trace.
    gate: RwLock<()>,
    closed: AtomicBool,
    /// Whether threads that come are not recorded.
    paused: AtomicBool,
    records: Mutex<Vec<Record>>,
    numbers: Mutex<Numbers>,
    /// Who the threads are, by number; for those whose names change.
    named: Mutex<Vec<Thread>>,
    /// How many threads had no room for a record.
    without_record: AtomicU64,
    /// Numbers of classes that were loaded, or of which there was a receiver.
    classes: Mutex<FxHashMap<Box<[u8]>, u32>>,
}

impl Tracer {
    /// Begins the trace: its file, in which `%p` is the process, and what is known of the class
    /// library's classes.
    fn start(file: &str, structure: &Path, options: Options) -> Result<(), String> {
        let path = file.replace("%p", &std::process::id().to_string());
        let because = |e: std::io::Error| format!("{path}: {e}");
        let (known, mut provenance, numbers) = Known::open(structure)?;
        provenance.push_str(&options.lines());
        let output = Output::create(Path::new(&path), &provenance, known, options.memory).map_err(because)?;
        let last = options.last.map(|events| Last::create(Path::new(&path), events, structure));
        let tracer = Tracer {
            output,
            last: last.transpose().map_err(because)?,
            order: options.is_shared.then(AtomicU64::default),
            gate: RwLock::new(()),
            closed: AtomicBool::new(false),
            paused: AtomicBool::new(false),
            records: Mutex::default(),
            numbers: Mutex::new(numbers),
            named: Mutex::default(),
            without_record: AtomicU64::new(0),
            classes: Mutex::default(),
        };
        TRACER.set(tracer).map_err(|_| "the trace was begun before".to_owned())
    }

    /// Numbers for a class that is rewritten now, and has so many methods.
    pub fn number(&self, methods: usize) -> Numbers {
        let mut next = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let here = *next;
        next.class += 1;
        next.first_method += methods as u32;
        here
    }

    /// The static side of a class that was rewritten now.
    pub fn class(&self, structure: &[u8]) {
        self.output.send(Job::Frame(Frame::new(FrameKind::Class, 0, 0, structure)));
    }

    /// A record for a thread.
    fn open(&self, thread: &Thread) -> Option<Record> {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        let owner = if self.order.is_some() { records.len() as u64 + 1 } else { 0 };
        let number = self.name(thread);
        let record = match &self.last {
            Some(last) => last.record(number, owner),
            None => Record::new(number, owner),
        };
        let Some(record) = record else {
            self.without_record.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        records.push(record);
        if self.paused.load(Ordering::Acquire) {
            record.ask(0);
        }
        Some(record)
    }

    /// The record goes on with another thread's events.
    fn renew(&self, record: Record, thread: &Thread) {
        let _gate = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        if !self.closed.load(Ordering::Acquire) {
            record.resume();
            if record.is_in_ring() {
                self.write_last(record);
            } else {
                let _ = self.take(record, false);
            }
        }
        record.resume();
        record.renew(self.name(thread));
        if self.paused.load(Ordering::Acquire) {
            record.ask(0);
        }
    }

    /// The number of a new thread, of which the file knows then.
    fn name(&self, thread: &Thread) -> u32 {
        let number = {
            let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
            named.push(thread.clone());
            named.len() as u32 - 1
        };
        self.output.send(Job::Frame(Frame::new(FrameKind::Thread, number, 0, &thread.bytes())));
        number
    }

    /// The thread of a record has another name now.
    fn rename(&self, record: Record, name: &str) {
        let number = record.thread();
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(thread) = named.get_mut(number as usize).filter(|thread| thread.name != name) else {
            return;
        };
        thread.name = name.to_owned();
        self.output.send(Job::Frame(Frame::new(FrameKind::Thread, number, 0, &thread.bytes())));
    }

    /// Whether one thread, or all and those that come, are recorded from now on; and under which
    /// name.
    fn switch(&self, record: Option<Record>, recorded: bool, name: Option<&str>) {
        let answer = match (recorded, name) {
            (false, _) => 0,
            (true, None) => 1,
            (true, Some(name)) => 2 + u64::from(self.class_number(name.as_bytes())),
        };
        match record {
            Some(record) => record.ask(answer),
            None => {
                let records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
                self.paused.store(!recorded, Ordering::Release);
                records.iter().for_each(|record| record.ask(answer));
            }
        }
    }

    /// The number of a class with this name, which the file knows then.
    fn class_number(&self, name: &[u8]) -> u32 {
        let mut classes = self.classes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&number) = classes.get(name) {
            return number;
        }
        let number = classes.len() as u32;
        classes.insert(name.into(), number);
        self.output.send(Job::Frame(Frame::new(FrameKind::ClassName, number, 0, name)));
        number
    }

    /// A class was loaded in the thread with this record.
    pub fn loaded(&self, record: u64, name: &[u8]) {
        let Some(record) = Record::of_context(record) else { return };
        let event = Event::ClassLoaded(self.class_number(name));
        if self.order.is_some() || !record.has_room() {
            self.flush(record);
        }
        record.force(event);
    }

    /// The word that orders threads, if they are ordered.
    fn order(&self) -> Option<&AtomicU64> {
        self.order.as_ref()
    }

    /// The thread's buffer is full, or it was somebody else's turn: the place of the next event.
    fn flush(&self, record: Record) -> u64 {
        let _gate = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        if self.closed.load(Ordering::Acquire) {
            // What comes behind the end is not recorded, and what stands before it stays.
            return record.pause();
        }
        let place = self.make_room(record);
        match &self.order {
            Some(order) if !record.is_paused() => record.take_turn(order),
            _ => place,
        }
    }

    /// Under the gate.
    fn make_room(&self, record: Record) -> u64 {
        if let Some(answer) = record.asked() {
            record.set_end();
            match answer.checked_sub(1) {
                None if !record.is_paused() => {
                    // What has not begun does not pause. Behind the end of the buffer there is room
                    // for a word.
                    if record.has_begun() {
                        record.force(Event::Paused);
                    }
                    record.pause();
                }
                Some(name) if record.is_paused() => {
                    record.resume();
                    record.force(Event::Resumed(name as u32));
                }
                _ => {}
            }
        }
        if record.has_room() {
            return record.place();
        }
        if record.is_paused() { record.rewind() } else { self.take(record, true) }
    }

    /// Leaves what is in the buffer to the writer. Under the gate.
    fn take(&self, record: Record, grow: bool) -> u64 {
        if record.is_in_ring() {
            return record.turn();
        }
        let size = if grow { record.next_size() } else { record.size() };
        match self.output.buffer(size).or_else(|| Buffer::new(size)) {
            Some(buffer) => {
                let (thread, sequence, full) = record.exchange(buffer);
                self.output.send(Job::Events(thread, sequence, full));
                record.place()
            }
            // Without memory the thread waits until its own buffer is written.
            None => {
                let (thread, sequence) = record.next();
                self.output.write_now(thread, sequence, &record.bytes());
                record.rewind()
            }
        }
    }

    /// Writes what a thread has left that does nothing any more.
    fn write_last(&self, record: Record) {
        let older = if record.is_in_ring() { record.older() } else { Vec::new() };
        let newer = record.bytes();
        for bytes in [older, newer].iter().filter(|bytes| !bytes.is_empty()) {
            let (thread, sequence) = record.next();
            self.output.write_now(thread, sequence, bytes);
        }
    }

    /// Writes lines.
    fn lines(&self, kind: FrameKind, lines: &[String]) {
        let text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
        self.output.send(Job::Frame(Frame::new(kind, 0, 0, text.as_bytes())));
    }

    /// Ends the trace: what is in all buffers is written, and what readers must know. Says what
    /// went wrong.
    fn end(&self, notes: &[String]) -> Option<String> {
        {
            let _alone = self.gate.write().unwrap_or_else(PoisonError::into_inner);
            self.closed.store(true, Ordering::Release);
        }
        let records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        self.output.write_kept();
        records.iter().for_each(|&record| self.write_last(record));
        let mut notes = notes.to_vec();
        let without = self.without_record.load(Ordering::Relaxed);
        if without > 0 {
            notes.push(format!(
                "there was no room for the events of threads, {without} times: what these did is missing"
            ));
        }
        self.lines(FrameKind::Notes, &notes);
        self.output.send(Job::Frame(Frame::new(FrameKind::End, 0, 0, &[])));
        let trouble = self.output.close();
        if let Some(last) = self.last.as_ref().filter(|_| trouble.is_none()) {
            last.remove();
        }
        trouble
    }
}
