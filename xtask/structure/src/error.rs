//! Why the structure cannot be read.

use std::io;
use std::path::{Path, PathBuf};

/// Why the structure cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read.
    #[error("{}: {error}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// A manifest, or the file of expectations, is invalid.
    #[error("{}: {error}", .path.display())]
    Toml {
        /// The file.
        path: PathBuf,
        /// The error, with the line.
        error: Box<toml::de::Error>,
    },
    /// A source is not valid Rust.
    #[error("{}:{line}: {error}", .path.display())]
    Rust {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// The parser's message.
        error: String,
    },
    /// A module without a file.
    #[error("{}: no file for `mod {module};`", .path.display())]
    NoModule {
        /// The file that declares it.
        path: PathBuf,
        /// The module's name.
        module: String,
    },
}

/// Result with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Reads a text file.
pub fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|error| Error::Io { path: path.to_owned(), error })
}
