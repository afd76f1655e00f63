//! The Java sources of the runtime, and the class files in the repository that were compiled from
//! them (`jdk-wrap/classes`).
//!
//! Compilers of different releases make different class files of the same sources
//! (docs/ci/reproducible.md). So they are compiled by one release, by `cargo xtask runtime`, and
//! kept; a [`Record`] beside them says what they were made from, and the build of `jdk-wrap`
//! refuses them once the sources are others.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod compile;
mod record;

use std::io;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

pub use compile::{compile, version};
pub use record::{RECORD, Record};

/// The release of the JDK whose `javac` makes the class files: the oldest that the runtime is for,
/// so that the compiler knows no member of the class library which that one lacks, and `-source 8`
/// is its own language.
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

/// Why the class files cannot be made, or cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The compiler does not start.
    #[error("{} cannot be started: {source}", javac.display())]
    NoCompiler {
        /// The compiler.
        javac: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The compiler refuses the sources.
    #[error("{} cannot compile {}:\n{messages}", javac.display(), sources.display())]
    Refused {
        /// The compiler.
        javac: PathBuf,
        /// The folder.
        sources: PathBuf,
        /// What it said.
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
    /// Sources are others than those that were compiled.
    #[error(
        "the Java sources of jdk-wrap are others than those that jdk-wrap/classes was compiled from: \
         `cargo xtask runtime` compiles them (docs/internals/runtime.md)"
    )]
    OtherSources,
    /// Class files are others than those that the compiler made.
    #[error(
        "the class files in jdk-wrap/classes are others than those that were compiled: \
         `cargo xtask runtime` makes them anew (docs/internals/runtime.md)"
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
/// If a folder cannot be read.
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
