//! A folder whose owner and mode were checked on its open descriptor.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, FileType, Mode, OFlags, Stat, fstat, openat};
use rustix::io::Errno;

use crate::error::{Error, Problem};
use crate::{FILE_MODE, FOLDER_MODE};

/// Permission bits that let others than the owner write.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Permission bits of everybody but the owner.
const OTHERS: u32 = 0o077;

/// A folder of this user into which nobody else may write.
///
/// All its methods work on the open folder. Renaming it, or putting a link in its place, does not
/// affect them.
#[derive(Debug)]
pub struct PrivateFolder {
    path: PathBuf,
    folder: OwnedFd,
}

impl PrivateFolder {
    /// Opens a folder and checks its owner and mode. Does not follow a link of that name.
    ///
    /// # Errors
    /// Fails if it is no folder, belongs to another user, or if others may write into it.
    pub fn open(path: &Path) -> Result<PrivateFolder, Error> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::open(path, flags, Mode::empty());
        let folder = opened.map_err(|errno| error(path, errno))?;
        check(&fstat(&folder).map_err(|errno| error(path, errno))?)
            .map_err(|problem| Error { path: path.to_path_buf(), problem })?;
        Ok(PrivateFolder { path: path.to_path_buf(), folder })
    }

    /// The path by which it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the path still leads to this folder.
    pub fn is_in_place(&self) -> bool {
        let identity = |stat: Stat| (stat.st_dev, stat.st_ino);
        match (fstat(&self.folder), rustix::fs::lstat(&self.path)) {
            (Ok(opened), Ok(there)) => identity(opened) == identity(there),
            _ => false,
        }
    }

    /// Creates a file with mode 0600. The file must not exist yet.
    ///
    /// # Errors
    /// Fails if something of that name exists, or the system reports an error.
    pub fn create(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&self.folder, name, flags, Mode::from_raw_mode(FILE_MODE))?.into())
    }

    /// Creates a folder with mode 0700 inside. The new folder must not exist yet.
    ///
    /// # Errors
    /// Fails if something of that name exists, or the system reports an error.
    pub fn create_folder(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(&self.folder, name, Mode::from_raw_mode(FOLDER_MODE))?)
    }

    /// Whether its mode grants the group and others nothing.
    ///
    /// # Errors
    /// Fails if the system reports an error.
    pub fn is_closed(&self) -> io::Result<bool> {
        Ok(Mode::from_raw_mode(fstat(&self.folder)?.st_mode).as_raw_mode() & OTHERS == 0)
    }

    /// Reads a file after a check of its owner and mode. Returns `None` if there is no such file.
    ///
    /// # Errors
    /// If it is no regular file, belongs to another user, if others may write to it, or if it
    /// cannot be read.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        let Some(mut file) = self.open_file(name)? else { return Ok(None) };
        let mut bytes = Vec::new();
        match file.read_to_end(&mut bytes) {
            Ok(_) => Ok(Some(bytes)),
            Err(error) => Err(Error { path: self.path.join(name), problem: Problem::System(error) }),
        }
    }

    /// Opens a file for reading after a check of its owner and mode. Returns `None` if there is no
    /// such file.
    ///
    /// # Errors
    /// If it is no regular file, belongs to another user, if others may write to it, or if it
    /// cannot be opened.
    pub fn open_file(&self, name: &str) -> Result<Option<File>, Error> {
        // Opening a pipe of that name would wait for its writer.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let failed = |problem| Error { path: self.path.join(name), problem };
        let file: File = match openat(&self.folder, name, flags, Mode::empty()) {
            Ok(file) => file.into(),
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(failed(Problem::NotAFile)),
            Err(errno) => return Err(failed(Problem::System(errno.into()))),
        };
        let its = fstat(&file).map_err(|errno| failed(Problem::System(errno.into())))?;
        if FileType::from_raw_mode(its.st_mode) != FileType::RegularFile {
            return Err(failed(Problem::NotAFile));
        }
        check(&its).map_err(failed)?;
        Ok(Some(file))
    }

    /// The names of its entries, in no order.
    ///
    /// # Errors
    /// If it cannot be listed.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.folder)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name != "." && name != ".." {
                names.push(name);
            }
        }
        Ok(names)
    }
}

/// Whether only this user can have written a file with this owner and mode.
fn check(its: &Stat) -> Result<(), Problem> {
    let mode = Mode::from_raw_mode(its.st_mode).as_raw_mode();
    if its.st_uid != rustix::process::geteuid().as_raw() {
        Err(Problem::OtherOwner(its.st_uid))
    } else if mode & WRITABLE_BY_OTHERS != 0 {
        Err(Problem::WritableByOthers(mode & 0o7777))
    } else {
        Ok(())
    }
}

