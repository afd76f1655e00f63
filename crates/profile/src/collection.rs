//! The contract between `cctrewrite run` (docs/use/run.md) and the JVMs that a command starts.
//!
//! The environment variable [`VARIABLE`] names a folder. All child processes inherit
//! it. Each JVM that records registers itself there when it starts ([`enter`]). It creates a file
//! `NNNNNN.jvm`, numbered in the order of starts. The file has the JVM's process id and command
//! line, each part terminated by a zero. Its profile goes to `NNNNNN.cct` in the same folder. Until
//! then its trees are in `NNNNNN.cct.arena`. `run` leaves options for the JVMs ([`tell`],
//! [`Options`]) and lists the JVMs by [`entries`].
//!
//! JVMs load classes that the options name, so both sides use a [`PrivateFolder`]: nobody else may
//! have written what they read.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cct_private::{Error, PrivateFolder};

/// The environment variable that holds the folder.
pub const VARIABLE: &str = "CCTREWRITE_RUN";

/// The file in the folder with options for JVMs: lines `key=value`.
const OPTIONS: &str = "options";

const ENTRY: &str = "jvm";
const PROFILE: &str = "cct";
const ARENA: &str = "cct.arena";

/// The range of entry numbers.
const NUMBERS: std::ops::RangeInclusive<u32> = 1..=999_999;

/// A JVM that started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The JVM's process; 0 if the entry does not say.
    pub process: u32,
    /// The JVM's command line, the program first.
    pub arguments: Vec<String>,
    /// The path of its profile, once written.
    pub profile: PathBuf,
    /// The path of its trees until then.
    pub arena: PathBuf,
}

/// Options that `run` leaves for the JVMs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    text: String,
}

impl Options {
    /// Reads the options in a folder. A folder without options has none.
    ///
    /// # Errors
    /// If the folder or the file is not this user's, if others may write to it, or if it cannot be
    /// read.
    pub fn read(folder: &Path) -> Result<Options, Error> {
        let bytes = PrivateFolder::open(folder)?.read(OPTIONS)?.unwrap_or_default();
        Ok(Options::of_bytes(&bytes))
    }

    /// Reads the contents of the file. Ignores lines that are not `key=value`.
    pub fn of_bytes(bytes: &[u8]) -> Options {
        Options { text: String::from_utf8_lossy(bytes).into_owned() }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
    }
}

