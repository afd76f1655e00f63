//! The one error of this crate: the fault, and its exact location.

use std::fmt;

use crate::names::NameAndType;

/// The reason why a class file was refused, or could not be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file does not begin with `0xCAFEBABE` (JVMS 4.1).
    #[error("not a class file: it begins with {0:#010x} instead of 0xcafebabe")]
    BadMagic(u32),
    /// A structure reaches past the end of its container.
    #[error("truncated: {needed} more bytes were announced, {available} are there")]
    Truncated {
        /// Number of bytes that the structure needs.
        needed: usize,
        /// Number of bytes left.
        available: usize,
    },
    /// Bytes after the last structure.
    #[error("{0} bytes after the last structure")]
    TrailingBytes(usize),
    /// A constant-pool tag that JVMS 4.4 does not define.
    #[error("unknown constant-pool tag {0}")]
    BadTag(u8),
    /// A constant-pool index that does not name a constant of the required kind.
    #[error("constant-pool index {index} is not {expected}")]
    BadIndex {
        /// The index found.
        index: u16,
        /// The kind that the JVMS requires.
        expected: &'static str,
    },
    /// Bytes of a `CONSTANT_Utf8` that are not modified UTF-8 (JVMS 4.4.7).
    #[error("malformed modified UTF-8")]
    BadUtf8,
    /// A descriptor outside the grammar of JVMS 4.3.
    #[error("malformed descriptor {0:?}")]
    BadDescriptor(String),
    /// An opcode outside JVMS 6.5.
    #[error("unknown opcode {0:#04x}")]
    BadOpcode(u8),
    /// An instruction, handler or table entry that points to no instruction.
    #[error("bytecode index {0} is not the beginning of an instruction")]
    BadTarget(u32),
    /// Any other contradiction to the specification.
    #[error("{0}")]
    Malformed(&'static str),
    /// The edited method is longer than 65,535 bytes (JVMS 4.7.3).
    #[error("the method would have {0} bytes of code; the limit is 65535")]
    MethodTooLarge(usize),
    /// The edited class needs more than 65,535 constants (JVMS 4.1).
    #[error("the class would need more than 65535 constants")]
    PoolTooLarge,
    /// A count that does not fit its field.
    #[error("too many {0}")]
    TooMany(&'static str),
    /// A conditional jump that is out of reach and has no gap near it for a trampoline.
    #[error("the jump at bytecode index {0} cannot reach its target any more")]
    JumpTooFar(u32),
    /// A `long` or `double` local lies across the slot where locals are to be inserted.
    #[error("local variable {0} lies across the boundary of the arguments")]
    StraddlingLocal(u16),
}

/// An [`ErrorKind`] with its location. One word wide, so that `Result`s stay small.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    offset: Option<usize>,
    attribute: Option<String>,
    member: Option<String>,
    class: Option<String>,
}

/// Result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error without a location yet.
    #[cold]
    pub fn new(kind: ErrorKind) -> Self {
        Error(Box::new(Inner { kind, offset: None, attribute: None, member: None, class: None }))
    }

    /// An error at a byte offset of the class file.
    #[cold]
    pub fn at(kind: ErrorKind, offset: usize) -> Self {
        let mut e = Error::new(kind);
        e.0.offset = Some(offset);
        e
    }

    /// The kind of the fault.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Byte offset in the class file, where known. Inside a method's code it is the offset of the
    /// instruction in the file.
    pub fn offset(&self) -> Option<usize> {
        self.0.offset
    }

    /// The class concerned, as far as it could be read.
    pub fn class(&self) -> Option<&str> {
        self.0.class.as_deref()
    }

    /// Name and descriptor of the field or method concerned.
    pub fn member(&self) -> Option<&str> {
        self.0.member.as_deref()
    }

    /// Adds the attribute's name unless a nested one is already named.
    #[cold]
    #[must_use]
    pub fn in_attribute(mut self, name: &str) -> Self {
        self.0.attribute.get_or_insert_with(|| name.to_owned());
        self
    }

    /// Adds the member.
    #[cold]
    #[must_use]
    pub fn in_member(mut self, member: NameAndType<'_>) -> Self {
        self.0.member.get_or_insert_with(|| member.to_string());
        self
    }

    /// Adds the class.
    #[cold]
    #[must_use]
    pub fn in_class(mut self, name: &str) -> Self {
        self.0.class.get_or_insert_with(|| name.to_owned());
        self
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Error::new(kind)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(class) = &self.0.class {
            write!(f, "class {class}: ")?;
        }
        if let Some(member) = &self.0.member {
            write!(f, "{member}: ")?;
        }
        if let Some(attribute) = &self.0.attribute {
            write!(f, "attribute {attribute}: ")?;
        }
        write!(f, "{}", self.0.kind)?;
        if let Some(offset) = self.0.offset {
            write!(f, " (at byte {offset})")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl std::error::Error for Error {}
