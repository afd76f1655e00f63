//! The native libraries that run inside the JVM, and their paths: installed with the command, or
//! unpacked from it.

pub mod stale;
mod unpacked;

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub use unpacked::UnpackProblem;

use crate::image::cache;

/// A library inside this command that cannot be unpacked.
#[derive(Debug, thiserror::Error)]
#[error("cannot unpack {file}, which is inside this command")]
pub struct UnpackError {
    /// The library's file name.
    pub file: String,
    source: UnpackProblem,
}

/// No agent for renamed natives.
#[derive(Debug, thiserror::Error)]
pub enum PrefixError {
    /// It cannot be unpacked.
    #[error(transparent)]
    Unpack(#[from] UnpackError),
    /// It is neither installed nor inside this command.
    #[error(
        "{0} is not beside this command, and without it no JVM finds natives that were renamed (--natives prefix); install both together"
    )]
    Missing(String),
}

/// The library that rewrites classes while the program runs: its name, without the operating
/// system's prefix and suffix.
const LOAD_TIME: &str = "cctrewrite_loadtime";

/// The library that starts HotSpot with the options of a profiled JDK 8.
const VM: &str = "cctrewrite_vm";

/// The agent that registers the prefix of renamed natives with the JVM.
const PREFIX: &str = "cctrewrite_prefix";

/// The libraries inside the command.
#[derive(Debug, Clone, Copy)]
pub struct EmbeddedLibraries {
    /// The bytes of [`library`].
    pub load_time: Option<&'static [u8]>,
    /// The bytes of [`vm`].
    pub vm: Option<&'static [u8]>,
    /// The bytes of [`prefix`].
    pub prefix: Option<&'static [u8]>,
}

static EMBEDDED: OnceLock<EmbeddedLibraries> = OnceLock::new();

/// Names the libraries inside the command. The first call counts.
pub fn embed(libraries: EmbeddedLibraries) {
    let _ = EMBEDDED.set(libraries);
}

/// The path of the load-time library. `None` if it is neither installed nor inside this command.
///
/// # Errors
/// If it is inside this command and cannot be unpacked.
pub fn library() -> Result<Option<PathBuf>, UnpackError> {
    find(LOAD_TIME, |libraries| libraries.load_time)
}

/// The path of the library that launchers of a profiled JDK 8 load instead of HotSpot. `None` as
/// with [`library`].
///
/// # Errors
/// If it is inside this command and cannot be unpacked.
pub fn vm() -> Result<Option<PathBuf>, UnpackError> {
    find(VM, |libraries| libraries.vm)
}

/// The path of the agent without which renamed natives (`--natives prefix`) are not found.
///
/// # Errors
/// If it is neither installed nor inside this command, or cannot be unpacked.
pub fn prefix() -> Result<PathBuf, PrefixError> {
    find_prefix()?.ok_or_else(|| PrefixError::Missing(file_name(PREFIX)))
}

fn find_prefix() -> Result<Option<PathBuf>, UnpackError> {
    find(PREFIX, |libraries| libraries.prefix)
}

/// All libraries that there are.
///
/// # Errors
/// If one is inside this command and cannot be unpacked.
pub fn all() -> Result<Vec<PathBuf>, UnpackError> {
    Ok([library()?, vm()?, find_prefix()?].into_iter().flatten().collect())
}

/// The JVM option that loads the agent from the JDK's own libraries.
pub fn prefix_option() -> String {
    format!("-agentlib:{PREFIX}")
}

/// The agent's file name.
pub fn prefix_name() -> String {
    file_name(PREFIX)
}

/// A library that was installed with this command, else the one inside it.
fn find(
    name: &str,
    bytes: impl Fn(&EmbeddedLibraries) -> Option<&'static [u8]>,
) -> Result<Option<PathBuf>, UnpackError> {
    let file = file_name(name);
    let bytes = match Source::of(&file, bytes) {
        Source::Installed(path) => return Ok(Some(path)),
        Source::Missing => return Ok(None),
        Source::Inside(bytes) => bytes,
    };
    let cache = cache::root().map_err(UnpackProblem::from);
    let unpacked = cache.and_then(|cache| unpack(&cache, &file, bytes));
    unpacked.map(Some).map_err(|source| UnpackError { file, source })
}

