//! Unpacks the libraries that are embedded in the command into the cache:
//! `libraries/<hash>/<name>`.
//!
//! JVMs execute these files. So only their owner can access the folders, and each use first
//! compares the files' bytes with the embedded ones.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use cct_private::PrivateFolder;
use xxhash_rust::xxh3::xxh3_128;

use crate::file_error::{FileError, Operation};
use crate::image::cache::{self, FolderError, NoPlace};
use crate::pending_file::PendingFile;

/// Why a library that is embedded in this command cannot be unpacked.
#[derive(Debug, thiserror::Error)]
pub enum UnpackProblem {
    /// There is no cache.
    #[error(transparent)]
    NoPlace(#[from] NoPlace),
    /// The cache cannot be used.
    #[error(transparent)]
    Cache(#[from] FolderError),
    /// Another user can write to a folder in the cache.
    #[error(transparent)]
    NotPrivate(#[from] cct_private::Error),
    /// A file or folder in the cache cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Name of the folder in the cache.
pub const FOLDER: &str = "libraries";

/// After this time a use is noted again.
const NOTED_FOR: Duration = Duration::from_secs(60 * 60);

/// Opens the folder for a lock (flock(2)). Commands that begin to use a library lock it jointly,
/// the removal of libraries exclusively.
pub fn open_for_lock(folder: &Path) -> io::Result<File> {
    File::open(folder)
}

/// Notes in the folder's time of modification that its library is used now.
fn note_use(folder: &Path) {
    let noted = fs::metadata(folder).and_then(|its| its.modified());
    if noted.is_ok_and(|noted| noted.elapsed().is_ok_and(|age| age < NOTED_FOR)) {
        return;
    }
    // Without it the library may be removed, and is unpacked again by the next command.
    let _ = File::open(folder).and_then(|folder| folder.set_modified(SystemTime::now()));
}

/// The file of a library.
#[derive(Debug)]
pub struct LibraryFile {
    /// Its path.
    pub path: PathBuf,
    /// Whether this use has written it.
    pub is_new: bool,
}

/// The file of a library with these bytes. Writes it if it is missing or differs.
///
/// # Errors
/// Fails if other users may write to the cache, or if the system reports an error.
pub fn library(cache: &Path, name: &str, bytes: &[u8]) -> Result<LibraryFile, UnpackProblem> {
    let cache = cache::open(cache)?;
    let all = cache.join(FOLDER);
    cct_private::create_folders(&all).map_err(Operation::Make.failed_on(&all))?;
    // A user who may write to one of the two folders could replace the library.
    PrivateFolder::open(&all)?;
    // Without locks, as on some network disks, a library may be removed now: then the user runs the
    // command again.
    let lock = open_for_lock(&all).and_then(|lock| lock.lock_shared().map(|()| lock)).ok();
    let folder = all.join(format!("{:032x}", xxh3_128(bytes)));
    cct_private::create_folders(&folder).map_err(Operation::Make.failed_on(&folder))?;
    let private = PrivateFolder::open(&folder)?;
    let path = folder.join(name);
    // A file that cannot be read, that other users may write, or that has other contents is
    // replaced.
    let is_there = private.read(name).is_ok_and(|found| found.as_deref() == Some(bytes));
    if !is_there {
        if path.is_symlink() {
            fs::remove_file(&path).map_err(Operation::Remove.failed_on(&path))?;
        }
        // All users may read the file, since copies in images must be readable for all. They cannot
        // enter this folder.
        let pending = PendingFile::write_decisive(&path, |out| out.write_all(bytes));
        pending.map_err(FileError::from)?.commit()?;
    }
    note_use(&folder);
    drop(lock);
    Ok(LibraryFile { path, is_new: !is_there })
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    const NAME: &str = "libagent.so";

    struct Cache(tempfile::TempDir);

    impl Cache {
        fn new() -> Cache {
            Cache(tempfile::tempdir().unwrap())
        }

        fn root(&self) -> PathBuf {
            self.0.path().join("cache")
        }

        fn library(&self, bytes: &[u8]) -> PathBuf {
            library(&self.root(), NAME, bytes).unwrap().path
        }
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_library_is_unpacked_once_into_a_folder_of_its_owner() {
        let cache = Cache::new();
        let path = cache.library(b"one");
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert_eq!(mode(&path) & 0o022, 0);
        for folder in path.ancestors().skip(1).take(3) {
            assert_eq!(mode(folder), 0o700, "{}", folder.display());
        }
        let first = fs::metadata(&path).unwrap().ino();
        assert_eq!(cache.library(b"one"), path);
        assert_eq!(fs::metadata(&path).unwrap().ino(), first);
        // Of another build.
        let other = cache.library(b"two");
        assert_ne!(other, path);
        assert_eq!([fs::read(&path).unwrap(), fs::read(&other).unwrap()], [b"one", b"two"]);
        let files = fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(files, 1, "temporary files stay");
    }

    #[test]
    fn another_librarys_file_is_replaced() {
        let cache = Cache::new();
        let path = cache.library(b"library");
        // A changed byte, a file that is cut off, and a file that other users may write, whatever
        // its contents.
        for (contents, bits) in [(&b"libRary"[..], 0o644), (b"lib", 0o644), (b"library", 0o666)] {
            let before = fs::metadata(&path).unwrap().ino();
            fs::write(&path, contents).unwrap();
            set_mode(&path, bits);
            assert_eq!(cache.library(b"library"), path);
            assert_eq!(fs::read(&path).unwrap(), b"library");
            assert_eq!(mode(&path) & 0o022, 0);
            // A JVM that has mapped the file keeps it.
            assert_ne!(fs::metadata(&path).unwrap().ino(), before);
        }
    }

    #[test]
    fn a_link_is_not_followed() {
        let cache = Cache::new();
        let path = cache.library(b"library");
        let theirs = cache.0.path().join("theirs");
        fs::write(&theirs, "library").unwrap();
        fs::remove_file(&path).unwrap();
        symlink(&theirs, &path).unwrap();
        let _ = cache.library(b"library");
        assert_eq!(fs::read(&theirs).unwrap(), b"library");
        assert!(!fs::symlink_metadata(&path).unwrap().is_symlink());
    }

    #[test]
    fn folders_into_which_others_may_write_are_refused() {
        let cache = Cache::new();
        let path = cache.library(b"library");
        for folder in path.ancestors().skip(1).take(3) {
            set_mode(folder, 0o770);
            let error = library(&cache.root(), NAME, b"library").unwrap_err().to_string();
            assert!(error.contains("others may write"), "{}: {error}", folder.display());
            set_mode(folder, 0o700);
        }
        assert_eq!(cache.library(b"library"), path);
    }
}
