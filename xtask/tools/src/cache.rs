//! The cache folder for files that can be fetched again, such as JDKs.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

/// The cache folder: `$CCTREWRITE_CACHE`, or `$XDG_CACHE_HOME/cctrewrite`, or
/// `~/.cache/cctrewrite`. It need not exist yet.
///
/// # Errors
/// Fails if none of the variables is set, or if the path has a character that search paths do not
/// allow.
pub fn folder() -> Result<PathBuf> {
    let folder = choose(|name| std::env::var_os(name))?;
    // An absolute path: programs that run in other folders receive it.
    let folder =
        std::path::absolute(&folder).with_context(|| format!("cache folder {}", folder.display()))?;
    // The path is used in run paths of ELF files (separated by ':') and in quoted settings of apt.
    if folder.to_str().is_none_or(|path| path.contains([':', '"', '$']) || path.contains(char::is_control)) {
        bail!(
            "the cache folder {} has a character that cannot be used there (: \" $); \
             set CCTREWRITE_CACHE to another folder",
            folder.display()
        );
    }
    Ok(folder)
}

/// [`folder`], with the environment as a parameter. An empty variable counts as unset.
fn choose(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf> {
    let path = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = path("CCTREWRITE_CACHE") {
        return Ok(folder);
    }
    // The XDG base directory specification: a relative path in this variable must be ignored.
    if let Some(folder) = path("XDG_CACHE_HOME").filter(|folder| folder.is_absolute()) {
        return Ok(folder.join("cctrewrite"));
    }
    match path("HOME") {
        Some(home) => Ok(home.join(".cache").join("cctrewrite")),
        None => bail!("no place for a cache folder: none of CCTREWRITE_CACHE, XDG_CACHE_HOME, HOME is set"),
    }
}

/// A folder that only this process uses as long as the value lives.
pub struct FolderLock {
    folder: PathBuf,
    /// Closing the file releases the lock.
    _lock: File,
}

impl FolderLock {
    /// Creates `folder` if necessary and waits until no other process holds it.
    ///
    /// # Errors
    /// Fails if the folder cannot be created or locked.
    pub fn take(folder: PathBuf) -> Result<FolderLock> {
        fs::create_dir_all(&folder).with_context(|| format!("make {}", folder.display()))?;
        let file = folder.join("lock");
        let lock = File::create(&file).with_context(|| format!("make {}", file.display()))?;
        lock.lock().with_context(|| format!("lock {}", file.display()))?;
        Ok(FolderLock { folder, _lock: lock })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(variables: &[(&str, &str)]) -> Option<PathBuf> {
        choose(|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into())).ok()
    }

    #[test]
    fn the_variables_have_their_order() {
        let all = [("CCTREWRITE_CACHE", "/own"), ("XDG_CACHE_HOME", "/xdg"), ("HOME", "/home/u")];
        assert_eq!(chosen(&all), Some("/own".into()));
        assert_eq!(chosen(&all[1..]), Some("/xdg/cctrewrite".into()));
        assert_eq!(chosen(&all[2..]), Some("/home/u/.cache/cctrewrite".into()));
        assert_eq!(chosen(&[]), None);
    }

    #[test]
    fn empty_and_relative_xdg_variables_count_as_not_set() {
        let home = ("HOME", "/home/u");
        assert_eq!(chosen(&[("CCTREWRITE_CACHE", ""), home]), Some("/home/u/.cache/cctrewrite".into()));
        assert_eq!(chosen(&[("XDG_CACHE_HOME", "here"), home]), Some("/home/u/.cache/cctrewrite".into()));
    }
}
