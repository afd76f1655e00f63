//! The file of a trace, opened.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use cct_events::file::{Cut, Place, Places, ReadError, Thread};
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
        /// Why.
        source: ReadError,
    },
    /// A frame is not what it was.
    #[error("{path}: damaged at byte {at}: a frame's content is not what was written", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where the frame begins.
        at: u64,
    },
    /// Its classes are many times as long as they are stored.
    #[error("{path}: its classes unfold to more than {most} bytes, which those of no program do", path = path.display())]
    Unfolds {
        /// The file.
        path: PathBuf,
        /// How much would be right.
        most: u64,
    },
    /// The calling-context tree has no room.
    #[error(transparent)]
    TooLarge(#[from] cct_profile::TreeTooLarge),
}

/// What classes may unfold to: so much, and so many times what is stored of them. Those of JDK 17's class library come to 1.9 times, and no frame of them to
/// more than 7.3. All are kept in memory, where they take more again.
const UNFOLDED: (u64, u64) = (1 << 24, 16);

/// A trace.
#[derive(Debug)]
pub struct Trace {
    path: PathBuf,
    /// Where it comes from, in lines `key=value`.
    pub provenance: String,
    /// Its threads, by number.
    pub threads: Vec<ThreadChunks>,
    /// The program's classes and methods, as far as they are in it.
    pub program: Program,
    /// Names of classes, by the numbers that events of receivers and of loading have.
    pub class_names: BTreeMap<u32, String>,
    /// What the runtime says readers must know.
    pub notes: Vec<String>,
    /// How it came about, as profiles have it.
    pub meta: BTreeMap<String, String>,
    /// If it has the last events alone: so many of each thread at least, where it has done so much.
    pub last: Option<u64>,
    /// Whether it keeps the order between threads.
    pub is_ordered: bool,
    /// Whether it has its end.
    pub is_complete: bool,
    /// Where it ends too early, if it does.
    pub cut: Option<Cut>,
    /// Bytes of the file, of the events before they were compressed, and of the frames that hold them.
    pub sizes: Sizes,
}

/// Sizes of parts of a trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sizes {
    /// The file.
    pub file: u64,
    /// Events, as words.
    pub events: u64,
    /// The same as stored.
    pub stored: u64,
    /// The static side as stored.
    pub structure: u64,
}

/// A thread, and where its events are.
#[derive(Debug, Clone, Default)]
pub struct ThreadChunks {
    /// Its number.
    pub number: u32,
    /// Who it is.
    pub thread: Thread,
    /// Its chunks in their order.
    chunks: Vec<Piece>,
    /// How many of its chunks are missing in the middle.
    pub missing: u64,
}

/// A chunk: its number, and where it is.
#[derive(Debug, Clone)]
struct Piece {
    sequence: u32,
    length: u32,
    at: Stored,
}

#[derive(Debug, Clone)]
enum Stored {
    InFile(Place),
    /// What a JVM left behind that had no time to write it.
    Here(Vec<u8>),
}

