//! The workshop of an image: a temporary folder next to its place, to which it is renamed in the
//! end.
//!
//! A killed command leaves its workshop. The next command in the same folder removes it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use cct_image::Record;

use crate::temporary_folder::{self, Kind, TemporaryFolder};

/// A temporary folder that this process owns. When dropped, it is removed.
#[derive(Debug)]
pub struct Workshop(TemporaryFolder);

/// A place for an image: empty, an empty folder or an earlier image.
#[derive(Debug)]
pub struct Place {
    /// The absolute path.
    path: PathBuf,
}

impl Place {
    /// Checks a place. It must neither be inside the JDK of the image nor contain it.
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

    /// Whether something replaceable is there; fails if something else is.
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

    /// The parent folder of the image.
    pub fn parent(&self) -> &Path {
        // A canonical path with a name has a parent.
        self.path.parent().unwrap_or(Path::new("/"))
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Checks that an image's place is neither inside the JDK nor contains it. Messages call it
/// `shown`.
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
    /// Opens a workshop in a folder, and removes workshops there without an owner.
    pub fn open(beside: &Path) -> Result<Workshop> {
        let cannot = || format!("cannot make a folder in {}", beside.display());
        let folder = TemporaryFolder::make(beside, Kind::Workshop).with_context(cannot)?;
        fs::create_dir(folder.path().join("image")).with_context(cannot)?;
        Ok(Workshop(folder))
    }

    /// The folder in which the image is built.
    pub fn image(&self) -> PathBuf {
        self.0.path().join("image")
    }

    /// Moves a folder away from its place; it is removed with this workshop.
    pub fn discard(&self, path: &Path) -> Result<()> {
        let cannot = || format!("cannot remove {}", path.display());
        fs::rename(path, self.0.path().join("discarded")).with_context(cannot)
    }

    /// Moves the image to its place, and any earlier one away. On Linux both happen in one step.
    pub fn deliver(mut self, place: &Place) -> Result<()> {
        let shown = place.path.display();
        let cannot = || format!("cannot put the image in its place {shown}");
        let old = self.0.path().join("old");
        // Checked again: much time has passed.
        let stood = place.check()?;
        if stood && exchange(&self.image(), &place.path).with_context(cannot)? {
            return Ok(());
        }
        if stood {
            fs::rename(&place.path, &old).with_context(cannot)?;
        }
        if let Err(error) = fs::rename(self.image(), &place.path) {
            if stood && fs::rename(&old, &place.path).is_err() {
                // The earlier image could not be moved back; at least it must not be deleted.
                self.0.keep();
            }
            return Err(error).with_context(cannot);
        }
        Ok(())
    }
}

/// Exchanges two folders; false if the system or the file system cannot do that.
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

/// Removes workshops without an owner.
pub fn clean(folder: &Path) {
    temporary_folder::clean(folder, Kind::Workshop);
}

#[cfg(test)]
mod tests {
    use super::*;
    use cct_image::record::{FOLDER, NAME};

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
