//! The description of an output of an earlier run.

use std::borrow::Cow;
use std::fs;
use std::io::ErrorKind;
use std::num::ParseIntError;
use std::path::PathBuf;

use cct_archive::{INDEX_NAME, Input, InputKind};
use cct_index::provenance::Provenance;
use cct_index::read::{self, Index};
use cct_jdk::convention;

use crate::file_error::{FileError, Operation};

/// An output whose index cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The entry of the index cannot be read.
    #[error(transparent)]
    Archive(#[from] cct_archive::Error),
    /// The file of the index next to an image cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The bytes are no index of this version.
    #[error("{}: its {INDEX_NAME} is {problem}", .path.display())]
    Unreadable {
        /// The output.
        path: PathBuf,
        /// The problem with its index.
        problem: read::Error,
    },
    /// The lines of the index are no text.
    #[error("{}: its {INDEX_NAME} is damaged", .0.display())]
    Damaged(PathBuf),
}

/// The provenance of an output has no hash where one should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the hash of a class library is damaged")]
pub struct BadLibraryHash(#[source] ParseIntError);

/// Two outputs that cannot run together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{} ({key}={}) and {} ({key}={}) were not made for each other; instrument both with the same options and for the same JDK",
    .names[0], .values[0], .names[1], .values[1]
)]
pub struct Mismatch {
    /// The key of provenance that differs.
    pub key: &'static str,
    /// The names of the outputs.
    pub names: [String; 2],
    /// Their values of the key.
    pub values: [String; 2],
}

/// The contents of an input's entry at this path of its layout; `None` if it is missing.
///
/// # Errors
/// Fails if the entry cannot be read.
pub fn entry<'i>(input: &'i Input, path: &str) -> Result<Option<Cow<'i, [u8]>>, cct_archive::Error> {
    let name = input.layout().name(path);
    let index = input.entries().iter().position(|entry| *entry.name == *name);
    index.and_then(|index| input.read(index)).transpose()
}

/// Whether an input has `java.lang.Object`, and so should have the runtime.
pub fn has_object(input: &Input) -> bool {
    let object = input.layout().name("java/lang/Object.class");
    input.entries().iter().any(|entry| *entry.name == *object)
}

/// The path of the index of a profiled JDK's `lib/modules`, relative to it
/// (docs/reference/images.md).
const INDEX_BESIDE_IMAGE: &str = "cctrewrite/index";

/// The index of an output: an entry, or a file next to the image of a profiled JDK. `None` if the
/// input is no output.
fn index(input: &Input) -> Result<Option<Cow<'_, [u8]>>, IndexError> {
    let index = entry(input, INDEX_NAME)?;
    if index.is_some() || input.kind() != InputKind::Image {
        return Ok(index);
    }
    let image = fs::canonicalize(input.path()).map_err(Operation::Resolve.failed_on(input.path()))?;
    let file = image.with_file_name(INDEX_BESIDE_IMAGE);
    match fs::read(&file) {
        Ok(bytes) => Ok(Some(bytes.into())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Operation::Read.failed_on(&file)(error).into()),
    }
}

fn with_index<T>(
    input: &Input,
    ask: impl FnOnce(&Index<&[u8]>) -> Option<T>,
) -> Result<Option<T>, IndexError> {
    let Some(bytes) = index(input)? else { return Ok(None) };
    let path = || input.path().to_path_buf();
    let index = Index::new(&*bytes).map_err(|problem| IndexError::Unreadable { path: path(), problem })?;
    ask(&index).map(Some).ok_or_else(|| IndexError::Damaged(path()))
}

/// The provenance lines of an output; `None` if the input is no output.
///
/// # Errors
/// Fails if the index cannot be read.
pub fn provenance(input: &Input) -> Result<Option<String>, IndexError> {
    with_index(input, |index| String::from_utf8(index.provenance().to_vec()).ok())
}

