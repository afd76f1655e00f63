//! Origins of classes: `--classes`.

use std::path::{Path, PathBuf};

use cct_archive::{Input, Layout, Limits, Location};
use cct_profile::origin::{Origin, Origins};

use crate::jdk;
use crate::survey::survey;

/// Class folders inside archives that servers and launchers take for class paths.
const CLASS_FOLDERS: [&str; 2] = ["BOOT-INF/classes/", "WEB-INF/classes/"];

/// A jar, folder or image whose classes cannot be looked up.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot be looked at", .path.display())]
pub struct OriginsError {
    /// The jar, folder or image.
    pub path: PathBuf,
    source: cct_archive::Error,
}

/// Looks up all classes of jars, folders, images, and homes of JDKs, in their order.
///
/// # Errors
/// Fails if one of them cannot be read.
pub fn origins(paths: &[PathBuf]) -> Result<Origins, OriginsError> {
    let mut origins = Origins::default();
    for path in paths {
        let parts = if jdk::is_home(path) { jdk::class_library_of(path) } else { vec![path.clone()] };
        for part in parts {
            add(&part, &mut origins).map_err(|source| OriginsError { path: part, source })?;
        }
    }
    Ok(origins)
}

fn add(path: &Path, origins: &mut Origins) -> Result<(), cct_archive::Error> {
    let input = Input::open(path, &Limits::default())?;
    let file =
        path.file_name().map_or_else(|| path.display().to_string(), |f| f.to_string_lossy().into_owned());
    let is_jdk = jdk::home_around(path).is_some() || crate::output::has_object(&input);
    // A jmod is named after its module.
    let of_jmod = (input.layout() == Layout::Jmod).then(|| file.trim_end_matches(".jmod").to_owned());
    let given = path.display().to_string();
    let survey = survey(&input, |at, _| {
        let (module, class) = class_at(at)?;
        let archive = at.archive.to_string();
        let container = format!("{file}{}", archive.strip_prefix(&given).unwrap_or_default());
        let module = module.map(str::to_owned).or_else(|| of_jmod.clone());
        Some((class.to_owned(), Origin { container, module, is_jdk }))
    })?;
    for (class, origin) in survey.classes.into_iter().flatten() {
        origins.add(&class, &origin);
    }
    Ok(())
}

/// The module and the class of an entry, by its name.
fn class_at<'n>(at: &'n Location<'_>) -> Option<(Option<&'n str>, &'n str)> {
    let (module, path) = at.archive.layout().path(&at.entry.name)?;
    let path = path.strip_suffix(".class")?;
    let path = match path.strip_prefix("META-INF/versions/") {
        Some(versioned) => versioned.split_once('/')?.1,
        None => path,
    };
    let path = CLASS_FOLDERS.iter().find_map(|folder| path.strip_prefix(folder)).unwrap_or(path);
    (path != "module-info").then_some((module, path))
}
