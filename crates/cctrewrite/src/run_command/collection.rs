//! What the JVMs of a command leave behind: an entry each when they start, a profile each when they end.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use cct_profile::collection::{self, Entry, entries};
use tempfile::TempDir;

/// How long JVMs that outlive the command are waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// A folder into which JVMs enter themselves.
#[derive(Debug)]
pub struct Collection(TempDir);

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
    /// An empty folder beside the output, so that profiles need not be copied.
    pub fn beside(output: &Path) -> Result<Collection> {
        let parent =
            output.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let cannot = || format!("cannot write to {}", parent.display());
        let parent = fs::canonicalize(parent).with_context(cannot)?;
        let mut folder = tempfile::Builder::new();
        folder.prefix(".cctrewrite-").suffix(".run");
        // Java cannot name every file: without a locale only those in ASCII.
        let made = match parent.to_str().is_some_and(str::is_ascii) {
            true => folder.tempdir_in(&parent),
            false => folder.tempdir(),
        };
        Ok(Collection(made.with_context(cannot)?))
    }

    /// Leaves word for the JVMs: lines `key=value`, which they take for properties `cctrewrite.key` that were not given.
    pub fn tell(&self, options: &[(&str, String)]) -> Result<()> {
        collection::tell(self.path(), options)
            .with_context(|| format!("cannot write to {}", self.path().display()))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// All JVMs that started, after waiting a little for those that still run.
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
        let entries =
            entries(self.path()).with_context(|| format!("cannot read {}", self.path().display()))?;
        let jvm = |(number, Entry { process, arguments, profile: place, arena })| {
            let profile = Path::is_file(&place).then(|| place.clone());
            let arena = Path::is_file(&arena).then_some(arena);
            Jvm { number, process, arguments, profile, place, arena }
        };
        Ok((1..).zip(entries).map(jvm).collect())
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
        fs::write(collection.path().join("000002.jvm"), b"4194305\0java\0-cp\0x\0Main\0").unwrap();
        fs::write(collection.path().join("000001.jvm"), b"4194305\0java\0First\0").unwrap();
        fs::write(collection.path().join("000001.cct"), b"").unwrap();
        let jvms = collection.jvms().unwrap();
        let seen: Vec<_> = jvms.iter().map(|j| (j.number, j.command(), j.profile.is_some())).collect();
        assert_eq!(seen, [(1, "java First".to_owned(), true), (2, "java -cp x Main".to_owned(), false)]);
    }

    #[test]
    fn long_command_lines_are_cut() {
        let arguments = vec!["\u{e9}".repeat(200)];
        let jvm = Jvm { number: 1, process: 0, arguments, profile: None, place: PathBuf::new(), arena: None };
        assert_eq!(jvm.command(), format!("{} ...", "\u{e9}".repeat(120)));
    }
}
