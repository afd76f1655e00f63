//! The key of an image: a hash over everything that decides about its contents.

use std::io;

use xxhash_rust::xxh3::Xxh3;

use crate::file_error::FileError;
use crate::fingerprint::{content, text};
use crate::image::archive_of_classes::Variant;
use crate::image::known_hashes::KnownHashes;
use crate::image::request::ImageRequest;
use crate::image::tree::{Tree, TreeError};
use crate::load_time::{self, UnpackError};
use crate::user_module::{Module, UnreadableModule};

/// A key that cannot be computed.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// A library cannot be read.
    #[error(transparent)]
    Library(#[from] TreeError),
    /// The user's module cannot be read.
    #[error(transparent)]
    Module(#[from] UnreadableModule),
    /// A file of the JDK cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A build whose hash cannot be computed.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The system does not name the command's file.
    #[error("cannot find this command's own file")]
    NoCommand(#[source] io::Error),
    /// A library cannot be unpacked.
    #[error(transparent)]
    Library(#[from] UnpackError),
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
}

/// What decides about an image beside the JDK's files, libraries and modules.
pub struct Contents<'a> {
    /// Hashes of this command and its libraries.
    pub build: &'a [String],
    /// The options of rewriting, as on a command line.
    pub spelled: &'a [String],
    /// JVM options that are built in.
    pub options: &'a [String],
    /// Archives of classes.
    pub archives: &'a [Variant],
}

/// The key. The number of threads, and how files are copied, are not in it.
///
/// # Errors
/// A file that cannot be read.
pub fn of(
    tree: &Tree,
    known: &mut KnownHashes,
    request: &ImageRequest,
    contents: &Contents<'_>,
) -> Result<String, KeyError> {
    let mut hash = Xxh3::new();
    let lists = [contents.build, contents.spelled, contents.options];
    for word in lists.into_iter().flatten() {
        text(&mut hash, word.as_bytes());
    }
    for library in &request.choices.library {
        content(&mut hash, library)?;
    }
    if let Some(module) = Module::of(&request.module)? {
        text(&mut hash, module.identity.as_bytes());
    }
    for archive in contents.archives {
        text(&mut hash, archive.file.as_bytes());
    }
    text(&mut hash, &known.of_tree(tree)?.to_le_bytes());
    Ok(format!("{:032x}", hash.digest128()))
}

/// A hash of this build: of the command and of the libraries that go into images.
///
/// # Errors
/// A file that cannot be read, or a library that cannot be unpacked.
pub fn build(known: &mut KnownHashes) -> Result<Vec<String>, BuildError> {
    let command = std::env::current_exe().map_err(BuildError::NoCommand)?;
    let files = [command].into_iter().chain(load_time::all()?);
    files.map(|file| Ok(format!("{:032x}", known.of_file(&file)?))).collect()
}
