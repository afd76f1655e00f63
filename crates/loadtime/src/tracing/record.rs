//! The record of a thread, and its buffer, which rewritten code writes to (`java.lang.CctTrace`).

#![allow(unsafe_code)]

use cct_events::Event;
use cct_events::ring::{self, offset};
use std::alloc::{Layout, alloc, dealloc};
use std::mem::offset_of;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a thread's first buffer, and of its largest: each is twice the size of the one before.
const FIRST: usize = 1 << 12;
const LARGEST: usize = 1 << 18;

/// Bytes after the place at which a buffer is full: an event takes up to four words, and three may
/// precede it.
pub const SPARE: usize = 64;

/// Bits for the thread in the word that orders threads; the others count how often the thread has
/// changed.
const OWNER_BITS: u32 = 24;

/// Memory for events.
#[derive(Debug)]
pub struct Buffer {
    start: *mut u8,
    size: usize,
    /// Number of bytes that are events.
    filled: usize,
}

// SAFETY: only the owner of the buffer refers to its memory.
unsafe impl Send for Buffer {}

impl Buffer {
    /// Allocates a buffer of this many bytes; `None` if memory runs out.
    pub fn new(size: usize) -> Option<Buffer> {
        // SAFETY: the size is not 0.
        let start = unsafe { alloc(layout(size)?) };
        (!start.is_null()).then_some(Buffer { start, size, filled: 0 })
    }

    /// The buffer's size in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The events.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: this many bytes were written, by a thread that does not write any more.
        unsafe { std::slice::from_raw_parts(self.start, self.filled) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(layout) = layout(self.size) {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(self.start, layout) };
        }
    }
}

impl Words {
    fn of(thread: u32, owner: u64) -> Words {
        Words {
            place: 0,
            end: 0,
            full: 0,
            to_pause: AtomicU64::new(0),
            owner,
            start: 0,
            base: 0,
            behind: 0,
            paused: 0,
            kept: 0,
            thread,
            sequence: 0,
            size: 0,
            extents: 0,
        }
    }
}

fn layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(size, 64).ok().filter(|layout| layout.size() > 0)
}

/// The words of a record. The runtime uses the first five (`java.lang.CctTrace`), and readers of
/// [`ring`]s others.
#[repr(C, align(128))]
struct Words {
    /// The place of the next event.
    place: u64,
    /// The place at which the buffer is full, as the thread sees it; 0 makes the thread call at
    /// each event.
    end: u64,
    /// The place at which the buffer is full.
    full: u64,
    /// The request to pause or resume, which other threads set; they then make the buffer appear
    /// full.
    to_pause: AtomicU64,
    /// The thread in the word that orders threads, from 1; 0 where their order is not kept.
    owner: u64,
    start: u64,
    /// In a ring, the position of this record.
    base: u64,
    /// In a ring, the bytes in the half that is not being written.
    behind: u64,
    /// Whether the thread's events are discarded, and its place before that.
    paused: u64,
    kept: u64,
    thread: u32,
    sequence: u32,
    size: u64,
    /// Number of methods on the stack whose extents are recorded.
    extents: i64,
}

const _: () = {
    assert!(offset_of!(Words, place) == offset::PLACE && offset_of!(Words, start) == offset::START);
    assert!(offset_of!(Words, base) == offset::BASE && offset_of!(Words, behind) == offset::BEHIND);
    assert!(offset_of!(Words, paused) == offset::PAUSED && offset_of!(Words, kept) == offset::KEPT);
    assert!(offset_of!(Words, thread) == offset::THREAD && offset_of!(Words, sequence) == offset::SEQUENCE);
    assert!(
        offset_of!(Words, full) == 16 && offset_of!(Words, to_pause) == 24 && offset_of!(Words, owner) == 32
    );
    assert!(size_of::<Words>() <= ring::HEAD);
};

/// Size of the area to which paused threads write. Nobody reads it.
const NOWHERE: usize = 1 << 12;

/// A record. It lives as long as the JVM. Only its thread changes it, or the code that gives it to
/// another thread.
#[derive(Debug, Clone, Copy)]
pub struct Record(*mut Words);

// SAFETY: an address; the type's comment says who may use it and how.
unsafe impl Send for Record {}

impl Record {
    /// Allocates a record with a buffer; `None` if memory runs out. `owner` is 0 unless threads are
    /// ordered.
    pub fn new(thread: u32, owner: u64) -> Option<Record> {
        let buffer = Buffer::new(FIRST)?;
        let record = Record(Box::into_raw(Box::new(Words::of(thread, owner))));
        record.put(buffer);
        Some(record)
    }

    /// Creates a record in an area of a ring, with halves of this many bytes.
    ///
    /// # Safety
    /// The area must exist as long as the JVM, have [`ring::area_size`] zero bytes, and be used by
    /// nobody else.
    pub unsafe fn in_ring(area: *mut u8, half: usize, thread: u32, owner: u64) -> Record {
        let base = area as u64;
        let start = base + ring::HEAD as u64;
        let words = Words { base, start, size: half as u64, place: start, ..Words::of(thread, owner) };
        // SAFETY: areas are aligned to pages.
        let record = unsafe {
            area.cast::<Words>().write(words);
            Record(area.cast())
        };
        record.set_end();
        record
    }