fn error(path: &Path, errno: Errno) -> Error {
    Error { path: path.to_path_buf(), problem: Problem::System(errno.into()) }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::io::Write;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use super::*;

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        set_mode(folder.path(), 0o700);
        folder
    }

    #[test]
    fn files_are_made_for_their_owner_and_read_back() {
        let made = folder();
        let private = PrivateFolder::open(made.path()).unwrap();
        private.create("options").unwrap().write_all(b"a=b").unwrap();
        private.create_folder("inner").unwrap();
        assert_eq!(private.read("options").unwrap().unwrap(), b"a=b");
        assert_eq!(private.read("nothing").unwrap(), None);
        assert_eq!(private.create("options").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        let mode = |name: &str| fs::metadata(made.path().join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!([mode("options"), mode("inner")], [0o600, 0o700]);
        let mut names = private.names().unwrap();
        names.sort();
        assert_eq!(names, ["inner", "options"]);
    }

    #[test]
    fn folders_into_which_others_may_write_are_refused() {
        let made = folder();
        for (mode, is_refused) in
            [(0o777, true), (0o770, true), (0o720, true), (0o1777, true), (0o755, false)]
        {
            set_mode(made.path(), mode);
            let opened = PrivateFolder::open(made.path());
            assert_eq!(opened.is_err(), is_refused, "{mode:o}");
            if let Err(error) = opened {
                assert!(error.to_string().contains("others may write"), "{error}");
                assert!(!error.is_absence());
            }
        }
    }

    #[test]
    fn folders_that_grant_others_anything_are_not_closed() {
        let made = folder();
        for (mode, is_closed) in
            [(0o700, true), (0o500, true), (0o710, false), (0o701, false), (0o755, false)]
        {
            set_mode(made.path(), mode);
            assert_eq!(PrivateFolder::open(made.path()).unwrap().is_closed().unwrap(), is_closed, "{mode:o}");
        }
    }

    #[test]
    fn files_that_others_may_write_are_refused() {
        let made = folder();
        let private = PrivateFolder::open(made.path()).unwrap();
        let file = made.path().join("options");
        fs::write(&file, "a=b").unwrap();
        for (mode, is_refused) in [(0o666, true), (0o620, true), (0o602, true), (0o644, false)] {
            set_mode(&file, mode);
            assert_eq!(private.read("options").is_err(), is_refused, "{mode:o}");
        }
    }

    #[test]
    fn links_pipes_and_folders_are_no_files() {
        let made = folder();
        let private = PrivateFolder::open(made.path()).unwrap();
        fs::write(made.path().join("file"), "a=b").unwrap();
        symlink("file", made.path().join("link")).unwrap();
        assert!(
            std::process::Command::new("mkfifo").arg(made.path().join("pipe")).status().unwrap().success()
        );
        for name in ["link", "pipe", "."] {
            let error = private.read(name).unwrap_err();
            assert!(matches!(error.problem, Problem::NotAFile), "{name}: {error}");
        }
        let link = made.path().join("folder");
        symlink(made.path(), &link).unwrap();
        assert!(PrivateFolder::open(&link).is_err());
    }

    #[test]
    fn files_of_another_user_are_refused() {
        let made = folder();
        let private = PrivateFolder::open(made.path()).unwrap();
        let file = made.path().join("options");
        fs::write(&file, "a=b").unwrap();
        if chown(&file, Some(12_345), None).is_err() {
            eprintln!("skipped: not the right to give a file away");
            return;
        }
        let error = private.read("options").unwrap_err();
        assert!(matches!(error.problem, Problem::OtherOwner(12_345)), "{error}");
        chown(made.path(), Some(12_345), None).unwrap();
        let error = PrivateFolder::open(made.path()).unwrap_err();
        assert!(matches!(error.problem, Problem::OtherOwner(12_345)), "{error}");
    }

    #[test]
    fn a_replaced_folder_is_noticed() {
        let made = folder();
        let path = made.path().join("private");
        fs::create_dir(&path).unwrap();
        set_mode(&path, 0o700);
        let private = PrivateFolder::open(&path).unwrap();
        assert!(private.is_in_place());
        fs::rename(&path, made.path().join("moved")).unwrap();
        assert!(!private.is_in_place());
        fs::create_dir(&path).unwrap();
        assert!(!private.is_in_place());
        // Operations still go to the folder that was opened.
        private.create("file").unwrap();
        assert!(made.path().join("moved/file").is_file() && !path.join("file").exists());
    }

    #[test]
    fn absence_is_distinguished_from_danger() {
        let made = folder();
        assert!(PrivateFolder::open(&made.path().join("nothing")).unwrap_err().is_absence());
    }
}
