//! What the tests over whole class files share.
#![allow(dead_code, reason = "each test file uses its own part")]

pub mod jdk;
pub mod walk;

use std::path::{Path, PathBuf};

/// The compiled class files of `tests/data/classes`, with their paths there, in order.
pub fn fixtures() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/classes");
    let fixtures: Vec<_> = files_below(&root)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|e| e == "class"))
        .map(|path| (path.strip_prefix(&root).unwrap().display().to_string(), std::fs::read(&path).unwrap()))
        .collect();
    assert!(fixtures.len() >= 12, "fixtures are missing in {}", root.display());
    fixtures
}

/// All files below a directory, in order.
pub fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries.into_iter().flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}
