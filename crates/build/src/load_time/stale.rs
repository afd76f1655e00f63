//! Removal of unpacked libraries that other builds of the command left in the cache.
//!
//! Images have copies of the libraries, so no image needs these files. JVMs whose options name them
//! do (`cctrewrite flags`): those stay that a process has mapped, or that were used lately.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use super::unpacked::{self, FOLDER};
use crate::file_error::{FileError, Operation};
use crate::image::cache::{self, FolderError};
use crate::image::processes;
use crate::image::prune::{self, Policy, Reason, Removal, is_key};
use crate::image::tree::Tree;

/// How often the lock is tried, and the time between two attempts: 2 seconds in all.
const ATTEMPTS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(20);

/// Libraries that cannot be removed from the cache.
#[derive(Debug, thiserror::Error)]
pub enum PruneError {
    /// The cache cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A folder cannot be listed or removed.
    #[error(transparent)]
    File(#[from] FileError),
    /// Other commands unpack libraries at this moment.
    #[error("{} is in use by another command; run this one again", .0.display())]
    Busy(PathBuf),
}

/// The folder of an unpacked library.
#[derive(Debug)]
pub struct UnpackedLibrary {
    /// Its name: a hash of the library.
    pub key: String,
    /// Its path.
    pub path: PathBuf,
    /// Bytes of its files.
    pub size: u64,
    /// When a command or a JVM used it last.
    pub used: SystemTime,
}

/// All unpacked libraries in a cache, sorted by name.
///
/// # Errors
/// Fails if the folder cannot be listed.
pub fn list(cache: &Path) -> Result<Vec<UnpackedLibrary>, FileError> {
    let folder = cache.join(FOLDER);
    let cannot = Operation::List.failed_on(&folder);
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(cannot)?,
    };
    let mut libraries = Vec::new();
    for entry in entries {
        let entry = entry.map_err(cannot)?;
        let Ok(key) = entry.file_name().into_string() else { continue };
        // Not the target of a link: only folders that this command made.
        if is_key(&key) && entry.file_type().is_ok_and(|its| its.is_dir()) {
            libraries.push(look_at(key, entry.path()));
        }
    }
    libraries.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(libraries)
}

fn look_at(key: String, path: PathBuf) -> UnpackedLibrary {
    // A command notes its use at the folder. A JVM whose options name the file reads it.
    let files = fs::read_dir(&path).into_iter().flatten().flatten();
    let read = files.filter_map(|file| file.metadata().ok()?.accessed().ok());
    let noted = fs::metadata(&path).and_then(|its| its.modified()).ok();
    let used = read.chain(noted).max().unwrap_or(SystemTime::UNIX_EPOCH);
    let size = Tree::list(&path).ok().and_then(|tree| tree.size().ok()).unwrap_or(0);
    UnpackedLibrary { key, path, size, used }
}

/// Removes all libraries, or those that were not used for longer than the policy says, or looks
/// which it would remove. Never one that a process has mapped. Calls `report` for each that goes or
/// should.
///
/// # Errors
/// Fails if the cache cannot be used, if a folder cannot be removed, or if another command unpacks
/// a library at this moment.
pub fn prune(
    cache: &Path,
    policy: Policy,
    is_trial: bool,
    mut report: impl FnMut(&UnpackedLibrary, Removal),
) -> Result<(), PruneError> {
    if !cache.join(FOLDER).exists() {
        return Ok(());
    }
    let cache = cache::open(cache)?;
    let folder = cache.join(FOLDER);
    // From here on no command begins to use a library.
    let _lock = lock(&folder)?;
    let now = SystemTime::now();
    for library in list(&cache)? {
        let age = now.duration_since(library.used).unwrap_or_default();
        let is_unused = policy.unused_for.is_some_and(|limit| age > limit);
        let reasons = [(policy.all, Reason::All), (is_unused, Reason::Unused)];
        let Some((_, reason)) = reasons.into_iter().find(|(goes, _)| *goes) else { continue };
        if let Some(process) = processes::of_image(&library.path) {
            report(&library, Removal::InUse(Some(process)));
            continue;
        }
        if !is_trial {
            fs::remove_dir_all(&library.path).map_err(Operation::Remove.failed_on(&library.path))?;
        }
        report(&library, Removal::Removed(reason));
    }
    Ok(())
}

/// The exclusive lock of the folder. Waits for commands that are just beginning to use a library.
fn lock(folder: &Path) -> Result<File, PruneError> {
    let cannot = Operation::Read.failed_on(folder);
    let lock = unpacked::open_for_lock(folder).map_err(cannot)?;
    for _ in 0..ATTEMPTS {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            Err(TryLockError::Error(error)) => return Err(cannot(error).into()),
        }
    }
    Err(PruneError::Busy(folder.to_path_buf()))
}

