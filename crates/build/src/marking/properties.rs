//! Files of typestate properties.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use cct_typestate::{Property, file, shipped};

/// The properties of a file, or of the built-in file of that name.
///
/// # Errors
/// Fails if the file cannot be read, is invalid, or has no property.
pub fn properties(path: &Path) -> Result<Vec<Property>> {
    let text = match path.to_str().and_then(shipped::text) {
        Some(text) => text.to_owned(),
        None => std::fs::read_to_string(path).with_context(|| {
            let known = shipped::names().collect::<Vec<_>>().join(", ");
            format!("cannot read {} (files of cctrewrite are {known})", path.display())
        })?,
    };
    let properties = file::parse(&text).with_context(|| path.display().to_string())?;
    if properties.is_empty() {
        return Err(anyhow!("{} has no [[property]]", path.display()));
    }
    Ok(properties)
}

/// The properties of several files, built-in ones included.
///
/// # Errors
/// Fails as [`properties`] does, or if two properties have the same name.
pub fn all(files: &[PathBuf]) -> Result<Vec<Property>> {
    let mut all: Vec<Property> = Vec::new();
    for path in files {
        for property in properties(path)? {
            if all.iter().any(|known| known.name == property.name) {
                bail!(
                    "{}: there is a property \"{}\" in another file already",
                    path.display(),
                    property.name
                );
            }
            all.push(property);
        }
    }
    Ok(all)
}
