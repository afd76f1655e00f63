//! The JVM's side: memory for trees, and the log.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering, fence};

use memmap2::{MmapMut, MmapOptions, MmapRaw};
use rustc_hash::FxHashMap;
use rustix::fs::{FallocateFlags, FlockOperation, MemfdFlags, fallocate, flock, ftruncate, memfd_create};
use rustix::io::retry_on_intr;

use crate::layout::{HEADER, MAGIC, VERSION, header, kind};
use crate::log::Entry;

/// Size of the pieces in which memory for trees is reserved and handed out, in bytes.
pub const REGION: u64 = 1 << 20;

/// The log grows by multiples of this size, in bytes.
const LOG_STEP: u64 = 1 << 16;

/// Maximum size of an extent for trees, in bytes of address space.
const LARGEST: u64 = 1 << 30;

/// Address space to leave free for the JVM and the program, in bytes. Without it their own requests
/// would fail next. It is mapped only to check that it is free, and never touched.
const RESERVE: u64 = 64 << 20;

/// Maximum number of files with the same base name.
const NAMES: u32 = 1000;

/// The mapped file. Nothing in it is ever freed or moved.
#[derive(Debug)]
pub struct Arena {
    file: File,
    path: Option<PathBuf>,
    /// The mappings; the header is the first.
    maps: Vec<MmapRaw>,
    /// Length of the file, in bytes.
    length: u64,
    trees: Part,
    log: Part,
    texts: FxHashMap<Box<str>, u64>,
}

/// The newest extent of a kind.
#[derive(Debug, Default)]
struct Part {
    /// The extent's address, and its offset in the file.
    address: u64,
    offset: u64,
    /// The extent's size in bytes, and the bytes in use.
    length: u64,
    used: u64,
    /// Size of all extents of that kind, in bytes.
    total: u64,
}

