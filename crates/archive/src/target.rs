//! Targets of output. A run checks a target before it writes, writes to a temporary neighbour, and
//! renames that in the end.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::{TempDir, TempPath};

use crate::error::{Error, TargetProblem};
use crate::input::Input;
use crate::layout::Layout;
use crate::rewrite::RewriteAccount;

/// Start of the names of temporary neighbours; see the crate's documentation.
const TEMP_PREFIX: &str = ".cctrewrite-";
/// End of the names of temporary neighbours.
const TEMP_SUFFIX: &str = ".tmp";

/// An output path that is not an input, not in one, and does not contain one.
#[derive(Debug, Clone)]
pub struct Target {
    /// The path as given, for messages.
    shown: PathBuf,
    /// The canonical path.
    place: PathBuf,
}

impl Target {
    /// Checks an output path against all inputs of a run. An existing file will be overwritten (for
    /// a symbolic link, its target); an existing folder must be empty or an earlier output.
    pub fn new(path: &Path, inputs: &[&Input]) -> Result<Target, Error> {
        let shown = path.to_path_buf();
        let refuse = |problem| Error::Target { path: shown.clone(), problem };
        let name = path.file_name().ok_or_else(|| refuse(TargetProblem::NoName))?;
        let path = match fs::symlink_metadata(path) {
            Ok(_) => fs::canonicalize(path).map_err(Error::io(path, "find"))?,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                let parent = parent_of(path);
                fs::canonicalize(parent).map_err(Error::io(parent, "find the output's folder"))?.join(name)
            }
            Err(cause) => return Err(Error::io(path, "find")(cause)),
        };
        for input in inputs {
            let place = input.canonical_path();
            let named = input.path().to_path_buf();
            if path == place || same_file(&path, place) {
                return Err(refuse(TargetProblem::IsInput(named)));
            }
            if path.starts_with(place) {
                return Err(refuse(TargetProblem::InsideInput(named)));
            }
            if place.starts_with(&path) {
                return Err(refuse(TargetProblem::ContainsInput(named)));
            }
        }
        Ok(Target { shown, place: path })
    }

    /// The path as given.
    pub fn path(&self) -> &Path {
        &self.shown
    }

    fn refuse(&self, problem: TargetProblem) -> Error {
        Error::Target { path: self.shown.clone(), problem }
    }

    /// A temporary file next to the target, if the target may be overwritten.
    pub(crate) fn stage_file(&self) -> Result<(fs::File, TempPath), Error> {
        match fs::metadata(&self.place) {
            Ok(there) if there.is_dir() => return Err(self.refuse(TargetProblem::IsFolder)),
            Ok(there) if !there.is_file() => return Err(self.refuse(TargetProblem::Special)),
            _ => {}
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(TEMP_PREFIX).suffix(TEMP_SUFFIX);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // The mode of any new file, which the umask restricts. By default only the owner can
            // read temporary files.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let staged = builder.tempfile_in(parent_of(&self.place)).map_err(Error::io(&self.shown, "create"))?;
        Ok(staged.into_parts())
    }

    /// A temporary file without a name in the target's folder. The system removes it when it is
    /// closed.
    pub(crate) fn scratch_file(&self) -> Result<fs::File, Error> {
        tempfile::tempfile_in(parent_of(&self.place))
            .map_err(Error::io(&self.shown, "create a scratch file for"))
    }

    /// A temporary folder next to the target, if the target may be replaced.
    pub(crate) fn stage_folder(&self) -> Result<TempDir, Error> {
        self.check_folder()?;
        self.temp_folder()
    }

    fn temp_folder(&self) -> Result<TempDir, Error> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(TEMP_PREFIX).suffix(TEMP_SUFFIX);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // The mode of any new folder, which the umask restricts.
            builder.permissions(fs::Permissions::from_mode(0o777));
        }
        builder.tempdir_in(parent_of(&self.place)).map_err(Error::io(&self.shown, "create"))
    }

    /// The current state of a target folder.
    fn check_folder(&self) -> Result<Occupant, Error> {
        let there = match fs::metadata(&self.place) {
            Ok(there) => there,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Occupant::No),
            Err(cause) => return Err(Error::io(&self.shown, "find")(cause)),
        };
        if there.is_file() {
            return Err(self.refuse(TargetProblem::IsFile));
        }
        if !there.is_dir() {
            return Err(self.refuse(TargetProblem::Special));
        }
        let mut contents = fs::read_dir(&self.place).map_err(Error::io(&self.shown, "list"))?;
        if contents.next().is_none() {
            return Ok(Occupant::EmptyFolder);
        }
        if Layout::index_names().iter().any(|name| self.place.join(name).is_file()) {
            return Ok(Occupant::EarlierOutput);
        }
        Err(self.refuse(TargetProblem::NotEmpty))
    }

    /// Moves a folder to its place in one step: readers find the old or the new one, even if this
    /// process is killed meanwhile.
    fn commit_folder(&self, staged: TempDir) -> Result<(), Error> {
        let mut again = 0;
        let cause = loop {
            let moved = match self.check_folder()? {
                Occupant::No => fs::rename(staged.path(), &self.place),
                Occupant::EmptyFolder => replace_empty(staged.path(), &self.place),
                Occupant::EarlierOutput => match exchange(staged.path(), &self.place) {
                    Ok(true) => {
                        // The staged folder is the earlier output now.
                        remove_old(staged);
                        return Ok(());
                    }
                    Ok(false) => return self.replace_in_two_steps(staged),
                    Err(cause) => Err(cause),
                },
            };
            match moved {
                Ok(()) => break None,
                // Another run has written the same output meanwhile, or is writing it.
                Err(cause) if again < ATTEMPTS && is_overtaken(&cause) => again += 1,
                Err(cause) => break Some(cause),
            }
        };
        if let Some(cause) = cause {
            return Err(Error::io(&self.shown, "put in place")(cause));
        }
        // The temporary name no longer exists, so there is nothing to remove.
        let _ = staged.keep();
        Ok(())
    }

    /// Replaces the folder where the system cannot exchange two folders. A process that is killed
    /// between the two steps leaves the earlier output in the temporary folder.
    fn replace_in_two_steps(&self, staged: TempDir) -> Result<(), Error> {
        // Move the earlier output into a temporary folder, which is removed in the end.
        let attic = self.temp_folder()?;
        let old = attic.path().join("old");
        fs::rename(&self.place, &old).map_err(Error::io(&self.shown, "replace"))?;
        if let Err(cause) = fs::rename(staged.path(), &self.place) {
            if fs::rename(&old, &self.place).is_err() {
                // The earlier output could not be moved back; at least it must not be deleted.
                let _ = attic.keep();
            }
            return Err(Error::io(&self.shown, "put in place")(cause));
        }
        remove_old(attic);
        let _ = staged.keep();
        Ok(())
    }
}

