//! The manifest of an image: created from its files, and compared with them
//! (docs/reference/formats/manifest.md).
//!
//! It covers the files that cctrewrite creates or changes, and programs and libraries copied from
//! the JDK. It covers neither files that people edit nor files that the image shares with its JDK
//! (`--link`).

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use cct_image::manifest::NAME;
use cct_image::{CoveredFile, Manifest, record};
use rayon::prelude::*;

use super::tree::{Tree, TreeError, is_configuration};
use crate::file_error::{FileError, Operation};
use crate::fingerprint::of_file;

/// Name of the stamp's file, in the manifest's folder.
pub const STAMP: &str = "stamp";

/// A fault of a covered file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It is missing, or is no file.
    Missing,
    /// The file's size in bytes differs.
    Size(u64),
    /// It has the same size and different contents.
    Contents,
    /// The system cannot read it.
    Unreadable(String),
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::Missing => write!(f, "is missing"),
            Fault::Size(size) => write!(f, "has {size} bytes, which is another size"),
            Fault::Contents => write!(f, "has other contents"),
            Fault::Unreadable(why) => write!(f, "cannot be read ({why})"),
        }
    }
}

/// A manifest that cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// The image cannot be listed.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The name of a file has a line break.
    #[error("{}: a name with a line break; rename the file", .0.display())]
    LineBreak(PathBuf),
}

/// The manifest of a complete image. `jdk` is the home from which its other files were copied.
///
/// # Errors
/// Fails if a file cannot be read, or if its name has a line break.
pub fn of_image(image: &Path, jdk: &Path) -> Result<Manifest, ManifestError> {
    let tree = Tree::list(image)?;
    let paths: Vec<&Path> = tree.files().collect();
    let files = paths.into_par_iter().filter(|path| !is_own(path)).map(|path| covered(image, jdk, path));
    let mut files: Vec<CoveredFile> = files.filter_map(Result::transpose).collect::<Result<_, _>>()?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(Manifest { files })
}

/// Reads all files that a manifest covers. Returns those that differ, in the order of their paths.
pub fn faults<'m>(manifest: &'m Manifest, image: &Path) -> Vec<(&'m CoveredFile, Fault)> {
    let faults = manifest.files.par_iter().filter_map(|file| Some((file, fault(file, image)?)));
    faults.collect()
}

/// The fault of a covered file, if it has one now.
pub fn fault(file: &CoveredFile, image: &Path) -> Option<Fault> {
    let path = image.join(&file.path);
    match fs::metadata(&path) {
        Ok(its) if !its.is_file() => Some(Fault::Missing),
        Ok(its) if its.len() != file.size => Some(Fault::Size(its.len())),
        Ok(_) => match of_file(&path) {
            Ok(hash) => (hash != file.hash).then_some(Fault::Contents),
            Err(error) => Some(Fault::Unreadable(error.source.to_string())),
        },
        Err(error) if [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&error.kind()) => {
            Some(Fault::Missing)
        }
        Err(error) => Some(Fault::Unreadable(error.to_string())),
    }
}

/// Whether a file belongs to the checks themselves.
fn is_own(path: &Path) -> bool {
    let is_named = |name: &str| path.file_name() == Some(OsStr::new(name));
    let is_beside_record = path.parent().is_some_and(|folder| folder.ends_with(record::FOLDER));
    is_beside_record && (is_named(NAME) || is_named(STAMP))
}

/// The entry of an image's file, unless the manifest does not cover it.
fn covered(image: &Path, jdk: &Path, path: &Path) -> Result<Option<CoveredFile>, ManifestError> {
    let file = image.join(path);
    let its = fs::metadata(&file).map_err(Operation::Find.failed_on(&file))?;
    if its.nlink() > 1 || is_configuration(path) || is_text_of_jdk(&its, &jdk.join(path), path) {
        return Ok(None);
    }
    if path.as_os_str().as_bytes().contains(&b'\n') {
        return Err(ManifestError::LineBreak(file));
    }
    Ok(Some(CoveredFile { path: path.to_path_buf(), size: its.len(), hash: of_file(&file)? }))
}

/// Whether a file is copied from the JDK, and neither a program nor a library. Copies keep their
/// time ([`Tree::copy`]).
fn is_text_of_jdk(its: &Metadata, source: &Path, path: &Path) -> bool {
    let is_copy = fs::metadata(source).is_ok_and(|of| {
        (of.len(), of.mtime(), of.mtime_nsec()) == (its.len(), its.mtime(), its.mtime_nsec())
    });
    is_copy && its.mode() & 0o111 == 0 && path.extension() != Some(OsStr::new("so"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn editable_files_are_not_covered_and_executed_files_are() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (jdk, image) = (folder.path().join("jdk"), folder.path().join("image"));
        for (path, mode) in [
            ("bin/java", 0o755),
            ("lib/net.properties", 0o644),
            ("lib/libjava.so", 0o644),
            ("lib/classlist", 0o644),
            ("conf/java.security", 0o644),
        ] {
            let path = jdk.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, b"JDK").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        fs::create_dir(&image).unwrap();
        Tree::list(&jdk).unwrap().copy(&image, super::super::tree::CopyMode::Copy, || ()).unwrap();
        let own = image.join("lib").join(record::FOLDER);
        fs::create_dir(&own).unwrap();
        for path in
            ["lib/classlist", "lib/cctrewrite/index", "lib/cctrewrite/manifest", "lib/cctrewrite/stamp"]
        {
            fs::write(image.join(path), b"made").unwrap();
        }
        fs::write(image.join("lib/linked.so"), b"made").unwrap();
        fs::hard_link(image.join("lib/linked.so"), jdk.join("lib/linked.so")).unwrap();
        let manifest = of_image(&image, &jdk).unwrap();
        let covered: Vec<&str> = manifest.files.iter().map(|file| file.path.to_str().unwrap()).collect();
        assert_eq!(covered, ["bin/java", "lib/cctrewrite/index", "lib/classlist", "lib/libjava.so"]);
        assert_eq!(faults(&manifest, &image), []);

        fs::write(image.join("lib/classlist"), b"edam").unwrap();
        fs::write(image.join("lib/cctrewrite/index"), b"mad").unwrap();
        fs::remove_file(image.join("bin/java")).unwrap();
        let faults: Vec<Fault> = faults(&manifest, &image).into_iter().map(|(_, fault)| fault).collect();
        assert_eq!(faults, [Fault::Missing, Fault::Size(3), Fault::Contents]);
    }
}
