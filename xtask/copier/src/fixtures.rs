//! Class files for tests.

use std::fs;
use std::path::Path;

/// The class files beside the tests of cct-classfile.
pub fn classes() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/classfile/tests/data/classes");
    let mut folders = vec![root];
    let mut classes = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "class") {
                classes.push(fs::read(path).unwrap());
            }
        }
    }
    classes
}
