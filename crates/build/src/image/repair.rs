//! Repair of an image outside the cache: damaged files are replaced by copies of the same bytes.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::check::{self, Damage};
use super::manifest;
use super::{cache, permissions};
use crate::file_error::{FileError, Operation};
use crate::load_time;
use cct_image::CoveredFile;
use cct_image::record::{ORIGINALS, Record};

/// Replaces all damaged files. Returns the first one without a sound copy; then nothing is
/// replaced.
///
/// # Errors
/// Fails if a file cannot be replaced.
pub fn repair(image: &Path, damage: &Damage, cache: Option<&Path>) -> Result<Option<PathBuf>, FileError> {
    if damage.files.is_empty() {
        return Ok(Some(damage.first.0.clone()));
    }
    let sources = sources(image, cache);
    let mut copies = Vec::new();
    for file in &damage.files {
        match sound_copy(file, &sources) {
            Some(copy) => copies.push((file, copy)),
            None => return Ok(Some(file.path.clone())),
        }
    }
    for (file, copy) in copies {
        replace(&image.join(&file.path), &copy)?;
    }
    Ok(None)
}

/// Folders in which the same file may be at the same path: the cache's image of the same key, and
/// the JDK.
fn sources(image: &Path, cache: Option<&Path>) -> Vec<PathBuf> {
    let mut sources = Vec::new();
    if let Ok(Some(record)) = Record::of_image(image)
        && let Some(key) = record.value("key")
        && let Ok(folder) = cache.map_or_else(cache::default_folder, |folder| Ok(folder.to_path_buf()))
    {
        sources.push(folder.join(key));
    }
    if let Some(folder) = check::own_folder(image) {
        let originals = fs::read_to_string(folder.join(ORIGINALS)).unwrap_or_default();
        // `HOME/lib/modules` or `HOME/jre/lib/rt.jar`.
        let library = originals.lines().next().map(Path::new);
        sources.extend(
            library.into_iter().flat_map(|path| path.ancestors().skip(2).take(2)).map(Path::to_path_buf),
        );
    }
    sources
}

fn sound_copy(file: &CoveredFile, sources: &[PathBuf]) -> Option<PathBuf> {
    if let Some(source) = sources.iter().find(|source| manifest::fault(file, source).is_none()) {
        return Some(source.join(&file.path));
    }
    // This command's libraries have the names that they have in images. Without them no sound copy
    // is found, which is said.
    load_time::all().unwrap_or_default().into_iter().find(|library| {
        let (Some(folder), Some(name)) = (library.parent(), library.file_name()) else { return false };
        let beside = CoveredFile { path: name.into(), ..file.clone() };
        manifest::fault(&beside, folder).is_none()
    })
}

/// Replaces a file by a copy of another one, in one step.
fn replace(path: &Path, copy: &Path) -> Result<(), FileError> {
    let cannot = Operation::Replace.failed_on(path);
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(cannot)?;
    let file = tempfile::NamedTempFile::new_in(folder).map_err(cannot)?;
    fs::copy(copy, file.path()).map_err(cannot)?;
    let mode = fs::metadata(copy).map_err(cannot)?.permissions().mode();
    fs::set_permissions(file.path(), Permissions::from_mode(mode & 0o7777)).map_err(cannot)?;
    permissions::forbid_others_to_write(file.path())?;
    file.persist(path).map_err(|error| cannot(error.error))?;
    Ok(())
}
