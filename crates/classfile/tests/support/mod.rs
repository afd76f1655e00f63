//! Helpers for the tests over whole class files.
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
    let entries = walkdir::WalkDir::new(directory).follow_links(true).sort_by_file_name();
    let entries = entries.into_iter().map(Result::unwrap);
    entries.filter(|entry| !entry.file_type().is_dir()).map(walkdir::DirEntry::into_path).collect()
}
