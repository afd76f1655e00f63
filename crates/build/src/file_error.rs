//! Failed operations on files and folders.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A file or folder on which an operation failed.
#[derive(Debug, thiserror::Error)]
#[error("{}", .operation.on(.path))]
pub struct FileError {
    /// The operation that failed.
    pub operation: Operation,
    /// The path of the file or folder.
    pub path: PathBuf,
    /// The system's reason.
    pub source: io::Error,
}

/// An operation on a file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Open and read a file.
    Read,
    /// Write a file.
    Write,
    /// Look up the metadata of a file.
    Find,
    /// Look up a path that the user named, and resolve its links.
    Resolve,
    /// List the entries of a folder.
    List,
    /// Create a folder, a link or a copy.
    Make,
    /// Replace a file.
    Replace,
    /// Remove a file or folder, or move it away.
    Remove,
    /// Change the permissions of a file, or of everything in a folder.
    SetPermissions,
}

impl Operation {
    /// Creates the error of this operation on a file or folder from the system's reason.
    pub(crate) fn failed_on(self, path: &Path) -> impl Fn(io::Error) -> FileError + Copy {
        move |source| FileError { operation: self, path: path.to_path_buf(), source }
    }

    /// The message about the failure of this operation.
    fn on(self, path: &Path) -> impl fmt::Display {
        let (before, after) = match self {
            Operation::Read => ("cannot read ", ""),
            Operation::Write => ("cannot write ", ""),
            Operation::Find => ("cannot find ", ""),
            Operation::Resolve => ("", ": cannot find"),
            Operation::List => ("cannot list ", ""),
            Operation::Make => ("cannot make ", ""),
            Operation::Replace => ("cannot replace ", ""),
            Operation::Remove => ("cannot remove ", ""),
            Operation::SetPermissions => ("cannot set the permissions of ", ""),
        };
        fmt::from_fn(move |f| write!(f, "{before}{}{after}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_names_the_operation_and_the_path() {
        let message = |operation: Operation| {
            operation.failed_on(Path::new("a/b"))(io::ErrorKind::NotFound.into()).to_string()
        };
        assert_eq!(message(Operation::Read), "cannot read a/b");
        assert_eq!(message(Operation::SetPermissions), "cannot set the permissions of a/b");
        assert_eq!(message(Operation::Resolve), "a/b: cannot find");
    }
}
