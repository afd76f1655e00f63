//! Errors of planning or rewriting a set of classes.

/// An error of planning or rewriting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The class file is malformed, or exceeds the limits of class files.
    #[error(transparent)]
    Class(#[from] cct_classfile::Error),
    /// The class was rewritten before.
    #[error("class {0} is already instrumented; give the original instead")]
    AlreadyRewritten(String),
    /// The class, or one of its methods, uses a name that cctrewrite reserves.
    #[error("class {class} declares {member}, a name that instrumentation needs")]
    NameTaken {
        /// The class.
        class: String,
        /// The member with the name.
        member: String,
    },
    /// Two rewritten methods got the same id.
    #[error(transparent)]
    MidCollision(#[from] cct_index::MidCollision),
    /// A class reached `rewrite` that was not surveyed.
    #[error("class {0} was not read")]
    NotSurveyed(String),
}

impl From<cct_markers::Error> for Error {
    fn from(error: cct_markers::Error) -> Self {
        match error {
            cct_markers::Error::Class(error) => Error::Class(error),
            cct_markers::Error::AlreadyMarked(class) => Error::AlreadyRewritten(class),
            cct_markers::Error::NameTaken { class, member } => Error::NameTaken { class, member },
        }
    }
}

/// Result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
