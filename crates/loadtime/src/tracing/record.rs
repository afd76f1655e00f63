//! The record of a thread, and its buffer: what rewritten code writes to (`java.lang.CctTrace`).

#![allow(unsafe_code)]

use cct_events::Event;
use cct_events::ring::{self, offset};
use std::alloc::{Layout, alloc, dealloc};
use std::mem::offset_of;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a thread's first buffer, and of its largest: each is twice the one before.
const FIRST: usize = 1 << 12;
const LARGEST: usize = 1 << 18;

/// Bytes behind the place where a buffer is full: an event may be four words, and three in front of
/// it.
pub const SPARE: usize = 64;

/// Bits of the word that orders threads which say who spoke last; the others say how often that has
/// changed.
const OWNER_BITS: u32 = 24;

/// Memory for events.
#[derive(Debug)]
pub struct Buffer {
    start: *mut u8,
    size: usize,
    /// Bytes that are events.
    filled: usize,
}

// SAFETY: whoever has the buffer is the only one who knows of its memory.
unsafe impl Send for Buffer {}

impl Buffer {
    /// A buffer of so many bytes; `None` without memory.
    pub fn new(size: usize) -> Option<Buffer> {
        // SAFETY: the size is not 0.
        let start = unsafe { alloc(layout(size)?) };
        (!start.is_null()).then_some(Buffer { start, size, filled: 0 })
    }

    /// Its size in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The events.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: so many bytes were written, by a thread that does not write any more.
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

/// The words of a record. The runtime knows the first five (`java.lang.CctTrace`), and readers of
/// [`ring`]s others.
#[repr(C, align(128))]
struct Words {
    /// Where the next event goes.
    place: u64,
    /// Where the buffer is full, as the thread sees it: 0 where it has to ask at each event.
    end: u64,
    /// Where it is.
    full: u64,
    /// Whether it is to be recorded: what others set, who then have the buffer be full at once.
    to_pause: AtomicU64,
    /// Who it is in the word that orders threads, from 1; 0 where their order is not kept.
    owner: u64,
    start: u64,
    /// In a ring, where this record is.
    base: u64,
    /// In a ring, the bytes in the half that is not written to.
    behind: u64,
    /// Whether the thread writes to nowhere, and where it was before it did.
    paused: u64,
    kept: u64,
    thread: u32,
    sequence: u32,
    size: u64,
    /// How many methods are on the stack whose extents are recorded.
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

/// Where threads write that are not recorded. What stands there nobody reads.
const NOWHERE: usize = 1 << 12;

/// A record. It stays as long as the JVM does; its thread alone changes it, or whoever gives it to
/// another one.
#[derive(Debug, Clone, Copy)]
pub struct Record(*mut Words);

// SAFETY: an address; who may do what with it is said above.
unsafe impl Send for Record {}

impl Record {
    /// A record with a buffer; `None` without memory. Its `owner` is 0 unless threads are ordered.
    pub fn new(thread: u32, owner: u64) -> Option<Record> {
        let buffer = Buffer::new(FIRST)?;
        let record = Record(Box::into_raw(Box::new(Words::of(thread, owner))));
        record.put(buffer);
        Some(record)
    }

    /// A record in an area of a ring, with halves of so many bytes.
    ///
    /// # Safety
    /// The area is there as long as the JVM is, has [`ring::area_size`] bytes, which are 0, and
    /// nobody else uses it.
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

    /// Whether it is in a ring.
    pub fn is_in_ring(self) -> bool {
        // SAFETY: as above; it never changes.
        unsafe { (*self.0).base != 0 }
    }

    /// In a ring: goes on with the other half.
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

    /// In a ring: what was in the half that is not written to.
    pub fn older(self) -> Vec<u8> {
        // SAFETY: as above; the half is not written to once the trace is closed.
        unsafe {
            let first = (*self.0).base + ring::HEAD as u64;
            let other = if (*self.0).start == first { first + (*self.0).size } else { first };
            std::slice::from_raw_parts(other as *const u8, (*self.0).behind as usize).to_vec()
        }
    }

    /// Where threads are ordered: from here on it is this one's turn.
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
    /// There is one.
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

    /// Its address.
    pub fn address(self) -> u64 {
        self.0 as u64
    }

    fn put(self, buffer: Buffer) {
        let buffer = std::mem::ManuallyDrop::new(buffer);
        let words = self.0;
        // SAFETY: the record's thread is here, or there is none.
        unsafe {
            (*words).start = buffer.start as u64;
            (*words).size = buffer.size as u64;
            std::ptr::write_volatile(&raw mut (*words).place, buffer.start as u64);
        }
        self.set_end();
    }

