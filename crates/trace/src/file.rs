//! Opening and reading of a trace's file.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use cct_events::file::{Cut, Heads, Place, ReadError, ReadPosition, Thread};
use cct_events::structure::MOST_IMPLIED;
use cct_events::{FrameKind, ring};

use crate::Program;

/// Why a trace cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be opened, or is no trace.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: ReadError,
    },
    /// A frame is damaged.
    #[error("{path}: damaged at byte {at}: the content of a frame differs from what was written", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Offset of the frame.
        at: u64,
    },
    /// The trace's classes are too large for their stored size.
    #[error("{path}: its classes unfold to more than {most} bytes; the file is damaged", path = path.display())]
    Unfolds {
        /// The file.
        path: PathBuf,
        /// Maximum size.
        most: u64,
    },
    /// An event would imply too many blocks.
    #[error("{path}: more than {MOST_IMPLIED} blocks of method {method} follow each other without \
             an event; the file is damaged", path = path.display())]
    Unbounded {
        /// The file.
        path: PathBuf,
        /// The number of the method.
        method: u32,
    },
    /// The calling-context tree is too large.
    #[error(transparent)]
    TooLarge(#[from] cct_profile::TreeTooLarge),
}

/// Maximum unpacked size of classes: a constant, or this multiple of their stored size. Those of
/// JDK 17's class library have a ratio of 1.9, and no frame of them more than 7.3. All are kept in
/// memory, where they take more again.
const UNFOLDED: (u64, u64) = (1 << 24, 16);

/// A trace.
#[derive(Debug)]
pub struct Trace {
    path: PathBuf,
    file: File,
    /// Chunks that are not in the file: the JVM was killed before it wrote them.
    left: Vec<Vec<u8>>,
    /// The trace's origin, in lines `key=value`.
    pub provenance: String,
    /// The trace's threads, by number.
    pub threads: Vec<ThreadChunks>,
    /// The program's classes and methods, as far as the trace contains them.
    pub program: Program,
    /// Names of classes, by their numbers in events of receivers and of loading.
    pub class_names: BTreeMap<u32, String>,
    /// Notes of the runtime for readers.
    pub notes: Vec<String>,
    /// How it was recorded, as in profiles.
    pub meta: BTreeMap<String, String>,
    /// The minimum number of last events of each thread, if the trace keeps only those. (A thread
    /// may have had fewer.)
    pub last: Option<u64>,
    /// Whether it has the order between threads.
    pub is_ordered: bool,
    /// Whether it has an end mark.
    pub is_complete: bool,
    /// The position at which it ends too early, if it does.
    pub cut: Option<Cut>,
    /// Sizes of the file, of the uncompressed events, and of the frames that contain them.
    pub sizes: Sizes,
}

/// Sizes of parts of a trace, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sizes {
    /// The file.
    pub file: u64,
    /// Events, as words.
    pub events: u64,
    /// Events as stored.
    pub stored: u64,
    /// Static data as stored.
    pub structure: u64,
}

/// A thread, and the positions of its events.
#[derive(Debug, Clone, Default)]
pub struct ThreadChunks {
    /// The thread's number.
    pub number: u32,
    /// The thread's description.
    pub thread: Thread,
    /// The thread's chunks in their order.
    chunks: Vec<Piece>,
    /// The number of its first chunk, if none is missing before it.
    first: u32,
    /// Number of its chunks that are missing in the middle.
    pub missing: u64,
}

/// The number and position of a chunk. Unread chunks keep only this in memory, so it must be small.
#[derive(Debug, Clone, Copy)]
enum Piece {
    /// The frame at this offset.
    InFile { sequence: u32, at: u64 },
    /// The index among the chunks of a killed JVM.
    Left { sequence: u32, place: u32 },
}

const _: () = assert!(size_of::<Piece>() == 16);

impl Piece {
    fn sequence(self) -> u32 {
        match self {
            Piece::InFile { sequence, .. } | Piece::Left { sequence, .. } => sequence,
        }
    }
}

