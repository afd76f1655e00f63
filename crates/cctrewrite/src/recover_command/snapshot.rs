//! `cctrewrite snapshot`: one profile of a running JVM, or one after the other.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Result, bail};

use crate::args::{Period, Snapshot};
use crate::exit::{Outcome, say};
use crate::profile_file::is_stdin;
use crate::recover_command::deliver;
use crate::recover_command::running_jvm::RunningJvm;

/// Runs the command.
pub fn snapshot(arguments: &Snapshot) -> Result<Outcome> {
    let jvm = RunningJvm::find(&arguments.jvm)?;
    match arguments.every {
        None => deliver(&jvm.to_string(), jvm.recover()?, &arguments.output),
        Some(_) if is_stdin(&arguments.output) => {
            bail!("--every writes a file for each snapshot; name one with --output")
        }
        Some(period) => series(jvm, period, arguments),
    }
}

/// Writes a file each period, until there are enough or the JVM ends.
fn series(jvm: RunningJvm, period: Period, arguments: &Snapshot) -> Result<Outcome> {
    let mut outcome = Outcome::Complete;
    let mut next = Instant::now();
    for number in 1u32.. {
        let recovered = match jvm.recover() {
            Err(_) if number > 1 && jvm.has_ended() => {
                say(&format!("cctrewrite: {jvm} has ended"));
                break;
            }
            recovered => recovered?,
        };
        let output = numbered(&arguments.output, number);
        if deliver(&jvm.to_string(), recovered, &output)? != Outcome::Complete {
            outcome = Outcome::Damaged;
        }
        if arguments.count == Some(number) {
            break;
        }
        next = period.sleep_until_next(next);
    }
    Ok(outcome)
}

/// The name of a snapshot: `now-1.cct` for `now.cct`.
fn numbered(output: &Path, number: u32) -> PathBuf {
    let mut name = output.file_stem().map(OsString::from).unwrap_or_default();
    name.push(format!("-{number}"));
    if let Some(ending) = output.extension() {
        name.push(".");
        name.push(ending);
    }
    output.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_are_numbered_before_the_ending() {
        let of = |output: &str| numbered(Path::new(output), 12).display().to_string();
        assert_eq!((of("a/now.cct"), of("a.b/now")), ("a/now-12.cct".to_owned(), "a.b/now-12".to_owned()));
    }
}
