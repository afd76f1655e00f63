//! Temporary folders whose owners later commands can check: each has a file that its owner keeps
//! locked.
//!
//! A killed command leaves its folder and releases the lock. [`clean`] removes such folders.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use cct_private::{FOLDER_MODE, PrivateFolder};
use rustix::io::{FdFlags, fcntl_setfd};
use tempfile::TempDir;

/// Prefix of the folders' names.
const PREFIX: &str = ".cctrewrite-";

/// Name of the locked file.
const LOCK: &str = "lock";

/// The purpose of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An image under construction.
    Workshop,
    /// Classes and profiles of `bench`.
    Bench,
    /// The class and the profile of `doctor`.
    Doctor,
}

impl Kind {
    /// Suffix of the names of folders of this kind.
    fn suffix(self) -> &'static str {
        match self {
            Kind::Workshop => ".tmp",
            Kind::Bench => ".bench",
            Kind::Doctor => ".doctor",
        }
    }
}

/// A temporary folder that this process owns. When dropped, it is removed.
#[derive(Debug)]
pub struct TemporaryFolder {
    /// `None` only while the value is dropped, or if the folder stays.
    folder: Option<TempDir>,
    /// Closing the file, in all processes that have it, releases the lock.
    lock: File,
}

impl TemporaryFolder {
    /// Creates one in a folder, and removes folders of this kind without an owner.
    ///
    /// # Errors
    /// Fails if the system reports an error, or if the file system has no locks.
    pub fn make(parent: &Path, kind: Kind) -> io::Result<TemporaryFolder> {
        clean(parent, kind);
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).suffix(kind.suffix()).permissions(Permissions::from_mode(FOLDER_MODE));
        let folder = builder.tempdir_in(parent)?;
        // Locked before it gets its name: a lock of that name is free only when its owner is gone.
        let fresh = folder.path().join("fresh");
        let lock = cct_private::create(&fresh)?;
        lock.lock()?;
        fs::rename(&fresh, folder.path().join(LOCK))?;
        Ok(TemporaryFolder { folder: Some(folder), lock })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.as_ref().map_or(Path::new(""), TempDir::path)
    }

    /// Makes processes that this one starts inherit the lock, so that the folder stays until the
    /// last of them ends.
    ///
    /// # Errors
    /// Fails if the system reports an error.
    pub fn share(&self) -> io::Result<()> {
        Ok(fcntl_setfd(&self.lock, FdFlags::empty())?)
    }

    /// Keeps the folder when this value is dropped.
    pub fn keep(&mut self) {
        if let Some(folder) = self.folder.take() {
            let _ = folder.keep();
        }
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.take() {
            remove(&folder.keep());
        }
    }
}

/// Removes a folder, its lock last: after an interrupted removal the folder is still recognised as
/// abandoned.
fn remove(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name() != LOCK {
            let path = entry.path();
            // A folder that cannot be removed stays, which does no harm.
            let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
        }
    }
    let is_empty_but_for_lock = fs::read_dir(folder).is_ok_and(|entries| entries.count() <= 1);
    if is_empty_but_for_lock {
        let _ = fs::remove_file(folder.join(LOCK));
        let _ = fs::remove_dir(folder);
    }
}

