//! Reading of a trace's file: frame by frame, or from an index of all frames.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use super::{FRAME_HEAD, Frame, Head, LARGEST, MAGIC, VERSION};

/// Why a file cannot be read as a trace.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It cannot be read.
    #[error("cannot be read")]
    Io(#[from] io::Error),
    /// It is no trace.
    #[error("is not a trace of cctrewrite")]
    NoTrace,
    /// It has another version.
    #[error("is a trace of format {0}; this version reads format {VERSION}")]
    Version(u16),
}

/// The position at which a file's frames end too early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// In the middle of the frame at this offset.
    Truncated(u64),
    /// The bytes at this offset are no frame.
    Corrupt(u64),
}

/// Reads a file, frame by frame.
#[derive(Debug)]
pub struct FrameReader<R: Read> {
    from: R,
    /// Offset of the next frame.
    pub at: u64,
    provenance: String,
    cut: Option<Cut>,
}

impl<R: Read> FrameReader<R> {
    /// Reads a file's head.
    ///
    /// # Errors
    /// Fails if it cannot be read, or is no trace.
    pub fn new(mut from: R) -> Result<Self, ReadError> {
        let mut head = [0; 16];
        if fill(&mut from, &mut head)? < head.len() || head[..8] != MAGIC {
            return Err(ReadError::NoTrace);
        }
        let version = u16::from_le_bytes([head[8], head[9]]);
        if version != VERSION {
            return Err(ReadError::Version(version));
        }
        let length = u32::from_le_bytes([head[12], head[13], head[14], head[15]]) as usize;
        if length > LARGEST {
            return Err(ReadError::NoTrace);
        }
        let mut lines = vec![0; length];
        if fill(&mut from, &mut lines)? < length {
            return Err(ReadError::NoTrace);
        }
        let provenance = String::from_utf8_lossy(&lines).into_owned();
        Ok(FrameReader { from, at: (head.len() + length) as u64, provenance, cut: None })
    }

    /// The file's origin, in lines.
    pub fn provenance(&self) -> &str {
        &self.provenance
    }

    /// The position at which it ends too early, if that was detected.
    pub fn cut(&self) -> Option<Cut> {
        self.cut
    }

    /// The next frame; `None` at the end, or if there is no complete one.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn next_frame(&mut self) -> io::Result<Option<Frame>> {
        if self.cut.is_some() {
            return Ok(None);
        }
        let mut bytes = [0; FRAME_HEAD];
        match fill(&mut self.from, &mut bytes)? {
            0 => return Ok(None),
            FRAME_HEAD => {}
            _ => {
                self.cut = Some(Cut::Truncated(self.at));
                return Ok(None);
            }
        }
        let Some(head) = Head::of_bytes(&bytes) else {
            self.cut = Some(Cut::Corrupt(self.at));
            return Ok(None);
        };
        let mut stored = vec![0; head.stored as usize];
        if fill(&mut self.from, &mut stored)? < stored.len() {
            self.cut = Some(Cut::Truncated(self.at));
            return Ok(None);
        }
        let frame = Frame { head, stored };
        if head.sum(&frame.stored) != head.checksum {
            self.cut = Some(Cut::Corrupt(self.at));
            return Ok(None);
        }
        self.at += frame.size();
        Ok(Some(frame))
    }
}

/// A frame's head and offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The head.
    pub head: Head,
    /// The frame's offset.
    pub at: u64,
}

/// Iterates over the heads of frames, without reading the contents.
#[derive(Debug)]
pub struct Heads<R> {
    from: R,
    /// Offset of the next frame.
    at: u64,
    /// Size of the file, in bytes.
    pub length: u64,
    /// The file's origin, in lines.
    pub provenance: String,
    /// The position at which complete frames end too early, if that was detected. Stored bytes are
    /// checked when they are read.
    pub cut: Option<Cut>,
}

