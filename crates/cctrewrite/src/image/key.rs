//! The key of an image: a hash over everything that decides about its contents.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use xxhash_rust::xxh3::Xxh3;

use super::archive_of_classes::Variant;
use super::tree::Tree;
use crate::args;
use crate::load_time;

/// The key: over the JDK's files, the options, and this build of cctrewrite with its libraries. How many threads there are and how files are
/// copied is not in it.
pub fn of(tree: &Tree, arguments: &args::Jdk, options: &[String], archives: &[Variant]) -> Result<String> {
    let mut hash = Xxh3::new();
    for file in build()? {
        text(&mut hash, file.as_bytes());
    }
    for word in arguments.choices.spelled().iter().chain(options) {
        text(&mut hash, word.as_bytes());
    }
    for library in &arguments.choices.library {
        content(&mut hash, library)?;
    }
    for archive in archives {
        text(&mut hash, archive.file.as_bytes());
    }
    tree.hash(&mut hash)?;
    Ok(format!("{:032x}", hash.digest128()))
}

/// A hash of this build: of the command and of the libraries that go into images.
pub fn build() -> Result<Vec<String>> {
    let command = std::env::current_exe().context("cannot find this command's own file")?;
    let files = [Some(command), load_time::library(), load_time::vm()];
    files.into_iter().flatten().map(|file| Ok(format!("{:032x}", of_file(&file)?))).collect()
}

/// With its length, so that no two sequences of texts are fed alike.
fn text(hash: &mut Xxh3, bytes: &[u8]) {
    hash.update(&(bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}

/// A file, or everything in a folder.
fn content(hash: &mut Xxh3, path: &Path) -> Result<()> {
    let path = fs::canonicalize(path).with_context(|| format!("{}: cannot find", path.display()))?;
    if path.is_dir() {
        return Tree::list(&path)?.hash(hash);
    }
    text(hash, &of_file(&path)?.to_le_bytes());
    Ok(())
}

fn of_file(path: &Path) -> Result<u128> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(xxhash_rust::xxh3::xxh3_128(&bytes))
}
