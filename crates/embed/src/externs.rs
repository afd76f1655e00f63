//! What the compiler's arguments say of a dependency: where its `rlib` is, and so its shared
//! library.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};

/// What there is of a dependency's library.
#[derive(Debug, PartialEq, Eq)]
pub enum LibraryState {
    /// Its path, absolute.
    Library(PathBuf),
    /// Cargo only checks, and no dependency has a library.
    NothingLinked,
    /// Why there is none, and what to do.
    Problem(String),
}

/// The shared library of the crate with this name, by the arguments of the compiler that compiles
/// the dependent.
pub fn find(name: &str, arguments: impl Iterator<Item = String>) -> LibraryState {
    let Some(artifact) = artifact(name, arguments) else {
        return LibraryState::Problem(format!("{name} is not a dependency; add it to [dependencies]"));
    };
    let is_linked = artifact.extension().is_some_and(|extension| extension == "rlib");
    if !is_linked {
        return LibraryState::NothingLinked;
    }
    match library_beside(&artifact) {
        Some(library) => LibraryState::Library(library),
        None => LibraryState::Problem(format!(
            "no shared library beside {}: the package needs crate-type = [\"cdylib\", \"rlib\"], and a target that has shared libraries; \
             build with --no-default-features to do without",
            artifact.display()
        )),
    }
}

/// The path in `--extern name=path`; of several the first one with a library, as cargo names both
/// metadata and `rlib`.
fn artifact(name: &str, arguments: impl Iterator<Item = String>) -> Option<PathBuf> {
    let mut named = Vec::new();
    let mut is_value = false;
    for argument in arguments {
        let value = match argument.strip_prefix("--extern=") {
            Some(value) => Some(value),
            None if is_value => Some(&*argument),
            None => None,
        };
        if let Some((crate_name, path)) = value.and_then(|value| value.split_once('=')) {
            // Options of `--extern` stand before a colon.
            let crate_name = crate_name.rsplit_once(':').map_or(crate_name, |(_, crate_name)| crate_name);
            if crate_name == name {
                named.push(PathBuf::from(path));
            }
        }
        is_value = argument == "--extern";
    }
    let rlib = named.iter().position(|path| path.extension().is_some_and(|extension| extension == "rlib"));
    (!named.is_empty()).then(|| named.swap_remove(rlib.unwrap_or(0)))
}

/// The library that was built with this `rlib`: its name differs in the ending alone.
fn library_beside(rlib: &Path) -> Option<PathBuf> {
    let stem = rlib.file_stem()?.to_str()?;
    let name = stem.strip_prefix("lib").unwrap_or(stem);
    let library = rlib.with_file_name(format!("{DLL_PREFIX}{name}{DLL_SUFFIX}"));
    let library = std::path::absolute(library).ok()?;
    library.is_file().then_some(library)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn with(files: &[&str]) -> Folder {
            let folder = tempfile::tempdir().unwrap();
            files.iter().for_each(|file| fs::write(folder.path().join(file), file).unwrap());
            Folder(folder)
        }

        fn path(&self, file: &str) -> PathBuf {
            self.0.path().join(file)
        }

        /// What is found of `agent` if the compiler gets these externs.
        fn find(&self, externs: &[(&str, &str)]) -> LibraryState {
            let mut arguments = vec!["rustc".to_owned(), "--crate-name".to_owned(), "agent".to_owned()];
            for (name, file) in externs {
                arguments.push("--extern".to_owned());
                arguments.push(format!("{name}={}", self.path(file).display()));
            }
            find("agent", arguments.into_iter())
        }
    }

    #[test]
    fn the_library_lies_beside_the_rlib() {
        let folder =
            Folder::with(&["libagent.rlib", "libagent.so", "libagent-0123.rlib", "libagent-0123.so"]);
        let found = |file| LibraryState::Library(folder.path(file));
        assert_eq!(
            folder.find(&[("other", "libother.rlib"), ("agent", "libagent.rlib")]),
            found("libagent.so")
        );
        // As cargo names packages that it fetched itself.
        assert_eq!(folder.find(&[("agent", "libagent-0123.rlib")]), found("libagent-0123.so"));
        assert_eq!(folder.find(&[("priv:agent", "libagent.rlib")]), found("libagent.so"));
        let both = [("agent", "libagent.rmeta"), ("agent", "libagent.rlib")];
        assert_eq!(folder.find(&both), found("libagent.so"));
    }

    #[test]
    fn a_check_has_no_libraries() {
        // One that an earlier build left.
        let folder = Folder::with(&["libagent.so"]);
        assert_eq!(folder.find(&[("agent", "libagent.rmeta")]), LibraryState::NothingLinked);
    }

    #[test]
    fn missing_parts_are_reported() {
        let folder = Folder::with(&["libagent.rlib"]);
        let LibraryState::Problem(what) = folder.find(&[("agent", "libagent.rlib")]) else { panic!("found") };
        assert!(what.contains("cdylib") && what.contains("--no-default-features"), "{what}");
        let LibraryState::Problem(what) = folder.find(&[("agents", "libagent.rlib")]) else {
            panic!("found")
        };
        assert!(what.contains("agent is not a dependency"), "{what}");
    }
}
