//! What a reader of class files is asked.

use super::model::{Class, Code};

/// A class file as a reader sees it: the class at once, the code of its methods one at a time, so
/// that memory is bounded by the largest.
pub trait Reading<'a> {
    /// All but code.
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

/// Why a class file has no second reading.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    /// The reader of this program refuses a part that the checks may never look at.
    #[error("{0}")]
    Own(#[from] cct_classfile::Error),
    /// cafebabe refuses it.
    #[error("cafebabe: {0}")]
    Second(String),
    /// cafebabe might need too much time or memory.
    #[error("{0}")]
    TooLarge(&'static str),
    /// An attribute is where it means nothing, and cafebabe reads it there.
    #[error("an attribute {0} in a wrong place")]
    Misplaced(&'static str),
}