/// Removes libraries that are older than the default bound of the cache. Failures cost only disk.
pub fn keep_within_bounds(cache: &Path) {
    if let Ok(Some(policy)) = prune::default_policy() {
        let _ = prune(cache, policy, false, |_, _| {});
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;
    use crate::image::prune::DAY;

    const MONTH: Policy =
        Policy { unused_for: Some(Duration::from_secs(30 * DAY)), all: false, gone: false, max_size: None };
    const ALL: Policy = Policy { unused_for: None, all: true, gone: false, max_size: None };

    struct Cache(tempfile::TempDir);

    impl Cache {
        fn new() -> Cache {
            Cache(tempfile::tempdir().unwrap())
        }

        fn unpacked(&self, bytes: &[u8], days: u64) -> PathBuf {
            let path = unpacked::library(self.0.path(), "lib.so", bytes).unwrap().path;
            self.age(&path, days);
            path
        }

        fn age(&self, path: &Path, days: u64) {
            let past = SystemTime::now() - Duration::from_secs(days * DAY);
            let times = fs::FileTimes::new().set_accessed(past).set_modified(past);
            for path in [path, path.parent().unwrap()] {
                File::open(path).unwrap().set_times(times).unwrap();
            }
        }

        fn pruned(&self, policy: Policy, is_trial: bool) -> Vec<String> {
            let mut removed = Vec::new();
            prune(self.0.path(), policy, is_trial, |library, removal| match removal {
                Removal::Removed(_) => removed.push(library.key.clone()),
                Removal::InUse(process) => removed.push(format!("in use by {}", process.unwrap())),
            })
            .unwrap();
            removed
        }
    }

    fn key(path: &Path) -> String {
        path.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned()
    }

    #[test]
    fn libraries_that_were_not_used_for_a_month_go() {
        let cache = Cache::new();
        let (old, new) = (cache.unpacked(b"old", 31), cache.unpacked(b"new", 29));
        let other = cache.0.path().join(FOLDER).join("mine");
        fs::create_dir(&other).unwrap();
        assert_eq!(cache.pruned(MONTH, true), [key(&old)]);
        assert!(old.exists());
        assert_eq!(cache.pruned(MONTH, false), [key(&old)]);
        assert!(!old.parent().unwrap().exists());
        assert!(new.exists());
        assert_eq!(cache.pruned(ALL, false), [key(&new)]);
        assert!(other.exists());
    }

    #[test]
    fn a_use_by_a_command_or_a_jvm_keeps_a_library() {
        let cache = Cache::new();
        let [by_command, by_jvm] = [b"a", b"b"].map(|bytes| cache.unpacked(bytes, 31));
        unpacked::library(cache.0.path(), "lib.so", b"a").unwrap();
        let now = fs::FileTimes::new().set_accessed(SystemTime::now());
        File::open(&by_jvm).unwrap().set_times(now).unwrap();
        assert!(cache.pruned(MONTH, false).is_empty());
        assert!(by_command.exists() && by_jvm.exists());
    }

    #[test]
    fn a_library_that_a_process_has_mapped_stays() {
        let cache = Cache::new();
        // A program that is mapped from the folder, as a JVM maps a library.
        let path = cache.unpacked(&fs::read("/bin/sleep").unwrap(), 0);
        let loader = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];
        let Some(loader) = loader.into_iter().find(|loader| Path::new(loader).exists()) else {
            eprintln!("skipped: no loader");
            return;
        };
        let mut command = Command::new(loader);
        let mut child = command.arg(&path).arg("60").stdout(Stdio::null()).spawn().unwrap();
        let mapped = || processes::of_image(path.parent().unwrap()).is_some();
        let is_mapped = (0..200).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            mapped()
        });
        cache.age(&path, 31);
        let removed = cache.pruned(MONTH, false);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_mapped);
        assert_eq!(removed, [format!("in use by {}", child.id())]);
        assert_eq!(cache.pruned(MONTH, false), [key(&path)]);
    }

    #[test]
    fn nothing_is_removed_while_a_command_unpacks() {
        let cache = Cache::new();
        let path = cache.unpacked(b"old", 31);
        let folder = cache.0.path().join(FOLDER);
        let lock = unpacked::open_for_lock(&folder).unwrap();
        lock.lock_shared().unwrap();
        let error = prune(cache.0.path(), MONTH, false, |_, _| {}).unwrap_err().to_string();
        assert!(error.contains("in use by another command"), "{error}");
        assert!(path.exists());
    }
}
