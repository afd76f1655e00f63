//! `cctrewrite recover` and `cctrewrite snapshot`: profiles from the memory of a JVM, and from
//! killed runs (docs/use/servers.md).

pub(crate) mod file;
mod runs;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use cct_arena::{Memory, Recovery, State};
use cct_build::pending_file::PendingFile;

use crate::args::{self, Recover, Snapshot};
use crate::exit::{self, Outcome, say};
use crate::profile_file::{is_stdin, shown};
use crate::recover_command::file::{in_jar, of_file};

/// Runs `recover`.
pub fn recover(arguments: &Recover) -> Result<Outcome> {
    let output = arguments.output.as_deref();
    match arguments.from.as_deref() {
        // A path that does not exist is handled as a file, so that the error speaks of a file.
        Some(file) if !file.is_dir() => {
            let no_output = || "no output file; name one with --output, or `-` for standard output";
            let output = output.unwrap_or_else(|| {
                args::command().error(clap::error::ErrorKind::MissingRequiredArgument, no_output()).exit()
            });
            recover_file(file, output)
        }
        folder => runs::recover(folder, output),
    }
}

/// Writes the profile from the file that holds a JVM's memory.
fn recover_file(arena: &Path, output: &Path) -> Result<Outcome> {
    let shown = arena.display();
    let recovered = of_file(arena)?;
    if recovered.ended {
        say(&format!("cctrewrite: {shown}: the JVM wrote its own profile, which is more complete"));
    }
    let mut another = arena.as_os_str().to_owned();
    another.push("-1");
    if Path::new(&another).exists() {
        say(&format!(
            "cctrewrite: {}: another JVM with the same file name uses this file",
            another.display()
        ));
    }
    deliver(&shown.to_string(), recovered, output)
}

/// Runs `snapshot`.
pub fn snapshot(arguments: &Snapshot) -> Result<Outcome> {
    let process = arguments.process;
    let memory = of_process(process)?;
    let recovered =
        cct_arena::recover(&memory, State::Running, &in_jar).with_context(|| format!("process {process}"))?;
    deliver(&format!("process {process}"), recovered, &arguments.output)
}

/// The memory of a process: the one among its open files that it maps shared and writable.
fn of_process(process: u32) -> Result<Memory> {
    let folder = PathBuf::from(format!("/proc/{process}/fd"));
    let files = match fs::read_dir(&folder) {
        Ok(files) => files,
        Err(e) if e.kind() == ErrorKind::NotFound => bail!("no process {process}"),
        Err(e) => {
            return Err(e).with_context(|| format!("cannot read process {process}; it must be yours"));
        }
    };
    let maps = fs::read_to_string(format!("/proc/{process}/maps"))
        .with_context(|| format!("cannot read process {process}; it must be yours"))?;
    // A line has an address range, permissions, offset, device, inode and name.
    let written: BTreeSet<u64> = maps
        .lines()
        .filter_map(|line| {
            let mut parts = line.split_ascii_whitespace().skip(1);
            (parts.next() == Some("rw-s")).then_some(parts.nth(2)?.parse().ok()).flatten()
        })
        .collect();
    for file in files {
        let Ok(path) = file.map(|file| file.path()) else { continue };
        let is_written =
            fs::metadata(&path).is_ok_and(|file| file.is_file() && written.contains(&file.ino()));
        if is_written && let Ok(memory) = File::open(&path).map_err(Into::into).and_then(Memory::open) {
            return Ok(memory);
        }
    }
    bail!(
        "process {process} has no readable trees: it is not a profiled JVM, does not record, has \
         no load-time library, or was started with an empty -Dcctrewrite.arena="
    );
}

/// Writes the profile, and reports what is missing.
fn deliver(what: &str, recovered: Recovery, output: &Path) -> Result<Outcome> {
    let Recovery { profile, problems, .. } = recovered;
    for problem in &problems {
        say(&format!("cctrewrite: {what}: {problem}"));
    }
    if is_stdin(output) {
        exit::to_stdout(|out| profile.write(out))?;
    } else {
        PendingFile::write_profile(output, |out| profile.write(out))
            .map_err(anyhow::Error::from)
            .and_then(|file| Ok(file.commit()?))
            .with_context(|| format!("cannot write {}", shown(output)))?;
    }
    Ok(if problems.is_empty() { Outcome::Complete } else { Outcome::Damaged })
}
