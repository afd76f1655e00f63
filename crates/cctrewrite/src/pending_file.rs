//! A file that is complete or not there: written beside its place, renamed in the end.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tempfile::TempPath;

/// A complete file that waits to be put in its place. Dropped, it is removed.
#[derive(Debug)]
pub struct PendingFile {
    path: PathBuf,
    written: TempPath,
}

impl PendingFile {
    /// Writes the contents beside `path`.
    pub fn write(path: &Path, contents: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<PendingFile> {
        let cannot = || format!("cannot write {}", path.display());
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
        Ok(PendingFile { path: path.to_path_buf(), written: file.into_temp_path() })
    }

    /// Puts it in its place.
    pub fn commit(self) -> Result<()> {
        let path = self.path;
        self.written.persist(&path).with_context(|| format!("cannot write {}", path.display()))
    }
}
