//! Images that have been made before: one for each key, in a folder that may be deleted at any time.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::record::Record;

/// The folder of images in the cache that the environment names: `$CCTREWRITE_CACHE`, else `$XDG_CACHE_HOME/cctrewrite`, else `~/.cache/cctrewrite`.
pub fn default_folder() -> Result<PathBuf> {
    Ok(choose(|name| std::env::var_os(name))?.join("images"))
}

/// [`default_folder`]'s parent, with the environment as a parameter. A variable set to nothing counts as not set.
fn choose(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf> {
    let path = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = path("CCTREWRITE_CACHE") {
        return Ok(folder);
    }
    // The XDG base directory specification: a relative path in this variable is to be ignored.
    if let Some(folder) = path("XDG_CACHE_HOME").filter(|folder| folder.is_absolute()) {
        return Ok(folder.join("cctrewrite"));
    }
    match path("HOME") {
        Some(home) => Ok(home.join(".cache").join("cctrewrite")),
        None => bail!(
            "no place for a cache: none of CCTREWRITE_CACHE, XDG_CACHE_HOME, HOME is set; name a folder with --cache=FOLDER"
        ),
    }
}

/// From the cache JVMs load a library: who can write there runs code as the user. Its owner can, whatever its mode is.
#[cfg(unix)]
fn check_that_nobody_else_writes(folder: &Path) -> Result<()> {
    use std::os::unix::fs::MetadataExt;
    let cannot = || format!("cannot use the cache {}", folder.display());
    let its = fs::metadata(folder).with_context(cannot)?;
    if ![rustix::process::geteuid().as_raw(), 0].contains(&its.uid()) {
        bail!(
            "{}: belongs to another user ({}), and JVMs would run what they put there; name another folder with --cache=FOLDER or CCTREWRITE_CACHE",
            folder.display(),
            its.uid()
        );
    }
    if its.mode() & 0o022 != 0 {
        let shown = folder.display();
        bail!(
            "{shown}: others may write there, and JVMs would run what they put there; `chmod go-w {shown}`, or name another folder with \
             --cache=FOLDER or CCTREWRITE_CACHE"
        );
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_that_nobody_else_writes(_folder: &Path) -> Result<()> {
    Ok(())
}

/// The place of one image in the cache, which no other process makes or takes away as long as the value lives.
#[derive(Debug)]
pub struct Slot {
    /// Where the image is, or is to be.
    pub path: PathBuf,
    key: String,
    /// Closing the file releases the lock.
    _lock: File,
}

impl Slot {
    /// The place for a key. Waits while another process makes that image.
    pub fn take(folder: &Path, key: &str) -> Result<Slot> {
        let cannot = || format!("cannot use the cache {}", folder.display());
        cct_private::create_folders(folder).with_context(cannot)?;
        let folder = fs::canonicalize(folder).with_context(cannot)?;
        check_that_nobody_else_writes(&folder)?;
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(cct_private::FILE_MODE);
        let lock = options.open(folder.join(format!("{key}.lock"))).with_context(cannot)?;
        lock.lock().with_context(cannot)?;
        Ok(Slot { path: folder.join(key), key: key.to_owned(), _lock: lock })
    }

    /// Whether the image is there. What stands there and is not that image is an error: nobody but us writes here.
    pub fn is_filled(&self) -> Result<bool> {
        if !self.path.exists() {
            return Ok(false);
        }
        let record = Record::of_image(&self.path)?;
        match record.as_ref().and_then(|record| record.value("key")) == Some(&*self.key) {
            true => Ok(true),
            false => bail!("{}: not the image that should be there; remove it", self.path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::{FOLDER, NAME};
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
        assert_eq!(chosen(&[("CCTREWRITE_CACHE", ""), ("XDG_CACHE_HOME", "here")]), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_to_which_others_may_write_is_no_cache() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let images = folder.path().join("a/images");
        Slot::take(&images, "abc").unwrap();
        assert_eq!(fs::metadata(&images).unwrap().permissions().mode() & 0o777, 0o700);
        for (mode, is_refused) in [(0o777, true), (0o775, true), (0o1777, true), (0o755, false)] {
            fs::set_permissions(&images, fs::Permissions::from_mode(mode)).unwrap();
            let taken = Slot::take(&images, "abc");
            assert_eq!(taken.is_err(), is_refused, "{mode:o}");
            if let Err(error) = taken {
                assert!(error.to_string().contains("chmod go-w"), "{error}");
            }
        }
    }

    /// Made beforehand by somebody who guessed its name, with a lock that all may write to.
    #[cfg(unix)]
    #[test]
    fn a_folder_of_another_user_is_no_cache() {
        let folder = tempfile::tempdir().unwrap();
        let images = folder.path().join("images");
        Slot::take(&images, "abc").unwrap();
        if std::os::unix::fs::chown(&images, Some(12_345), None).is_err() {
            eprintln!("skipped: not the right to give a folder away");
            return;
        }
        let error = Slot::take(&images, "abc").unwrap_err().to_string();
        assert!(error.contains("another user (12345)"), "{error}");
    }

    #[test]
    fn a_slot_holds_its_own_image_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let slot = Slot::take(&folder.path().join("images"), "abc").unwrap();
        assert!(!slot.is_filled().unwrap());
        let own = slot.path.join("lib").join(FOLDER);
        fs::create_dir_all(&own).unwrap();
        assert!(slot.is_filled().is_err());
        for (key, filled) in [("abc", Some(true)), ("xyz", None)] {
            fs::write(own.join(NAME), Record::new(vec![("key", key.to_owned())]).text()).unwrap();
            assert_eq!(slot.is_filled().ok(), filled);
        }
    }
}
