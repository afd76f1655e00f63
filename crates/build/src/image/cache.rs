//! The cache of images: one for each key, in a folder that may be deleted at any time.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use super::check::{self, Archives, Finding, NotAnImage};
use super::processes;
use super::time_limit::TimeLimit;
use cct_image::{Record, record};

/// The environment names no place for a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "no place for a cache: none of CCTREWRITE_CACHE, XDG_CACHE_HOME, HOME is set; set one, or name a folder with --cache=FOLDER"
)]
pub struct NoPlace;

/// A folder that cannot be used as a cache.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The system refuses.
    #[error("cannot use the cache {}", .path.display())]
    Unusable {
        /// The folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// It belongs to another user.
    #[error(
        "{}: belongs to another user ({owner}), and JVMs would run what they put there; name another folder with --cache=FOLDER or CCTREWRITE_CACHE",
        .path.display()
    )]
    OtherOwner {
        /// The folder.
        path: PathBuf,
        /// The number of that user.
        owner: u32,
    },
    /// Its mode lets the group, or everybody, write.
    #[error(
        "{shown}: others may write there, and JVMs would run what they put there; `chmod go-w {shown}`, or name another folder with \
         --cache=FOLDER or CCTREWRITE_CACHE",
        shown = .0.display()
    )]
    WritableByOthers(PathBuf),
}

