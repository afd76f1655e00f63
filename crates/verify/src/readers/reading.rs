//! The interface of a reader of class files.

use super::model::{Class, Code};

/// A class file as a reader sees it: the class as a whole, and the code of its methods one by one,
/// so that the largest method bounds the memory.
pub trait ClassView<'a> {
    /// Everything except code.
    ///
    /// # Errors
    /// If a part of it cannot be read.
    fn class(&self) -> Result<Class<'a>, Unread>;

    /// The code of the method with this number; `None` if it has none.
    ///
    /// # Errors
    /// If it cannot be read.
    fn code(&self, method: usize) -> Result<Option<Code<'a>>, Unread>;
}

/// The reason why a class file has no second reading.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    /// This program's reader refuses a part that the checks may never read.
    #[error("{0}")]
    Own(#[from] cct_classfile::Error),
    /// cafebabe refuses it.
    #[error("cafebabe: {0}")]
    Second(String),
    /// cafebabe might need too much time or memory.
    #[error("{0}")]
    TooLarge(&'static str),
    /// An attribute is where it has no meaning, and cafebabe reads it there.
    #[error("an attribute {0} in a wrong place")]
    Misplaced(&'static str),
}
