//! The class files of the program that rewritten classes were made from.

use cct_index::mid::ClassHash;
use rustc_hash::FxHashMap;

/// Class files by what method ids follow from.
#[derive(Debug, Default)]
pub struct Originals {
    /// LZ4, with their sizes.
    program: FxHashMap<ClassHash, Box<[u8]>>,
}

impl Originals {
    /// Keeps the class file of a class of the program that has been rewritten.
    pub fn keep(&mut self, hash: ClassHash, file: &[u8]) {
        self.program.entry(hash).or_insert_with(|| lz4_flex::compress_prepend_size(file).into());
    }

    pub(crate) fn of_program(&self, hash: ClassHash) -> Option<Vec<u8>> {
        lz4_flex::decompress_size_prepended(self.program.get(&hash)?).ok()
    }
}