impl Trace {
    /// Opens a file: looks through all frames, and reads the static side.
    ///
    /// # Errors
    /// When it is no trace, or damaged in what all else depends on.
    pub fn open(path: &Path) -> Result<Trace, Error> {
        let because = |source| Error::File { path: path.to_owned(), source };
        let file = File::open(path).map_err(|e| because(e.into()))?;
        let length = file.metadata().map_err(|e| because(e.into()))?.len();
        let mut file = BufReader::with_capacity(1 << 12, file);
        let places = Places::of(&mut file).map_err(because)?;
        let said =
            |key: &str| places.provenance.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        let mut trace = Trace {
            path: path.to_owned(),
            last: said("last").and_then(|last| last.parse().ok()),
            is_ordered: said("mode") == Some("shared"),
            provenance: places.provenance.clone(),
            threads: Vec::new(),
            program: Program::default(),
            class_names: BTreeMap::new(),
            notes: Vec::new(),
            meta: BTreeMap::new(),
            is_complete: false,
            cut: places.cut,
            sizes: Sizes { file: length, ..Sizes::default() },
        };
        let mut threads: BTreeMap<u32, ThreadChunks> = BTreeMap::new();
        let classes = places.list.iter().map(|place| place.head);
        let classes = classes.filter(|head| matches!(head.kind, FrameKind::Structure | FrameKind::Class));
        let (unfolded, stored) = classes.fold((0, 0), |(unfolded, stored), head| {
            (unfolded + u64::from(head.length), stored + u64::from(head.stored))
        });
        let most = UNFOLDED.0 + UNFOLDED.1 * stored;
        if unfolded > most {
            return Err(Error::Unfolds { path: path.to_owned(), most });
        }
        for place in places.list {
            let head = place.head;
            let number = head.thread;
            if head.kind == FrameKind::Events {
                trace.sizes.events += u64::from(head.length);
                trace.sizes.stored += u64::from(head.stored);
                let piece = Piece { sequence: head.sequence, length: head.length, at: Stored::InFile(place) };
                threads.entry(number).or_default().chunks.push(piece);
                continue;
            }
            let damaged = || Error::Damaged { path: path.to_owned(), at: place.at };
            let content = place.content(&mut file).map_err(|e| because(e.into()))?.ok_or_else(damaged)?;
            let lines = || String::from_utf8_lossy(&content).lines().map(str::to_owned).collect::<Vec<_>>();
            match head.kind {
                FrameKind::Structure | FrameKind::Class => {
                    trace.sizes.structure += u64::from(head.stored);
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
            thread.chunks.sort_by_key(|piece| piece.sequence);
            let first = match trace.last {
                Some(_) => thread.chunks.first().map_or(0, |first| u64::from(first.sequence)),
                None => 0,
            };
            let all = thread.chunks.last().map_or(0, |last| u64::from(last.sequence) + 1 - first);
            thread.missing = all.saturating_sub(thread.chunks.len() as u64);
            trace.threads.push(thread);
        }
        trace.program.complete();
        Ok(trace)
    }

    /// Adds what a JVM left in memory that was killed: the last events, and the classes that these are of.
    fn add_last(&mut self, threads: &mut BTreeMap<u32, ThreadChunks>) {
        let mut path = self.path.clone().into_os_string();
        path.push(ring::SUFFIX);
        let Some(ring) = fs::read(path).ok().and_then(|bytes| ring::read(&bytes)) else {
            self.notes.push(
                "the JVM was killed or crashed, and the file beside the trace that had its last events is not there".to_owned(),
            );
            return;
        };
        let mut methods: Vec<u32> = Vec::new();
        for area in ring.areas {
            let thread = threads.entry(area.thread).or_default();
            for (words, sequence) in [area.older, area.newer].into_iter().zip(area.sequence..) {
                if words.is_empty() {
                    continue;
                }
                methods.extend(cct_events::scan::methods(&words));
                methods.sort_unstable();
                methods.dedup();
                self.sizes.events += words.len() as u64;
                let length = words.len() as u32;
                thread.chunks.push(Piece { sequence, length, at: Stored::Here(words) });
            }
        }
        let known = self.program.add_of(Path::new(&ring.structure), &methods);
        if known.is_none() {
            self.notes.push(format!(
                "{}, which describes the class library of this trace, cannot be read; events of it have no names",
                ring.structure
            ));
        }
    }

    /// What its first lines say about something.
    pub fn said(&self, key: &str) -> Option<&str> {
        self.provenance.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
    }

    /// Whether objects and monitors have events.
    pub fn has_objects(&self) -> bool {
        self.said("allocations") == Some("yes")
    }

    /// The events of a thread, chunk by chunk.
    ///
    /// # Errors
    /// When the file cannot be opened any more.
    pub fn chunks<'t>(&'t self, thread: &'t ThreadChunks) -> Result<Chunks<'t>, Error> {
        let file = File::open(&self.path)
            .map_err(|e| Error::File { path: self.path.clone(), source: ReadError::Io(e) })?;
        let pieces = thread.chunks.iter();
        let next = match self.last {
            Some(_) => thread.chunks.first().map_or(0, |first| first.sequence),
            None => 0,
        };
        Ok(Chunks { path: &self.path, file: BufReader::with_capacity(1 << 12, file), pieces, next })
    }

    /// The number of words of all threads: an upper bound of events.
    pub fn words(&self) -> u64 {
        self.sizes.events / 4
    }
}

impl ThreadChunks {
    /// The bytes of its events.
    pub fn bytes(&self) -> u64 {
        self.chunks.iter().map(|piece| u64::from(piece.length)).sum()
    }
}

/// The chunks of a thread, one after the other.
#[derive(Debug)]
pub struct Chunks<'t> {
    path: &'t Path,
    file: BufReader<File>,
    pieces: std::slice::Iter<'t, Piece>,
    next: u32,
}

/// Events, and whether some are missing in front of them.
#[derive(Debug)]
pub struct Chunk {
    /// The words.
    pub words: Vec<u8>,
    /// Whether chunks in front of it are not there.
    pub is_behind_gap: bool,
}

impl Iterator for Chunks<'_> {
    type Item = Result<Chunk, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let piece = self.pieces.next()?;
        let is_behind_gap = piece.sequence != self.next;
        self.next = piece.sequence.wrapping_add(1);
        let place = match &piece.at {
            Stored::Here(words) => return Some(Ok(Chunk { words: words.clone(), is_behind_gap })),
            Stored::InFile(place) => place,
        };
        Some(match place.content(&mut self.file) {
            Ok(Some(words)) => Ok(Chunk { words, is_behind_gap }),
            Ok(None) => Err(Error::Damaged { path: self.path.to_owned(), at: place.at }),
            Err(e) => Err(Error::File { path: self.path.to_owned(), source: ReadError::Io(e) }),
        })
    }
}

#[cfg(test)]
mod tests {
    use cct_events::{Class, Frame, FrameWriter};

    use super::*;

    /// 40 MB of classes with nothing in them, in 200 KB.
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
}
