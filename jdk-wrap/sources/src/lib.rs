//! The Java sources of the runtime, and the class files in the repository that were compiled from
//! them (`jdk-wrap/classes`).
//!
//! Compilers of different releases produce different class files from the same sources
//! (docs/ci/reproducible.md). So `cargo xtask runtime` compiles them with one release, and they are
//! kept. A [`Record`] next to them has hashes of their sources, and the build of `jdk-wrap` rejects
//! them when the sources have changed.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod compile;
mod record;

use std::io;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

pub use compile::{compile, version};
pub use record::{RECORD, Record};

/// The release of the JDK whose `javac` compiles the class files: the oldest that the runtime
/// supports. So the compiler knows no member of the class library that this release lacks, and
/// `-source 8` is its own language.
pub const RELEASE: u32 = 8;

/// The folders of sources in `jdk-wrap`.
pub const SOURCES: [&str; 10] = [
    "api",
    "harness",
    "java",
    "markers",
    "markers-gate",
    "markers-library",
    "markers-tree",
    "markers-tree-gate",
    "stubs",
    "udi",
];

/// The folders of class files in `jdk-wrap/classes`.
pub const GROUPS: [&str; 7] =
    ["api", "harness", "markers", "markers-library", "markers-tree", "runtime", "udi"];

/// Why the class files cannot be compiled or used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The compiler does not start.
    #[error("{} cannot be started: {source}", javac.display())]
    NoCompiler {
        /// The compiler.
        javac: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The compiler rejects the sources.
    #[error("{} cannot compile {}:\n{messages}", javac.display(), sources.display())]
    Refused {
        /// The compiler.
        javac: PathBuf,
        /// The folder.
        sources: PathBuf,
        /// The compiler's messages.
        messages: String,
    },
    /// The record lacks a line.
    #[error("{}: no line that begins with `{line}`", path.display())]
    NoRecord {
        /// The record.
        path: PathBuf,
        /// The line's first word.
        line: &'static str,
    },
    /// The sources differ from those that were compiled.
    #[error(
        "the Java sources of jdk-wrap are others than those that jdk-wrap/classes was compiled from: \
         `cargo xtask runtime` compiles them (docs/internals/runtime.md)"
    )]
    OtherSources,
    /// The class files differ from those that the compiler produced.
    #[error(
        "the class files in jdk-wrap/classes differ from those that the compiler wrote: \
         `cargo xtask runtime` makes them again (docs/internals/runtime.md)"
    )]
    OtherClasses,
}

/// A result with this crate's error.
pub type Result<T> = std::result::Result<T, Error>;

/// Names the file in an error.
fn at<T>(path: &Path, result: io::Result<T>) -> Result<T> {
    result.map_err(|source| Error::File { path: path.to_owned(), source })
}

/// All files below a folder, links followed, in an order that does not depend on the file system.
///
/// # Errors
/// Fails if a folder cannot be read.
pub fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in WalkDir::new(folder).follow_links(true).sort_by_file_name() {
        let entry = entry.map_err(|error| Error::File {
            path: error.path().unwrap_or(folder).to_owned(),
            source: error.into(),
        })?;
        if !entry.file_type().is_dir() {
            files.push(entry.into_path());
        }
    }
    Ok(files)
}
