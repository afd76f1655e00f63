//! The description of an output of an earlier run.

use std::borrow::Cow;
use std::fs;
use std::io::ErrorKind;

use anyhow::{Context, Result, anyhow, bail};
use cct_archive::{INDEX_NAME, Input, InputKind};
use cct_index::provenance::Provenance;
use cct_index::read::Index;
use cct_jdk::convention;

/// The contents of an input's entry at this path of its layout; `None` if it is missing.
pub fn entry<'i>(input: &'i Input, path: &str) -> Result<Option<Cow<'i, [u8]>>> {
    let name = input.layout().name(path);
    let index = input.entries().iter().position(|entry| *entry.name == *name);
    Ok(index.and_then(|index| input.read(index)).transpose()?)
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
fn index(input: &Input) -> Result<Option<Cow<'_, [u8]>>> {
    let index = entry(input, INDEX_NAME)?;
    if index.is_some() || input.kind() != InputKind::Image {
        return Ok(index);
    }
    let image = fs::canonicalize(input.path())?;
    let file = image.with_file_name(INDEX_BESIDE_IMAGE);
    match fs::read(&file) {
        Ok(bytes) => Ok(Some(bytes.into())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", file.display())),
    }
}

fn with_index<T>(input: &Input, ask: impl FnOnce(&Index<&[u8]>) -> Option<T>) -> Result<Option<T>> {
    let Some(bytes) = index(input)? else { return Ok(None) };
    let wrong = |what: String| anyhow!("{}: its {INDEX_NAME} is {what}", input.path().display());
    let index = Index::new(&*bytes).map_err(|e| wrong(e.to_string()))?;
    match ask(&index) {
        Some(answer) => Ok(Some(answer)),
        None => Err(wrong("damaged".to_owned())),
    }
}

/// The provenance lines of an output; `None` if the input is no output.
pub fn provenance(input: &Input) -> Result<Option<String>> {
    with_index(input, |index| String::from_utf8(index.provenance().to_vec()).ok())
}

/// The feature release (8, 11, 17) of the JDK for which an output with the class library was built.
/// The class files of each release have a version of their own, from 52 for JDK 8 on. `None` for an
/// output without `java.lang.Object`.
pub fn feature(input: &Input) -> Result<Option<u16>> {
    let majors = with_index(input, |index| {
        Some(index.classes_named(convention::OBJECT).next().map(|object| object.major_version))
    })?;
    Ok(majors.flatten().map(|major| major.saturating_sub(44)))
}

/// The lines of an entry that lists names.
pub fn lines(input: &Input, path: &str) -> Result<Option<Vec<String>>> {
    let text = entry(input, path)?;
    Ok(text.map(|text| String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()))
}

/// The value of a key.
pub fn value<'p>(provenance: &'p str, key: &str) -> Option<&'p str> {
    provenance.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
}

/// The hash of the class library that an output was built for (or is).
pub fn library_hash(provenance: &str) -> Result<Option<u64>> {
    match value(provenance, "jdk") {
        None | Some("none") => Ok(None),
        Some(hash) => {
            u64::from_str_radix(hash, 16).map(Some).context("the hash of a class library is damaged")
        }
    }
}

/// Fails if two outputs cannot run together; the runtime would reject them
/// (docs/reference/formats/index.md, *Provenance keys*).
pub fn check_fit(first: (&str, &str), second: (&str, &str)) -> Result<()> {
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
            bail!(
                "{} ({key}={a}) and {} ({key}={b}) were not made for each other; instrument both with the same options \
                 and for the same JDK",
                first.0,
                second.0
            );
        }
    }
    Ok(())
}

/// Fails if the output of this run cannot run together with a library that is an output of an
/// earlier one.
pub fn check_library(library: &Input, its: &str, ours: &Provenance) -> Result<()> {
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
    fn what_decides_is_compared_and_a_missing_jdk_fits_all() {
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