/// Registers a JVM. Returns the path at which its profile is expected. Each of `arguments` is
/// terminated by a zero.
///
/// # Errors
/// If others may write into the folder, if this process must not, or if no number is left.
pub fn enter(folder: &Path, process: u32, arguments: &[u8]) -> io::Result<PathBuf> {
    let private = PrivateFolder::open(folder)?;
    for number in NUMBERS {
        match private.create(&format!("{number:06}.{ENTRY}")) {
            Ok(mut entry) => {
                entry.write_all(format!("{process}\0").as_bytes())?;
                entry.write_all(arguments)?;
                return Ok(folder.join(format!("{number:06}.{PROFILE}")));
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Leaves options for the JVMs, once: keys, and values of one line each.
///
/// # Errors
/// If a value has a line break, which would begin another option. If the folder cannot be written
/// to, or has options already.
pub fn write_options(folder: &PrivateFolder, options: &[(&str, String)]) -> io::Result<()> {
    if let Some((key, value)) = options.iter().find(|(_, value)| value.contains(['\n', '\r'])) {
        let what =
            format!("the value of {key} has a line break ({value:?}); give a path or a name without one");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let text: String = options.iter().map(|(key, value)| format!("{key}={value}\n")).collect();
    folder.create(OPTIONS)?.write_all(text.as_bytes())
}

/// Lists all JVMs that have registered themselves, in the order of their starts.
///
/// # Errors
/// If the folder cannot be read, or holds an entry that is not this user's.
pub fn entries(folder: &PrivateFolder) -> io::Result<Vec<Entry>> {
    let mut names = folder.names()?;
    names.retain(|name| Path::new(name).extension().is_some_and(|extension| extension == ENTRY));
    names.sort();
    names.iter().map(|name| entry(folder, name)).collect()
}

fn entry(folder: &PrivateFolder, name: &str) -> io::Result<Entry> {
    let bytes = folder.read(name)?.unwrap_or_default();
    Ok(Entry::of_bytes(&bytes, &folder.path().join(name)))
}

impl Entry {
    /// Reads the contents of the entry at this path.
    pub fn of_bytes(bytes: &[u8], path: &Path) -> Entry {
        let text = String::from_utf8_lossy(bytes);
        let mut parts = text.split_terminator('\0');
        Entry {
            process: parts.next().and_then(|part| part.parse().ok()).unwrap_or(0),
            arguments: parts.map(str::to_owned).collect(),
            profile: path.with_extension(PROFILE),
            arena: path.with_extension(ARENA),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn folder(name: &str) -> io::Result<PrivateFolder> {
        let folder =
            std::env::temp_dir().join(format!("cctrewrite-collection-{}-{name}", std::process::id()));
        cct_private::create_folders(&folder)?;
        Ok(PrivateFolder::open(&folder)?)
    }

    #[test]
    fn jvms_are_numbered_in_the_order_in_which_they_enter() -> io::Result<()> {
        let private = folder("numbered")?;
        let folder = private.path();
        let first = enter(folder, 41, b"java\0First\0")?;
        let second = enter(folder, 42, b"java\0-cp\0x y\0Second\0")?;
        let entries = entries(&private)?;
        assert_eq!(Options::read(folder)?, Options::default());
        write_options(&private, &[("record", "regions".to_owned()), ("start-at", "a=b".to_owned())])?;
        let options = Options::read(folder)?;
        fs::remove_dir_all(folder)?;
        let entry = |process, arguments: &[&str], profile: PathBuf| Entry {
            process,
            arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
            arena: profile.with_extension("cct.arena"),
            profile,
        };
        let values = ["record", "start-at", "start", "rec"].map(|key| options.get(key));
        assert_eq!(values, [Some("regions"), Some("a=b"), None, None]);
        assert!(first.ends_with("000001.cct") && second.ends_with("000002.cct"));
        assert_eq!(
            entries,
            [entry(41, &["java", "First"], first), entry(42, &["java", "-cp", "x y", "Second"], second)]
        );
        Ok(())
    }

    /// A folder's name with a line break must not become an option of its own.
    #[test]
    fn a_value_of_two_lines_is_refused() -> io::Result<()> {
        let private = folder("lines")?;
        for value in ["here\nmarkers.clients=Other", "here\r"] {
            let written = write_options(&private, &[("markers.client-path", value.to_owned())]);
            assert!(
                written
                    .is_err_and(|error| error.to_string().contains("markers.client-path has a line break"))
            );
        }
        assert_eq!(Options::read(private.path())?, Options::default());
        fs::remove_dir_all(private.path())
    }

    #[test]
    fn options_that_others_may_write_are_refused() -> io::Result<()> {
        let private = folder("refused")?;
        write_options(&private, &[("markers.clients", "Client".to_owned())])?;
        let file = private.path().join(OPTIONS);
        assert_eq!(fs::metadata(&file)?.permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&file, Permissions::from_mode(0o666))?;
        assert!(Options::read(private.path()).is_err());
        fs::set_permissions(&file, Permissions::from_mode(0o600))?;
        assert!(Options::read(private.path()).is_ok());
        fs::set_permissions(private.path(), Permissions::from_mode(0o777))?;
        assert!(Options::read(private.path()).is_err());
        assert!(enter(private.path(), 1, b"").is_err());
        assert!(entries(&private)?.is_empty());
        fs::remove_dir_all(private.path())
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        assert!(enter(Path::new("no/such/folder"), 1, b"").is_err());
        assert!(Options::read(Path::new("no/such/folder")).is_err_and(|error| error.is_absence()));
    }
}
