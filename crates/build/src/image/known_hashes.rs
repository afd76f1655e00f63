//! Known hashes of JDKs and of this build, kept in the cache of images (docs/reference/images.md).
//!
//! The key of an image is a hash over the contents of a JDK and of this command, some 400 MB. A
//! stamp covers size, times and inode of each file. If it is unchanged, the files are those that
//! were hashed before, and the stored hash is valid.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cct_private::PrivateFolder;
use xxhash_rust::xxh3::Xxh3;

use super::file_stamps::{Stamp, Stamps};
use super::tree::Tree;
use crate::file_error::{FileError, Operation};
use crate::fingerprint;

/// The file's name in the folder of images.
const NAME: &str = "known-hashes";

/// The first line.
const FIRST_LINE: &str = "cctrewrite known hashes 1";

/// Maximum number of kept hashes, the latest first. A machine has few JDKs; a build has four files.
const MOST: usize = 64;

/// Granularity of file times. A file that changed so shortly before it was hashed may change again
/// without another time: the clocks of file systems advance in steps.
const STEP: Duration = Duration::from_secs(2);

/// Hashes from earlier runs and from this one.
#[derive(Debug, Default)]
pub struct KnownHashes {
    /// The folder of images; `None` without a cache.
    folder: Option<PathBuf>,
    known: Vec<(u128, u128)>,
    new: Vec<(Stamp, u128)>,
}

/// Removes the known hashes of a cache.
pub fn forget(folder: &Path) {
    // A file that stays does no harm.
    let _ = fs::remove_file(folder.join(NAME));
}

impl KnownHashes {
    /// Reads the known hashes of a cache. Ignores a file that others could have written, or that
    /// cannot be read.
    pub fn of_cache(folder: &Path) -> KnownHashes {
        let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
        let read = || PrivateFolder::open(&folder).ok()?.read(NAME).ok()?;
        let known = read().and_then(|bytes| parse(&bytes)).unwrap_or_default();
        KnownHashes { folder: Some(folder), known, new: Vec::new() }
    }

    /// The hash of a JDK's files.
    ///
    /// # Errors
    /// Fails if a file cannot be read.
    pub fn of_tree(&mut self, tree: &Tree) -> Result<u128, FileError> {
        self.find_or(tree.stamp()?, || {
            let mut hash = Xxh3::new();
            tree.hash(&mut hash)?;
            Ok(hash.digest128())
        })
    }

    /// The hash of a file.
    ///
    /// # Errors
    /// Fails if it cannot be read.
    pub fn of_file(&mut self, path: &Path) -> Result<u128, FileError> {
        let its = fs::metadata(path).map_err(Operation::Find.failed_on(path))?;
        let mut stamps = Stamps::default();
        stamps.name(path.as_os_str().as_encoded_bytes());
        stamps.file(&its);
        self.find_or(stamps.stamp(), || fingerprint::of_file(path))
    }

    fn find_or(
        &mut self,
        stamp: Stamp,
        hash: impl FnOnce() -> Result<u128, FileError>,
    ) -> Result<u128, FileError> {
        if let Some((_, hash)) = self.known.iter().find(|(known, _)| *known == stamp.digest) {
            return Ok(*hash);
        }
        let hash = hash()?;
        self.new.push((stamp, hash));
        Ok(hash)
    }

    /// Stores new hashes. If they cannot be written, the next run reads the files again.
    pub fn store(self) {
        let _ = self.try_store();
    }

    fn try_store(self) -> io::Result<()> {
        let Some(folder) = self.folder.filter(|_| !self.new.is_empty()) else { return Ok(()) };
        PrivateFolder::open(&folder)?;
        let mut file = tempfile::Builder::new().prefix(".cctrewrite-").suffix(".tmp").tempfile_in(&folder)?;
        // The file system's own time, like the times of the stamped files.
        let now = file.as_file().metadata()?.ctime();
        let is_settled = |stamp: &Stamp| stamp.changed < now.saturating_sub(STEP.as_secs().cast_signed());
        let new = self.new.iter().filter(|(stamp, _)| is_settled(stamp));
        let all = new.map(|(stamp, hash)| (stamp.digest, *hash)).chain(self.known);
        writeln!(file, "{FIRST_LINE}")?;
        for (stamp, hash) in all.take(MOST) {
            writeln!(file, "{stamp:032x} {hash:032x}")?;
        }
        file.persist(folder.join(NAME))?;
        Ok(())
    }
}

fn parse(bytes: &[u8]) -> Option<Vec<(u128, u128)>> {
    let mut lines = std::str::from_utf8(bytes).ok()?.lines();
    if lines.next()? != FIRST_LINE {
        return None;
    }
    let number = |text: &str| u128::from_str_radix(text, 16).ok().filter(|_| text.len() == 32);
    let pair = |line: &str| {
        let (stamp, hash) = line.split_once(' ')?;
        Some((number(stamp)?, number(hash)?))
    };
    lines.map(pair).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    struct Case {
        cache: tempfile::TempDir,
        file: PathBuf,
    }

    fn case() -> Case {
        let cache = tempfile::tempdir().unwrap();
        fs::set_permissions(cache.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let file = cache.path().join("file");
        fs::write(&file, "first").unwrap();
        Case { cache, file }
    }

    impl Case {
        /// The hash, and whether the file was read for it.
        fn hash(&self) -> (u128, bool) {
            let mut known = KnownHashes::of_cache(self.cache.path());
            let hash = known.of_file(&self.file).unwrap();
            let was_read = !known.new.is_empty();
            known.store();
            (hash, was_read)
        }

        /// Waits until the file's time is settled.
        fn settle(&self) {
            std::thread::sleep(STEP + Duration::from_secs(1));
        }
    }

    #[test]
    fn a_settled_file_is_read_once_and_again_when_it_changes() {
        let case = case();
        let (first, was_read) = case.hash();
        assert!(was_read);
        assert!(case.hash().1, "it had changed shortly before");
        case.settle();
        assert!(case.hash().1);
        assert_eq!(case.hash(), (first, false));
        // Same size and old time: the system still notes that it changed.
        let before = fs::metadata(&case.file).unwrap().modified().unwrap();
        fs::write(&case.file, "other").unwrap();
        fs::File::options().append(true).open(&case.file).unwrap().set_modified(before).unwrap();
        let (second, was_read) = case.hash();
        assert!(was_read && second != first);
    }

    #[test]
    fn files_that_others_could_have_written_are_not_trusted() {
        let case = case();
        case.settle();
        case.hash();
        assert!(!case.hash().1);
        let stored = case.cache.path().join(NAME);
        fs::set_permissions(&stored, fs::Permissions::from_mode(0o666)).unwrap();
        assert!(case.hash().1);
        fs::write(&stored, "cctrewrite known hashes 1\nno line\n").unwrap();
        assert!(case.hash().1);
        assert!(!case.hash().1, "it was written anew");
    }

    #[test]
    fn only_the_latest_are_kept() {
        let case = case();
        let lines: String = (0..MOST as u128).map(|n| format!("{n:032x} {n:032x}\n")).collect();
        cct_private::write(&case.cache.path().join(NAME), format!("{FIRST_LINE}\n{lines}").as_bytes())
            .unwrap();
        case.settle();
        case.hash();
        let stored = fs::read(case.cache.path().join(NAME)).unwrap();
        assert_eq!(parse(&stored).unwrap().len(), MOST);
        assert!(!case.hash().1);
    }
}
