//! A file that is complete or absent: written next to its place, renamed in the end.
//!
//! A device or a pipe cannot be replaced, and must not be (a renamed file in place of `/dev/null`
//! breaks the machine). Its contents are kept in memory and written in the end.

use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::TempPath;

use crate::file_error::{FileError, Operation};

/// A file that cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError<E> {
    /// The system refuses.
    #[error(transparent)]
    File(#[from] FileError),
    /// The caller's own code, which writes the contents, fails.
    #[error("cannot write {}", .path.display())]
    Contents {
        /// The file.
        path: PathBuf,
        /// The error of the caller's code.
        source: E,
    },
}

impl From<WriteError<io::Error>> for FileError {
    fn from(error: WriteError<io::Error>) -> FileError {
        match error {
            WriteError::File(error) => error,
            WriteError::Contents { path, source } => FileError { operation: Operation::Write, path, source },
        }
    }
}

/// A complete file that waits to be moved to its place. When dropped, it is removed.
#[derive(Debug)]
pub struct PendingFile {
    path: PathBuf,
    written: PendingBytes,
}

#[derive(Debug)]
enum PendingBytes {
    Beside(TempPath, PendingPath),
    InMemory(Vec<u8>),
}

/// All temporary files of this process next to their places.
static LISTED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A temporary file next to its place, listed for [`remove_all`] as long as this exists.
#[derive(Debug)]
struct PendingPath(PathBuf);

impl PendingPath {
    fn of(path: &Path) -> PendingPath {
        listed().insert(path.to_owned());
        PendingPath(path.to_owned())
    }
}

impl Drop for PendingPath {
    fn drop(&mut self) {
        listed().remove(&self.0);
    }
}

fn listed() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    LISTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all temporary files next to their places, in a process that a signal ends: nothing is
/// dropped then.
pub fn remove_all() {
    for path in &*listed() {
        // A file that is in its place by now is no longer there.
        let _ = std::fs::remove_file(path);
    }
}

/// Access rights of a file, restricted by the umask.
#[derive(Clone, Copy)]
enum Access {
    /// Everybody, as with any new file.
    Usual,
    /// The file's owner writes, everybody reads.
    OwnerWrites,
    /// The file's owner alone.
    Owner,
}

impl Access {
    fn mode(self) -> u32 {
        match self {
            Access::Usual => 0o666,
            Access::OwnerWrites => 0o644,
            Access::Owner => cct_private::FILE_MODE,
        }
    }
}

impl PendingFile {
    /// Writes the contents next to `path`.
    ///
    /// # Errors
    /// Fails if the system refuses, and with the errors of `contents`.
    pub fn write<E>(
        path: &Path,
        contents: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), E>,
    ) -> Result<PendingFile, WriteError<E>> {
        PendingFile::write_for(Access::Usual, path, contents)
    }

    /// Writes a file that influences later runs, next to `path`. Only its owner may write to it.
    ///
    /// # Errors
    /// Fails as [`PendingFile::write`] does.
    pub fn write_decisive<E>(
        path: &Path,
        contents: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), E>,
    ) -> Result<PendingFile, WriteError<E>> {
        PendingFile::write_for(Access::OwnerWrites, path, contents)
    }

    /// Writes a profile next to `path`. Only its owner may read it: it shows which methods a
    /// program has, and which of them ran. Records of perf(1) and the files of the runtime have the
    /// same protection.
    ///
    /// # Errors
    /// Fails as [`PendingFile::write`] does.
    pub fn write_profile<E>(
        path: &Path,
        contents: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), E>,
    ) -> Result<PendingFile, WriteError<E>> {
        PendingFile::write_for(Access::Owner, path, contents)
    }

    fn write_for<E>(
        access: Access,
        path: &Path,
        contents: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), E>,
    ) -> Result<PendingFile, WriteError<E>> {
        let given = path;
        let cannot = Operation::Write.failed_on(given);
        let of_contents = |source| WriteError::Contents { path: given.to_path_buf(), source };
        // A link is followed: the user means its target.
        let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        if path.exists() && !path.is_file() {
            let mut bytes = Vec::new();
            contents(&mut bytes).map_err(of_contents)?;
            return Ok(PendingFile { path: path.clone(), written: PendingBytes::InMemory(bytes) });
        }
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        builder.prefix(".cctrewrite-").suffix(".tmp");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(access.mode()));
        }
        let file = builder.tempfile_in(folder).map_err(cannot)?;
        let listed = PendingPath::of(file.path());
        let mut out = BufWriter::new(file);
        contents(&mut out).map_err(of_contents)?;
        let file = out.into_inner().map_err(|error| cannot(error.into_error()))?;
        Ok(PendingFile { path: path.clone(), written: PendingBytes::Beside(file.into_temp_path(), listed) })
    }

    /// Moves it to its place.
    ///
    /// # Errors
    /// Fails if the system refuses, or if a file has taken the place of a pipe or device meanwhile.
    pub fn commit(self) -> Result<(), FileError> {
        let path = self.path;
        let cannot = Operation::Write.failed_on(&path);
        match self.written {
            PendingBytes::Beside(file, _listed) => file.persist(&path).map_err(|error| cannot(error.error)),
            PendingBytes::InMemory(bytes) => {
                let mut out = std::fs::OpenOptions::new().write(true).open(&path).map_err(cannot)?;
                // Anyone who may write to the folder may have put a link in its place since it was
                // checked.
                if out.metadata().map_err(cannot)?.is_file() {
                    return Err(cannot(io::Error::other("it was no file a moment ago")));
                }
                out.write_all(&bytes).map_err(cannot)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_profile_is_its_owners() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let (profile, report) = (folder.path().join("a.cct"), folder.path().join("a.txt"));
        // Also replaces a file that others could read.
        std::fs::write(&profile, "").unwrap();
        std::fs::set_permissions(&profile, std::fs::Permissions::from_mode(0o644)).unwrap();
        PendingFile::write_profile(&profile, |out| out.write_all(b"x")).unwrap().commit().unwrap();
        assert_eq!(mode(&profile), 0o600);
        PendingFile::write(&report, |out| out.write_all(b"x")).unwrap().commit().unwrap();
        assert_eq!(mode(&report) & 0o400, 0o400);
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_written_to_and_stays_a_pipe() {
        use std::os::unix::fs::FileTypeExt;
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        if !made.is_ok_and(|status| status.success()) {
            return;
        }
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::read(pipe).unwrap()
        });
        let pending = PendingFile::write(&pipe, |out| out.write_all(b"report")).unwrap();
        pending.commit().unwrap();
        assert_eq!(reader.join().unwrap(), b"report");
        assert!(std::fs::metadata(&pipe).unwrap().file_type().is_fifo());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_the_place_of_a_pipe_is_not_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, theirs) = (folder.path().join("pipe"), folder.path().join("theirs"));
        std::fs::write(&theirs, "theirs").unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let pending = PendingFile::write(&pipe, |out| out.write_all(b"report")).unwrap();
        std::fs::remove_file(&pipe).unwrap();
        std::os::unix::fs::symlink(&theirs, &pipe).unwrap();
        let error = pending.commit().unwrap_err();
        assert_eq!(error.source.to_string(), "it was no file a moment ago");
        assert_eq!(std::fs::read(&theirs).unwrap(), b"theirs");
    }

    #[test]
    fn nothing_is_there_before_the_commit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report");
        let pending = PendingFile::write(&path, |out| out.write_all(b"x")).unwrap();
        assert!(!path.exists());
        pending.commit().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"x");
    }
}