impl Trace {
    /// Opens a file: scans all frames, and reads the static data.
    ///
    /// # Errors
    /// Fails if it is no trace, or if a part is damaged that everything else depends on.
    pub fn open(path: &Path) -> Result<Trace, Error> {
        let because = |source| Error::File { path: path.to_owned(), source };
        let file = File::open(path).map_err(|e| because(e.into()))?;
        let mut heads = Heads::new(ReadPosition::of(&file)).map_err(because)?;
        let mut threads: BTreeMap<u32, ThreadChunks> = BTreeMap::new();
        let (mut others, mut unfolded, mut stored) = (Vec::new(), 0, 0);
        let mut sizes = Sizes { file: heads.length, ..Sizes::default() };
        while let Some(place) = heads.next_head().map_err(|e| because(e.into()))? {
            let (head, at) = (place.head, place.at);
            match head.kind {
                FrameKind::Events => {
                    sizes.events += u64::from(head.length);
                    sizes.stored += u64::from(head.stored);
                    let piece = Piece::InFile { sequence: head.sequence, at };
                    threads.entry(head.thread).or_default().chunks.push(piece);
                    continue;
                }
                FrameKind::Structure | FrameKind::Class => {
                    unfolded += u64::from(head.length);
                    stored += u64::from(head.stored);
                }
                _ => {}
            }
            others.push(place);
        }
        let most = UNFOLDED.0 + UNFOLDED.1 * stored;
        if unfolded > most {
            return Err(Error::Unfolds { path: path.to_owned(), most });
        }
        let (provenance, cut) = (heads.provenance, heads.cut);
        let said = |key: &str| provenance.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        let mut trace = Trace {
            path: path.to_owned(),
            left: Vec::new(),
            last: said("last").and_then(|last| last.parse().ok()),
            is_ordered: said("mode") == Some("shared"),
            threads: Vec::new(),
            program: Program::default(),
            class_names: BTreeMap::new(),
            notes: Vec::new(),
            meta: BTreeMap::new(),
            is_complete: false,
            cut,
            sizes,
            provenance,
            file,
        };
        for place in others {
            let number = place.head.thread;
            let damaged = || Error::Damaged { path: path.to_owned(), at: place.at };
            let content = place.content(&mut ReadPosition::of(&trace.file)).map_err(|e| because(e.into()))?;
            let content = content.ok_or_else(damaged)?;
            let lines = || String::from_utf8_lossy(&content).lines().map(str::to_owned).collect::<Vec<_>>();
            match place.head.kind {
                FrameKind::Structure | FrameKind::Class => {
                    trace.sizes.structure += u64::from(place.head.stored);
                    trace.program.add(&content).ok_or_else(damaged)?;
                }
                FrameKind::Thread => {
                    threads.entry(number).or_default().thread =
                        Thread::of_bytes(&content).ok_or_else(damaged)?;
                }
                FrameKind::ClassName => {
                    trace.class_names.insert(number, String::from_utf8_lossy(&content).into_owned());
                }
                FrameKind::Notes => trace.notes.extend(lines()),
                FrameKind::End => trace.is_complete = true,
                FrameKind::Meta => {
                    let pairs = lines().into_iter().filter_map(|line| {
                        let (key, value) = line.split_once('=')?;
                        (value != "null").then(|| (key.to_owned(), value.to_owned()))
                    });
                    trace.meta = pairs.collect();
                }
                FrameKind::Events => {}
            }
        }
        if trace.last.is_some() && !trace.is_complete {
            trace.add_last(&mut threads);
        }
        for (number, mut thread) in threads {
            thread.number = number;
            // Most are in order already; of two with one number the first in the file comes first.
            thread.chunks.sort_by_key(|piece| piece.sequence());
            thread.chunks.shrink_to_fit();
            if trace.last.is_some() {
                thread.first = thread.chunks.first().map_or(0, |first| first.sequence());
            }
            let all = thread.chunks.last().map_or(0, |last| u64::from(last.sequence()) + 1);
            let all = all.saturating_sub(thread.first.into());
            thread.missing = all.saturating_sub(thread.chunks.len() as u64);
            trace.threads.push(thread);
        }
        if let Some(method) = trace.program.unbounded() {
            return Err(Error::Unbounded { path: path.to_owned(), method });
        }
        trace.program.complete();
        Ok(trace)
    }

