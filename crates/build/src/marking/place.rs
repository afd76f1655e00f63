//! The JVM options for outputs of `--tool markers`.

use std::collections::BTreeSet;
use std::env::JoinPathsError;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use cct_archive::{Input, Limits};

use super::{BESIDE, CHECKER, ENTRY, JAR, TYPESTATE, tables_of};
use crate::file_error::{FileError, Operation};
use crate::output;
use crate::place::RESOLVED_NAME;

/// Outputs for which there are no JVM options.
#[derive(Debug, thiserror::Error)]
pub enum FlagsError {
    /// An output cannot be read.
    #[error(transparent)]
    Archive(#[from] cct_archive::Error),
    /// An output cannot be found or listed.
    #[error(transparent)]
    File(#[from] FileError),
    /// Some outputs have a calling-context tree, others do not.
    #[error(
        "some of these outputs have markers alone, and others a calling-context tree; they do not run together"
    )]
    Mixed,
    /// The runtime of markers is not beside the outputs.
    #[error("{shown}: not there; `cctrewrite markers jar -o {shown}` writes it again", shown = .jar.display())]
    NoJar {
        /// The place of its jar.
        jar: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The tables of properties are not beside their output.
    #[error("{}: not there; it was written with the output, from the properties", .file.display())]
    NoTables {
        /// The place of the tables.
        file: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A path cannot stand in a list.
    #[error("a list of paths cannot contain this path")]
    List(#[source] JoinPathsError),
    /// A path is not Unicode.
    #[error("{} is not Unicode; rename it", .0.display())]
    NotUnicode(PathBuf),
}

/// The JVM options for these outputs; `None` if none of them is an output of `--tool markers`.
///
/// # Errors
/// Fails if an output or a file beside it cannot be used, or if the outputs do not run together.
pub fn flags(outputs: &[PathBuf]) -> Result<Option<Vec<String>>, FlagsError> {
    let (mut beside, mut options) = (None, Vec::new());
    let (mut others, mut has_runtime) = (0, false);
    let mut tables: Vec<PathBuf> = Vec::new();
    for path in outputs {
        let input = Input::open(path, &Limits::default())?;
        let Some(lines) = output::entry(&input, ENTRY)? else {
            others += 1;
            continue;
        };
        let lines = String::from_utf8_lossy(&lines);
        if lines.lines().any(|line| line == BESIDE) {
            others += 1;
            continue;
        }
        if lines.lines().any(|line| line == TYPESTATE) {
            tables.push(existing_tables(path)?);
        }
        match output::value(&lines, "place") {
            Some("boot") => {
                options.push(format!("-Xbootclasspath/p:{}", unicode(canonical(path)?)?));
                has_runtime |= output::has_object(&input);
            }
            Some("patches") => {
                has_runtime = true;
                let resolved = output::lines(&input, RESOLVED_NAME)?.unwrap_or_default();
                options.extend(patches(path, &resolved.into_iter().collect())?);
            }
            _ => {
                let folder = path.parent().unwrap_or(Path::new(""));
                beside.get_or_insert(folder.join(JAR));
            }
        }
    }
    if beside.is_none() && options.is_empty() {
        return Ok(None);
    }
    if others > 0 {
        return Err(FlagsError::Mixed);
    }
    if let (Some(jar), false) = (beside, has_runtime) {
        let found = fs::canonicalize(&jar).map_err(|source| FlagsError::NoJar { jar, source })?;
        options.push(format!("-Xbootclasspath/a:{}", unicode(found)?));
    }
    options.extend(of_properties(&tables)?);
    Ok(Some(options))
}

/// The JVM options for outputs with markers and a calling-context tree. Only outputs with
/// properties need any: the client that checks properties, and its tables.
///
/// # Errors
/// Fails if an output or the file with its tables cannot be used.
pub fn flags_beside(outputs: &[PathBuf]) -> Result<Vec<String>, FlagsError> {
    let mut tables = Vec::new();
    for path in outputs {
        let input = Input::open(path, &Limits::default())?;
        let Some(lines) = output::entry(&input, ENTRY)? else { continue };
        if String::from_utf8_lossy(&lines).lines().any(|line| line == TYPESTATE) {
            let file = existing_tables(path)?;
            // Class library and program may have tables of the same properties.
            let same = |other: &PathBuf| fs::read(other).ok() == fs::read(&file).ok();
            if !tables.iter().any(same) {
                tables.push(file);
            }
        }
    }
    of_properties(&tables)
}

/// The path of the tables of properties, which lie beside an output. Fails if they are missing.
fn existing_tables(output: &Path) -> Result<PathBuf, FlagsError> {
    let file = tables_of(output);
    fs::canonicalize(&file).map_err(|source| FlagsError::NoTables { file, source })
}

fn of_properties(tables: &[PathBuf]) -> Result<Vec<String>, FlagsError> {
    if tables.is_empty() {
        return Ok(Vec::new());
    }
    let tables = std::env::join_paths(tables).map_err(FlagsError::List)?;
    Ok(vec![
        format!("-Dcctrewrite.markers.clients={CHECKER}"),
        format!("-Dcctrewrite.typestate={}", unicode(PathBuf::from(tables))?),
    ])
}

/// The options for the jars of modules that a JVM resolves; it would warn of the other modules.
fn patches(folder: &Path, resolved: &BTreeSet<String>) -> Result<Vec<String>, FlagsError> {
    let mut options = Vec::new();
    let cannot = Operation::List.failed_on(folder);
    for entry in fs::read_dir(folder).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        let Some(module) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".jar")) else {
            continue;
        };
        if resolved.contains(module) {
            options.push(format!("--patch-module={module}={}", unicode(canonical(&path)?)?));
        }
    }
    options.sort();
    // For clients, and for programs with markers.
    options.push("--add-exports=java.base/cctrewrite.markers=ALL-UNNAMED".to_owned());
    Ok(options)
}

fn canonical(path: &Path) -> Result<PathBuf, FileError> {
    fs::canonicalize(path).map_err(Operation::Resolve.failed_on(path))
}

fn unicode(path: PathBuf) -> Result<String, FlagsError> {
    path.into_os_string().into_string().map_err(|path| FlagsError::NotUnicode(path.into()))
}
