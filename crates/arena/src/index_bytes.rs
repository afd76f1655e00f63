//! The bytes of an index of class library methods.

use std::fs::File;
use std::io;

use memmap2::Mmap;

/// The bytes of an index. An image's index is a file of its own and is mapped, so that only the
/// pages that are used are read.
pub enum IndexBytes {
    /// In memory.
    Owned(Vec<u8>),
    /// Mapped.
    Mapped(Mmap),
}

impl IndexBytes {
    /// The bytes of a file.
    #[allow(unsafe_code)]
    pub fn of_file(path: &str) -> io::Result<IndexBytes> {
        // Opening a pipe would block, and a folder cannot be mapped.
        if !std::fs::metadata(path)?.is_file() {
            return Err(io::Error::other("no file"));
        }
        // SAFETY: outputs are never modified in place: a new one is another file of that name.
        Ok(IndexBytes::Mapped(unsafe { Mmap::map(&File::open(path)?)? }))
    }
}

impl AsRef<[u8]> for IndexBytes {
    fn as_ref(&self) -> &[u8] {
        match self {
            IndexBytes::Owned(bytes) => bytes,
            IndexBytes::Mapped(bytes) => bytes,
        }
    }
}