    /// Adds the chunks that a killed JVM kept in memory: the last events, and the classes that they
    /// need.
    fn add_last(&mut self, threads: &mut BTreeMap<u32, ThreadChunks>) {
        let mut path = self.path.clone().into_os_string();
        path.push(ring::SUFFIX);
        let Some(ring) = fs::read(path).ok().and_then(|bytes| ring::read(&bytes)) else {
            self.notes.push(
                "the JVM was killed or crashed, and the file with the last events beside the trace is missing".to_owned(),
            );
            return;
        };
        let mut methods: Vec<u32> = Vec::new();
        for area in ring.areas {
            let thread = threads.entry(area.thread).or_default();
            let next = area.sequence.saturating_add(1);
            for (words, sequence) in [(area.older, area.sequence), (area.newer, next)] {
                if words.is_empty() {
                    continue;
                }
                methods.extend(cct_events::scan::methods(&words));
                methods.sort_unstable();
                methods.dedup();
                self.sizes.events += words.len() as u64;
                thread.chunks.push(Piece::Left { sequence, place: self.left.len() as u32 });
                self.left.push(words);
            }
        }
        let known = self.program.add_of(Path::new(&ring.structure), &methods);
        if known.is_none() {
            self.notes.push(format!(
                "cannot read {}, the static side of the class library; its events have no names",
                ring.structure
            ));
        }
    }

    /// The value of a key in its first lines.
    pub fn said(&self, key: &str) -> Option<&str> {
        self.provenance.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
    }

    /// Whether objects and monitors have events.
    pub fn has_objects(&self) -> bool {
        self.said("allocations") == Some("yes")
    }

    /// The events of a thread, chunk by chunk.
    pub fn chunks<'t>(&'t self, thread: &'t ThreadChunks) -> impl Iterator<Item = Result<Chunk, Error>> + 't {
        (0..thread.count()).map(move |place| self.chunk(thread, place))
    }

    /// A chunk of a thread, by its index among those in the trace. It starts and ends at an event
    /// boundary.
    ///
    /// # Errors
    /// Fails if it is damaged, or has gone.
    pub fn chunk(&self, thread: &ThreadChunks, place: usize) -> Result<Chunk, Error> {
        let Some(&piece) = thread.chunks.get(place) else { return Ok(Chunk::default()) };
        let before = place.checked_sub(1).and_then(|before| thread.chunks.get(before));
        let expected = before.map_or(thread.first, |before| before.sequence().wrapping_add(1));
        let is_behind_gap = piece.sequence() != expected;
        let words = match piece {
            Piece::InFile { at, .. } => match Place::content_at(at, &mut ReadPosition::of(&self.file)) {
                Ok(Some(words)) => words,
                Ok(None) => return Err(Error::Damaged { path: self.path.clone(), at }),
                Err(e) => {
                    return Err(Error::File { path: self.path.clone(), source: ReadError::Io(e) });
                }
            },
            Piece::Left { place, .. } => self.left.get(place as usize).cloned().unwrap_or_default(),
        };
        Ok(Chunk { words, is_behind_gap })
    }

    /// The number of words of all threads: an upper bound of the number of events.
    pub fn words(&self) -> u64 {
        self.sizes.events / 4
    }
}

impl ThreadChunks {
    /// Number of chunks.
    pub fn count(&self) -> usize {
        self.chunks.len()
    }
}

/// Events, and whether some are missing before them.
#[derive(Debug, Default)]
pub struct Chunk {
    /// The words.
    pub words: Vec<u8>,
    /// Whether chunks before it are missing.
    pub is_behind_gap: bool,
}

#[cfg(test)]
mod tests {
    use cct_events::{Class, Frame, FrameWriter};

    use super::*;
    use crate::testing::{chunk, end, start, trace};

