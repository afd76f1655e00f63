//! Errors, and notices about inputs that were handled.

use std::fmt;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why an input could not be read or an output not be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system reported an error.
    #[error("{}: cannot {action}: {cause}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The attempted action: "read", "create" ...
        action: &'static str,
        /// The system's answer.
        cause: io::Error,
    },
    /// An archive as a whole is unusable.
    #[error("{archive}: {problem}")]
    Archive {
        /// The archive, as [`crate::ArchivePath`] displays it.
        archive: String,
        /// The problem.
        problem: ArchiveProblem,
    },
    /// One entry is unusable.
    #[error("{entry}: {problem}")]
    Entry {
        /// The entry, as [`crate::Location`] displays it.
        entry: String,
        /// The problem.
        problem: EntryProblem,
    },
    /// The output may not be written there. Reported before anything is written.
    #[error("output {}: {problem}", path.display())]
    Target {
        /// The requested output.
        path: PathBuf,
        /// The reason.
        problem: TargetProblem,
    },
}

impl Error {
    pub(crate) fn io(path: impl Into<PathBuf>, action: &'static str) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |cause| Error::Io { path, action, cause }
    }

    pub(crate) fn entry(at: &dyn fmt::Display) -> impl FnOnce(EntryProblem) -> Error {
        move |problem| Error::Entry { entry: at.to_string(), problem }
    }
}

/// Why an archive as a whole is unusable.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ArchiveProblem {
    /// No bytes at all.
    #[error("the file is empty; a jar is expected")]
    Empty,
    /// Neither start nor end looks like a zip archive.
    #[error("not a jar: neither a zip entry at its start nor a zip directory at its end")]
    NotZip,
    /// It starts as a zip archive and does not end as one.
    #[error("truncated: the zip directory at its end is missing; copy or download it again")]
    Truncated,
    /// Bytes follow the supposed end.
    #[error("{count} bytes follow the end of the zip directory; damaged, or something was appended")]
    TrailingBytes {
        /// Number of bytes.
        count: usize,
    },
    /// Part of a split archive.
    #[error("part of a zip archive split over several files; join them first")]
    Split,
    /// The directory contradicts itself or the rest of the file.
    #[error("damaged zip directory at offset {offset}: {what}")]
    Directory {
        /// Offset in bytes from the start of the archive.
        offset: usize,
        /// The contradiction.
        what: &'static str,
    },
    /// An entry contradicts the directory.
    #[error("entry {name}: damaged at offset {offset}: {what}")]
    EntryHeader {
        /// The entry's name.
        name: Box<str>,
        /// Actual or expected offset of its local header.
        offset: usize,
        /// The contradiction.
        what: &'static str,
    },
    /// An image's index contradicts itself or the rest of the file.
    #[error("damaged image at offset {offset}: {what}; copy it again from its JDK")]
    Image {
        /// Offset in bytes from the start of the file.
        offset: usize,
        /// The contradiction.
        what: &'static str,
    },
    /// An image of a newer format.
    #[error("an image of version {major}.{minor}; known are 1.0 (JDK 9 to 26) and 1.1 (JDK 27)")]
    ImageVersion {
        /// Major version.
        major: u32,
        /// Minor version.
        minor: u32,
    },
    /// An output image that no JDK could read.
    #[error("the rewritten image exceeds 2 GiB, the limit of JDKs")]
    ImageTooLarge,
    /// Names that were constructed to collide.
    #[error("no perfect hash found for its names; check that it is the image of a JDK")]
    ImageHash,
    /// More levels of nesting than [`crate::Limits::max_depth`].
    #[error("nested more than {limit} archives deep; if that is intended, raise the limit (max-depth)")]
    TooDeep {
        /// The limit.
        limit: usize,
    },
}

