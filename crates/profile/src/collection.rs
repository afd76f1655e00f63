//! The contract between `cctrewrite run` (docs/run.md) and the JVMs that a command starts.
//!
//! The environment variable [`VARIABLE`] names a folder; it is handed down from process to process whoever starts whom. Each JVM that records
//! enters itself there when it starts ([`enter`]): a file `NNNNNN.jvm`, numbered in the order of starts, with its process id and what it was started
//! with, each ended by a zero. Its profile goes to `NNNNNN.cct` beside it, and until then its trees are in `NNNNNN.cct.arena`. Who has started the command leaves word for them ([`tell`], [`option`]), and finds out what there
//! is by [`entries`].

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The environment variable that holds the folder.
pub const VARIABLE: &str = "CCTREWRITE_RUN";

/// The file in the folder that tells JVMs what to do: lines `key=value`.
const OPTIONS: &str = "options";

const ENTRY: &str = "jvm";
const PROFILE: &str = "cct";
const ARENA: &str = "cct.arena";

/// The first number that an entry may have, and the last.
const NUMBERS: std::ops::RangeInclusive<u32> = 1..=999_999;

/// A JVM that started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its process; 0 if the entry does not say.
    pub process: u32,
    /// What it was started with, the program first.
    pub arguments: Vec<String>,
    /// Where its profile is, when it has been written.
    pub profile: PathBuf,
    /// Where it keeps its trees until then.
    pub arena: PathBuf,
}

/// Enters a JVM; returns the file in which its profile is expected. `arguments` are ended by a zero each.
///
/// # Errors
/// When the folder cannot be written to, or has as many entries as there are numbers.
pub fn enter(folder: &Path, process: u32, arguments: &[u8]) -> io::Result<PathBuf> {
    for number in NUMBERS {
        let name = folder.join(format!("{number:06}"));
        match File::create_new(name.with_extension(ENTRY)) {
            Ok(mut entry) => {
                entry.write_all(format!("{process}\0").as_bytes())?;
                entry.write_all(arguments)?;
                return Ok(name.with_extension(PROFILE));
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Leaves word for the JVMs: keys, and values of one line each.
///
/// # Errors
/// When the folder cannot be written to.
pub fn tell(folder: &Path, options: &[(&str, String)]) -> io::Result<()> {
    let text: String = options.iter().map(|(key, value)| format!("{key}={value}\n")).collect();
    fs::write(folder.join(OPTIONS), text)
}

/// What was told about a key; `None` if nothing was.
pub fn option(folder: &Path, key: &str) -> Option<String> {
    let options = fs::read_to_string(folder.join(OPTIONS)).ok()?;
    options.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('=')).map(str::to_owned)
}

/// All JVMs that have entered themselves, in the order of their starts.
///
/// # Errors
/// When the folder cannot be read.
pub fn entries(folder: &Path) -> io::Result<Vec<Entry>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == ENTRY) {
            paths.push(path);
        }
    }
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> io::Result<Entry> {
    let text = String::from_utf8_lossy(&fs::read(path)?).into_owned();
    let mut parts = text.split_terminator('\0');
    Ok(Entry {
        process: parts.next().and_then(|part| part.parse().ok()).unwrap_or(0),
        arguments: parts.map(str::to_owned).collect(),
        profile: path.with_extension(PROFILE),
        arena: path.with_extension(ARENA),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jvms_are_numbered_in_the_order_in_which_they_enter() -> io::Result<()> {
        let folder = std::env::temp_dir().join(format!("cctrewrite-collection-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        let first = enter(&folder, 41, b"java\0First\0")?;
        let second = enter(&folder, 42, b"java\0-cp\0x y\0Second\0")?;
        let entries = entries(&folder)?;
        tell(&folder, &[("record", "regions".to_owned()), ("start-at", "a=b".to_owned())])?;
        let told = ["record", "start-at", "start", "rec"].map(|key| option(&folder, key));
        fs::remove_dir_all(&folder)?;
        let entry = |process, arguments: &[&str], profile: PathBuf| Entry {
            process,
            arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
            arena: profile.with_extension("cct.arena"),
            profile,
        };
        assert_eq!(told, [Some("regions".to_owned()), Some("a=b".to_owned()), None, None]);
        assert!(first.ends_with("000001.cct") && second.ends_with("000002.cct"));
        assert_eq!(
            entries,
            [entry(41, &["java", "First"], first), entry(42, &["java", "-cp", "x y", "Second"], second)]
        );
        Ok(())
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        assert!(enter(Path::new("no/such/folder"), 1, b"").is_err());
        assert!(entries(Path::new("no/such/folder")).is_err());
    }
}
