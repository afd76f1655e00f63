//! Removal of images from the cache: by the time since their last use, by size, or because their
//! JDK is gone.

use std::env::VarError;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use cct_image::Record;

use crate::file_error::{FileError, Operation};
use crate::image::cache::{self, FolderError, LockError, Slot};
use crate::image::known_hashes;
use crate::image::processes;
use crate::image::tree::Tree;
use crate::image::workshop::{self, Workshop, WorkshopError};
use crate::observer::Observer;
use crate::size::{self, ExpectedSize};

/// Images that cannot be removed from the cache.
#[derive(Debug, thiserror::Error)]
pub enum PruneError {
    /// The cache cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// An image cannot be locked.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// There is no place to move an image to.
    #[error(transparent)]
    Workshop(#[from] WorkshopError),
    /// The cache cannot be listed, or an image cannot be moved.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A bound in the environment that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadBound {
    /// The variable is not Unicode.
    #[error("{LIMIT}: {0}; give a number of bytes, such as 20G, or none")]
    NotUnicode(VarError),
    /// The variable is neither a size nor `none`.
    #[error("{LIMIT}={text}: not {expected}, or none")]
    NotASize {
        /// The variable's value.
        text: String,
        /// What is expected instead.
        expected: ExpectedSize,
    },
}

/// An image in the cache.
#[derive(Debug)]
pub struct CachedImage {
    /// Its folder's name.
    pub key: String,
    /// Its folder.
    pub path: PathBuf,
    /// Bytes of all its files.
    pub size: u64,
    /// When it was used last.
    pub used: SystemTime,
    /// The home of the JDK that it was made of, if that is known.
    pub jdk: Option<PathBuf>,
    /// What it says of itself, unless that is damaged.
    pub record: Option<Record>,
}

/// Which images go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Policy {
    /// All.
    pub all: bool,
    /// Those whose JDK is gone.
    pub gone: bool,
    /// Those that were not used for this long.
    pub unused_for: Option<Duration>,
    /// Those that were used the longest ago, until all others together have at most as many bytes.
    pub max_size: Option<u64>,
}

/// Seconds of a day.
pub const DAY: u64 = 24 * 60 * 60;

/// After how many days without use an image goes by default.
pub const DEFAULT_DAYS: u64 = 30;

/// Bytes of all images by default.
pub const DEFAULT_SIZE: u64 = 10 << 30;

/// The variable with another bound on the size of the cache.
const LIMIT: &str = "CCTREWRITE_CACHE_LIMIT";

/// Why an image goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// All go.
    All,
    /// Its JDK is gone.
    Gone,
    /// It was not used for too long.
    Unused,
    /// There are too many bytes.
    Size,
}

impl Reason {
    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Reason::All => "all go",
            Reason::Gone => "its JDK is gone",
            Reason::Unused => "it was not used for too long",
            Reason::Size => "the cache is too large",
        }
    }
}

/// What became of an image, or of an unpacked library, that was to go.
#[derive(Debug)]
pub enum Removal {
    /// It is removed, or would be.
    Removed(Reason),
    /// It stays: a process uses it.
    InUse(Option<u32>),
}

impl CachedImage {
    /// Whether the JDK is known and is not there.
    pub fn is_jdk_gone(&self) -> bool {
        self.jdk.as_ref().is_some_and(|home| !home.exists())
    }

    /// How long ago it was used; nothing if that is in the future.
    pub fn age(&self, now: SystemTime) -> Duration {
        now.duration_since(self.used).unwrap_or_default()
    }
}

/// All images of a cache, the one that was used last first.
///
/// # Errors
/// The folder cannot be listed.
pub fn list(folder: &Path) -> Result<Vec<CachedImage>, FileError> {
    let mut images = Vec::new();
    let cannot = Operation::List.failed_on(folder);
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(images),
        entries => entries.map_err(cannot)?,
    };
    for entry in entries {
        let entry = entry.map_err(cannot)?;
        let Ok(key) = entry.file_name().into_string() else { continue };
        if is_key(&key) && entry.path().is_dir() {
            images.push(look_at(folder, key, entry.path()));
        }
    }
    images.sort_by(|a, b| (b.used, &b.key).cmp(&(a.used, &a.key)));
    Ok(images)
}

