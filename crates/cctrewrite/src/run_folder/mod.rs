//! The hidden folder of a `cctrewrite run`, into which its JVMs write (docs/use/run.md).
//!
//! `run` makes it ([`RunFolder::make`]) and holds a lock in it for as long as it lives. A killed
//! `run` leaves the folder and frees the lock. [`abandoned`] finds such folders.

pub mod abandoned_folder;
mod jvm;
mod processes;
mod record;

use std::ffi::OsStr;
use std::fs::{self, File, Permissions, TryLockError};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cct_private::{FOLDER_MODE, PrivateFolder};

pub use jvm::Jvm;
pub use record::Record;

use crate::run_folder::record::LOCK;

/// Prefix of the names of such folders.
const PREFIX: &str = ".cctrewrite-";

/// Suffix of their names.
const SUFFIX: &str = ".run";

/// Suffix of their names while `run` makes or removes them. Such a folder holds nothing of value.
const UNFINISHED: &str = ".tmp";

/// A folder of which this process is the owner.
#[derive(Debug)]
pub struct RunFolder {
    private: PrivateFolder,
    /// Closing the file releases the lock.
    _lock: File,
    /// Whether the folder outlives this value.
    stays: bool,
}

impl RunFolder {
    /// Makes an empty folder in another one. Dropping the value removes the folder.
    ///
    /// The inner error says why the folder cannot be used: others may write into it, or the file
    /// system has no locks.
    pub fn make(parent: &Path, record: &Record) -> io::Result<Result<RunFolder>> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).suffix(UNFINISHED).permissions(Permissions::from_mode(FOLDER_MODE));
        let made = builder.tempdir_in(parent)?;
        let lock = match PrivateFolder::open(made.path()) {
            Ok(private) => private.create("fresh")?,
            Err(error) => return Ok(Err(error.into())),
        };
        (&lock).write_all(&record.bytes())?;
        if let Err(error) = lock.lock() {
            return Ok(Err(error).with_context(|| format!("cannot lock a file in {}", parent.display())));
        }
        // Renames only after locking: a folder of this name without a locked file counts as
        // abandoned.
        fs::rename(made.path().join("fresh"), made.path().join(LOCK))?;
        let path = named(made.path(), SUFFIX);
        fs::rename(made.path(), &path)?;
        let _ = made.keep();
        Ok(match PrivateFolder::open(&path) {
            Ok(private) => Ok(RunFolder { private, _lock: lock, stays: false }),
            Err(error) => Err(error.into()),
        })
    }

    /// Takes over a folder that has lost its owner. The folder stays when this value is dropped.
    fn take_over(private: PrivateFolder) -> Result<RunFolder, Refusal> {
        let lock = match private.open_file(LOCK) {
            Ok(Some(lock)) => lock,
            Ok(None) => return Err(Refusal::NoLock),
            Err(_) => return Err(Refusal::Foreign),
        };
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Refusal::Owned),
            Err(TryLockError::Error(_)) => return Err(Refusal::NoLock),
        }
        // The owner may have removed the folder at this moment.
        let is_there = lock.metadata().is_ok_and(|its| its.nlink() > 0) && private.is_in_place();
        if is_there { Ok(RunFolder { private, _lock: lock, stays: true }) } else { Err(Refusal::Foreign) }
    }

    /// The folder, opened.
    pub fn private(&self) -> &PrivateFolder {
        &self.private
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.private.path()
    }

    /// Keeps the folder when this value is dropped.
    pub fn keep(&mut self) {
        self.stays = true;
    }

    /// Removes the folder.
    pub fn remove(mut self) {
        self.stays = false;
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        // If another folder is at this path now, it must stay.
        if !self.stays && self.private.is_in_place() {
            remove(self.path());
        }
    }
}

/// Removes the folder at this path and all that is in it.
///
/// It is renamed first. A process that is killed meanwhile must not leave a part of the folder
/// under its old name, perhaps without the lock.
pub fn remove(path: &Path) {
    let unfinished = named(path, UNFINISHED);
    let path = if fs::rename(path, &unfinished).is_ok() { &unfinished } else { path };
    // This may fail if a JVM still writes files.
    let _ = fs::remove_dir_all(path);
}

/// Why a folder cannot be taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    /// Its owner lives.
    Owned,
    /// It has no lock, as in earlier versions, or its file system no longer supports locks.
    NoLock,
    /// It is not a folder of this user's runs, or no longer exists.
    Foreign,
}

/// A path with another suffix.
fn named(path: &Path, end: &str) -> PathBuf {
    path.with_extension(&end[1..])
}

/// Whether a name is that of a run's folder.
fn is_name(name: &OsStr) -> bool {
    let bytes = name.as_bytes();
    bytes.starts_with(PREFIX.as_bytes()) && bytes.ends_with(SUFFIX.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        Record { output: "out.cct".into(), command: vec!["java".into(), "Main".into()] }
    }

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        names.map(|name| name.into_string().unwrap()).collect()
    }

    #[test]
    fn a_folder_goes_with_its_owner_unless_it_is_kept() {
        let parent = tempfile::tempdir().unwrap();
        let mut folder = RunFolder::make(parent.path(), &record()).unwrap().unwrap();
        let found = names(parent.path());
        assert!(found.len() == 1 && is_name(OsStr::new(&found[0])), "{found:?}");
        let again = PrivateFolder::open(folder.path()).unwrap();
        assert_eq!(RunFolder::take_over(again).unwrap_err(), Refusal::Owned);
        folder.keep();
        let path = folder.path().to_owned();
        drop(folder);
        let taken = RunFolder::take_over(PrivateFolder::open(&path).unwrap()).unwrap();
        assert_eq!(Record::of(taken.private()).unwrap(), record());
        drop(taken);
        assert!(path.is_dir());
        RunFolder::take_over(PrivateFolder::open(&path).unwrap()).unwrap().remove();
        assert!(names(parent.path()).is_empty());
        drop(RunFolder::make(parent.path(), &record()).unwrap().unwrap());
        assert!(names(parent.path()).is_empty());
    }

    #[test]
    fn a_folder_that_is_being_removed_is_not_taken_over() {
        let parent = tempfile::tempdir().unwrap();
        let folder = RunFolder::make(parent.path(), &record()).unwrap().unwrap();
        let again = PrivateFolder::open(folder.path()).unwrap();
        drop(folder);
        assert_eq!(RunFolder::take_over(again).unwrap_err(), Refusal::NoLock);
    }
}
