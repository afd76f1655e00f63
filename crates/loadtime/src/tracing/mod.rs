//! Traces (docs/research/trace.md): the threads' buffers, and the file.
//!
//! Rewritten code fills a thread's buffer. When the buffer is full, the thread calls this module,
//! passes it to the writer and continues with an empty one. Few buffers are on their way to the
//! file at any time. If the writer falls behind, threads write their buffers themselves, and so
//! wait for the disk.
//!
//! Meanwhile the thread is in a native, so no collection waits for it. No lock is held that Java
//! code could wait for.

mod last;
mod natives;
mod options;
mod output;
mod private;
mod record;
mod static_data;

pub use natives::register;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError, RwLock};

use cct_events::file::Thread;
use cct_events::{Event, Frame, FrameKind};
use cct_rewrite::tracing::Numbers;
use rustc_hash::FxHashMap;

use last::Last;
use options::Options;
use output::{Job, Output};
use record::{Buffer, Record};
use static_data::StaticData;

static TRACER: OnceLock<Tracer> = OnceLock::new();

/// The tracer of this JVM; `None` if it records no trace.
pub fn tracer() -> Option<&'static Tracer> {
    TRACER.get()
}

/// The tracer of a JVM.
#[derive(Debug)]
pub struct Tracer {
    output: Output,
    /// The file of last events, if the trace keeps only those.
    last: Option<Last>,
    /// The thread that spoke last and the number of changes, where the order between threads is
    /// kept.
    order: Option<AtomicU64>,
    /// Read-locked by threads that flush, write-locked by the thread that ends the trace.
    gate: RwLock<()>,
    closed: AtomicBool,
    /// Whether new threads start paused.
    paused: AtomicBool,
    records: Mutex<Vec<Record>>,
    numbers: Mutex<Numbers>,
    /// The threads by number; for those whose names change.
    named: Mutex<Vec<Thread>>,
    /// Number of threads that got no record for lack of room.
    without_record: AtomicU64,
    /// Numbers of classes that were loaded, or that occurred as the class of a receiver.
    classes: Mutex<FxHashMap<Box<[u8]>, u32>>,
}

impl Tracer {
    /// Starts the trace: creates its file, in whose name `%p` is the process id, and opens the
    /// static data of the class library.
    fn start(file: &str, structure: &Path, options: Options) -> Result<(), String> {
        let path = file.replace("%p", &std::process::id().to_string());
        let because = |e: std::io::Error| format!("{path}: {e}");
        let (known, mut provenance, numbers) = StaticData::open(structure)?;
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
        TRACER.set(tracer).map_err(|_| "the trace has already begun".to_owned())
    }

    /// Numbers for a class that is being rewritten, with this many methods.
    pub fn number(&self, methods: usize) -> Numbers {
        let mut next = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let here = *next;
        next.class += 1;
        next.first_method += methods as u32;
        here
    }

    /// Writes the static data of a class that has just been rewritten.
    pub fn class(&self, structure: &[u8]) {
        self.output.send(Job::Frame(Frame::new(FrameKind::Class, 0, 0, structure)));
    }

    /// A new record for a thread.
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

    /// Reuses a record for another thread.
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

    /// Numbers a new thread and writes its description to the file.
    fn name(&self, thread: &Thread) -> u32 {
        let number = {
            let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
            named.push(thread.clone());
            named.len() as u32 - 1
        };
        self.output.send(Job::Frame(Frame::new(FrameKind::Thread, number, 0, &thread.bytes())));
        number
    }

    /// Renames the thread of a record.
    fn rename(&self, record: Record, name: &str) {
        let number = record.thread();
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(thread) = named.get_mut(number as usize).filter(|thread| thread.name != name) else {
            return;
        };
        thread.name = name.to_owned();
        self.output.send(Job::Frame(Frame::new(FrameKind::Thread, number, 0, &thread.bytes())));
    }

    /// Pauses or resumes one thread, or all threads and new ones. `name` is that of the part of the
    /// recording that begins.
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

    /// The number of a class with this name; writes a new class to the file.
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

    /// Records that the thread with this record loaded a class.
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

    /// Handles a full buffer, or another thread's turn. Returns the place of the next event.
    fn flush(&self, record: Record) -> u64 {
        let _gate = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        if self.closed.load(Ordering::Acquire) {
            // Events after the end are not recorded; those before it stay.
            return record.pause();
        }
        let place = self.make_room(record);
        match &self.order {
            Some(order) if !record.is_paused() => record.take_turn(order),
            _ => place,
        }
    }

    /// Makes room in a buffer. The caller holds the gate.
    fn make_room(&self, record: Record) -> u64 {
        if let Some(answer) = record.asked() {
            record.set_end();
            match answer.checked_sub(1) {
                None if !record.is_paused() => {
                    // A record that has not begun does not pause. After the end of the buffer there
                    // is room for a word.
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

    /// Passes the buffer's contents to the writer. The caller holds the gate.
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
            // If memory runs out, the thread waits until its own buffer is written.
            None => {
                let (thread, sequence) = record.next();
                self.output.write_now(thread, sequence, &record.bytes());
                record.rewind()
            }
        }
    }

    /// Writes the last events of a thread that does nothing any more.
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

    /// Ends the trace: writes the contents of all buffers, and the notes for readers. Returns an
    /// error message on failure.
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
                "there was no memory for the events of threads, {without} times: their events are missing"
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
