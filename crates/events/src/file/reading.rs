//! Reading a trace's file: frame by frame, or first where they all are.

use std::io::{self, Read, Seek, SeekFrom};

use super::{FRAME_HEAD, Frame, Head, LARGEST, MAGIC, VERSION};

/// Why a file is no trace.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It cannot be read.
    #[error("cannot be read")]
    Io(#[from] io::Error),
    /// It is something else.
    #[error("is no trace of cctrewrite")]
    NoTrace,
    /// It has another format.
    #[error("is a trace of format {0}, which this version does not read; it reads format {VERSION}")]
    Version(u16),
}

/// Where a file's frames end too early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// In the middle of a frame that begins at this byte.
    Truncated(u64),
    /// What stands at this byte is no frame.
    Corrupt(u64),
}

/// Reads a file, frame by frame.
#[derive(Debug)]
pub struct FrameReader<R: Read> {
    from: R,
    /// Where the next frame begins.
    pub at: u64,
    provenance: String,
    cut: Option<Cut>,
}

impl<R: Read> FrameReader<R> {
    /// Reads a file's head.
    ///
    /// # Errors
    /// When it cannot be read, or is no trace.
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

    /// Where it comes from, in lines.
    pub fn provenance(&self) -> &str {
        &self.provenance
    }

    /// Where it ends too early, if that was seen.
    pub fn cut(&self) -> Option<Cut> {
        self.cut
    }

    /// The next frame; `None` at the end, or where there is no whole one.
    ///
    /// # Errors
    /// When the file cannot be read.
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

/// A frame's head, and where its frame begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// What stands in front of the content.
    pub head: Head,
    /// The frame's first byte.
    pub at: u64,
}

/// Where the frames of a file are: of each the head alone is read.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// What the file says of where it comes from.
    pub provenance: String,
    /// All whole frames, in their order.
    pub list: Vec<Place>,
    /// Where they end too early, if they do. Whether stored bytes are sound is seen when they are read.
    pub cut: Option<Cut>,
}

impl Places {
    /// Looks through a file.
    ///
    /// # Errors
    /// When it cannot be read, or is no trace.
    pub fn of(mut from: impl Read + Seek) -> Result<Places, ReadError> {
        let length = from.seek(SeekFrom::End(0))?;
        from.seek(SeekFrom::Start(0))?;
        let reader = FrameReader::new(&mut from)?;
        let (mut at, provenance) = (reader.at, reader.provenance);
        let mut places = Places { provenance, ..Places::default() };
        while at < length {
            let mut bytes = [0; FRAME_HEAD];
            from.seek(SeekFrom::Start(at))?;
            let whole = fill(&mut from, &mut bytes)? == FRAME_HEAD;
            let Some(head) = Head::of_bytes(&bytes) else {
                places.cut = Some(if whole { Cut::Corrupt(at) } else { Cut::Truncated(at) });
                break;
            };
            let end = at + FRAME_HEAD as u64 + u64::from(head.stored);
            if !whole || end > length {
                places.cut = Some(Cut::Truncated(at));
                break;
            }
            places.list.push(Place { head, at });
            at = end;
        }
        Ok(places)
    }
}

impl Place {
    /// Reads the frame's content; `None` if it is damaged.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn content(&self, from: &mut (impl Read + Seek)) -> io::Result<Option<Vec<u8>>> {
        from.seek(SeekFrom::Start(self.at + FRAME_HEAD as u64))?;
        let mut stored = vec![0; self.head.stored as usize];
        if fill(from, &mut stored)? < stored.len() {
            return Ok(None);
        }
        Ok(Frame { head: self.head, stored }.content())
    }
}

/// Reads as much as there is; how much that is.
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
