//! Hashes over the inputs of an output, so that it need not be built again.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;

use anyhow::{Context, Result};
use cct_archive::Input;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::image::tree::Tree;

/// Feeds a text with its length, so that no two sequences of texts give the same input.
pub fn text(hash: &mut Xxh3, bytes: &[u8]) {
    hash.update(&(bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}

/// Feeds the contents of a file, or everything in a folder; the path does not matter.
pub fn content(hash: &mut Xxh3, path: &Path) -> Result<()> {
    let path = fs::canonicalize(path).with_context(|| format!("{}: cannot find", path.display()))?;
    if path.is_dir() {
        return Tree::list(&path)?.hash(hash);
    }
    text(hash, &of_file(&path)?.to_le_bytes());
    Ok(())
}

/// Feeds the contents of an input that is open already.
pub fn opened(hash: &mut Xxh3, input: &Input) -> Result<()> {
    match input.bytes() {
        Some(bytes) => text(hash, &xxh3_128(bytes).to_le_bytes()),
        None => content(hash, input.path())?,
    }
    Ok(())
}

/// The hash of a file's contents, read piece by piece.
pub fn of_file(path: &Path) -> Result<u128> {
    let cannot = || format!("cannot read {}", path.display());
    let mut file = File::open(path).with_context(cannot)?;
    let (mut hash, mut piece) = (Xxh3::new(), vec![0; 1 << 18]);
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok(hash.digest128()),
            Ok(length) => hash.update(&piece[..length]),
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e).with_context(cannot),
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