impl<R: Read + Seek> Heads<R> {
    /// Reads a file's head.
    ///
    /// # Errors
    /// Fails if it cannot be read, or is no trace.
    pub fn new(mut from: R) -> Result<Self, ReadError> {
        let length = from.seek(SeekFrom::End(0))?;
        from.seek(SeekFrom::Start(0))?;
        let reader = FrameReader::new(&mut from)?;
        let (at, provenance) = (reader.at, reader.provenance);
        Ok(Heads { from, at, length, provenance, cut: None })
    }

    /// The next complete frame; `None` after the last one.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn next_head(&mut self) -> io::Result<Option<Place>> {
        if self.cut.is_some() || self.at >= self.length {
            return Ok(None);
        }
        let mut bytes = [0; FRAME_HEAD];
        self.from.seek(SeekFrom::Start(self.at))?;
        let whole = fill(&mut self.from, &mut bytes)? == FRAME_HEAD;
        let Some(head) = Head::of_bytes(&bytes) else {
            self.cut = Some(if whole { Cut::Corrupt(self.at) } else { Cut::Truncated(self.at) });
            return Ok(None);
        };
        let place = Place { head, at: self.at };
        let end = self.at + FRAME_HEAD as u64 + u64::from(head.stored);
        if !whole || end > self.length {
            self.cut = Some(Cut::Truncated(self.at));
            return Ok(None);
        }
        self.at = end;
        Ok(Some(place))
    }
}

/// The positions of all frames of a file.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// The file's origin, in lines.
    pub provenance: String,
    /// All complete frames, in order.
    pub list: Vec<Place>,
    /// The position at which they end too early, if they do ([`Heads::cut`]).
    pub cut: Option<Cut>,
}

impl Places {
    /// Scans a file.
    ///
    /// # Errors
    /// Fails if it cannot be read, or is no trace.
    pub fn of(from: impl Read + Seek) -> Result<Places, ReadError> {
        let mut heads = Heads::new(from)?;
        let mut list = Vec::new();
        while let Some(place) = heads.next_head()? {
            list.push(place);
        }
        Ok(Places { provenance: heads.provenance, list, cut: heads.cut })
    }
}

impl Place {
    /// Reads the frame's content; `None` if it is damaged.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn content(&self, from: &mut (impl Read + Seek)) -> io::Result<Option<Vec<u8>>> {
        from.seek(SeekFrom::Start(self.at + FRAME_HEAD as u64))?;
        content(self.head, from)
    }

    /// Reads the content of the frame at an offset; `None` if it is damaged, or there is none.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn content_at(at: u64, from: &mut (impl Read + Seek)) -> io::Result<Option<Vec<u8>>> {
        from.seek(SeekFrom::Start(at))?;
        let mut bytes = [0; FRAME_HEAD];
        let whole = fill(from, &mut bytes)? == FRAME_HEAD;
        match Head::of_bytes(&bytes).filter(|_| whole) {
            Some(head) => content(head, from),
            None => Ok(None),
        }
    }
}

/// Reads the content after a head.
fn content(head: Head, from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut stored = vec![0; head.stored as usize];
    if fill(from, &mut stored)? < stored.len() {
        return Ok(None);
    }
    Ok(Frame { head, stored }.content())
}

/// An independent read position in a file that others read, too.
#[derive(Debug)]
pub struct ReadPosition<'f> {
    file: &'f File,
    at: u64,
}

impl<'f> ReadPosition<'f> {
    /// Starts at the beginning of a file.
    pub fn of(file: &'f File) -> ReadPosition<'f> {
        ReadPosition { file, at: 0 }
    }
}

impl Read for ReadPosition<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_at(self.file, into, self.at)?;
        #[cfg(windows)]
        let read = std::os::windows::fs::FileExt::seek_read(self.file, into, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for ReadPosition<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (from, by) = match to {
            SeekFrom::Start(at) => (at, 0),
            SeekFrom::Current(by) => (self.at, by),
            SeekFrom::End(by) => (self.file.metadata()?.len(), by),
        };
        self.at = from.checked_add_signed(by).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

/// Reads as many bytes as there are; returns their number.
fn fill(from: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < into.len() {
        match from.read(&mut into[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(filled)
}