/// Unpacks a library if it is missing, and then removes those of other builds that were not used
/// for long.
fn unpack(cache: &Path, file: &str, bytes: &[u8]) -> Result<PathBuf, UnpackProblem> {
    let library = unpacked::library(cache, file, bytes)?;
    if library.is_new {
        stale::keep_within_bounds(cache);
    }
    Ok(library.path)
}

/// Where a library comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Installed with this command.
    Installed(PathBuf),
    /// Inside this command; unpacked into the cache when a command needs it.
    Inside(&'static [u8]),
    /// Nowhere.
    Missing,
}

impl Source {
    fn of(file: &str, bytes: impl Fn(&EmbeddedLibraries) -> Option<&'static [u8]>) -> Source {
        let inside = || EMBEDDED.get().and_then(bytes).map_or(Source::Missing, Source::Inside);
        installed(file).map_or_else(inside, Source::Installed)
    }
}

/// The file name of each library, and where it comes from. Unpacks none.
pub fn sources() -> [(String, Source); 3] {
    let source = |name: &str, bytes: fn(&EmbeddedLibraries) -> Option<&'static [u8]>| {
        let file = file_name(name);
        let source = Source::of(&file, bytes);
        (file, source)
    };
    [
        source(LOAD_TIME, |libraries| libraries.load_time),
        source(VM, |libraries| libraries.vm),
        source(PREFIX, |libraries| libraries.prefix),
    ]
}

fn installed(file: &str) -> Option<PathBuf> {
    let command = std::fs::canonicalize(std::env::current_exe().ok()?).ok()?;
    places(command.parent()?).into_iter().map(|folder| folder.join(file)).find(|path| path.is_file())
}

/// Where libraries of a command in this folder are.
fn places(folder: &Path) -> Vec<PathBuf> {
    // Cargo builds a command's libraries in `deps`, and links the requested ones next to the
    // command.
    let mut places = vec![folder.join("deps"), folder.to_path_buf()];
    // Of packages: the command is in PREFIX/bin.
    if folder.file_name().is_some_and(|name| name == "bin") {
        places.extend(folder.parent().map(|prefix| prefix.join("lib").join("cctrewrite")));
    }
    places
}

/// The message for a user who has no load-time library.
pub fn missing() -> String {
    format!(
        "{} is not beside this command: classes that were not instrumented beforehand stay as they are, and what the JVM calls by \
         itself hangs under the context stored last",
        file_name(LOAD_TIME)
    )
}

/// The load-time library's file name.
pub fn library_name() -> String {
    file_name(LOAD_TIME)
}

/// The file name of [`vm`].
pub fn vm_name() -> String {
    file_name(VM)
}

fn file_name(name: &str) -> String {
    format!("{DLL_PREFIX}{name}{DLL_SUFFIX}")
}

#[cfg(test)]
mod tests {
    use std::fs::{File, FileTimes};
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::image::prune::{DAY, DEFAULT_DAYS};

    /// As after an update of the command.
    #[test]
    fn unpacking_the_library_of_another_build_removes_old_ones() {
        let cache = tempfile::tempdir().unwrap();
        let unpack = |bytes: &[u8]| unpack(cache.path(), "lib.so", bytes).unwrap();
        let (old, kept) = (unpack(b"old"), unpack(b"kept"));
        let past = SystemTime::now() - Duration::from_secs((DEFAULT_DAYS + 1) * DAY);
        let times = FileTimes::new().set_accessed(past).set_modified(past);
        for path in [&*old, old.parent().unwrap()] {
            File::open(path).unwrap().set_times(times).unwrap();
        }
        unpack(b"kept");
        assert!(old.exists(), "nothing was unpacked");
        let new = unpack(b"new");
        assert!(!old.parent().unwrap().exists());
        assert!(kept.exists() && new.exists());
    }

    #[test]
    fn packages_have_libraries_in_a_folder_of_their_prefix() {
        let of = |folder: &str| places(Path::new(folder));
        let expected = ["/usr/bin/deps", "/usr/bin", "/usr/lib/cctrewrite"].map(PathBuf::from);
        assert_eq!(of("/usr/bin"), expected);
        assert_eq!(
            of("/b/target/release"),
            ["/b/target/release/deps", "/b/target/release"].map(PathBuf::from)
        );
    }
}
