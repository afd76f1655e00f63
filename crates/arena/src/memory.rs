//! The reader's side: the words of a file that may be growing, or that a JVM has left.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::{MmapOptions, MmapRaw};
use rustix::fs::{FlockOperation, flock};
use rustix::io::retry_on_intr;

use crate::layout::{HEADER, MAGIC, VERSION, header, kind};

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system reported an error.
    #[error("cannot be read")]
    Io(#[from] io::Error),
    /// The file is something else.
    #[error("not the memory of a profiled JVM (a file of -Dcctrewrite.arena or `cctrewrite run`)")]
    NoArena,
    /// Another version of the format, or a machine with another byte order.
    #[error(
        "format version {0}, which this version of cctrewrite does not know; use the version that \
         profiled the JVM"
    )]
    Version(u64),
    /// The file ends before its header does.
    #[error("stops after {0} bytes, in its header")]
    Short(u64),
}

/// The words of the file, by their position in it and by their address in the JVM.
///
/// The file is mapped and read word by word: a JVM may be writing to it. The JVM completes a node
/// before it links it. Since the words are loaded in program order, a node that the reader reaches
/// is complete for it, too.
pub struct Memory {
    file: File,
    /// The whole file as of the last mapping; mapped again after it has grown.
    map: RefCell<MmapRaw>,
    extents: RefCell<Vec<Extent>>,
    /// The extent that contained the last address.
    last: Cell<usize>,
}

/// The location of a part of the memory.
#[derive(Debug, Clone, Copy)]
struct Extent {
    address: u64,
    offset: u64,
    length: u64,
}

impl Memory {
    /// Opens a file. Its owner must not truncate it meanwhile, which no JVM does.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is something else.
    pub fn open(file: File) -> Result<Memory, ReadError> {
        let length = file.metadata()?.len();
        if length < 16 {
            return Err(ReadError::NoArena);
        }
        let map = map(&file)?;
        let memory = Memory { file, map: RefCell::new(map), extents: RefCell::default(), last: Cell::new(0) };
        match (memory.at(0), memory.at(8)) {
            (Some(MAGIC), Some(VERSION)) => {}
            (Some(MAGIC), Some(version)) => return Err(ReadError::Version(version)),
            _ => return Err(ReadError::NoArena),
        }
        if length < HEADER {
            return Err(ReadError::Short(length));
        }
        memory.load_extents();
        Ok(memory)
    }

    /// Whether a process, usually the JVM, still has the file open.
    pub fn is_in_use(&self) -> bool {
        match retry_on_intr(|| flock(&self.file, FlockOperation::NonBlockingLockShared)) {
            Ok(()) => {
                // Nobody else waits for the lock.
                let _ = flock(&self.file, FlockOperation::Unlock);
                false
            }
            Err(_) => true,
        }
    }

    /// The word at an offset in the file; `None` beyond its end.
    #[allow(unsafe_code)]
    fn at(&self, offset: u64) -> Option<u64> {
        let map = self.map.borrow();
        if !offset.is_multiple_of(8) || offset.checked_add(8)? > map.len() as u64 {
            return None;
        }
        // SAFETY: within the mapping and aligned. Other processes write whole words.
        let word = unsafe { AtomicU64::from_ptr(map.as_mut_ptr().add(offset as usize).cast()) };
        Some(word.load(Ordering::Acquire))
    }

    /// A word of the header.
    pub fn header(&self, number: u64) -> u64 {
        self.at(8 * number).unwrap_or(0)
    }

    /// Loads the current table of extents. Returns whether it has grown.
    fn load_extents(&self) -> bool {
        let count = self.header(header::EXTENTS).min(header::MOST_EXTENTS);
        let mut extents = Vec::new();
        for number in 0..count {
            let [address, offset, length, kind] =
                [0, 1, 2, 3].map(|i| self.header(header::TABLE + 4 * number + i));
            if kind == kind::TREES && address.checked_add(length).is_some() {
                extents.push(Extent { address, offset, length });
            }
        }
        extents.sort_unstable_by_key(|extent| extent.address);
        let more = extents.len() > self.extents.borrow().len();
        self.extents.replace(extents);
        more
    }

    /// The word at an address of the JVM; `None` where no tree can be.
    pub fn word(&self, address: u64) -> Option<u64> {
        if let Some(word) = self.place(address).and_then(|offset| self.at(offset)) {
            return Some(word);
        }
        // The JVM may have grown its memory since.
        let grown = self.file.metadata().is_ok_and(|file| file.len() > self.map.borrow().len() as u64);
        if grown {
            self.map.replace(map(&self.file).ok()?);
        }
        if !self.load_extents() && !grown {
            return None;
        }
        self.at(self.place(address)?)
    }

    /// The file offset of the word at that address.
    fn place(&self, address: u64) -> Option<u64> {
        let extents = self.extents.borrow();
        let holds = |extent: &&Extent| address >= extent.address && address - extent.address < extent.length;
        let extent = match extents.get(self.last.get()).filter(holds) {
            Some(extent) => extent,
            None => {
                let number = extents.partition_point(|extent| extent.address <= address).checked_sub(1)?;
                self.last.set(number);
                extents.get(number).filter(holds)?
            }
        };
        extent.offset.checked_add(address - extent.address)
    }

    /// Bytes of memory for trees that the file really contains.
    pub fn bytes(&self) -> u64 {
        let length = self.map.borrow().len() as u64;
        let extents = self.extents.borrow();
        let within = |extent: &Extent| length.saturating_sub(extent.offset).min(extent.length);
        extents.iter().map(within).sum::<u64>().min(length)
    }

    /// The complete part of the log; and whether that is all of it.
    #[allow(unsafe_code)]
    pub fn log(&self) -> (Vec<u8>, bool) {
        let wanted = self.header(header::LOG);
        let count = self.header(header::EXTENTS).min(header::MOST_EXTENTS);
        if self.file.metadata().is_ok_and(|file| file.len() > self.map.borrow().len() as u64)
            && let Ok(map) = map(&self.file)
        {
            self.map.replace(map);
        }
        let map = self.map.borrow();
        let mut log = Vec::new();
        for number in 0..count {
            let [offset, length, kind] = [1, 2, 3].map(|i| self.header(header::TABLE + 4 * number + i));
            let end = offset.saturating_add(length).min(map.len() as u64);
            let left = wanted - log.len() as u64;
            // A damaged file may list the same part again and again.
            let is_new = log.len() < map.len();
            if kind == kind::LOG && offset < end && left > 0 && is_new {
                let bytes = (end - offset).min(left) as usize;
                // SAFETY: within the mapping. The complete part of the log is never written again.
                let part =
                    unsafe { std::slice::from_raw_parts(map.as_mut_ptr().add(offset as usize), bytes) };
                log.extend_from_slice(part);
            }
        }
        let complete = log.len() as u64 == wanted && self.header(header::LOG_LOST) == 0;
        (log, complete)
    }
}

/// Maps the file at its current length, read-only.
fn map(file: &File) -> io::Result<MmapRaw> {
    MmapOptions::new().map_raw_read_only(file)
}