    #[test]
    fn chunks_come_in_their_order_and_what_is_missing_is_known() {
        let of = |sequence, method| chunk(1, sequence, &[start(method)]);
        let (_folder, trace) = trace("", [of(4, 4), of(0, 0), chunk(2, 0, &[end(9)]), of(1, 1), of(3, 3)]);
        let [one, two] = &trace.threads[..] else { panic!("two threads") };
        assert_eq!((one.number, one.count(), one.missing, two.count(), two.missing), (1, 4, 1, 1, 0));
        let chunks: Vec<Chunk> = trace.chunks(one).collect::<Result<_, _>>().unwrap();
        let words = |chunk: &Chunk| chunk.words.clone();
        let expected: Vec<Vec<u8>> =
            [0, 1, 3, 4].map(|method| start(method).words()[0].to_le_bytes().to_vec()).into();
        assert_eq!(chunks.iter().map(words).collect::<Vec<_>>(), expected);
        let gaps: Vec<bool> = chunks.iter().map(|chunk| chunk.is_behind_gap).collect();
        assert_eq!(gaps, [false, false, true, false]);
        // Reading one alone gives the same.
        let third = trace.chunk(one, 2).unwrap();
        assert_eq!((&third.words, third.is_behind_gap), (&expected[2], true));
        assert_eq!(trace.sizes.events, 20);
    }

    #[test]
    fn a_chunk_that_is_damaged_is_an_error_where_it_stands() {
        let (folder, trace) = trace("", [chunk(1, 0, &[start(1)]), chunk(1, 1, &[start(2)])]);
        let path = folder.path().join("a.trace");
        let mut bytes = fs::read(&path).unwrap();
        let at = bytes.len() - 28 - 1;
        bytes[at] ^= 1;
        fs::write(&path, bytes).unwrap();
        assert!(trace.chunk(&trace.threads[0], 0).is_ok());
        assert!(matches!(trace.chunk(&trace.threads[0], 1), Err(Error::Damaged { at: 48, .. })));
    }

    /// 40 MB of empty classes, compressed to 200 KB.
    #[test]
    fn classes_that_are_there_to_fill_memory() {
        let mut packed = Vec::new();
        Class::default().pack(&mut packed);
        let many = packed.repeat((40 << 20) / packed.len());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.trace");
        let write = |content: &[u8]| {
            let mut file = FrameWriter::new(Vec::new(), "").unwrap();
            file.frame(&Frame::new(FrameKind::Structure, 0, 0, content)).unwrap();
            fs::write(&path, file.into_inner()).unwrap();
        };
        write(&many);
        assert!(fs::metadata(&path).unwrap().len() < 1 << 18);
        assert!(matches!(Trace::open(&path), Err(Error::Unfolds { .. })));
        write(&packed.repeat(1000));
        assert!(Trace::open(&path).is_ok());
    }

    /// The number of the second half exceeded the maximum.
    #[test]
    fn the_last_number_that_a_chunk_can_have() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.trace");
        fs::write(&path, FrameWriter::new(Vec::new(), "last=100\n").unwrap().into_inner()).unwrap();
        let mut area = vec![0; ring::area_size(64)];
        let base = 0x1000_u64;
        let (start, behind) = (base + ring::HEAD as u64, 4_u64);
        let mut put = |at: usize, value: u64| area[at..at + 8].copy_from_slice(&value.to_le_bytes());
        put(ring::offset::PLACE, start + 4);
        put(ring::offset::START, start);
        put(ring::offset::BASE, base);
        put(ring::offset::THREAD, 7 | u64::from(u32::MAX) << 32);
        let without = area.clone();
        area[ring::offset::BEHIND..][..8].copy_from_slice(&behind.to_le_bytes());
        for (area, chunks) in [(without, 1), (area, 2)] {
            let file = [ring::head(64, "/nowhere").unwrap(), area].concat();
            fs::write(folder.path().join("a.trace.last"), file).unwrap();
            let trace = Trace::open(&path).unwrap();
            assert_eq!((trace.threads.len(), trace.threads[0].count()), (1, chunks));
        }
    }
}
