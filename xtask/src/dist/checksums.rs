//! Checksums as sha256sum(1) writes and checks them.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use sha2::{Digest, Sha256};

use super::tree::Tree;

/// The file with the sums.
pub const NAME: &str = "SHA256SUMS";

/// The SHA-256 of bytes, in hexadecimal digits.
pub fn sha_256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A line for each file of a tree.
pub fn of_tree(tree: &Tree) -> String {
    tree.files().map(|(path, file)| line(path, &file.bytes)).collect()
}

/// A line for each of these files, without their folders.
///
/// # Errors
/// Fails if a file cannot be read.
pub fn of_files(files: &[PathBuf]) -> Result<String> {
    let mut lines = Vec::new();
    for path in files {
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        lines.push((name.clone().into_owned(), line(&name, &bytes)));
    }
    lines.sort();
    Ok(lines.into_iter().map(|(_, line)| line).collect())
}

fn line(name: &str, bytes: &[u8]) -> String {
    format!("{}  {name}\n", sha_256(bytes))
}

#[cfg(test)]
mod tests {
    use super::super::tree::DATA;
    use super::*;

    #[test]
    fn lines_are_those_of_sha256sum() {
        let mut tree = Tree::default();
        tree.add("b/c", DATA, b"abc".to_vec());
        // FIPS 180-2, appendix B.1.
        assert_eq!(of_tree(&tree), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  b/c\n");
    }
}
