//! Checks that an image is unchanged since it was built (docs/reference/images.md, *Checks*).
//!
//! [`at_start`] compares the files' metadata with the stamp. Only if they differ does it read the
//! files. [`in_full`] always reads all files.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::archive_of_classes;
use super::manifest::{self, Fault, ManifestError};
use super::stamp;
use crate::file_error::FileError;
use crate::pending_file::PendingFile;
use cct_image::manifest::NAME as MANIFEST;
use cct_image::record::{self, Record};
use cct_image::{CoveredFile, Manifest};

/// A folder that is not an image of `cctrewrite jdk`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: not a profiled JDK; name one that `cctrewrite jdk` has made", .0.display())]
pub struct NotAnImage(pub PathBuf);

/// Why the manifest or the stamp of an image cannot be stored.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The manifest cannot be created.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// A file cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// All covered files are unchanged.
    Sound {
        /// Paths of the class archives that a JVM has recreated since the image was built, relative
        /// to the image.
        remade: Vec<PathBuf>,
    },
    /// The image has no manifest: an earlier version of cctrewrite built it.
    NoManifest,
    /// At least one file is damaged.
    Damaged(Damage),
}

/// Damaged files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    image: PathBuf,
    /// The path of the first damaged file, relative to the image, and a description of the damage.
    pub first: (PathBuf, String),
    /// The damaged files that the manifest covers. Empty if the manifest itself is damaged or
    /// missing.
    pub files: Vec<CoveredFile>,
}

/// Whether a JVM may have replaced the image's class archives since it was built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Archives {
    /// No. In the cache, an image must stay exactly as it was built for its key.
    Fixed,
    /// Yes: `java -Xshare:dump`, run from the image, replaces them. A replaced archive must pass
    /// HotSpot's own check.
    MayChange,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, what) = &self.first;
        write!(f, "{} {what}", self.image.join(path).display())?;
        match self.files.len() {
            0 | 1 => Ok(()),
            files => write!(f, " ({files} damaged files)"),
        }
    }
}

impl Damage {
    /// The image that contains the damaged files.
    pub fn image(&self) -> &Path {
        &self.image
    }
}

/// The folder with an image's record and manifest; `None` if `image` is no image.
pub fn own_folder(image: &Path) -> Option<PathBuf> {
    let folders = ["lib", "jre/lib"].map(|lib| image.join(lib).join(record::FOLDER));
    let has = |folder: &PathBuf, name: &str| folder.join(name).is_file();
    folders.into_iter().find(|folder| has(folder, record::NAME) || has(folder, MANIFEST))
}

/// Checks an image before it is used. Reads the files only if their metadata differ from the stamp.
///
/// # Errors
/// Fails if the folder is no image.
pub fn at_start(image: &Path, archives: Archives) -> Result<Finding, NotAnImage> {
    let (folder, manifest) = match open(image)? {
        Ok(opened) => opened,
        Err(finding) => return Ok(finding),
    };
    if stamp::fits(image, &folder, &manifest) {
        return Ok(Finding::Sound { remade: Vec::new() });
    }
    Ok(read(image, &folder, &manifest, archives))
}

/// Reads all covered files of an image.
///
/// # Errors
/// Fails if the folder is no image.
pub fn in_full(image: &Path, archives: Archives) -> Result<Finding, NotAnImage> {
    Ok(match open(image)? {
        Ok((folder, manifest)) => read(image, &folder, &manifest, archives),
        Err(finding) => finding,
    })
}

/// Reads the manifest of an image. Returns its folder and the manifest.
///
/// The outer error means that `image` is no image. The inner error is the finding if the manifest
/// is missing or damaged.
fn open(image: &Path) -> Result<Result<(PathBuf, Manifest), Finding>, NotAnImage> {
    let folder = own_folder(image).ok_or_else(|| NotAnImage(image.to_path_buf()))?;
    let damaged = |name: &str, what: String| {
        let path = folder.join(name);
        let path = path.strip_prefix(image).unwrap_or(&path).to_path_buf();
        Ok(Err(Finding::Damaged(Damage {
            image: image.to_path_buf(),
            first: (path, what),
            files: Vec::new(),
        })))
    };
    let bytes = match fs::read(folder.join(MANIFEST)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return match Record::of_image(image) {
                Ok(Some(record)) if record.value(record::HAS_MANIFEST).is_none() => {
                    Ok(Err(Finding::NoManifest))
                }
                Ok(_) => damaged(MANIFEST, Fault::Missing.to_string()),
                Err(error) => damaged(record::NAME, format!("is damaged ({})", cause(error))),
            };
        }
        Err(error) => return damaged(MANIFEST, Fault::Unreadable(error.to_string()).to_string()),
    };
    match Manifest::parse(&bytes) {
        Ok(manifest) => Ok(Ok((folder, manifest))),
        Err(error) => damaged(MANIFEST, format!("is damaged ({error})")),
    }
}

