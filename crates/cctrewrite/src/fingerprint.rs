//! Hashes over what goes into an output, so that it need not be made again.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use xxhash_rust::xxh3::Xxh3;

use crate::image::Tree;

/// Feeds a text with its length, so that no two sequences of texts are fed alike.
pub fn text(hash: &mut Xxh3, bytes: &[u8]) {
    hash.update(&(bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}

/// Feeds the contents of a file, or everything in a folder; where it is does not matter.
pub fn content(hash: &mut Xxh3, path: &Path) -> Result<()> {
    let path = fs::canonicalize(path).with_context(|| format!("{}: cannot find", path.display()))?;
    if path.is_dir() {
        return Tree::list(&path)?.hash(hash);
    }
    text(hash, &of_file(&path)?.to_le_bytes());
    Ok(())
}

/// The hash of a file's contents.
pub fn of_file(path: &Path) -> Result<u128> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(xxhash_rust::xxh3::xxh3_128(&bytes))
}