impl Arena {
    /// Creates a file of that name, which only its owner may read. If the file exists, the name
    /// becomes `NAME-1` and so on: the old file may be all that is left of a JVM.
    ///
    /// # Errors
    /// Fails if no name is free, if the file cannot be created, or if its file system cannot
    /// reserve room.
    pub fn create(path: &Path) -> io::Result<Arena> {
        for number in 0..NAMES {
            let mut name = path.as_os_str().to_owned();
            if number > 0 {
                name.push(format!("-{number}"));
            }
            let path = PathBuf::from(name);
            match cct_private::create(&path) {
                Ok(file) => {
                    return Arena::of(file, Some(path.clone())).inspect_err(|_| {
                        // The file is empty.
                        let _ = std::fs::remove_file(&path);
                    });
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Creates a file without a name, which is gone when the last process closes it.
    ///
    /// # Errors
    /// Fails if the system has no such files.
    pub fn nameless() -> io::Result<Arena> {
        let file = memfd_create("cctrewrite.arena", MemfdFlags::CLOEXEC)?;
        Arena::of(file.into(), None)
    }

    fn of(file: File, path: Option<PathBuf>) -> io::Result<Arena> {
        let mut arena = Arena {
            file,
            path,
            maps: Vec::new(),
            length: 0,
            trees: Part::default(),
            log: Part::default(),
            texts: FxHashMap::default(),
        };
        // The JVM holds the lock until it ends, in whatever way; readers check it.
        retry_on_intr(|| flock(&arena.file, FlockOperation::NonBlockingLockExclusive))?;
        arena.map(HEADER)?;
        arena.set_aside(0, HEADER)?;
        arena.word(1).store(VERSION, Ordering::Relaxed);
        arena.word(0).store(MAGIC, Ordering::Release);
        Ok(arena)
    }

    /// The address of the header, in which the runtime keeps its board.
    pub fn board(&self) -> u64 {
        self.maps[0].as_mut_ptr() as u64
    }

    /// The file's name, if it has one.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    #[allow(unsafe_code)]
    fn word(&self, number: u64) -> &AtomicU64 {
        assert!(number < HEADER / 8);
        // SAFETY: the header is mapped as long as this lives, aligned, and all its words are
        // accessed as atomics.
        unsafe { AtomicU64::from_ptr(self.maps[0].as_mut_ptr().cast::<u64>().add(number as usize)) }
    }

    /// Maps this many bytes at the end of the file, and returns the address. Reserves no room yet.
    fn map(&mut self, bytes: u64) -> io::Result<u64> {
        let offset = self.length;
        retry_on_intr(|| ftruncate(&self.file, offset + bytes))?;
        let map = MmapOptions::new().offset(offset).len(bytes as usize).map_raw(&self.file)?;
        let address = map.as_mut_ptr() as u64;
        self.length += bytes;
        self.maps.push(map);
        Ok(address)
    }

    /// Reserves room in the file system. A write to a mapping without room would end the JVM
    /// (SIGBUS).
    fn set_aside(&self, offset: u64, bytes: u64) -> io::Result<()> {
        // Profilers and timers of the program may send signals at any moment.
        Ok(retry_on_intr(|| fallocate(&self.file, FallocateFlags::empty(), offset, bytes))?)
    }

    /// Adds an extent and publishes it.
    fn extend(&mut self, kind: u64, bytes: u64) -> io::Result<Part> {
        let number = self.word(header::EXTENTS).load(Ordering::Relaxed);
        if number == header::MOST_EXTENTS {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        let offset = self.length;
        let address = self.map(bytes)?;
        let entry = header::TABLE + 4 * number;
        for (i, value) in (0..).zip([address, offset, bytes, kind]) {
            self.word(entry + i).store(value, Ordering::Relaxed);
        }
        self.word(header::EXTENTS).store(number + 1, Ordering::Release);
        Ok(Part { address, offset, length: bytes, used: 0, total: 0 })
    }

    /// Allocates [`REGION`] zero bytes for trees, aligned to pages, and returns their address.
    /// `None` if there is no memory, or if too little address space would be left.
    ///
    /// If the file cannot grow, the memory is outside of it. Readers then find addresses that lead
    /// out of the file, but the JVM's own profile is complete.
    pub fn memory(&mut self) -> Option<u64> {
        if !is_left(RESERVE + REGION) {
            return None;
        }
        self.memory_of_file().or_else(|| {
            let map = MmapOptions::new().len(REGION as usize).map_anon().ok()?;
            let map = MmapRaw::from(map);
            let address = map.as_mut_ptr() as u64;
            self.maps.push(map);
            Some(address)
        })
    }

    fn memory_of_file(&mut self) -> Option<u64> {
        if self.trees.used == self.trees.length {
            // Growth by a quarter keeps extents few. If too little address space is left for that,
            // the memory grows by one region.
            let quarter = (self.trees.total / 4).next_multiple_of(REGION).clamp(REGION, LARGEST);
            let part = if quarter > REGION && is_left(RESERVE + quarter) {
                self.extend(kind::TREES, quarter).ok()
            } else {
                None
            };
            let part = match part {
                Some(part) => part,
                None => self.extend(kind::TREES, REGION).ok()?,
            };
            let total = self.trees.total + part.length;
            self.trees = Part { total, ..part };
        }
        self.set_aside(self.trees.offset + self.trees.used, REGION).ok()?;
        let address = self.trees.address + self.trees.used;
        self.trees.used += REGION;
        Some(address)
    }

    /// Appends a record to the log. If there is no room, the record is lost and the header says so.
    pub fn log(&mut self, record: &Entry<'_>) {
        let mut bytes = Vec::new();
        record.encode(&mut bytes);
        self.append(&bytes);
    }

    /// The word by which the memory refers to a text; never 0.
    pub fn text(&mut self, text: &str) -> u64 {
        if let Some(&known) = self.texts.get(text) {
            return known;
        }
        let place = self.word(header::LOG).load(Ordering::Relaxed) + 1;
        self.log(&Entry::Text(text));
        // The table is bounded, since programs may invent texts without end. Further texts are
        // written to the log each time.
        if self.texts.len() < 1 << 16 {
            self.texts.insert(text.into(), place);
        }
        place
    }

    #[allow(unsafe_code)]
    fn append(&mut self, mut bytes: &[u8]) {
        if self.word(header::LOG_LOST).load(Ordering::Relaxed) != 0 {
            return;
        }
        let end = self.word(header::LOG).load(Ordering::Relaxed) + bytes.len() as u64;
        while !bytes.is_empty() {
            if self.log.used == self.log.length && self.grow_log(bytes.len() as u64).is_err() {
                self.word(header::LOG_LOST).store(1, Ordering::Relaxed);
                return;
            }
            let count = bytes.len().min((self.log.length - self.log.used) as usize);
            // SAFETY: the extent is mapped and has room reserved. Nobody reads beyond the length in
            // the header, which is stored below.
            unsafe {
                let to = (self.log.address + self.log.used) as *mut u8;
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, count);
            }
            self.log.used += count as u64;
            bytes = &bytes[count..];
        }
        fence(Ordering::Release);
        self.word(header::LOG).store(end, Ordering::Release);
    }

    fn grow_log(&mut self, bytes: u64) -> io::Result<()> {
        let step = bytes.max(self.log.total / 4).next_multiple_of(LOG_STEP);
        let offset = self.length;
        // Reserve the room first: a published extent counts as part of the log.
        retry_on_intr(|| ftruncate(&self.file, offset + step))?;
        self.set_aside(offset, step)?;
        let part = self.extend(kind::LOG, step)?;
        let total = self.log.total + part.length;
        self.log = Part { total, ..part };
        Ok(())
    }

    /// Closes the file: the JVM has written its profile.
    pub fn end(&mut self) {
        self.word(header::ENDED).store(1, Ordering::Release);
        // The file may have been moved, and another JVM may have created one of the same name.
        let is_ours = |path: &Path| {
            let (there, ours) = (path.symlink_metadata().ok()?, self.file.metadata().ok()?);
            Some((there.dev(), there.ino()) == (ours.dev(), ours.ino()))
        };
        if let Some(path) = &self.path
            && is_ours(path) == Some(true)
        {
            // A reader that opened the file before this sees that the JVM ended by itself.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Whether the address space has this many bytes left.
fn is_left(bytes: u64) -> bool {
    MmapMut::map_anon(bytes as usize).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_private_and_never_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("x.arena");
        let first = Arena::create(&name).unwrap();
        let second = Arena::create(&name).unwrap();
        assert_eq!(first.path(), Some(&*name));
        assert_eq!(second.path(), Some(&*folder.path().join("x.arena-1")));
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&name).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(Arena::create(&folder.path().join("no/such")).is_err());
    }

    #[test]
    fn memory_is_page_aligned_zero_and_never_the_same() {
        let mut arena = Arena::nameless().unwrap();
        let mut places: Vec<u64> = (0..40).map(|_| arena.memory().unwrap()).collect();
        places.sort_unstable();
        assert!(places.iter().all(|place| place % 4096 == 0));
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= REGION));
        // Extents stay few, for any size.
        assert!(arena.word(header::EXTENTS).load(Ordering::Relaxed) < 20);
    }

    /// A reader finds that something is missing, but the JVM still has its memory.
    #[test]
    fn when_the_file_is_full_there_is_other_memory() {
        let mut arena = Arena::nameless().unwrap();
        let inside = arena.memory().unwrap();
        // The file has no room for more memory.
        let file = std::mem::replace(&mut arena.file, File::open("/dev/null").unwrap());
        let outside = arena.memory().unwrap();
        let memory = crate::Memory::open(file).unwrap();
        assert_eq!((memory.word(inside), memory.word(outside)), (Some(0), None));
    }

    #[test]
    fn the_file_goes_when_the_profile_has_been_written() {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("x.arena");
        let mut arena = Arena::create(&name).unwrap();
        arena.end();
        assert!(!name.exists());
    }

    #[test]
    fn the_file_of_another_jvm_stays() {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("x.arena");
        let mut first = Arena::create(&name).unwrap();
        std::fs::rename(&name, folder.path().join("kept")).unwrap();
        let _second = Arena::create(&name).unwrap();
        first.end();
        assert!(name.exists());
    }
}