/// Removes the folders of a kind without an owner.
///
/// The surrounding folder may be public, such as `/tmp`. So a folder counts only if it is this
/// user's and closed to others. Its lock counts only if it is a file: a link of such a name could
/// lead to any folder, and opening a pipe would block.
pub fn clean(parent: &Path, kind: Kind) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if !(name.starts_with(PREFIX) && name.ends_with(kind.suffix())) {
            continue;
        }
        let Ok(folder) = PrivateFolder::open(&entry.path()) else { continue };
        let Ok(Some(lock)) = folder.open_file(LOCK) else { continue };
        if folder.is_closed().unwrap_or(false) && lock.try_lock().is_ok() && folder.is_in_place() {
            remove(folder.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;
    use std::process::Command;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// A folder with a free lock and a file.
    fn abandoned(path: PathBuf, mode: u32) -> PathBuf {
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        cct_private::write(&path.join(LOCK), b"").unwrap();
        cct_private::write(&path.join("file"), b"").unwrap();
        path
    }

    #[test]
    fn folders_of_the_dead_are_removed_and_those_of_the_living_are_not() {
        let parent = tempfile::tempdir().unwrap();
        for kind in [Kind::Workshop, Kind::Bench] {
            let dead = abandoned(parent.path().join(format!(".cctrewrite-dead{}", kind.suffix())), 0o700);
            // A folder of another kind, or an incomplete one.
            let unfinished = parent.path().join(format!(".cctrewrite-other{}", kind.suffix()));
            fs::create_dir(&unfinished).unwrap();
            let first = TemporaryFolder::make(parent.path(), kind).unwrap();
            let second = TemporaryFolder::make(parent.path(), kind).unwrap();
            assert!(!dead.exists() && first.path().is_dir() && second.path().is_dir());
            assert_eq!(names(parent.path()).len(), 3);
            drop((first, second));
            fs::remove_dir(unfinished).unwrap();
            assert_eq!(names(parent.path()), [""; 0]);
        }
    }

    #[test]
    fn one_kind_leaves_the_other() {
        let parent = tempfile::tempdir().unwrap();
        let dead = abandoned(parent.path().join(".cctrewrite-dead.bench"), 0o700);
        clean(parent.path(), Kind::Workshop);
        assert!(dead.exists());
        clean(parent.path(), Kind::Bench);
        assert!(!dead.exists());
    }

    /// In a public folder, names do not show who created a folder.
    #[test]
    fn files_that_others_may_have_made_stay() {
        let parent = tempfile::tempdir().unwrap();
        let place = |name: &str| parent.path().join(format!(".cctrewrite-{name}.tmp"));
        let precious = abandoned(parent.path().join("precious"), 0o700);
        symlink(&precious, place("link")).unwrap();
        let open = abandoned(place("open"), 0o777);
        let readable = abandoned(place("readable"), 0o755);
        let foreign = abandoned(place("foreign"), 0o700);
        let is_foreign = std::os::unix::fs::chown(&foreign, Some(12_345), None).is_ok();
        let linked = abandoned(place("linked"), 0o700);
        fs::remove_file(linked.join(LOCK)).unwrap();
        symlink("file", linked.join(LOCK)).unwrap();
        // Opening this for reading would wait for a writer.
        let waiting = abandoned(place("waiting"), 0o700);
        fs::remove_file(waiting.join(LOCK)).unwrap();
        assert!(Command::new("mkfifo").arg(waiting.join(LOCK)).status().unwrap().success());
        clean(parent.path(), Kind::Workshop);
        for path in [&precious, &open, &readable, &linked, &waiting] {
            assert!(path.join("file").exists(), "{}", path.display());
        }
        assert!(!is_foreign || foreign.join("file").exists());
    }

    /// A JVM that outlives a killed `bench` may still load classes from its folder.
    #[test]
    fn a_shared_folder_stays_until_its_last_process_ends() {
        let parent = tempfile::tempdir().unwrap();
        let mut folder = TemporaryFolder::make(parent.path(), Kind::Bench).unwrap();
        folder.share().unwrap();
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let path = folder.path().to_owned();
        folder.keep();
        drop(folder);
        clean(parent.path(), Kind::Bench);
        assert!(path.exists());
        child.kill().unwrap();
        child.wait().unwrap();
        // Processes of concurrent tests may have inherited the file, too.
        let is_gone = || {
            clean(parent.path(), Kind::Bench);
            !path.exists()
        };
        let wait = || std::thread::sleep(std::time::Duration::from_millis(50));
        assert!((0..200).any(|_| is_gone() || {
            wait();
            false
        }));
    }

    /// Without the lock no later command would remove the remaining files.
    #[test]
    fn a_folder_loses_its_lock_last() {
        use std::sync::atomic::{AtomicBool, Ordering};
        let parent = tempfile::tempdir().unwrap();
        let folder = TemporaryFolder::make(parent.path(), Kind::Workshop).unwrap();
        let (path, inner) = (folder.path().to_path_buf(), folder.path().join("image"));
        fs::create_dir(&inner).unwrap();
        for number in 0..3_000 {
            fs::write(inner.join(number.to_string()), b"").unwrap();
        }
        let (is_removed, looks) = (AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_removed.load(Ordering::Relaxed) {
                    assert!(path.join(LOCK).exists() || !inner.exists());
                    looks.store(true, Ordering::Relaxed);
                }
            });
            while !looks.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            drop(folder);
            is_removed.store(true, Ordering::Relaxed);
        });
        assert_eq!(names(parent.path()), [""; 0]);
    }
}
