//! `cctrewrite recover` and `cctrewrite snapshot`: profiles from the memory of a JVM, and from
//! killed runs (docs/use/servers.md).

pub(crate) mod file;
pub(crate) mod running_jvm;
mod runs;
mod snapshot;

use std::path::Path;

use anyhow::{Context, Result};
use cct_arena::Recovery;
use cct_build::pending_file::PendingFile;

use crate::args::{self, Recover};
use crate::exit::{self, Outcome, say};
use crate::profile_file::{is_stdin, shown};
use crate::recover_command::file::of_file;

pub use snapshot::snapshot;

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