/// An image in the cache whose files cannot be locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// The cache cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The slot of the image was not locked.
    #[error("cannot lock {}", .0.display())]
    NotLocked(PathBuf),
    /// Another process builds the image, and exceeds the time limit.
    #[error(
        "{} has been making the same image for more than {limit}; end it and run the command again, or wait longer ({})",
        .owner.map_or("another process".to_owned(), |owner| format!("process {owner}")),
        TimeLimit::HOW_TO_CHANGE
    )]
    TooSlow {
        /// The process, if the system reports it.
        owner: Option<u32>,
        /// The limit.
        limit: TimeLimit,
    },
    /// The file that users of the image lock cannot be opened.
    #[error("cannot use {}", .path.display())]
    Users {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The image cannot be protected from removal.
    #[error("cannot lock the image {}", .path.display())]
    Image {
        /// The image.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// The contents of a slot that cannot be an image.
#[derive(Debug, thiserror::Error)]
pub enum ContentError {
    /// It is a folder that was never an image.
    #[error("{}: not the image that should be there; remove it", .0.display())]
    NotAnImage(PathBuf),
    /// Its record cannot be read.
    #[error(transparent)]
    Record(#[from] record::Error),
}

/// The cache's folder of images, by the environment.
///
/// # Errors
/// Fails if the environment names no place.
pub fn default_folder() -> Result<PathBuf, NoPlace> {
    Ok(root()?.join("images"))
}

/// The cache, by the environment: `$CCTREWRITE_CACHE`, or `$XDG_CACHE_HOME/cctrewrite`, or
/// `~/.cache/cctrewrite`. It need not exist.
///
/// # Errors
/// Fails if the environment names no place.
pub fn root() -> Result<PathBuf, NoPlace> {
    choose(|name| std::env::var_os(name))
}

/// [`root`], with the environment as a parameter. An empty variable counts as unset.
fn choose(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, NoPlace> {
    let path = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = path("CCTREWRITE_CACHE") {
        return Ok(folder);
    }
    // The XDG base directory specification: a relative path in this variable must be ignored.
    if let Some(folder) = path("XDG_CACHE_HOME").filter(|folder| folder.is_absolute()) {
        return Ok(folder.join("cctrewrite"));
    }
    let home = path("HOME").ok_or(NoPlace)?;
    Ok(home.join(".cache").join("cctrewrite"))
}

/// Checks that only the user can write to a cache. JVMs load a library from there, so anyone who
/// can write there runs code as the user. A folder's owner can, whatever its mode is.
///
/// # Errors
/// Fails if others can write there, or if the folder cannot be read.
pub fn check_writers(folder: &Path) -> Result<(), FolderError> {
    let path = folder.to_path_buf();
    let its = fs::metadata(folder).map_err(unusable(folder))?;
    if ![rustix::process::geteuid().as_raw(), 0].contains(&its.uid()) {
        return Err(FolderError::OtherOwner { path, owner: its.uid() });
    }
    if its.mode() & 0o022 != 0 {
        return Err(FolderError::WritableByOthers(path));
    }
    Ok(())
}

fn unusable(folder: &Path) -> impl Fn(io::Error) -> FolderError + Copy {
    move |source| FolderError::Unusable { path: folder.to_path_buf(), source }
}

/// Suffixes of files next to an image in the cache, after its key.
const LOCK: &str = "lock";
const USERS: &str = "users";
const USED: &str = "used";

/// A file of a key, next to its image.
pub fn beside(folder: &Path, key: &str, suffix: &str) -> PathBuf {
    folder.join(format!("{key}.{suffix}"))
}

/// Creates the folder of a cache, and checks it. Returns its path without links.
///
/// # Errors
/// Fails if the folder cannot be created, or if others can write there.
pub fn open(folder: &Path) -> Result<PathBuf, FolderError> {
    let cannot = unusable(folder);
    cct_private::create_folders(folder).map_err(cannot)?;
    let folder = fs::canonicalize(folder).map_err(cannot)?;
    check_writers(&folder)?;
    Ok(folder)
}

/// The place of one image in the cache. No other process creates or removes the image as long as
/// the value lives.
#[derive(Debug)]
pub struct Slot {
    /// The path of the image, present or future.
    pub path: PathBuf,
    folder: PathBuf,
    key: String,
    /// Closing the file releases the lock.
    _lock: File,
}

/// The contents of a slot.
#[derive(Debug, PartialEq, Eq)]
pub enum Content {
    /// Nothing.
    None,
    /// The image.
    Image,
    /// A damaged image, with the damage.
    Damaged(String),
}

/// A use of an image in the cache, by this process and by those that it starts: nobody removes the
/// image meanwhile.
#[derive(Debug)]
pub struct Hold {
    /// Locked jointly with other users. Closing the file, in all processes that have it, releases
    /// the lock.
    _users: File,
}

impl Slot {
    /// Takes the slot of a key. Waits while another process builds that image, after a call of
    /// `say_waiting` with its process id.
    ///
    /// # Errors
    /// Fails if the cache cannot be used, or if the other process exceeds the time limit.
    pub fn take(
        folder: &Path,
        key: &str,
        limit: TimeLimit,
        say_waiting: impl FnOnce(Option<u32>),
    ) -> Result<Slot, LockError> {
        let folder = open(folder)?;
        let lock = lock(&folder, key, Some((limit, say_waiting)))?;
        let lock = lock.ok_or_else(|| LockError::NotLocked(folder.clone()))?;
        Ok(Slot { path: folder.join(key), folder, key: key.to_owned(), _lock: lock })
    }

    /// Takes the slot of a key, unless another process has it or uses its image.
    ///
    /// # Errors
    /// Fails if the cache cannot be used.
    pub fn take_unused(folder: &Path, key: &str) -> Result<Option<Slot>, LockError> {
        let Some(lock) = lock(folder, key, None::<(TimeLimit, fn(Option<u32>))>)? else { return Ok(None) };
        let slot =
            Slot { path: folder.join(key), folder: folder.to_path_buf(), key: key.to_owned(), _lock: lock };
        // Nobody can start to use it, which takes the slot.
        let is_held = slot.users()?.try_lock().is_err();
        Ok((!is_held).then_some(slot))
    }

    /// The folder of the cache.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The contents of the slot.
    ///
    /// # Errors
    /// Fails if the folder was never an image: only cctrewrite writes here. Fails if the record of
    /// the image cannot be read.
    pub fn content(&self) -> Result<Content, ContentError> {
        if !self.path.exists() {
            return Ok(Content::None);
        }
        match check::at_start(&self.path, Archives::Fixed) {
            Ok(Finding::Sound { .. }) => {}
            Ok(Finding::NoManifest) => return Ok(Content::Damaged("has no manifest".to_owned())),
            Ok(Finding::Damaged(damage)) => return Ok(Content::Damaged(damage.to_string())),
            Err(NotAnImage(path)) => return Err(ContentError::NotAnImage(path)),
        }
        let record = Record::of_image(&self.path)?;
        if record.as_ref().and_then(|record| record.value("key")) == Some(&*self.key) {
            Ok(Content::Image)
        } else {
            Ok(Content::Damaged(format!("{} is the image of another key", self.path.display())))
        }
    }

    /// Records that the image is used now, and the JDK that it was built from. If that cannot be
    /// written (the disk is full), the image may be removed earlier.
    pub fn note_use(&self, jdk: &Path) {
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(cct_private::FILE_MODE);
        let file = options.open(beside(&self.folder, &self.key, USED));
        let _ = file.and_then(|mut file| file.write_all(jdk.as_os_str().as_encoded_bytes()));
    }

    /// Protects the image from removal while this process, or one that it starts, has the file
    /// open.
    ///
    /// # Errors
    /// Fails if the system reports an error.
    pub fn hold(&self) -> Result<Hold, LockError> {
        let users = self.users()?;
        let cannot = |source| LockError::Image { path: self.path.clone(), source };
        users.lock_shared().map_err(cannot)?;
        // A JVM that outlives a killed `run` still uses the image: it inherits the file.
        let inherited = rustix::io::fcntl_setfd(&users, rustix::io::FdFlags::empty());
        inherited.map_err(|errno| cannot(errno.into()))?;
        Ok(Hold { _users: users })
    }

    fn users(&self) -> Result<File, LockError> {
        let path = beside(&self.folder, &self.key, USERS);
        lock_file(&path).map_err(|source| LockError::Users { path, source })
    }

    /// Removes all files of the slot but the image.
    pub fn remove_files(self) {
        for suffix in [USED, USERS, LOCK] {
            // A lock file that stays does no harm.
            let _ = fs::remove_file(beside(&self.folder, &self.key, suffix));
        }
    }
}

/// The last use of an image, and the home of the JDK that it was built from, if known.
pub fn last_use(folder: &Path, key: &str) -> (Option<SystemTime>, Option<PathBuf>) {
    let file = beside(folder, key, USED);
    let home = fs::read(&file).ok().filter(|home| !home.is_empty());
    let home = home.map(|home| PathBuf::from(OsString::from_vec(home)));
    (fs::metadata(&file).and_then(|its| its.modified()).ok(), home)
}

fn lock_file(path: &Path) -> io::Result<File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(cct_private::FILE_MODE).open(path)
}

/// The locked lock file of a key. If another process has it: calls the function in `wait` and waits
/// up to the limit there, or returns `None` without `wait`.
fn lock(
    folder: &Path,
    key: &str,
    mut wait: Option<(TimeLimit, impl FnOnce(Option<u32>))>,
) -> Result<Option<File>, LockError> {
    let path = beside(folder, key, LOCK);
    let cannot = unusable(folder);
    let limit = wait.as_ref().map(|(limit, _)| *limit);
    let started = Instant::now();
    loop {
        let file = lock_file(&path).map_err(cannot)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let Some(limit) = limit else { return Ok(None) };
                let owner = processes::with_lock(&file);
                if let Some((_, say)) = wait.take() {
                    say(owner);
                }
                if limit.is_exceeded_since(started) {
                    return Err(LockError::TooSlow { owner, limit });
                }
                // Polls instead of blocking on the lock: blocking would never end if the other
                // process hangs.
                std::thread::sleep(TimeLimit::POLL);
                continue;
            }
            Err(TryLockError::Error(error)) => return Err(cannot(error).into()),
        }
        // A process that removes an image removes its lock, too: then this file locks nothing.
        let identity = |its: fs::Metadata| (its.dev(), its.ino());
        let opened = file.metadata().map(identity).map_err(cannot)?;
        if fs::metadata(&path).map(identity).is_ok_and(|there| there == opened) {
            return Ok(Some(file));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cct_image::record::{FOLDER, HAS_MANIFEST, NAME};

    fn no_limit() -> TimeLimit {
        TimeLimit::of("none").unwrap()
    }

    fn take(images: &Path) -> Result<Slot, LockError> {
        Slot::take(images, "abc", no_limit(), |_| {})
    }

    fn chosen(variables: &[(&str, &str)]) -> Option<PathBuf> {
        choose(|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into())).ok()
    }

    #[test]
    fn the_variables_have_their_order() {
        let all = [("CCTREWRITE_CACHE", "/own"), ("XDG_CACHE_HOME", "/xdg"), ("HOME", "/home/u")];
        assert_eq!(chosen(&all), Some("/own".into()));
        assert_eq!(chosen(&all[1..]), Some("/xdg/cctrewrite".into()));
        assert_eq!(chosen(&all[2..]), Some("/home/u/.cache/cctrewrite".into()));
        assert_eq!(chosen(&[("CCTREWRITE_CACHE", ""), ("XDG_CACHE_HOME", "here")]), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_to_which_others_may_write_is_no_cache() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let images = folder.path().join("a/images");
        take(&images).unwrap();
        assert_eq!(fs::metadata(&images).unwrap().permissions().mode() & 0o777, 0o700);
        for (mode, is_refused) in [(0o777, true), (0o775, true), (0o1777, true), (0o755, false)] {
            fs::set_permissions(&images, fs::Permissions::from_mode(mode)).unwrap();
            let taken = take(&images);
            assert_eq!(taken.is_err(), is_refused, "{mode:o}");
            if let Err(error) = taken {
                assert!(error.to_string().contains("chmod go-w"), "{error}");
            }
        }
    }

    /// A folder that another user created under a guessed name, with a lock that everybody may
    /// write to.
    #[cfg(unix)]
    #[test]
    fn a_folder_of_another_user_is_no_cache() {
        let folder = tempfile::tempdir().unwrap();
        let images = folder.path().join("images");
        take(&images).unwrap();
        if std::os::unix::fs::chown(&images, Some(12_345), None).is_err() {
            eprintln!("skipped: not the right to give a folder away");
            return;
        }
        let error = take(&images).unwrap_err().to_string();
        assert!(error.contains("another user (12345)"), "{error}");
    }

    /// An image in a slot.
    fn fill(slot: &Slot, key: &str) {
        let own = slot.path.join("lib").join(FOLDER);
        fs::create_dir_all(&own).unwrap();
        let lines = vec![("key", key.to_owned()), (HAS_MANIFEST, "1".to_owned())];
        fs::write(own.join(NAME), Record::new(lines).text()).unwrap();
        check::store(&slot.path, &own, Path::new("/jdk")).unwrap();
    }

    #[test]
    fn a_slot_holds_its_own_image_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let slot = take(&folder.path().join("images")).unwrap();
        assert_eq!(slot.content().unwrap(), Content::None);
        fs::create_dir(&slot.path).unwrap();
        assert!(slot.content().is_err());
        fill(&slot, "abc");
        assert_eq!(slot.content().unwrap(), Content::Image);
        fill(&slot, "xyz");
        assert!(matches!(slot.content().unwrap(), Content::Damaged(_)));
        fill(&slot, "abc");
        fs::write(slot.path.join("lib").join(FOLDER).join(NAME), b"cctrewrite image").unwrap();
        match slot.content().unwrap() {
            Content::Damaged(what) => assert!(what.contains("IMAGE has 16 bytes"), "{what}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_image_in_use_is_not_taken_away() {
        let folder = tempfile::tempdir().unwrap();
        let images = open(&folder.path().join("images")).unwrap();
        let slot = Slot::take(&images, "abc", no_limit(), |_| panic!("nobody has it")).unwrap();
        assert!(Slot::take_unused(&images, "abc").unwrap().is_none());
        slot.note_use(Path::new("/jdk"));
        assert_eq!(last_use(&images, "abc").1, Some("/jdk".into()));
        let hold = slot.hold().unwrap();
        drop(slot);
        assert!(Slot::take_unused(&images, "abc").unwrap().is_none());
        // A process that was started meanwhile continues.
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        drop(hold);
        assert!(Slot::take_unused(&images, "abc").unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        // Processes of concurrent tests may have inherited the file, too.
        let free = || {
            Slot::take_unused(&images, "abc").unwrap().or_else(|| {
                std::thread::sleep(std::time::Duration::from_millis(50));
                None
            })
        };
        let slot = (0..200).find_map(|_| free()).unwrap();
        slot.remove_files();
        assert_eq!(fs::read_dir(&images).unwrap().count(), 0);
    }

    /// For instance for a process that was stopped while it builds an image.
    #[test]
    fn no_wait_is_endless() {
        let folder = tempfile::tempdir().unwrap();
        let images = folder.path().join("images");
        let _first = take(&images).unwrap();
        let (mut said, started) = (None, Instant::now());
        let error =
            Slot::take(&images, "abc", TimeLimit::of("1").unwrap(), |owner| said = Some(owner)).unwrap_err();
        assert!(started.elapsed().as_secs() >= 1);
        // Where the system reports which process has a lock.
        let owner = said.unwrap();
        assert!(owner.is_none_or(|owner| owner == std::process::id()), "{owner:?}");
        let error = error.to_string();
        for part in ["has been making the same image for more than 1 s", "end it", "CCTREWRITE_JVM_LIMIT"] {
            assert!(error.contains(part), "{error}");
        }
    }

    /// A process that waits for a lock that is then removed gets the new one.
    #[test]
    fn a_removed_lock_locks_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let images = open(&folder.path().join("images")).unwrap();
        let first = take(&images).unwrap();
        let waits = std::sync::Barrier::new(2);
        std::thread::scope(|scope| {
            let second = scope.spawn(|| {
                Slot::take(&images, "abc", no_limit(), |_| {
                    waits.wait();
                })
                .unwrap()
            });
            waits.wait();
            first.remove_files();
            let second = second.join().unwrap();
            assert!(Slot::take_unused(&images, "abc").unwrap().is_none());
            drop(second);
        });
    }
}