/// Why a record cannot be read, without the record's path.
fn cause(error: record::Error) -> String {
    match error {
        record::Error::File { source, .. } => cause(*source),
        record::Error::System { source, .. } => source.to_string(),
        record::Error::Version | record::Error::Line(_) => error.to_string(),
    }
}

fn read(image: &Path, folder: &Path, manifest: &Manifest, archives: Archives) -> Finding {
    let mut remade = Vec::new();
    let mut faults = manifest::faults(manifest, image);
    faults.retain(|(file, fault)| {
        let may_differ =
            archives == Archives::MayChange && is_archive(&file.path) && *fault != Fault::Missing;
        let is_remade = may_differ && archive_of_classes::verify(image, &file.path).is_ok();
        if is_remade {
            remade.push(file.path.clone());
        }
        !is_remade
    });
    if let Some((file, fault)) = faults.first() {
        let first = (file.path.clone(), fault.to_string());
        let files = faults.iter().map(|(file, _)| (*file).clone()).collect();
        return Finding::Damaged(Damage { image: image.to_path_buf(), first, files });
    }
    // A user who cannot write to the image cannot store the stamp. Each check then reads all files.
    let _ = stamp::renew(image, folder, manifest);
    Finding::Sound { remade }
}

fn is_archive(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("jsa"))
}

/// Deletes an image's stamp, so that the next start reads all files. Has no effect if this user
/// cannot write to the image.
pub fn forget_stamp(image: &Path) {
    if let Some(folder) = own_folder(image) {
        // A stamp that is missing needs no deletion; one that cannot be deleted stays valid.
        let _ = fs::remove_file(folder.join(manifest::STAMP));
    }
}

/// Stores the manifest and the stamp of a complete image, before the image is moved to its final
/// path.
///
/// # Errors
/// Fails if a file cannot be read or written, or if its name has a line break.
pub fn store(image: &Path, folder: &Path, jdk: &Path) -> Result<(), StoreError> {
    let manifest = manifest::of_image(image, jdk)?;
    let bytes = manifest.bytes();
    let pending = PendingFile::write_decisive(&folder.join(MANIFEST), |out| out.write_all(&bytes));
    pending.map_err(FileError::from)?.commit()?;
    Ok(stamp::renew(image, folder, &manifest)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(folder: &Path) -> PathBuf {
        let own = folder.join("lib").join(record::FOLDER);
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("index"), b"index").unwrap();
        let lines = vec![("key", "k".to_owned()), (record::HAS_MANIFEST, "1".to_owned())];
        fs::write(own.join(record::NAME), Record::new(lines).text()).unwrap();
        store(folder, &own, Path::new("/jdk")).unwrap();
        own
    }

    fn damage(finding: Finding) -> String {
        match finding {
            Finding::Damaged(damage) => damage.to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn damage_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path();
        let own = image(home);
        let check = || at_start(home, Archives::Fixed).unwrap();
        let sound = Finding::Sound { remade: Vec::new() };
        assert_eq!(check(), sound);
        fs::write(own.join("index"), b"xedni").unwrap();
        assert!(damage(check()).ends_with("lib/cctrewrite/index has other contents"));
        fs::write(own.join("index"), b"index").unwrap();
        assert_eq!(check(), sound);

        let manifest = fs::read(own.join(MANIFEST)).unwrap();
        fs::write(own.join(MANIFEST), &manifest[1..]).unwrap();
        assert!(damage(check()).contains("manifest is damaged (its checksum differs)"));
        fs::remove_file(own.join(MANIFEST)).unwrap();
        assert!(damage(check()).ends_with("manifest is missing"));
        fs::write(own.join(record::NAME), b"cct").unwrap();
        assert!(damage(check()).contains("IMAGE is damaged"));
    }

    /// A disk that corrupts bytes leaves the times of the file as they were. Only reading finds the
    /// damage.
    #[test]
    fn a_full_check_reads_what_the_stamp_vouches_for() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path();
        let index = image(home).join("index");
        let time = fs::metadata(&index).unwrap().modified().unwrap();
        fs::write(&index, b"xedni").unwrap();
        fs::File::options().append(true).open(&index).unwrap().set_modified(time).unwrap();
        assert_eq!(at_start(home, Archives::Fixed).unwrap(), Finding::Sound { remade: Vec::new() });
        assert!(damage(in_full(home, Archives::Fixed).unwrap()).contains("index has other contents"));
        forget_stamp(home);
        assert!(damage(at_start(home, Archives::Fixed).unwrap()).contains("index has other contents"));
    }

    #[test]
    fn an_image_of_an_earlier_version_has_no_manifest() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("jre/lib").join(record::FOLDER);
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join(record::NAME), Record::new(vec![("key", "k".to_owned())]).text()).unwrap();
        assert_eq!(at_start(folder.path(), Archives::Fixed).unwrap(), Finding::NoManifest);
        assert!(at_start(&own, Archives::Fixed).is_err());
    }
}
