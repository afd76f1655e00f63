//! Errors of reading a profile.

use std::io;

use crate::{MergeError, TreeTooLarge};

/// Why a file cannot be read as a profile.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The input failed.
    #[error("reading the profile failed")]
    Io(#[from] io::Error),
    /// The first bytes are not those of a profile.
    #[error("this is not a profile (.cct) file: its first bytes differ")]
    NotAProfile,
    /// The magic was altered as by a text-mode transfer.
    #[error("the profile was damaged by a transfer in text mode; copy it again in binary mode")]
    TextMode,
    /// The format is newer (or invalid).
    #[error(
        "the profile has format version {0}, this version of cctrewrite reads versions 1, 2, 4 and \
         7; use the version that wrote the profile"
    )]
    Version(u32),
    /// An error inside a section.
    #[error("section {section} of the profile, byte {offset} of the file: {problem}")]
    Section {
        /// The section's tag.
        section: String,
        /// Position in the file, in bytes from its start.
        offset: u64,
        /// The problem there.
        problem: Problem,
    },
    /// The numbers of a column do not fit.
    #[error("the columns of the profile cannot be read")]
    Columns(#[from] MergeError),
}

/// A problem at a place in the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The section's CRC-32 is not that of its bytes.
    #[error(
        "checksum mismatch (stored {stored:08x}, computed {computed:08x}): the file was damaged, copy it again"
    )]
    Checksum {
        /// As written in the file.
        stored: u32,
        /// As computed from the bytes.
        computed: u32,
    },
    /// A section this version does not know and must not skip.
    #[error("unknown section; use the version of cctrewrite that wrote this profile")]
    UnknownSection,
    /// A known section in the wrong place.
    #[error("the section is in a wrong place")]
    Misplaced,
    /// The section ends in the middle of a field.
    #[error("the section ends inside a field")]
    ShortField,
    /// A varint above 2^64 - 1, or of more than ten bytes.
    #[error("a number does not fit into 64 bits")]
    NumberTooLarge,
    /// A string that is not UTF-8.
    #[error("a string is not UTF-8")]
    NotUtf8,
    /// Bytes after the section's last field, or after the end mark.
    #[error("bytes follow the end")]
    TrailingBytes,
    /// Keys, strings, methods, threads or children out of order, or twice.
    #[error("{0} are not in order")]
    Order(&'static str),
    /// An index beyond its table.
    #[error("{what} {index} does not exist, there are {count}")]
    NoSuchEntry {
        /// The table.
        what: &'static str,
        /// The index read.
        index: u64,
        /// The table's size.
        count: usize,
    },
    /// A type in a file of a version that has none.
    #[error(
        "a type among the methods, which versions 1 and 2 of the format do not have: cctrewrite did not write this file"
    )]
    TypeInOldVersion,
    /// A column in a file of a version that has none.
    #[error(
        "a column, or a synchronized method, which versions before 7 of the format do not have: cctrewrite did not write this file"
    )]
    ColumnInOldVersion,
    /// A marker with properties that only methods have.
    #[error("a marker has a name, a descriptor or a call site, which only methods have")]
    BadMarker,
    /// A column without a usable name, or a method without a class.
    #[error("a column has no name or an invalid one, or a method has no class")]
    BadColumn,
    /// A number of a column that is no leaf, or has bytecodes.
    #[error("a number of a column has callees or bytecodes")]
    BadCell,
    /// A call site in a file of a version that has none.
    #[error("a call site, which version 1 of the format does not have: cctrewrite did not write this file")]
    SiteTooEarly,
    /// A call site that no code has.
    #[error("the {0} of a call site is larger than that of any code")]
    NoSuchSite(&'static str),
    /// A tree's first record names a method, or a later one does not.
    #[error("a root record instead of a method's, or the reverse")]
    Root,
    /// The next tree or the end, while nodes are still due.
    #[error("the tree before it is incomplete")]
    IncompleteTree,
    /// More nodes than can be numbered.
    #[error(transparent)]
    TooLarge(#[from] TreeTooLarge),
}
