//! The file of a trace: a head, then frames, one after the other. Written bytes never change.
//! However the writer ends, everything up to the last complete frame can be read.

mod reading;

use std::io::{self, Write};

use xxhash_rust::xxh3::Xxh3;

pub use reading::{Cut, FrameReader, Heads, Place, Places, ReadError, ReadPosition};

/// The first bytes.
pub const MAGIC: [u8; 8] = *b"CCTTRACE";

/// Version of the format.
pub const VERSION: u16 = 3;

/// Size of a frame's head, in bytes.
const FRAME_HEAD: usize = 28;

/// Maximum size of a frame, stored or not.
pub const LARGEST: usize = 1 << 26;

/// The kind of a frame's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FrameKind {
    /// Classes that were rewritten before the program ran ([`crate::Class`], one after the other).
    Structure,
    /// A class that was rewritten while it was loaded.
    Class,
    /// The description of a thread: see [`Thread`].
    Thread,
    /// Events of one thread, in words, ordered by the frame's sequence number.
    Events,
    /// The name of a class, for its number in events of receivers and of loading; the number is in
    /// the field of the thread.
    ClassName,
    /// How the trace is recorded, in lines `key=value`, written when the program begins.
    Meta,
    /// Lines for people.
    Notes,
    /// The end mark: the trace is complete.
    End,
}

impl FrameKind {
    const ALL: [FrameKind; 8] = [
        FrameKind::Structure,
        FrameKind::Class,
        FrameKind::Thread,
        FrameKind::Events,
        FrameKind::ClassName,
        FrameKind::Meta,
        FrameKind::Notes,
        FrameKind::End,
    ];

    fn is_compressed(self) -> bool {
        matches!(self, FrameKind::Structure | FrameKind::Class | FrameKind::Events)
    }
}

/// The head of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The kind of its content.
    pub kind: FrameKind,
    /// Whether the content is stored compressed.
    pub compressed: bool,
    /// The thread, for a thread's frames.
    pub thread: u32,
    /// For a thread's events, the number of the frame among them, from 0.
    pub sequence: u32,
    /// Size of the content, in bytes.
    pub length: u32,
    /// Stored size, in bytes.
    pub stored: u32,
    /// Checksum of the fields above and of the stored bytes.
    checksum: u64,
}

impl Head {
    fn bytes(&self) -> [u8; FRAME_HEAD] {
        let mut bytes = [0; FRAME_HEAD];
        bytes[0] = self.kind as u8;
        bytes[1] = self.compressed.into();
        bytes[4..8].copy_from_slice(&self.thread.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.length.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.stored.to_le_bytes());
        bytes[20..28].copy_from_slice(&self.checksum.to_le_bytes());
        bytes
    }

    fn of_bytes(bytes: &[u8; FRAME_HEAD]) -> Option<Head> {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let head = Head {
            kind: *FrameKind::ALL.get(usize::from(bytes[0]))?,
            compressed: bytes[1] == 1,
            thread: word(4),
            sequence: word(8),
            length: word(12),
            stored: word(16),
            checksum: u64::from(word(20)) | u64::from(word(24)) << 32,
        };
        // A byte of LZ4 expands to at most 255: a larger announced size would only take memory.
        let most = if head.compressed { u64::from(head.stored) * 255 } else { u64::from(head.stored) };
        let fits = head.length as usize <= LARGEST
            && head.stored as usize <= LARGEST
            && u64::from(head.length) <= most;
        (bytes[1] <= 1 && bytes[2..4] == [0, 0] && fits).then_some(head)
    }

    fn sum(&self, stored: &[u8]) -> u64 {
        let mut hasher = Xxh3::new();
        hasher.update(&self.bytes()[..20]);
        hasher.update(stored);
        hasher.digest()
    }
}

/// A frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The frame's head.
    pub head: Head,
    stored: Vec<u8>,
}

impl Frame {
    /// Creates a frame with this content.
    pub fn new(kind: FrameKind, thread: u32, sequence: u32, content: &[u8]) -> Frame {
        let packed = kind.is_compressed().then(|| lz4_flex::compress(content));
        let packed = packed.filter(|packed| packed.len() < content.len());
        let compressed = packed.is_some();
        let stored = packed.unwrap_or_else(|| content.to_vec());
        let (length, size) = (content.len() as u32, stored.len() as u32);
        let mut head = Head { kind, compressed, thread, sequence, length, stored: size, checksum: 0 };
        head.checksum = head.sum(&stored);
        Frame { head, stored }
    }

    /// Writes the frame.
    ///
    /// # Errors
    /// Fails if the output fails.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&self.head.bytes())?;
        out.write_all(&self.stored)
    }

    /// The content; `None` if it is damaged.
    pub fn content(&self) -> Option<Vec<u8>> {
        if self.head.sum(&self.stored) != self.head.checksum {
            return None;
        }
        if !self.head.compressed {
            Some(self.stored.clone())
        } else {
            lz4_flex::decompress(&self.stored, self.head.length as usize)
                .ok()
                .filter(|content| content.len() == self.head.length as usize)
        }
    }

    /// Size of the frame in the file, in bytes.
    pub fn size(&self) -> u64 {
        (FRAME_HEAD + self.stored.len()) as u64
    }
}

/// Writes the frames of a file.
#[derive(Debug)]
pub struct FrameWriter<W: Write> {
    out: W,
    /// Number of bytes written.
    pub written: u64,
}