/// Whether a folder's name is a key: of an image, or of an unpacked library.
pub fn is_key(name: &str) -> bool {
    name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

fn look_at(folder: &Path, key: String, path: PathBuf) -> CachedImage {
    let (noted, jdk) = cache::last_use(folder, &key);
    // `run` notes its uses. A JVM that was started from the image itself leaves the time at which
    // its program was read.
    let launchers = ["bin/java", "jre/bin/java"].map(|launcher| fs::metadata(path.join(launcher)));
    let started = launchers.into_iter().flatten().filter_map(|its| its.accessed().ok());
    let made = fs::metadata(&path).and_then(|its| its.modified()).ok();
    let used = started.chain(noted).chain(made).max().unwrap_or(SystemTime::UNIX_EPOCH);
    // One that another process removes at this moment has no size.
    let size = Tree::list(&path).ok().and_then(|tree| tree.size().ok()).unwrap_or(0);
    let record = Record::of_image(&path).ok().flatten();
    CachedImage { key, path, size, used, jdk, record }
}

/// Removes images, or looks which it would remove. Never one that is in use. Calls `report` for
/// each that goes or should.
///
/// # Errors
/// The cache cannot be used, or an image cannot be moved.
pub fn prune(
    folder: &Path,
    policy: Policy,
    is_trial: bool,
    mut report: impl FnMut(&CachedImage, Removal),
) -> Result<(), PruneError> {
    if !folder.exists() {
        return Ok(());
    }
    let folder = cache::open(folder)?;
    let images = list(&folder)?;
    let mut left: u64 = images.iter().map(|image| image.size).sum();
    let now = SystemTime::now();
    // The one that was used the longest ago goes first.
    for image in images.iter().rev() {
        let Some(reason) = reason(image, policy, left, now) else { continue };
        let removal = remove(&folder, image, reason, is_trial)?;
        if let Removal::Removed(_) = removal {
            left -= image.size;
        }
        report(image, removal);
    }
    if !is_trial {
        workshop::clean(&folder);
        // Of an empty cache nothing is left.
        if list(&folder)?.is_empty() {
            known_hashes::forget(&folder);
        }
    }
    Ok(())
}

/// The default bound: what `run` applies after it has made an image.
///
/// `CCTREWRITE_CACHE_LIMIT` stands for another size; `none` switches both bounds off.
///
/// # Errors
/// The variable is neither a size nor `none`.
pub fn default_policy() -> Result<Option<Policy>, BadBound> {
    let size = match std::env::var(LIMIT) {
        Err(VarError::NotPresent) => DEFAULT_SIZE,
        Ok(text) if text.is_empty() => DEFAULT_SIZE,
        Ok(text) if text == "none" => return Ok(None),
        Ok(text) => size::parse(&text).map_err(|expected| BadBound::NotASize { text, expected })?,
        Err(error) => return Err(BadBound::NotUnicode(error)),
    };
    let unused_for = Some(Duration::from_secs(DEFAULT_DAYS * DAY));
    Ok(Some(Policy { unused_for, max_size: Some(size), ..Policy::default() }))
}

/// Removes what is beyond the default bound.
///
/// # Errors
/// As [`prune`].
pub fn keep_within_bounds(
    folder: &Path,
    bounds: Option<Policy>,
    observer: &dyn Observer,
) -> Result<(), PruneError> {
    let Some(policy) = bounds else { return Ok(()) };
    prune(folder, policy, false, |image, removal| {
        if let Removal::Removed(reason) = removal {
            let path = image.path.display();
            observer.note(&format!("cctrewrite: removed {path} from the cache: {}", reason.words()));
        }
    })
}

/// Why an image goes, if it does, while all together have as many bytes.
fn reason(image: &CachedImage, policy: Policy, all: u64, now: SystemTime) -> Option<Reason> {
    let is_unused = policy.unused_for.is_some_and(|limit| image.age(now) > limit);
    let is_too_large = policy.max_size.is_some_and(|limit| all > limit);
    [
        (policy.all, Reason::All),
        (policy.gone && image.is_jdk_gone(), Reason::Gone),
        (is_unused, Reason::Unused),
        (is_too_large, Reason::Size),
    ]
    .into_iter()
    .find_map(|(goes, reason)| goes.then_some(reason))
}

fn remove(folder: &Path, image: &CachedImage, reason: Reason, is_trial: bool) -> Result<Removal, PruneError> {
    let Some(slot) = Slot::take_unused(folder, &image.key)? else { return Ok(Removal::InUse(None)) };
    if let Some(process) = processes::of_image(&image.path) {
        return Ok(Removal::InUse(Some(process)));
    }
    if !is_trial {
        let workshop = Workshop::open(folder)?;
        workshop.discard(&image.path)?;
        slot.remove_files();
    }
    Ok(Removal::Removed(reason))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::time_limit::TimeLimit;

    fn image(folder: &Path, digit: char, days: u64, jdk: &Path) -> PathBuf {
        let key: String = std::iter::repeat_n(digit, 32).collect();
        let slot = Slot::take(folder, &key, TimeLimit::of("").unwrap(), |_| {}).unwrap();
        fs::create_dir_all(slot.path.join("lib")).unwrap();
        fs::write(slot.path.join("lib/modules"), [0; 100]).unwrap();
        slot.note_use(jdk);
        let past = SystemTime::now() - Duration::from_secs(days * DAY);
        for path in [cache::beside(folder, &key, "used"), slot.path.clone()] {
            fs::File::open(path).unwrap().set_modified(past).unwrap();
        }
        slot.path
    }

    fn pruned(folder: &Path, policy: Policy) -> Vec<(char, Option<Reason>)> {
        let mut seen = Vec::new();
        let report = |image: &CachedImage, removal| {
            let reason = match removal {
                Removal::Removed(reason) => Some(reason),
                Removal::InUse(_) => None,
            };
            seen.push((image.key.chars().next().unwrap(), reason));
        };
        prune(folder, policy, false, report).unwrap();
        seen
    }

    #[test]
    fn images_go_by_age_size_and_jdk() {
        let folder = tempfile::tempdir().unwrap();
        let images = cache::open(&folder.path().join("images")).unwrap();
        let (here, gone) = (folder.path(), Path::new("/gone"));
        let paths = [('a', 1, here), ('b', 40, here), ('c', 3, gone), ('d', 2, here), ('e', 5, here)];
        let paths = paths.map(|(digit, days, jdk)| image(&images, digit, days, jdk));
        fs::create_dir(images.join("not-an-image")).unwrap();
        let order: Vec<String> =
            list(&images).unwrap().into_iter().map(|image| image.key[..1].to_owned()).collect();
        assert_eq!(order, ["a", "d", "c", "e", "b"]);

        let unused_for = Some(Duration::from_secs(30 * DAY));
        assert_eq!(
            pruned(&images, Policy { unused_for, ..Policy::default() }),
            [('b', Some(Reason::Unused))]
        );
        assert_eq!(pruned(&images, Policy { gone: true, ..Policy::default() }), [('c', Some(Reason::Gone))]);
        let max_size = Some(250);
        assert_eq!(pruned(&images, Policy { max_size, ..Policy::default() }), [('e', Some(Reason::Size))]);
        assert_eq!(paths.map(|path| path.exists()), [true, false, false, true, false]);
        assert_eq!(pruned(&images, Policy::default()), []);

        // One that is in use counts and stays.
        let hold =
            Slot::take(&images, &"d".repeat(32), TimeLimit::of("").unwrap(), |_| {}).unwrap().hold().unwrap();
        let max_size = Some(0);
        let all = [('d', None), ('a', Some(Reason::Size))];
        assert_eq!(pruned(&images, Policy { max_size, ..Policy::default() }), all);
        drop(hold);
        cct_private::write(&images.join("known-hashes"), b"").unwrap();
        assert_eq!(pruned(&images, Policy { all: true, ..Policy::default() }), [('d', Some(Reason::All))]);
        let left: Vec<_> = fs::read_dir(&images).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["not-an-image"]);
    }
}
