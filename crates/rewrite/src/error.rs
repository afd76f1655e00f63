//! Why a set of classes, or one of them, cannot be rewritten.

/// An error of planning or rewriting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The class file is damaged, or outgrows what class files can hold.
    #[error(transparent)]
    Class(#[from] cct_classfile::Error),
    /// The class was rewritten before.
    #[error("class {0} has been instrumented already; give the original instead")]
    AlreadyRewritten(String),
    /// The class, or one of its methods, uses a name of ours.
    #[error("class {class} declares {member}, a name that instrumentation needs for itself")]
    NameTaken {
        /// The class.
        class: String,
        /// Its member.
        member: String,
    },
    /// Two of the rewritten methods got one id.
    #[error(transparent)]
    MidCollision(#[from] cct_index::MidCollision),
    /// A class reached `rewrite` that had not been surveyed.
    #[error("class {0} was not surveyed")]
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
