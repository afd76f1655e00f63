//! `cctrewrite recover` and `cctrewrite snapshot`: profiles out of a JVM's memory (docs/recover.md).

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use cct_archive::{INDEX_NAME, Input, Limits};
use cct_arena::{Memory, Recovered, State};

use crate::args::{Recover, Snapshot};
use crate::exit::{self, Outcome, say};
use crate::output::entry;
use crate::pending_file::PendingFile;
use crate::profile_file::{is_stdin, shown};

/// In the names of files without a name, as the system lists them.
const NAMELESS: &str = "/memfd:cctrewrite.arena";

/// What files are mapped by a JVM that have a name: all that begin like one.
const EXTENSION: &str = ".arena";

/// Runs `recover`.
pub fn recover(arguments: &Recover) -> Result<Outcome> {
    let shown = arguments.arena.display();
    let recovered = of_file(&arguments.arena)?;
    if recovered.ended {
        say(&format!("cctrewrite: {shown}: the JVM has written its profile itself, which knows more"));
    }
    deliver(&shown.to_string(), recovered, &arguments.output)
}

/// The profile in a file.
pub fn of_file(path: &Path) -> Result<Recovered> {
    let shown = path.display();
    let file = File::open(path).with_context(|| format!("cannot open {shown}"))?;
    let memory = Memory::open(file).with_context(|| shown.to_string())?;
    let state = if memory.is_in_use() { State::Running } else { State::Killed };
    cct_arena::recover(&memory, state, &in_jar).with_context(|| shown.to_string())
}

/// The index in a jar that is an output.
fn in_jar(jar: &Path) -> Result<Vec<u8>, String> {
    let index = || -> Result<Vec<u8>> {
        let input = Input::open(jar, &Limits::default())?;
        let index = entry(&input, INDEX_NAME)?.map(Cow::into_owned);
        index.with_context(|| format!("it has no {INDEX_NAME}"))
    };
    index().map_err(|e| format!("{e:#}"))
}

/// Runs `snapshot`.
pub fn snapshot(arguments: &Snapshot) -> Result<Outcome> {
    let process = arguments.process;
    let memory = of_process(process)?;
    let recovered =
        cct_arena::recover(&memory, State::Running, &in_jar).with_context(|| format!("process {process}"))?;
    deliver(&format!("process {process}"), recovered, &arguments.output)
}

/// The memory of a process: among the files that it has open.
fn of_process(process: u32) -> Result<Memory> {
    let folder = PathBuf::from(format!("/proc/{process}/fd"));
    let files = match fs::read_dir(&folder) {
        Ok(files) => files,
        Err(e) if e.kind() == ErrorKind::NotFound => bail!("there is no process {process}"),
        Err(e) => {
            return Err(e).with_context(|| format!("cannot look into process {process}; it must be yours"));
        }
    };
    let mut files: Vec<PathBuf> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    files.sort();
    for file in files {
        let Ok(target) = fs::read_link(&file) else { continue };
        let name = target.to_string_lossy();
        let is_arena = name.starts_with(NAMELESS) || name.contains(EXTENSION);
        if is_arena && let Ok(memory) = File::open(&file).map_err(Into::into).and_then(Memory::open) {
            return Ok(memory);
        }
    }
    bail!(
        "process {process} has no trees that others can read: it is no profiled JVM that records, or has not got the library that rewrites classes at \
         load time, or was started with an empty -Dcctrewrite.arena="
    );
}

/// Writes the profile; says what is missing.
fn deliver(what: &str, recovered: Recovered, output: &Path) -> Result<Outcome> {
    let Recovered { profile, problems, .. } = recovered;
    for problem in &problems {
        say(&format!("cctrewrite: {what}: {problem}"));
    }
    if is_stdin(output) {
        exit::to_stdout(|out| profile.write(out))?;
    } else {
        PendingFile::write_profile(output, |out| Ok(profile.write(out)?))
            .and_then(PendingFile::commit)
            .with_context(|| format!("cannot write {}", shown(output)))?;
    }
    Ok(if problems.is_empty() { Outcome::Complete } else { Outcome::Damaged })
}
