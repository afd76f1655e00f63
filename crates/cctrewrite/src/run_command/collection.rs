//! What the JVMs of a command leave behind: each leaves an entry when it starts and a profile when
//! it ends.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use cct_profile::collection;

use crate::run_folder::abandoned_folder;
use crate::run_folder::{Jvm, Record, RunFolder};

/// How long `run` waits for JVMs that outlive the command.
const PATIENCE: Duration = Duration::from_secs(5);

/// A folder in which JVMs register. Nobody else may write into it.
#[derive(Debug)]
pub struct Collection(RunFolder);

impl Collection {
    /// Makes an empty folder for the JVMs of this command. It lies beside the output, so that
    /// profiles need not be copied.
    pub fn beside(output: &Path, command: Vec<OsString>) -> Result<Collection> {
        let parent =
            output.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let cannot = || format!("cannot write to {}", parent.display());
        let parent = fs::canonicalize(parent).with_context(cannot)?;
        let name = output.file_name().with_context(|| format!("{}: not a file name", output.display()))?;
        let mut record = Record { output: name.into(), command };
        // Without a locale, Java can only name files by ASCII paths.
        if parent.to_str().is_some_and(str::is_ascii) {
            let made = RunFolder::make(&parent, &record).with_context(cannot)?;
            // Some file systems have no owners and modes, or no locks.
            if let Ok(folder) = made {
                return Ok(Collection(folder));
            }
        }
        record.output = parent.join(name);
        let folder = std::env::temp_dir();
        let cannot =
            || format!("cannot use {} for the files of JVMs; set TMPDIR to another folder", folder.display());
        Ok(Collection(RunFolder::make(&folder, &record).with_context(cannot)?.with_context(cannot)?))
    }

    /// Names the folders beside this one that killed runs have left.
    pub fn report_abandoned(&self, quiet: bool) {
        if let Some(parent) = self.path().parent() {
            abandoned_folder::report(parent, quiet);
        }
    }

    /// Keeps the folder when this process ends.
    pub fn keep(&mut self) {
        self.0.keep();
    }

    /// Leaves options for the JVMs, as lines `key=value`. Each stands for a property
    /// `cctrewrite.key` that was not given.
    pub fn write_options(&self, options: &[(&str, String)]) -> Result<()> {
        collection::write_options(self.0.private(), options)
            .with_context(|| format!("cannot write to {}", self.path().display()))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Lists all JVMs that started. Waits a little for those that still run.
    ///
    /// Fails if somebody has moved the folder: its path may now lead to a folder with other
    /// contents.
    pub fn jvms(&self) -> Result<Vec<Jvm>> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let jvms = self.now()?;
            let all_ended = jvms.iter().all(|jvm| jvm.profile.is_some() || !jvm.is_running());
            if all_ended || Instant::now() > deadline {
                // A JVM may have written its profile after it was looked for.
                return self.now();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn now(&self) -> Result<Vec<Jvm>> {
        if !self.0.private().is_in_place() {
            bail!(
                "{}: another process moved or replaced it, so the profiles of the JVMs are lost; \
                 write to a folder to which only you may write",
                self.path().display()
            );
        }
        Jvm::all(self.0.private())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jvms_come_in_the_order_of_their_entries() {
        let folder = tempfile::tempdir().unwrap();
        let collection = Collection::beside(&folder.path().join("out.cct"), Vec::new()).unwrap();
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
        let collection = Collection::beside(&folder.path().join("out.cct"), Vec::new()).unwrap();
        let path = collection.path().to_owned();
        fs::rename(&path, folder.path().join("moved")).unwrap();
        fs::create_dir(&path).unwrap();
        fs::write(path.join("thesis.tex"), b"").unwrap();
        let error = collection.jvms().unwrap_err().to_string();
        assert!(error.contains("another process moved or replaced it"), "{error}");
        drop(collection);
        assert!(path.join("thesis.tex").is_file());
    }
}
