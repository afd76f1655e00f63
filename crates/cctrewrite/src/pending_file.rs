//! A file that is complete or not there: written beside its place, renamed in the end.
//!
//! A device or a pipe cannot be replaced, and must not be (a renamed file in place of `/dev/null` breaks the machine). What is to
//! go there is kept in memory and written in the end.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tempfile::TempPath;

/// A complete file that waits to be put in its place. Dropped, it is removed.
#[derive(Debug)]
pub struct PendingFile {
    path: PathBuf,
    written: Written,
}

#[derive(Debug)]
enum Written {
    Beside(TempPath),
    InMemory(Vec<u8>),
}

impl PendingFile {
    /// Writes the contents beside `path`.
    pub fn write(
        path: &Path,
        contents: impl FnOnce(&mut (dyn Write + Send)) -> Result<()>,
    ) -> Result<PendingFile> {
        let cannot = || format!("cannot write {}", path.display());
        // A link is followed: what it points to is what the user named.
        let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        if path.exists() && !path.is_file() {
            let mut bytes = Vec::new();
            contents(&mut bytes).with_context(cannot)?;
            return Ok(PendingFile { path: path.clone(), written: Written::InMemory(bytes) });
        }
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        builder.prefix(".cctrewrite-").suffix(".tmp");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // As any new file, for the umask to narrow.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let file = builder.tempfile_in(folder).with_context(cannot)?;
        let mut out = BufWriter::new(file);
        contents(&mut out).with_context(cannot)?;
        let file = out.into_inner().map_err(|error| error.into_error()).with_context(cannot)?;
        Ok(PendingFile { path: path.clone(), written: Written::Beside(file.into_temp_path()) })
    }

    /// Puts it in its place.
    pub fn commit(self) -> Result<()> {
        let path = self.path;
        let cannot = || format!("cannot write {}", path.display());
        match self.written {
            Written::Beside(file) => file.persist(&path).map_err(|error| error.error).with_context(cannot),
            Written::InMemory(bytes) => {
                let mut out = std::fs::OpenOptions::new().write(true).open(&path).with_context(cannot)?;
                out.write_all(&bytes).with_context(cannot)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let pending = PendingFile::write(&pipe, |out| Ok(out.write_all(b"report")?)).unwrap();
        pending.commit().unwrap();
        assert_eq!(reader.join().unwrap(), b"report");
        assert!(std::fs::metadata(&pipe).unwrap().file_type().is_fifo());
    }

    #[test]
    fn nothing_is_there_before_the_commit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report");
        let pending = PendingFile::write(&path, |out| Ok(out.write_all(b"x")?)).unwrap();
        assert!(!path.exists());
        pending.commit().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"x");
    }
}
