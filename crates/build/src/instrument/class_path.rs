//! Jars and folders that the manifests of inputs name in their `Class-Path` (JAR File
//! Specification, "Class-Path Attribute").

use std::fs;
use std::path::{Component, Path, PathBuf};

use cct_archive::{Input, InputKind, Limits, manifest};

use crate::file_error::{FileError, Operation};
use crate::output;

/// Jars and folders that manifests name and that cannot be rewritten.
#[derive(Debug, thiserror::Error)]
pub enum ClassPathError {
    /// An input cannot be found.
    #[error(transparent)]
    File(#[from] FileError),
    /// An input, or what its manifest names, cannot be read.
    #[error(transparent)]
    Archive(#[from] cct_archive::Error),
    /// A manifest names something outside of the input's folder.
    #[error(
        "{}: its manifest names {url}, which is not in its folder; give that as an input, with an output of its own",
        .jar.display()
    )]
    Outside {
        /// The jar with the manifest.
        jar: PathBuf,
        /// What it names.
        url: String,
    },
}

/// A jar or folder that a manifest names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestPath {
    /// Index of the input that led to it.
    pub input: usize,
    /// Its path relative to the folder of that input.
    pub relative: PathBuf,
}

/// Opens the jars and folders that the manifests of these inputs name, and those that their
/// manifests name in turn. Skips what does not exist, as the JVM does, and the inputs themselves.
/// Nothing is in the result twice: a named folder includes what lies in it.
///
/// # Errors
/// Fails if a manifest names something outside of the input's folder: its output would have no
/// place beside the input's. Fails if a jar or folder cannot be read.
pub fn of(inputs: &[Input], limits: &Limits) -> Result<Vec<(ManifestPath, Input)>, ClassPathError> {
    let mut seen: Vec<PathBuf> =
        inputs.iter().map(|input| canonical(input.path())).collect::<Result<_, _>>()?;
    let first_named = seen.len();
    let mut named: Vec<(ManifestPath, Input)> = Vec::new();
    for (input, given) in inputs.iter().enumerate() {
        // Index of the first named jar or folder whose manifest is still to be read.
        let mut at = named.len();
        let (mut names, mut jar, mut folder) = (urls(given)?, given.path().to_path_buf(), PathBuf::new());
        loop {
            for url in names {
                let Some(relative) = joined(&folder, &url) else {
                    return Err(ClassPathError::Outside { jar, url });
                };
                let found = parent(given.path()).join(&relative);
                let Ok(place) = fs::canonicalize(&found) else { continue };
                if !seen.contains(&place) {
                    seen.push(place);
                    named.push((ManifestPath { input, relative }, Input::open(&found, limits)?));
                }
            }
            let Some((next, opened)) = named.get(at) else { break };
            names = urls(opened)?;
            jar = opened.path().to_path_buf();
            folder = parent(&next.relative).to_path_buf();
            at += 1;
        }
    }
    // A folder is rewritten together with the jars in it.
    let places = &seen[first_named..];
    let is_covered = |place: &PathBuf| places.iter().any(|other| other != place && place.starts_with(other));
    Ok(named
        .into_iter()
        .zip(places)
        .filter(|(_, place)| !is_covered(place))
        .map(|(named, _)| named)
        .collect())
}

/// The relative URLs in a jar's `Class-Path`. Others are skipped: they lead to other machines, or
/// to paths that do not depend on where the jar is.
fn urls(input: &Input) -> Result<Vec<String>, cct_archive::Error> {
    if input.kind() != InputKind::Jar {
        return Ok(Vec::new());
    }
    let Some(text) = output::entry(input, manifest::NAME)? else { return Ok(Vec::new()) };
    let urls = manifest::main_attribute(&text, "Class-Path").unwrap_or_default();
    let urls = urls.split(' ').filter(|url| !url.is_empty());
    Ok(urls.filter(|url| !url.contains(':') && !url.starts_with('/')).map(decoded).collect())
}

/// A URL's path with its escapes resolved (RFC 3986, section 2.1).
fn decoded(url: &str) -> String {
    let mut bytes = Vec::with_capacity(url.len());
    let mut rest = url.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match hex.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Appends a path to a folder, which is relative to a base folder. `None` if the result is outside
/// of the base folder.
fn joined(folder: &Path, path: &str) -> Option<PathBuf> {
    let mut joined = folder.to_path_buf();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(name) => joined.push(name),
            Component::CurDir => {}
            Component::ParentDir if joined.pop() => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(joined)
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

fn canonical(path: &Path) -> Result<PathBuf, FileError> {
    fs::canonicalize(path).map_err(Operation::Resolve.failed_on(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_below_the_input_s_folder() {
        let join = |folder: &str, path: &str| joined(Path::new(folder), path);
        assert_eq!(join("", "lib/a.jar"), Some("lib/a.jar".into()));
        assert_eq!(join("lib", "./b.jar"), Some("lib/b.jar".into()));
        assert_eq!(join("lib", "../c.jar"), Some("c.jar".into()));
        assert_eq!(join("", "../d.jar"), None);
        assert_eq!(join("lib", "../../d.jar"), None);
        assert_eq!(join("", "/etc/e.jar"), None);
    }

    #[test]
    fn escapes_are_resolved() {
        assert_eq!(decoded("my%20lib/%C3%A9.jar"), "my lib/\u{e9}.jar");
        assert_eq!(decoded("100%/a%2"), "100%/a%2");
    }
}