    /// Says whether the thread is to be recorded; 0 for not, otherwise the payload of the event
    /// that says so, plus one. Seen when it writes next.
    pub fn ask(self, answer: u64) {
        // SAFETY: a word that others may write; the end is read by its thread at each event, and 0
        // is in front of every place.
        unsafe {
            (*self.0).to_pause.store(answer.wrapping_add(1), Ordering::Release);
            std::ptr::write_volatile(&raw mut (*self.0).end, 0);
        }
    }

    /// Its thread has entered a method whose extent is recorded, or left one: with the first
    /// recording begins, and behind the last it pauses.
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

    /// What was asked and not answered yet. In the record's thread, as what follows.
    pub fn asked(self) -> Option<u64> {
        // SAFETY: as above.
        unsafe { (*self.0).to_pause.swap(0, Ordering::AcqRel).checked_sub(1) }
    }

    /// Whether it will write to nowhere when it writes next.
    pub fn will_be_paused(self) -> bool {
        // SAFETY: as above.
        match unsafe { (*self.0).to_pause.load(Ordering::Acquire) } {
            0 => self.is_paused(),
            asked => asked == 1,
        }
    }

    /// Whether it writes to nowhere.
    pub fn is_paused(self) -> bool {
        // SAFETY: as above.
        unsafe { (*self.0).paused != 0 }
    }

    /// From now on the thread writes to nowhere. Without memory it goes on.
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

    /// Whether anything of its thread was recorded.
    pub fn has_begun(self) -> bool {
        // SAFETY: as above.
        unsafe { (*self.0).sequence != 0 || self.place() != (*self.0).start }
    }

    /// From now on it writes to its buffer again, where it left off.
    pub fn resume(self) -> u64 {
        // SAFETY: as above; what was nowhere is this record's alone.
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

    /// Where the buffer is full.
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

    /// Another thread's from now on; its buffer is empty.
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

    /// The size of its buffer.
    pub fn size(self) -> usize {
        // SAFETY: as above.
        unsafe { (*self.0).size as usize }
    }

    /// The size of its next one.
    pub fn next_size(self) -> usize {
        (2 * self.size()).min(LARGEST)
    }

    /// Where the next event goes.
    pub fn place(self) -> u64 {
        // SAFETY: read while the thread may write it: a word, whole before or whole after.
        unsafe { std::ptr::read_volatile(&raw const (*self.0).place) }
    }

    /// The number of the thread, and of its next chunk of events, which the caller writes.
    pub fn next(self) -> (u32, u32) {
        // SAFETY: as above.
        unsafe {
            let sequence = (*self.0).sequence;
            (*self.0).sequence += 1;
            ((*self.0).thread, sequence)
        }
    }

    /// The number of its thread.
    pub fn thread(self) -> u32 {
        // SAFETY: as above.
        unsafe { (*self.0).thread }
    }

    /// Writes an event where there is room, or behind the place where the buffer is full, as long
    /// as another one would have room there too. In the record's thread.
    pub fn force(self, event: Event) {
        let place = self.place();
        let words = event.words();
        // SAFETY: as above; at most four words are behind the end when it is seen that it is
        // reached.
        unsafe {
            if place < (*self.0).full + (SPARE as u64 - 32) {
                for (at, &word) in (place..).step_by(4).zip(&*words) {
                    (at as *mut u32).write(word);
                }
                std::ptr::write_volatile(&raw mut (*self.0).place, place + 4 * words.len() as u64);
            }
        }
    }

    /// Takes the buffer away and gives it another one; whose it is, and which of that thread's.
    pub fn exchange(self, buffer: Buffer) -> (u32, u32, Buffer) {
        let (thread, sequence) = self.next();
        // SAFETY: as above.
        let (start, size) = unsafe { ((*self.0).start, (*self.0).size as usize) };
        let filled = (self.place().saturating_sub(start) as usize).min(size);
        let full = Buffer { start: start as *mut u8, size, filled };
        self.put(buffer);
        (thread, sequence, full)
    }

    /// Forgets what is in the buffer; the place of the next event.
    pub fn rewind(self) -> u64 {
        // SAFETY: as above.
        unsafe {
            let start = if (*self.0).paused == 0 { (*self.0).start } else { (*self.0).paused };
            std::ptr::write_volatile(&raw mut (*self.0).place, start);
            self.set_end();
            start
        }
    }

    /// What is in the buffer now. Its thread may go on writing behind that.
    pub fn bytes(self) -> Vec<u8> {
        // SAFETY: as above.
        let place = if self.is_paused() { unsafe { (*self.0).kept } } else { self.place() };
        // SAFETY: buffers are never given back once the trace is closed, which is when others look;
        // what stands before the place was written before it.
        unsafe {
            let start = (*self.0).start;
            let filled = (place.saturating_sub(start) as usize).min((*self.0).size as usize);
            std::slice::from_raw_parts(start as *const u8, filled).to_vec()
        }
    }
}
