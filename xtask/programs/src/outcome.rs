//! Outcomes of runs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use cct_profile::Profile;
use walkdir::WalkDir;

/// The outcome of a run.
pub struct Outcome {
    /// The exit code; `None` if a signal ended it, or this task because of a limit.
    pub exit: Option<i32>,
    /// Whether it was killed because of a limit.
    pub is_cut_off: bool,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
    /// All files in the folder in which it ran, by their relative paths.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Elapsed time from start to end.
    pub wall: Duration,
    /// Processor time in seconds. For programs of Maven Central it includes the processes that the
    /// program starts.
    pub cpu_seconds: f64,
    /// The largest resident set of any process, in KiB.
    pub peak_kib: u64,
    /// The totals of a profiled run's profile, or why there is none.
    pub profile: Option<std::result::Result<Totals, String>>,
}

/// The totals of a profile.
pub struct Totals {
    /// Number of contexts of all threads.
    pub contexts: usize,
    /// Number of calls.
    pub calls: u64,
    /// Number of executed bytecodes.
    pub bytecodes: u64,
    /// The profile's notes for readers.
    pub notes: Vec<String>,
}

impl Outcome {
    /// The end of the run, in words.
    pub fn end(&self) -> String {
        self.exit.map_or_else(|| "a signal or the time limit".to_owned(), |code| format!("exit code {code}"))
    }

    /// The last lines of its output, on one line.
    pub fn last_words(&self) -> String {
        let said = if self.stderr.is_empty() { &self.stdout } else { &self.stderr };
        let text = String::from_utf8_lossy(said);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(5)..].join(" | ")
    }
}

/// Reads the files below `folder`.
///
/// # Errors
/// Fails if one cannot be read.
pub fn files(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for entry in WalkDir::new(folder) {
        let entry = entry?;
        if entry.file_type().is_file() {
            let name = entry.path().strip_prefix(folder)?.to_string_lossy().into_owned();
            let content =
                fs::read(entry.path()).with_context(|| format!("read {}", entry.path().display()))?;
            files.insert(name, content);
        }
    }
    Ok(files)
}

/// Adds up the profile in `file`.
pub fn totals(file: &Path) -> std::result::Result<Totals, String> {
    let bytes = fs::read(file).map_err(|error| format!("no profile: {error}"))?;
    let profile = Profile::read(&bytes).map_err(|error| format!("the profile cannot be read: {error}"))?;
    if !profile.damage.is_empty() {
        return Err("the profile was cut off".to_owned());
    }
    let nodes = || profile.threads.iter().flat_map(|thread| &thread.tree.nodes()[1..]);
    Ok(Totals {
        contexts: profile.contexts(),
        calls: nodes().map(|node| node.calls).sum(),
        bytecodes: nodes().map(|node| node.bytecodes).sum(),
        notes: profile.notes.clone(),
    })
}
