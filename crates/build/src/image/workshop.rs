//! The workshop of an image: a temporary folder next to its place, to which it is renamed in the
//! end.
//!
//! A killed command leaves its workshop. The next command in the same folder removes it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use cct_image::Record;

use crate::file_error::{FileError, Operation};
use crate::temporary_folder::{self, Kind, TemporaryFolder};

/// A folder in which no workshop can be opened.
#[derive(Debug, thiserror::Error)]
#[error("cannot make a folder in {}", .parent.display())]
pub struct WorkshopError {
    /// The folder.
    pub parent: PathBuf,
    source: io::Error,
}

/// A place of an image that overlaps with the JDK from which the image is built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Overlap {
    /// The place is in the JDK.
    #[error("{}: in the JDK that the image is made from; name a folder outside of it", .0.display())]
    InsideJdk(PathBuf),
    /// The place contains the JDK.
    #[error("{}: holds the JDK that the image is made from; name another folder", .0.display())]
    HoldsJdk(PathBuf),
}

/// A place where no image can be put.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// The place, or its contents, cannot be looked up.
    #[error(transparent)]
    File(#[from] FileError),
    /// The path ends in no name.
    #[error("{}: not a name for a folder", .0.display())]
    NoName(PathBuf),
    /// The folder around the place cannot be looked up.
    #[error("{}: cannot find the folder in which it is to be", .path.display())]
    NoParent {
        /// The place.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// It overlaps with the JDK.
    #[error(transparent)]
    Overlap(#[from] Overlap),
    /// It is a file.
    #[error("{}: a file; name a folder", .0.display())]
    IsFile(PathBuf),
    /// It is a folder with contents that are no image.
    #[error("{}: neither empty nor a profiled JDK; remove it or name another folder", .0.display())]
    NotEmpty(PathBuf),
}

/// An image that cannot be moved to its place.
#[derive(Debug, thiserror::Error)]
pub enum DeliverError {
    /// Something else has come to the place meanwhile.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The system refuses.
    #[error("cannot put the image in its place {}", .place.display())]
    Move {
        /// The place.
        place: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

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
    ///
    /// # Errors
    /// Fails if no image can be put there.
    pub fn new(path: &Path, home: &Path) -> Result<Place, PlaceError> {
        let absolute = match fs::symlink_metadata(path) {
            Ok(_) => fs::canonicalize(path).map_err(Operation::Resolve.failed_on(path))?,
            Err(_) => {
                let name = path.file_name().ok_or_else(|| PlaceError::NoName(path.to_path_buf()))?;
                let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
                let cannot = |source| PlaceError::NoParent { path: path.to_path_buf(), source };
                fs::canonicalize(parent).map_err(cannot)?.join(name)
            }
        };
        check_apart(path, &absolute, home)?;
        let place = Place { path: absolute };
        place.check()?;
        Ok(place)
    }

    /// Whether something replaceable is there; fails if something else is.
    fn check(&self) -> Result<bool, PlaceError> {
        if !self.path.exists() {
            return Ok(false);
        }
        if !self.path.is_dir() {
            return Err(PlaceError::IsFile(self.path.clone()));
        }
        let mut entries = fs::read_dir(&self.path).map_err(Operation::List.failed_on(&self.path))?;
        if entries.next().is_some() && Record::of_image(&self.path).ok().flatten().is_none() {
            return Err(PlaceError::NotEmpty(self.path.clone()));
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
///
/// # Errors
/// Fails if they overlap.
pub fn check_apart(shown: &Path, absolute: &Path, home: &Path) -> Result<(), Overlap> {
    if absolute.starts_with(home) {
        return Err(Overlap::InsideJdk(shown.to_path_buf()));
    }
    if home.starts_with(absolute) {
        return Err(Overlap::HoldsJdk(shown.to_path_buf()));
    }
    Ok(())
}

impl Workshop {
    /// Opens a workshop in a folder, and removes workshops there without an owner.
    ///
    /// # Errors
    /// Fails if the system refuses.
    pub fn open(beside: &Path) -> Result<Workshop, WorkshopError> {
        let cannot = |source| WorkshopError { parent: beside.to_path_buf(), source };
        let folder = TemporaryFolder::make(beside, Kind::Workshop).map_err(cannot)?;
        fs::create_dir(folder.path().join("image")).map_err(cannot)?;
        Ok(Workshop(folder))
    }

    /// The folder in which the image is built.
    pub fn image(&self) -> PathBuf {
        self.0.path().join("image")
    }

    /// Moves a folder away from its place; it is removed with this workshop.
    ///
    /// # Errors
    /// Fails if the system refuses.
    pub fn discard(&self, path: &Path) -> Result<(), FileError> {
        fs::rename(path, self.0.path().join("discarded")).map_err(Operation::Remove.failed_on(path))
    }

    /// Moves the image to its place, and any earlier one away. On Linux both happen in one step.
    ///
    /// # Errors
    /// Fails if the system refuses, or if something else has come to the place meanwhile.
    pub fn deliver(mut self, place: &Place) -> Result<(), DeliverError> {
        let cannot = |source| DeliverError::Move { place: place.path.clone(), source };
        let old = self.0.path().join("old");
        // Checked again: much time has passed.
        let stood = place.check()?;
        if stood && exchange(&self.image(), &place.path).map_err(cannot)? {
            return Ok(());
        }
        if stood {
            fs::rename(&place.path, &old).map_err(cannot)?;
        }
        if let Err(error) = fs::rename(self.image(), &place.path) {
            if stood && fs::rename(&old, &place.path).is_err() {
                // The earlier image could not be moved back; at least it must not be deleted.
                self.0.keep();
            }
            return Err(cannot(error));
        }
        Ok(())
    }
}

/// Exchanges two folders; false if the system or the file system cannot do that.
#[cfg(target_os = "linux")]
fn exchange(a: &Path, b: &Path) -> io::Result<bool> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn exchange(_: &Path, _: &Path) -> io::Result<bool> {
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
    fn abandoned_files_leave_and_change_nothing() {
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
            Place::new(&path(name), &home).err().map(|error| error.to_string()).unwrap_or_default()
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