/// Why one entry is unusable.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EntryProblem {
    /// Its bytes are encrypted.
    #[error("encrypted; JVMs cannot read encrypted jars, write it without a password")]
    Encrypted,
    /// Neither stored nor deflated.
    #[error("compression method {0}; JVMs read only stored (0) and deflated (8) entries")]
    Method(u16),
    /// The bytes are not what the directory declares.
    #[error("damaged: {actual} bytes where the zip directory declares {declared}")]
    Size {
        /// Size declared, bytes.
        declared: u64,
        /// Size found, bytes (of a longer entry: as many as were inflated before giving up).
        actual: u64,
    },
    /// The checksum is not what the directory declares.
    #[error("damaged: checksum {actual:08x} where the zip directory declares {declared:08x}")]
    Checksum {
        /// CRC-32 declared.
        declared: u32,
        /// CRC-32 found.
        actual: u32,
    },
    /// The deflated bytes are invalid.
    #[error("damaged: its deflated bytes cannot be inflated ({0})")]
    Inflate(String),
    /// Compression failed.
    #[error("cannot be deflated ({0})")]
    Deflate(String),
    /// The bytes of an image's resource do not match its location or its compression.
    #[error("damaged: {0}")]
    Image(&'static str),
    /// An unknown decompressor. jlink has only two, unless foreign plug-ins were used.
    #[error("compressed by {0:?}; only zip and compact-cp of jlink are known")]
    Decompressor(String),
    /// Larger than [`crate::Limits::max_entry_bytes`].
    #[error("{size} bytes, more than the limit of {limit}; if that is intended, raise the limit (max-entry)")]
    TooLarge {
        /// Declared size, bytes.
        size: u64,
        /// The limit.
        limit: u64,
    },
    /// Compressed better than [`crate::Limits::max_ratio`] allows.
    #[error(
        "{packed} bytes inflate to {size}, more than {limit} times as many; if that is intended, \
         raise the limit (max-ratio)"
    )]
    Ratio {
        /// Compressed size, bytes.
        packed: u64,
        /// Declared size, bytes.
        size: u64,
        /// The limit.
        limit: u64,
    },
    /// The pass has inflated more than [`crate::Limits::max_total_bytes`].
    #[error(
        "the whole input inflates to more than the limit of {limit} bytes; if that is intended, \
         raise the limit (max-total)"
    )]
    TotalTooLarge {
        /// The limit, bytes.
        limit: u64,
    },
    /// Reading or writing it failed.
    #[error("cannot {action}: {cause}")]
    Io {
        /// The attempted action.
        action: &'static str,
        /// The operating system's answer.
        cause: io::Error,
    },
    /// A symbolic link that leads out of the input folder.
    #[error("a symbolic link to {}, outside the input folder; replace it by what it points to", target.display())]
    LinkOutside {
        /// The link's target.
        target: PathBuf,
    },
    /// A symbolic link to one of the folders that contain it.
    #[error("a symbolic link to a folder that contains it; remove it")]
    LinkLoop,
    /// A pipe, socket or device.
    #[error("neither a file nor a folder nor a symbolic link to one; remove it")]
    Special,
    /// A name to be added that is absolute, contains `..`, is empty or is no file name.
    #[error(
        "not a valid name for an added entry: it must be relative, with parts separated by single \
         `/`, none of them `.` or `..`"
    )]
    BadName,
    /// A name to be added to an image that has no module, or that an image reserves for itself.
    #[error(
        "not a valid name for an added entry of an image: it must start with a module, and have at \
         most 256 parts"
    )]
    NoModule,
    /// A name to be added that exists already.
    #[error("already exists, but must be added; give the original instead of a rewritten input")]
    NameTaken,
    /// The rewriter dropped the class of an input that is a class file.
    #[error("is the only entry, but is omitted; name the jar or folder that it belongs to")]
    Undroppable,
}

/// Why output may not be written to a path.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TargetProblem {
    /// It is one of the inputs, by this or another name.
    #[error("is the input {}; name another output", .0.display())]
    IsInput(PathBuf),
    /// It is in a folder that is an input.
    #[error("lies inside the input folder {}; name an output outside", .0.display())]
    InsideInput(PathBuf),
    /// An input is in the folder that would be replaced.
    #[error("is a folder that contains the input {}; name another output", .0.display())]
    ContainsInput(PathBuf),
    /// The path ends in no name.
    #[error("has no file name")]
    NoName,
    /// The input is a jar, and here is a folder.
    #[error("is a folder, but the input is a jar; name a file")]
    IsFolder,
    /// The input is a folder, and here is a file.
    #[error("is a file, but the input is a folder; name a folder")]
    IsFile,
    /// A pipe, device or socket is there.
    #[error("is neither a file nor a folder")]
    Special,
    /// A folder with other contents than an earlier output.
    #[error(
        "is a folder that is not empty and holds no earlier output (no cctrewrite-output/index); remove it or name another"
    )]
    NotEmpty,
}

/// An error of this crate, or of the caller's own code that it called.
#[derive(Debug, Error)]
pub enum Failure<E> {
    /// An error of this crate.
    #[error(transparent)]
    Archive(#[from] Error),
    /// The caller's error, with the entry or archive at which it occurred.
    #[error("{at}: {cause}")]
    Callback {
        /// The entry or archive, as [`crate::Location`] or [`crate::ArchivePath`] displays it.
        at: String,
        /// What the caller's code returned.
        cause: E,
    },
}

/// A notice for the user about an input that was handled.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// Entries of a signed jar changed, so its signatures became invalid and were removed.
    SignatureRemoved {
        /// The jar.
        archive: String,
        /// The signature files dropped, in order.
        files: Vec<Box<str>>,
        /// How many digest attributes were removed from its manifest.
        digests: usize,
    },
    /// An entry has the name of an archive but is none, and was kept unchanged: no JVM loads
    /// classes from it.
    NotAnArchive {
        /// The entry.
        entry: String,
        /// The problem with it.
        problem: ArchiveProblem,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::SignatureRemoved { archive, files, digests } => write!(
                f,
                "{archive}: signature removed, as entries changed ({} signature files, {digests} manifest digests)",
                files.len()
            ),
            Notice::NotAnArchive { entry, problem } => write!(f, "{entry}: kept as it is: {problem}"),
        }
    }
}
