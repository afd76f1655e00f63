//! Why a folder, or a file in it, is not trusted.

use std::io;
use std::path::PathBuf;

/// A path that cannot be used, and why.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", .path.display())]
pub struct Error {
    /// The file or folder.
    pub path: PathBuf,
    /// The problem.
    pub problem: Problem,
}

/// A problem with a path.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The system reports an error.
    #[error(transparent)]
    System(#[from] io::Error),
    /// Another user owns it.
    #[error("belongs to another user (uid {0})")]
    OtherOwner(u32),
    /// Its mode lets the group, or everybody, write.
    #[error("others may write to it (mode {0:o})")]
    WritableByOthers(u32),
    /// A link, pipe, device or folder.
    #[error("not a regular file")]
    NotAFile,
}

impl Error {
    /// Whether the path does not exist or this user must not look at it: nobody expects this
    /// process there.
    pub fn is_absence(&self) -> bool {
        let kinds = [io::ErrorKind::NotFound, io::ErrorKind::PermissionDenied];
        matches!(&self.problem, Problem::System(error) if kinds.contains(&error.kind()))
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        match error.problem {
            Problem::System(system) => system,
            _ => io::Error::new(io::ErrorKind::PermissionDenied, error),
        }
    }
}
