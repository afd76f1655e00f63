//! Finds the folders of killed runs, and lists what is in them.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use cct_build::text::{counted, shell_word};
use cct_private::PrivateFolder;

use super::{Jvm, Record, Refusal, RunFolder, is_name, processes};
use crate::exit::say;
use crate::run_folder::record::LOCK;

/// A folder of a run.
#[derive(Debug)]
pub enum FolderState {
    /// Its run is at work, or another command collects what is in it.
    InUse(PathBuf),
    /// It has no lock, so nothing shows whether its run is at work. Earlier versions made such
    /// folders.
    Unknown(PathBuf),
    /// Its run was killed.
    Abandoned(AbandonedFolder),
}

/// A folder whose run was killed. This process is its owner now.
#[derive(Debug)]
pub struct AbandonedFolder {
    /// The folder.
    pub folder: RunFolder,
    /// The output and command of its run.
    pub record: Record,
    /// The JVMs that registered in it.
    pub jvms: Vec<Jvm>,
    /// The process that still writes to it, or may, in words.
    user: Option<String>,
}

/// Finds the folders of runs in a folder, sorted by name. Ignores folders of other users, and
/// folders that others may open.
pub fn find(parent: &Path) -> Result<Vec<FolderState>> {
    let cannot = || format!("cannot list {}", parent.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(parent).with_context(cannot)? {
        let name = entry.with_context(cannot)?.file_name();
        if is_name(&name) {
            names.push(name);
        }
    }
    names.sort();
    let looked_at = names.iter().filter_map(|name| open(&parent.join(name)).ok());
    Ok(looked_at.filter_map(look).collect())
}

/// Whether a path names a folder of a run.
pub fn is_run_folder(path: &Path) -> bool {
    path.file_name().is_some_and(is_name)
}

/// Looks at one folder that the user has named. A folder without a lock counts as abandoned.
pub fn named(path: &Path) -> Result<FolderState> {
    match look(open(path)?) {
        Some(FolderState::Unknown(path)) => {
            let private = open(&path)?;
            let lock = private.create(LOCK).or_else(|_| fs::File::open(path.join(LOCK)));
            drop(lock.with_context(|| format!("cannot write to {}", path.display()))?);
            match look(private) {
                Some(FolderState::Unknown(path)) => {
                    bail!("{}: its file system has no locks; move it to another file system", path.display())
                }
                Some(found) => Ok(found),
                None => bail!("{}: it no longer exists", path.display()),
            }
        }
        Some(found) => Ok(found),
        None => bail!("{}: not the folder of a run, or not readable", path.display()),
    }
}

/// Opens a folder that nobody but its user may open.
fn open(path: &Path) -> Result<PrivateFolder> {
    let private = PrivateFolder::open(path)?;
    if !private.is_closed()? {
        bail!("{}: others may read it, so it is not the folder of a run (mode 700)", path.display());
    }
    Ok(private)
}

fn look(private: PrivateFolder) -> Option<FolderState> {
    let path = private.path().to_owned();
    let folder = match RunFolder::take_over(private) {
        Ok(folder) => folder,
        Err(Refusal::Owned) => return Some(FolderState::InUse(path)),
        Err(Refusal::NoLock) => return Some(FolderState::Unknown(path)),
        Err(Refusal::Foreign) => return None,
    };
    let jvms = Jvm::all(folder.private()).ok()?;
    let record = Record::of(folder.private()).unwrap_or_default();
    let user = user(&jvms, &path);
    Some(FolderState::Abandoned(AbandonedFolder { folder, record, jvms, user }))
}

/// The process that still writes to a folder. A JVM goes before a process that may start one.
fn user(jvms: &[Jvm], path: &Path) -> Option<String> {
    let processes = processes::of_folder(path);
    let runs = |jvm: &&Jvm| jvm.still_runs() || processes.iter().any(|process| process.id == jvm.process);
    if let Some(jvm) = jvms.iter().find(runs) {
        return Some(format!("the JVM of process {} still runs: {}", jvm.process, jvm.command()));
    }
    let process = processes.first()?;
    Some(format!("process {}, which may start JVMs, still runs: {}", process.id, process.command))
}

impl AbandonedFolder {
    /// The process that still writes to the folder, or may, in words.
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// Whether it holds only the entries of JVMs and the files of its run.
    pub fn is_empty(&self) -> bool {
        let says_nothing = |name: &String| {
            [LOCK, "options"].contains(&&**name) || Path::new(name).extension() == Some(OsStr::new("jvm"))
        };
        self.folder.private().names().is_ok_and(|names| names.iter().all(says_nothing))
    }

    /// The contents of the folder, in words.
    pub fn contents(&self) -> String {
        let of_what = if self.record.command.is_empty() {
            String::new()
        } else {
            format!(" (-- {})", self.record.command_line())
        };
        format!("a killed run{of_what} left what {} recorded", counted(self.jvms.len() as u64, "JVM"))
    }
}

/// Names the abandoned folders in a folder, one on each line. Removes those in which nothing was
/// recorded.
pub fn report(parent: &Path, quiet: bool) {
    // A folder that cannot be listed has no hidden folders to report.
    for found in find(parent).unwrap_or_default() {
        match found {
            FolderState::InUse(_) => {}
            FolderState::Unknown(path) => say(&format!("cctrewrite: {}", unknown(&path))),
            FolderState::Abandoned(abandoned) => {
                let path = abandoned.folder.path().to_owned();
                let how = format!("cctrewrite recover {}", shell_word(&path));
                match abandoned.user() {
                    Some(user) => say(&format!(
                        "cctrewrite: {}: its run was killed, and {user}; once it has ended: {how}",
                        path.display()
                    )),
                    None if abandoned.is_empty() => {
                        abandoned.folder.remove();
                        if !quiet {
                            say(&format!("cctrewrite: {}: removed; {NOTHING}", path.display()));
                        }
                    }
                    None => say(&format!(
                        "cctrewrite: {}: {}; collect it: {how}",
                        path.display(),
                        abandoned.contents()
                    )),
                }
            }
        }
    }
}

/// The message about a folder in which nothing was recorded.
pub const NOTHING: &str = "a killed run left it, without any recording of a JVM";

/// The message about a folder without a lock.
pub fn unknown(path: &Path) -> String {
    format!(
        "{}: has no lock, as with earlier versions of cctrewrite; once its run has ended: \
         cctrewrite recover {}",
        path.display(),
        shell_word(path)
    )
}
