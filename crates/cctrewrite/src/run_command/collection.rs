//! What the JVMs of a command leave behind: an entry each when they start, a profile each when they end.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use cct_private::{FOLDER_MODE, PrivateFolder};
use cct_profile::collection::{self, Entry, entries};
use tempfile::TempDir;

/// How long JVMs that outlive the command are waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// A folder into which JVMs enter themselves, and nobody else may write.
#[derive(Debug)]
pub struct Collection {
    private: PrivateFolder,
    /// Dropped, it is removed; `None` only while this value is dropped.
    temporary: Option<TempDir>,
}

/// A JVM that started.
#[derive(Debug)]
pub struct Jvm {
    /// Its number, in the order of starts; from 1.
    pub number: usize,
    /// Its process.
    pub process: u32,
    /// What it was started with.
    pub arguments: Vec<String>,
    /// Its profile; `None` if it left none.
    pub profile: Option<PathBuf>,
    /// Where it would be.
    pub place: PathBuf,
    /// The file in which its trees are, if it is there.
    pub arena: Option<PathBuf>,
}

impl Collection {
    /// Makes an empty folder beside the output, so that profiles need not be copied.
    pub fn beside(output: &Path) -> Result<Collection> {
        let parent =
            output.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let cannot = || format!("cannot write to {}", parent.display());
        let parent = fs::canonicalize(parent).with_context(cannot)?;
        // Java cannot name every file: without a locale only those in ASCII.
        if parent.to_str().is_some_and(str::is_ascii) {
            let made = Collection::in_folder(&parent).with_context(cannot)?;
            // Some file systems know no owners and modes.
            if let Ok(collection) = made {
                return Ok(collection);
            }
        }
        let folder = std::env::temp_dir();
        let cannot = || format!("cannot use {} for what JVMs leave; set TMPDIR", folder.display());
        Collection::in_folder(&folder).with_context(cannot)?.with_context(cannot)
    }

    /// Makes a folder in another one. The inner error says why others could write into it.
    fn in_folder(parent: &Path) -> std::io::Result<Result<Collection, cct_private::Error>> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".cctrewrite-").suffix(".run").permissions(Permissions::from_mode(FOLDER_MODE));
        let made = builder.tempdir_in(parent)?;
        Ok(PrivateFolder::open(made.path()).map(|private| Collection { private, temporary: Some(made) }))
    }

    /// Leaves options for the JVMs: lines `key=value`, which stand for properties `cctrewrite.key` that were not given.
    pub fn tell(&self, options: &[(&str, String)]) -> Result<()> {
        collection::tell(&self.private, options)
            .with_context(|| format!("cannot write to {}", self.path().display()))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.private.path()
    }

    /// Lists all JVMs that started. Waits a little for those that still run.
    ///
    /// Fails if somebody has moved the folder: what its path leads to now is not what the JVMs have left.
    pub fn jvms(&self) -> Result<Vec<Jvm>> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let jvms = self.now()?;
            let all_ended = jvms.iter().all(|jvm| jvm.profile.is_some() || !jvm.is_running());
            if all_ended || Instant::now() > deadline {
                // A profile may have come between the two looks.
                return self.now();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn now(&self) -> Result<Vec<Jvm>> {
        if !self.private.is_in_place() {
            bail!(
                "{}: somebody has moved or replaced it, so what JVMs left is lost; write to a folder into which nobody else may write",
                self.path().display()
            );
        }
        let entries =
            entries(&self.private).with_context(|| format!("cannot read {}", self.path().display()))?;
        let jvm = |(number, Entry { process, arguments, profile: place, arena })| {
            let profile = Path::is_file(&place).then(|| place.clone());
            let arena = Path::is_file(&arena).then_some(arena);
            Jvm { number, process, arguments, profile, place, arena }
        };
        Ok((1..).zip(entries).map(jvm).collect())
    }
}

impl Drop for Collection {
    fn drop(&mut self) {
        // What somebody has put in its place may be a folder that must stay.
        if !self.private.is_in_place()
            && let Some(temporary) = self.temporary.take()
        {
            let _ = temporary.keep();
        }
    }
}

impl Jvm {
    /// Whether its process is there.
    pub fn is_running(&self) -> bool {
        // A process that has ended and was not waited for is there, without arguments.
        fs::read(format!("/proc/{}/cmdline", self.process)).is_ok_and(|text| !text.is_empty())
    }

    /// The command line, for people: cut where it gets long.
    pub fn command(&self) -> String {
        const LONG: usize = 120;
        let text = self.arguments.join(" ");
        match text.char_indices().nth(LONG) {
            Some((end, _)) => format!("{} ...", &text[..end]),
            None => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jvms_come_in_the_order_of_their_entries() {
        let folder = tempfile::tempdir().unwrap();
        let collection = Collection::beside(&folder.path().join("out.cct")).unwrap();
        // No process has this number.
        for (name, entry) in
            [("000002.jvm", "4194305\0java\0-cp\0x\0Main\0"), ("000001.jvm", "4194305\0java\0First\0")]
        {
            cct_private::write(&collection.path().join(name), entry.as_bytes()).unwrap();
        }
        fs::write(collection.path().join("000001.cct"), b"").unwrap();
        let jvms = collection.jvms().unwrap();
        let seen: Vec<_> = jvms.iter().map(|j| (j.number, j.command(), j.profile.is_some())).collect();
        assert_eq!(seen, [(1, "java First".to_owned(), true), (2, "java -cp x Main".to_owned(), false)]);
    }

    #[test]
    fn a_folder_in_its_place_is_neither_read_nor_removed() {
        let folder = tempfile::tempdir().unwrap();
        let collection = Collection::beside(&folder.path().join("out.cct")).unwrap();
        let path = collection.path().to_owned();
        fs::rename(&path, folder.path().join("moved")).unwrap();
        fs::create_dir(&path).unwrap();
        fs::write(path.join("thesis.tex"), b"").unwrap();
        let error = collection.jvms().unwrap_err().to_string();
        assert!(error.contains("somebody has moved or replaced it"), "{error}");
        drop(collection);
        assert!(path.join("thesis.tex").is_file());
    }

    #[test]
    fn long_command_lines_are_cut() {
        let arguments = vec!["\u{e9}".repeat(200)];
        let jvm = Jvm { number: 1, process: 0, arguments, profile: None, place: PathBuf::new(), arena: None };
        assert_eq!(jvm.command(), format!("{} ...", "\u{e9}".repeat(120)));
    }
}