    /// Whether the record is in a ring.
    pub fn is_in_ring(self) -> bool {
        // SAFETY: as above; it never changes.
        unsafe { (*self.0).base != 0 }
    }

    /// In a ring: continues with the other half.
    pub fn turn(self) -> u64 {
        // SAFETY: as above.
        unsafe {
            let words = self.0;
            let first = (*words).base + ring::HEAD as u64;
            (*words).behind = self.place().saturating_sub((*words).start).min((*words).size);
            (*words).start = if (*words).start == first { first + (*words).size } else { first };
            (*words).sequence += 1;
            std::ptr::write_volatile(&raw mut (*words).place, (*words).start);
        }
        self.set_end();
        self.place()
    }

    /// In a ring: the contents of the half that is not being written.
    pub fn older(self) -> Vec<u8> {
        // SAFETY: as above; nobody writes to the half once the trace is closed.
        unsafe {
            let first = (*self.0).base + ring::HEAD as u64;
            let other = if (*self.0).start == first { first + (*self.0).size } else { first };
            std::slice::from_raw_parts(other as *const u8, (*self.0).behind as usize).to_vec()
        }
    }

    /// Where threads are ordered: takes the turn for this record's thread.
    pub fn take_turn(self, order: &AtomicU64) -> u64 {
        // SAFETY: as above.
        let owner = unsafe { (*self.0).owner };
        let mut last = order.load(Ordering::Acquire);
        while last & ((1 << OWNER_BITS) - 1) != owner {
            let turn = (last >> OWNER_BITS) + 1;
            match order.compare_exchange_weak(
                last,
                turn << OWNER_BITS | owner,
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => {
                    self.force(Event::Order(turn));
                    break;
                }
                Err(now) => last = now,
            }
        }
        self.place()
    }

    /// The record at an address.
    ///
    /// # Safety
    /// The address must be that of a record.
    pub unsafe fn at(address: u64) -> Record {
        Record(address as *mut Words)
    }

    /// The record that a thread carries as its context; `None` if it carries none, as where nothing
    /// is recorded.
    pub fn of_context(context: u64) -> Option<Record> {
        // SAFETY: in a trace, contexts are addresses of records, or less than any address
        // (docs/internals/runtime.md).
        (context >= 1024).then(|| unsafe { Record::at(context) })
    }

    /// The record's address.
    pub fn address(self) -> u64 {
        self.0 as u64
    }

    fn put(self, buffer: Buffer) {
        let buffer = std::mem::ManuallyDrop::new(buffer);
        let words = self.0;
        // SAFETY: called in the record's thread, or the record has none.
        unsafe {
            (*words).start = buffer.start as u64;
            (*words).size = buffer.size as u64;
            std::ptr::write_volatile(&raw mut (*words).place, buffer.start as u64);
        }
        self.set_end();
    }

    /// Requests a pause or resumption: 0 pauses; otherwise the payload of the event that says so,
    /// plus one. The thread sees the request at its next event.
    pub fn ask(self, answer: u64) {
        // SAFETY: a word that others may write. Its thread reads the end at each event, and 0 is
        // less than every place.
        unsafe {
            (*self.0).to_pause.store(answer.wrapping_add(1), Ordering::Release);
            std::ptr::write_volatile(&raw mut (*self.0).end, 0);
        }
    }

    /// Enters or leaves a method whose extent is recorded: recording starts with the first and
    /// pauses after the last. Called in the record's thread.
    pub fn nest(self, deeper: i32) {
        // SAFETY: as above.
        let (before, now) = unsafe {
            let before = (*self.0).extents;
            (*self.0).extents = (before + i64::from(deeper)).max(0);
            (before, (*self.0).extents)
        };
        match (before, now) {
            (0, 1) => self.ask(1),
            (1, 0) => self.ask(0),
            _ => {}
        }
    }

    /// Takes the pending request. Called in the record's thread, as are the following methods.
    pub fn asked(self) -> Option<u64> {
        // SAFETY: as above.
        unsafe { (*self.0).to_pause.swap(0, Ordering::AcqRel).checked_sub(1) }
    }

    /// Whether the thread will be paused at its next event.
    pub fn will_be_paused(self) -> bool {
        // SAFETY: as above.
        match unsafe { (*self.0).to_pause.load(Ordering::Acquire) } {
            0 => self.is_paused(),
            asked => asked == 1,
        }
    }

    /// Whether the thread is paused.
    pub fn is_paused(self) -> bool {
        // SAFETY: as above.
        unsafe { (*self.0).paused != 0 }
    }

    /// Pauses the thread: its events are discarded. If memory runs out, it goes on recording.
    pub fn pause(self) -> u64 {
        if !self.is_paused()
            && let Some(nowhere) = Buffer::new(NOWHERE)
        {
            let nowhere = std::mem::ManuallyDrop::new(nowhere);
            // SAFETY: as above.
            unsafe {
                std::ptr::write_volatile(&raw mut (*self.0).kept, self.place());
                std::ptr::write_volatile(&raw mut (*self.0).paused, nowhere.start as u64);
            }
        }
        self.rewind()
    }