impl<W: Write> FrameWriter<W> {
    /// Starts a file, with lines about its origin.
    ///
    /// # Errors
    /// Fails if the output fails.
    pub fn new(mut out: W, provenance: &str) -> io::Result<Self> {
        let mut head = MAGIC.to_vec();
        head.extend_from_slice(&VERSION.to_le_bytes());
        head.extend_from_slice(&[0; 2]);
        head.extend_from_slice(&(provenance.len() as u32).to_le_bytes());
        head.extend_from_slice(provenance.as_bytes());
        out.write_all(&head)?;
        Ok(FrameWriter { out, written: head.len() as u64 })
    }

    /// Writes a frame.
    ///
    /// # Errors
    /// Fails if the output fails.
    pub fn frame(&mut self, frame: &Frame) -> io::Result<()> {
        frame.write(&mut self.out)?;
        self.written += frame.size();
        Ok(())
    }

    /// Writes buffered bytes.
    ///
    /// # Errors
    /// Fails if the output fails.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// The output.
    pub fn into_inner(self) -> W {
        self.out
    }
}

/// The description of a thread.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Thread {
    /// The thread's name.
    pub name: String,
    /// The thread's number in Java; 0 if unknown.
    pub id: u64,
    /// [`Thread::DAEMON`], [`Thread::VIRTUAL`].
    pub flags: u32,
}

impl Thread {
    /// Flag: a daemon thread.
    pub const DAEMON: u32 = 1;
    /// Flag: a virtual thread.
    pub const VIRTUAL: u32 = 2;

    /// The frame's content for this thread.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.id.to_le_bytes().to_vec();
        bytes.extend_from_slice(&self.flags.to_le_bytes());
        bytes.extend_from_slice(self.name.as_bytes());
        bytes
    }

    /// Parses a frame's content.
    pub fn of_bytes(bytes: &[u8]) -> Option<Thread> {
        let (id, rest) = bytes.split_first_chunk()?;
        let (flags, name) = rest.split_first_chunk()?;
        let name = String::from_utf8_lossy(name).into_owned();
        Some(Thread { name, id: u64::from_le_bytes(*id), flags: u32::from_le_bytes(*flags) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames() -> Vec<Frame> {
        let thread = Thread { name: "main \u{e9}".to_owned(), id: 1, flags: Thread::DAEMON };
        vec![
            Frame::new(FrameKind::Structure, 0, 0, &[7; 1000]),
            Frame::new(FrameKind::Thread, 3, 0, &thread.bytes()),
            Frame::new(FrameKind::Events, 3, 0, &(0..255).collect::<Vec<u8>>()),
            Frame::new(FrameKind::End, 0, 0, &[]),
        ]
    }

    fn file() -> Vec<u8> {
        let mut writer = FrameWriter::new(Vec::new(), "a=b\n").unwrap();
        frames().iter().for_each(|frame| writer.frame(frame).unwrap());
        assert_eq!(writer.written, writer.out.len() as u64);
        writer.into_inner()
    }

    fn read(bytes: &[u8]) -> (Vec<Frame>, Option<Cut>) {
        let mut reader = FrameReader::new(bytes).unwrap();
        let mut frames = Vec::new();
        while let Some(frame) = reader.next_frame().unwrap() {
            frames.push(frame);
        }
        (frames, reader.cut())
    }

    #[test]
    fn written_data_reads_back() {
        let file = file();
        assert_eq!(FrameReader::new(&file[..]).unwrap().provenance(), "a=b\n");
        let (frames, cut) = read(&file);
        assert_eq!((&frames, cut), (&self::frames(), None));
        let mut cursor = io::Cursor::new(&file);
        let places = Places::of(&mut cursor).unwrap();
        assert_eq!((places.provenance.as_str(), places.cut), ("a=b\n", None));
        for (place, frame) in places.list.iter().zip(&frames) {
            assert_eq!(place.content(&mut cursor).unwrap(), frame.content());
        }
        let cut = Places::of(io::Cursor::new(&file[..file.len() - 30])).unwrap();
        assert_eq!((cut.list.len(), cut.cut.is_some()), (2, true));
        assert_eq!(frames[0].content().unwrap(), [7; 1000]);
        assert!(frames[0].head.compressed && !frames[2].head.compressed);
        assert_eq!(Thread::of_bytes(&frames[1].content().unwrap()).unwrap().name, "main \u{e9}");
    }

    #[test]
    fn a_cut_file_is_read_up_to_the_cut() {
        let file = file();
        let mut seen = 0;
        for length in FrameReader::new(&file[..]).unwrap().at as usize..file.len() {
            let (frames, cut) = read(&file[..length]);
            assert_eq!(frames, self::frames()[..frames.len()]);
            assert!(frames.len() >= seen);
            seen = frames.len();
            let whole: u64 = 20 + frames.iter().map(Frame::size).sum::<u64>();
            assert_eq!(cut, (whole != length as u64).then_some(Cut::Truncated(whole)));
        }
        assert_eq!(seen, 3);
    }

    #[test]
    fn no_altered_byte_goes_unseen() {
        let file = file();
        for at in FrameReader::new(&file[..]).unwrap().at as usize..file.len() {
            let mut altered = file.clone();
            altered[at] ^= 1;
            let (frames, cut) = read(&altered);
            assert!(cut.is_some() && frames.len() < 4, "byte {at}");
        }
        assert!(matches!(FrameReader::new(&b"PK\x03\x04"[..]), Err(ReadError::NoTrace)));
        let mut newer = file.clone();
        newer[8] += 1;
        let next = VERSION + 1;
        assert!(matches!(FrameReader::new(&newer[..]), Err(ReadError::Version(version)) if version == next));
    }
}
