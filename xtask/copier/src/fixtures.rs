//! Class files for tests.

use std::fs;
use std::path::Path;

use walkdir::WalkDir;

/// The class files next to the tests of cct-classfile.
pub fn classes() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/classfile/tests/data/classes");
    let files = WalkDir::new(root).sort_by_file_name().into_iter().map(|entry| entry.unwrap().into_path());
    let classes = files.filter(|path| path.extension().is_some_and(|extension| extension == "class"));
    classes.map(|path| fs::read(path).unwrap()).collect()
}
