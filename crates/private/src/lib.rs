//! Files and folders that only their owner can use, whatever the umask.
//!
//! The umask decides who may read and write a new file. With umask 000, or with 002 and a shared
//! group, other users may write it. A command or a JVM must not trust such a file later: its writer
//! would decide what they do.
//!
//! * [`create`], [`write`] and [`create_folders`] create files with mode 0600 and folders with mode
//!   0700,
//! * [`PrivateFolder`] reads and creates files in a folder that it has checked.
//!
//! This crate knows nothing of profiles or JVMs.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod error;
mod folder;

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

pub use error::{Error, Problem};
pub use folder::PrivateFolder;

/// The mode of a private file.
pub const FILE_MODE: u32 = 0o600;

/// The mode of a private folder.
pub const FOLDER_MODE: u32 = 0o700;

/// Creates a file that must not exist yet. Does not follow a link of that name.
///
/// # Errors
/// Fails if something of that name exists, or the system reports an error.
pub fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(FILE_MODE).open(path)
}

/// Creates a file with these contents. The file must not exist yet.
///
/// # Errors
/// Fails if something of that name exists, or the system reports an error.
pub fn write(path: &Path, contents: &[u8]) -> io::Result<()> {
    create(path)?.write_all(contents)
}

/// Creates a folder and those above it. Existing folders keep their modes.
///
/// # Errors
/// Fails if the system reports an error.
pub fn create_folders(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn new_files_and_folders_are_their_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        create_folders(&inner).unwrap();
        write(&inner.join("file"), b"x").unwrap();
        let mode = |path: &str| fs::metadata(folder.path().join(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!([mode("a"), mode("a/b"), mode("a/b/file")], [0o700, 0o700, 0o600]);
        assert_eq!(fs::read(inner.join("file")).unwrap(), b"x");
    }

    #[test]
    fn existing_files_and_links_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        symlink(&file, &link).unwrap();
        assert_eq!(write(&link, b"x").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert!(!file.exists());
        write(&file, b"x").unwrap();
        assert_eq!(write(&file, b"y").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&file).unwrap(), b"x");
    }
}
