//! The bytes of an index of class library methods.

use std::fs::File;
use std::io;

use memmap2::Mmap;

/// The bytes of an index: of an image's, which lies in a file of its own, only those that are
/// looked at are ever read.
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
        // A pipe would be waited for, a folder cannot be mapped.
        if !std::fs::metadata(path)?.is_file() {
            return Err(io::Error::other("no file"));
        }
        // SAFETY: outputs are never written in place: a new one is another file of that name.
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