/// Maximum number of attempts when other runs write to the same output.
const ATTEMPTS: u32 = 100;

/// Whether the place has been filled or emptied since it was checked.
fn is_overtaken(cause: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotFound};
    matches!(cause.kind(), AlreadyExists | DirectoryNotEmpty | NotFound)
}

/// Replaces an empty folder, which POSIX does in one step.
#[cfg(unix)]
fn replace_empty(folder: &Path, place: &Path) -> io::Result<()> {
    fs::rename(folder, place)
}

/// Replaces an empty folder on other systems, where it must be removed first.
#[cfg(not(unix))]
fn replace_empty(folder: &Path, place: &Path) -> io::Result<()> {
    fs::remove_dir(place)?;
    fs::rename(folder, place)
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

enum Occupant {
    No,
    EmptyFolder,
    EarlierOutput,
}

/// Removes a replaced output. The new one is in place: a part that cannot be removed (a folder
/// without write permission) stays as a harmless temporary folder.
fn remove_old(attic: TempDir) {
    let _ = attic.close();
}

/// The folder that contains a path; for a bare name the current one.
fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether two paths are hard links to one file.
#[cfg(unix)]
fn same_file(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (fs::metadata(a), fs::metadata(b)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

/// Always false: on these systems the standard library cannot recognise hard links. The caller
/// compares the canonical paths itself.
#[cfg(not(unix))]
fn same_file(_: &Path, _: &Path) -> bool {
    false
}

/// A complete output in its temporary place. It is removed when dropped without
/// [`StagedOutput::commit`].
#[derive(Debug)]
#[must_use = "the output is removed unless it is committed"]
pub struct StagedOutput<T> {
    target: Target,
    place: StagedPlace,
    account: RewriteAccount<T>,
}

#[derive(Debug)]
pub(crate) enum StagedPlace {
    File(TempPath),
    Folder(TempDir),
}

impl<T> StagedOutput<T> {
    pub(crate) fn new(target: &Target, place: StagedPlace, account: RewriteAccount<T>) -> StagedOutput<T> {
        StagedOutput { target: target.clone(), place, account }
    }

    /// The account of the rewrite.
    pub fn account(&self) -> &RewriteAccount<T> {
        &self.account
    }

    /// Moves the output to its place. A run with several outputs commits them when all are
    /// complete.
    pub fn commit(self) -> Result<RewriteAccount<T>, Error> {
        match self.place {
            StagedPlace::File(temp) => {
                let shown = &self.target.shown;
                temp.persist(&self.target.place)
                    .map_err(|error| Error::io(shown, "put in place")(error.error))?;
            }
            StagedPlace::Folder(temp) => self.target.commit_folder(temp)?,
        }
        Ok(self.account)
    }
}
