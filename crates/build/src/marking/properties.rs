//! Files of typestate properties.

use std::io;
use std::path::{Path, PathBuf};

use cct_typestate::{FileError, Property, file, shipped};

/// A file of properties that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PropertiesError {
    /// The file cannot be read, and there is no built-in file of that name.
    #[error(
        "cannot read {} (built-in files: {})",
        .path.display(),
        shipped::names().collect::<Vec<_>>().join(", ")
    )]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The file is invalid.
    #[error("{}", .path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The fault in a line.
        source: FileError,
    },
    /// The file has no property.
    #[error("{} has no [[property]]", .0.display())]
    Empty(PathBuf),
    /// Another file already defines a property of that name.
    #[error("{}: another file already defines the property \"{name}\"", .path.display())]
    Twice {
        /// The file.
        path: PathBuf,
        /// The property.
        name: String,
    },
}

/// The properties of a file, or of the built-in file of that name.
///
/// # Errors
/// Fails if the file cannot be read, is invalid, or has no property.
pub fn properties(file: &Path) -> Result<Vec<Property>, PropertiesError> {
    let path = || file.to_path_buf();
    let text = match file.to_str().and_then(shipped::text) {
        Some(text) => text.to_owned(),
        None => std::fs::read_to_string(file)
            .map_err(|source| PropertiesError::Unreadable { path: path(), source })?,
    };
    let properties =
        file::parse(&text).map_err(|source| PropertiesError::Invalid { path: path(), source })?;
    if properties.is_empty() { Err(PropertiesError::Empty(path())) } else { Ok(properties) }
}

/// The properties of several files, built-in ones included.
///
/// # Errors
/// Fails as [`properties`] does, or if two properties have the same name.
pub fn all(files: &[PathBuf]) -> Result<Vec<Property>, PropertiesError> {
    let mut all: Vec<Property> = Vec::new();
    for path in files {
        for property in properties(path)? {
            if all.iter().any(|known| known.name == property.name) {
                return Err(PropertiesError::Twice { path: path.clone(), name: property.name });
            }
            all.push(property);
        }
    }
    Ok(all)
}