/// The feature release (8, 11, 17) of the JDK for which an output with the class library was built.
/// The class files of each release have a version of their own, from 52 for JDK 8 on. `None` for an
/// output without `java.lang.Object`.
///
/// # Errors
/// Fails if the index cannot be read.
pub fn feature(input: &Input) -> Result<Option<u16>, IndexError> {
    let majors = with_index(input, |index| {
        Some(index.classes_named(convention::OBJECT).next().map(|object| object.major_version))
    })?;
    Ok(majors.flatten().map(|major| major.saturating_sub(44)))
}

/// The lines of an entry that lists names.
///
/// # Errors
/// Fails if the entry cannot be read.
pub fn lines(input: &Input, path: &str) -> Result<Option<Vec<String>>, cct_archive::Error> {
    let text = entry(input, path)?;
    Ok(text.map(|text| String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()))
}

/// The value of a key.
pub fn value<'p>(provenance: &'p str, key: &str) -> Option<&'p str> {
    provenance.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
}

/// The hash of the class library that an output was built for (or is).
///
/// # Errors
/// Fails if it is no hexadecimal number.
pub fn library_hash(provenance: &str) -> Result<Option<u64>, BadLibraryHash> {
    match value(provenance, "jdk") {
        None | Some("none") => Ok(None),
        Some(hash) => u64::from_str_radix(hash, 16).map(Some).map_err(BadLibraryHash),
    }
}

/// Fails if two outputs cannot run together; the runtime would reject them
/// (docs/reference/formats/index.md, *Provenance keys*).
///
/// # Errors
/// The first key that differs.
pub fn check_fit(first: (&str, &str), second: (&str, &str)) -> Result<(), Mismatch> {
    for key in [
        "format",
        "scheme",
        "activation",
        "blocks",
        "cost-model",
        "metrics",
        "intrinsics",
        "reproducible",
        "call-sites",
        "context",
        "allocations",
        "columns",
        "natives",
        "markers",
        "pcc",
        "pcc-at",
        "pcc-only",
        "trace",
        "udi",
        "jdk",
    ] {
        let (a, b) = (value(first.1, key).unwrap_or("none"), value(second.1, key).unwrap_or("none"));
        if a != b && !(key == "jdk" && (a == "none" || b == "none")) {
            let (names, values) = ([first.0, second.0], [a, b]);
            return Err(Mismatch { key, names: names.map(str::to_owned), values: values.map(str::to_owned) });
        }
    }
    Ok(())
}

/// Fails if the output of this run cannot run together with a library that is an output of an
/// earlier one.
///
/// # Errors
/// The first key of provenance that differs.
pub fn check_library(library: &Input, its: &str, ours: &Provenance) -> Result<(), Mismatch> {
    check_fit((&library.path().display().to_string(), its), ("this run's output", ours.lines()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "activation=no\nblocks=default\nformat=1\nintrinsics=bytecode\njdk=00000000000000ff\nmetrics=calls\nreproducible=no\nscheme=1\ntool=x 1\n";

    #[test]
    fn values_and_hashes_are_found_by_their_keys() {
        assert_eq!(value(A, "metrics"), Some("calls"));
        assert_eq!(value(A, "metric"), None);
        assert_eq!(library_hash(A).unwrap(), Some(255));
        assert_eq!(library_hash(&A.replace("00000000000000ff", "none")).unwrap(), None);
        assert!(library_hash(&A.replace("00000000000000ff", "x")).is_err());
    }

    #[test]
    fn relevant_settings_are_compared_and_a_missing_jdk_fits_all() {
        let fits = |b: &str| check_fit(("a", A), ("b", b)).is_ok();
        assert!(fits(A) && fits(&A.replace("x 1", "y 2")) && fits(&A.replace("00000000000000ff", "none")));
        for (old, new) in [
            ("default", "precise"),
            ("=calls", "=calls+bytecodes"),
            ("0ff", "0fe"),
            ("=bytecode", "=native"),
            ("reproducible=no", "reproducible=yes"),
            ("activation=no", "activation=yes"),
            ("scheme=1", "scheme=2"),
        ] {
            let other = A.replace(old, new);
            assert!(!fits(&other), "{other}");
        }
    }
}
