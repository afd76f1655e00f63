//! The program's class files before rewriting.

use cct_index::mid::ClassHash;
use rustc_hash::FxHashMap;

/// Class files by their hash, which determines the method ids.
#[derive(Debug, Default)]
pub struct Originals {
    /// LZ4-compressed, with their sizes.
    program: FxHashMap<ClassHash, Box<[u8]>>,
}

impl Originals {
    /// Keeps the class file of a rewritten class of the program.
    pub fn keep(&mut self, hash: ClassHash, file: &[u8]) {
        self.program.entry(hash).or_insert_with(|| lz4_flex::compress_prepend_size(file).into());
    }

    pub(crate) fn of_program(&self, hash: ClassHash) -> Option<Vec<u8>> {
        lz4_flex::decompress_size_prepended(self.program.get(&hash)?).ok()
    }
}
