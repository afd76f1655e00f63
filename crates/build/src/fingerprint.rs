//! Hashes over the inputs of an output, so that it need not be built again.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;

use cct_archive::Input;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::file_error::{FileError, Operation};
use crate::image::tree::{Tree, TreeError};

/// Feeds a text with its length, so that no two sequences of texts give the same input.
pub fn text(hash: &mut Xxh3, bytes: &[u8]) {
    hash.update(&(bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}

/// Feeds the contents of a file, or everything in a folder; the path does not matter.
///
/// # Errors
/// Fails if a file cannot be read, or if the folder cannot be listed.
pub fn content(hash: &mut Xxh3, path: &Path) -> Result<(), TreeError> {
    let path = fs::canonicalize(path).map_err(Operation::Resolve.failed_on(path))?;
    if path.is_dir() {
        return Ok(Tree::list(&path)?.hash(hash)?);
    }
    text(hash, &of_file(&path)?.to_le_bytes());
    Ok(())
}

/// Feeds the contents of an input that is open already.
///
/// # Errors
/// Fails as [`content`] does.
pub fn opened(hash: &mut Xxh3, input: &Input) -> Result<(), TreeError> {
    match input.bytes() {
        Some(bytes) => text(hash, &xxh3_128(bytes).to_le_bytes()),
        None => content(hash, input.path())?,
    }
    Ok(())
}

/// The hash of a file's contents, read piece by piece.
///
/// # Errors
/// Fails if the file cannot be read.
pub fn of_file(path: &Path) -> Result<u128, FileError> {
    let cannot = Operation::Read.failed_on(path);
    let mut file = File::open(path).map_err(cannot)?;
    let (mut hash, mut piece) = (Xxh3::new(), vec![0; 1 << 18]);
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok(hash.digest128()),
            Ok(length) => hash.update(&piece[..length]),
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(cannot(e)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_hash_of_its_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for length in [0, 1, 1 << 18, (1 << 19) + 77] {
            let bytes: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
            fs::write(&path, &bytes).unwrap();
            assert_eq!(of_file(&path).unwrap(), xxh3_128(&bytes), "{length}");
        }
    }
}