    /// Whether anything of the thread was recorded.
    pub fn has_begun(self) -> bool {
        // SAFETY: as above.
        unsafe { (*self.0).sequence != 0 || self.place() != (*self.0).start }
    }

    /// Resumes the thread: it writes to its buffer again, where it stopped.
    pub fn resume(self) -> u64 {
        // SAFETY: as above; the area for paused threads is this record's alone.
        unsafe {
            if (*self.0).paused != 0 {
                drop(Buffer { start: (*self.0).paused as *mut u8, size: NOWHERE, filled: 0 });
                (*self.0).paused = 0;
                std::ptr::write_volatile(&raw mut (*self.0).place, (*self.0).kept);
            }
        }
        self.set_end();
        self.place()
    }

    /// Sets the place at which the buffer is full.
    pub fn set_end(self) {
        // SAFETY: as above.
        unsafe {
            let (start, size) = match (*self.0).paused {
                0 => ((*self.0).start, (*self.0).size),
                nowhere => (nowhere, NOWHERE as u64),
            };
            let full = start + size - SPARE as u64;
            (*self.0).full = full;
            let end = if (*self.0).owner == 0 { full } else { 0 };
            std::ptr::write_volatile(&raw mut (*self.0).end, end);
        }
    }

    /// Whether there is room for an event.
    pub fn has_room(self) -> bool {
        // SAFETY: as above.
        unsafe { self.place() < (*self.0).full }
    }

    /// Gives the record to another thread; its buffer is empty.
    pub fn renew(self, thread: u32) {
        self.rewind();
        // SAFETY: as above.
        unsafe {
            (*self.0).thread = thread;
            (*self.0).sequence = 0;
            (*self.0).behind = 0;
            (*self.0).extents = 0;
        }
    }

    /// The size of the buffer, in bytes.
    pub fn size(self) -> usize {
        // SAFETY: as above.
        unsafe { (*self.0).size as usize }
    }

    /// The size of the next buffer, in bytes.
    pub fn next_size(self) -> usize {
        (2 * self.size()).min(LARGEST)
    }

    /// The place of the next event.
    pub fn place(self) -> u64 {
        // SAFETY: its thread may be writing it: reading a word gives the old or the new value.
        unsafe { std::ptr::read_volatile(&raw const (*self.0).place) }
    }

    /// The number of the thread and of its next chunk of events, which the caller writes.
    pub fn next(self) -> (u32, u32) {
        // SAFETY: as above.
        unsafe {
            let sequence = (*self.0).sequence;
            (*self.0).sequence += 1;
            ((*self.0).thread, sequence)
        }
    }

    /// The number of the record's thread.
    pub fn thread(self) -> u32 {
        // SAFETY: as above.
        unsafe { (*self.0).thread }
    }

    /// Writes an event where there is room, or after the place at which the buffer is full. The
    /// latter works as long as another event would fit there too. Called in the record's thread.
    pub fn force(self, event: Event) {
        let place = self.place();
        let words = event.words();
        // SAFETY: as above; at most four words are beyond the end before the thread detects it.
        unsafe {
            if place < (*self.0).full + (SPARE as u64 - 32) {
                for (at, &word) in (place..).step_by(4).zip(&*words) {
                    (at as *mut u32).write(word);
                }
                std::ptr::write_volatile(&raw mut (*self.0).place, place + 4 * words.len() as u64);
            }
        }
    }

    /// Replaces the buffer by another one. Returns the thread's number, the chunk's number and the
    /// old buffer.
    pub fn exchange(self, buffer: Buffer) -> (u32, u32, Buffer) {
        let (thread, sequence) = self.next();
        // SAFETY: as above.
        let (start, size) = unsafe { ((*self.0).start, (*self.0).size as usize) };
        let filled = (self.place().saturating_sub(start) as usize).min(size);
        let full = Buffer { start: start as *mut u8, size, filled };
        self.put(buffer);
        (thread, sequence, full)
    }

    /// Discards the contents of the buffer; returns the place of the next event.
    pub fn rewind(self) -> u64 {
        // SAFETY: as above.
        unsafe {
            let start = if (*self.0).paused == 0 { (*self.0).start } else { (*self.0).paused };
            std::ptr::write_volatile(&raw mut (*self.0).place, start);
            self.set_end();
            start
        }
    }

    /// The current contents of the buffer. The thread may go on writing after them.
    pub fn bytes(self) -> Vec<u8> {
        // SAFETY: as above.
        let place = if self.is_paused() { unsafe { (*self.0).kept } } else { self.place() };
        // SAFETY: buffers are never freed once the trace is closed, and others read only then. The
        // bytes before the place were written before it.
        unsafe {
            let start = (*self.0).start;
            let filled = (place.saturating_sub(start) as usize).min((*self.0).size as usize);
            std::slice::from_raw_parts(start as *const u8, filled).to_vec()
        }
    }
}
