//! Where an image is built: a temporary folder beside its place, which it takes in the end by being renamed.
//!
//! A killed run leaves its workshop behind. Each is locked as long as its owner lives, so the next run in the same folder knows which of them nobody owns, and
//! removes those.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use cct_private::FOLDER_MODE;
use tempfile::TempDir;

use cct_image::Record;

/// Names of workshops, between these two.
const PREFIX: &str = ".cctrewrite-";
const SUFFIX: &str = ".tmp";

/// The file that is locked.
const LOCK: &str = "lock";

/// A temporary folder of which this process is the owner. Dropped, it is removed.
#[derive(Debug)]
pub struct Workshop {
    /// `None` only while the value is dropped.
    folder: Option<TempDir>,
    /// Closing the file releases the lock.
    _lock: File,
}

/// A place for an image. Nothing, an empty folder or an earlier image stands there.
#[derive(Debug)]
pub struct Place {
    /// Absolute.
    path: PathBuf,
}

impl Place {
    /// Checks a place. It may neither lie in the JDK that the image is made from nor hold it.
    pub fn new(path: &Path, home: &Path) -> Result<Place> {
        let shown = path.display();
        let absolute = match fs::symlink_metadata(path) {
            Ok(_) => fs::canonicalize(path).with_context(|| format!("{shown}: cannot find"))?,
            Err(_) => {
                let name = path.file_name().with_context(|| format!("{shown}: not a name for a folder"))?;
                let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
                let cannot = || format!("{shown}: cannot find the folder in which it is to be");
                fs::canonicalize(parent).with_context(cannot)?.join(name)
            }
        };
        check_apart(path, &absolute, home)?;
        let place = Place { path: absolute };
        place.check()?;
        Ok(place)
    }

    /// Whether something stands there that may be replaced; fails if something else does.
    fn check(&self) -> Result<bool> {
        let shown = self.path.display();
        if !self.path.exists() {
            return Ok(false);
        }
        let cannot = || format!("cannot list {shown}");
        if !self.path.is_dir() {
            bail!("{shown}: a file; name a folder");
        }
        let is_empty = fs::read_dir(&self.path).with_context(cannot)?.next().is_none();
        if !is_empty && Record::of_image(&self.path).ok().flatten().is_none() {
            bail!("{shown}: neither empty nor a profiled JDK; remove it or name another folder");
        }
        Ok(true)
    }

    /// The folder that the image is in.
    pub fn parent(&self) -> &Path {
        // A canonical path with a name has a parent.
        self.path.parent().unwrap_or(Path::new("/"))
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Whether a place may be that of an image: it neither lies in the JDK nor holds it. Messages name it as `shown`.
pub fn check_apart(shown: &Path, absolute: &Path, home: &Path) -> Result<()> {
    let shown = shown.display();
    if absolute.starts_with(home) {
        bail!("{shown}: in the JDK that the image is made from; name a folder outside of it");
    }
    if home.starts_with(absolute) {
        bail!("{shown}: holds the JDK that the image is made from; name another folder");
    }
    Ok(())
}

impl Workshop {
    /// Opens one in a folder, in which those that nobody owns any more are removed.
    pub fn open(beside: &Path) -> Result<Workshop> {
        clean(beside);
        let cannot = || format!("cannot make a folder in {}", beside.display());
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).suffix(SUFFIX).permissions(Permissions::from_mode(FOLDER_MODE));
        let folder = builder.tempdir_in(beside).with_context(cannot)?;
        // Locked before it has its name: a lock of that name is free only when its owner is gone.
        let fresh = folder.path().join("fresh");
        let lock = cct_private::create(&fresh).with_context(cannot)?;
        lock.lock().with_context(cannot)?;
        fs::rename(&fresh, folder.path().join(LOCK)).with_context(cannot)?;
        fs::create_dir(folder.path().join("image")).with_context(cannot)?;
        Ok(Workshop { folder: Some(folder), _lock: lock })
    }

    fn path(&self) -> &Path {
        self.folder.as_ref().map_or(Path::new(""), TempDir::path)
    }

    /// The folder in which the image is made.
    pub fn image(&self) -> PathBuf {
        self.path().join("image")
    }

    /// Takes a folder away: it is in its place no longer, and removed with this.
    pub fn discard(&self, path: &Path) -> Result<()> {
        let cannot = || format!("cannot remove {}", path.display());
        fs::rename(path, self.path().join("discarded")).with_context(cannot)
    }

    /// Puts the image in its place, and what stood there away. On Linux both happen at once.
    pub fn deliver(mut self, place: &Place) -> Result<()> {
        let shown = place.path.display();
        let cannot = || format!("cannot put the image in its place {shown}");
        let old = self.path().join("old");
        // Looked at again: much time has passed.
        let stood = place.check()?;
        if stood && exchange(&self.image(), &place.path).with_context(cannot)? {
            return Ok(());
        }
        if stood {
            fs::rename(&place.path, &old).with_context(cannot)?;
        }
        if let Err(error) = fs::rename(self.image(), &place.path) {
            if stood
                && fs::rename(&old, &place.path).is_err()
                && let Some(folder) = self.folder.take()
            {
                // What stood there could not go back; at least it must not be deleted.
                let _ = folder.keep();
            }
            return Err(error).with_context(cannot);
        }
        Ok(())
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.take() {
            remove(&folder.keep());
        }
    }
}

/// Has two folders change places; false where the system or the file system cannot do that.
#[cfg(target_os = "linux")]
fn exchange(a: &Path, b: &Path) -> std::io::Result<bool> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn exchange(_: &Path, _: &Path) -> std::io::Result<bool> {
    Ok(false)
}

/// Removes a workshop, its lock last: one whose removal was cut off is recognised as abandoned.
fn remove(workshop: &Path) {
    for entry in fs::read_dir(workshop).into_iter().flatten().flatten() {
        if entry.file_name() != LOCK {
            let path = entry.path();
            // What cannot be removed stays: it is in nobody's way.
            let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
        }
    }
    let is_empty_but_for_lock = fs::read_dir(workshop).is_ok_and(|entries| entries.count() <= 1);
    if is_empty_but_for_lock {
        let _ = fs::remove_file(workshop.join(LOCK));
        let _ = fs::remove_dir(workshop);
    }
}

/// Removes workshops that nobody owns.
pub fn clean(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if !(name.starts_with(PREFIX) && name.ends_with(SUFFIX)) {
            continue;
        }
        let Ok(lock) = File::open(entry.path().join(LOCK)) else { continue };
        if lock.try_lock().is_ok() {
            remove(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use cct_image::record::{FOLDER, NAME};
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    fn image(folder: &Path, tool: &str) {
        let own = folder.join("lib").join(FOLDER);
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join(NAME), Record::new(vec![("tool", tool.to_owned())]).text()).unwrap();
    }

    fn tool(folder: &Path) -> String {
        Record::of_image(folder).unwrap().unwrap().value("tool").unwrap().to_owned()
    }

    #[test]
    fn an_image_appears_whole_and_replaces_an_earlier_one() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("image");
        for round in ["first", "second"] {
            let place = Place::new(&to, Path::new("/jdk")).unwrap();
            let workshop = Workshop::open(place.parent()).unwrap();
            image(&workshop.image(), round);
            workshop.deliver(&place).unwrap();
            assert_eq!(tool(&to), round);
            assert_eq!(names(folder.path()), ["image"]);
        }
    }

    #[test]
    fn what_is_given_up_leaves_nothing_and_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("image");
        image(&to, "first");
        let place = Place::new(&to, Path::new("/jdk")).unwrap();
        let workshop = Workshop::open(place.parent()).unwrap();
        image(&workshop.image(), "second");
        drop(workshop);
        assert_eq!((names(folder.path()), tool(&to)), (vec!["image".to_owned()], "first".to_owned()));
    }

    /// Without the lock no later run would remove the remaining files.
    #[test]
    fn a_workshop_loses_its_lock_last() {
        use std::sync::atomic::{AtomicBool, Ordering};
        let folder = tempfile::tempdir().unwrap();
        let workshop = Workshop::open(folder.path()).unwrap();
        let (path, image) = (workshop.path().to_path_buf(), workshop.image());
        for number in 0..3_000 {
            fs::write(image.join(number.to_string()), b"").unwrap();
        }
        let (is_removed, looks) = (AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_removed.load(Ordering::Relaxed) {
                    assert!(path.join(LOCK).exists() || !image.exists());
                    looks.store(true, Ordering::Relaxed);
                }
            });
            while !looks.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            drop(workshop);
            is_removed.store(true, Ordering::Relaxed);
        });
        assert_eq!(names(folder.path()), [""; 0]);
    }

    #[test]
    fn workshops_of_the_dead_are_removed_and_those_of_the_living_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let abandoned = folder.path().join(".cctrewrite-dead.tmp");
        fs::create_dir(&abandoned).unwrap();
        fs::write(abandoned.join(LOCK), b"").unwrap();
        // Not a workshop, or not yet one.
        fs::create_dir(folder.path().join(".cctrewrite-other.tmp")).unwrap();
        let first = Workshop::open(folder.path()).unwrap();
        let second = Workshop::open(folder.path()).unwrap();
        assert!(!abandoned.exists());
        assert!(first.image().is_dir() && second.image().is_dir());
        assert_eq!(names(folder.path()).len(), 3);
    }

    #[test]
    fn nothing_of_the_user_s_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), b"x").unwrap();
        fs::create_dir_all(path("full/sub")).unwrap();
        fs::create_dir(path("empty")).unwrap();
        let refusal = |name: &str, home: &str| {
            let home = fs::canonicalize(folder.path()).unwrap().join(home);
            Place::new(&path(name), &home).err().map(|e| format!("{e:#}")).unwrap_or_default()
        };
        assert!(refusal("file", "jdk").contains("a file"));
        assert!(refusal("full", "jdk").contains("neither empty nor"));
        assert!(refusal("full/sub", "full").contains("in the JDK"));
        assert!(refusal("full", "full/sub").contains("holds the JDK"));
        assert!(refusal("gone/new", "jdk").contains("cannot find"));
        assert_eq!(refusal("empty", "jdk"), "");
        assert_eq!(refusal("new", "jdk"), "");
    }
}
