//! `cctrewrite run --tool pcc`: at its end, each JVM writes the values of the contexts in which
//! chosen methods were entered.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use anyhow::Result;
use cct_build::image::fit::ToolOutput;
use cct_build::instrument::filter;
use cct_build::text::{counted, shell_word};
use cct_settings::ToolName;

use super::files::{self, Kind, Place, move_file};
use crate::args::Run;
use crate::exit::{Outcome, say};
use crate::pcc_command::read_values;

const VALUES: Kind = Kind {
    leaves: ToolOutput::Values,
    extension: "pcc",
    jdk: "JDK",
    missing: "left no values; it refused to run, was killed, or still runs",
};

/// Runs the command.
pub fn run(arguments: &Run, command: &OsStr, rest: &[OsString]) -> Result<Outcome> {
    check(arguments)?;
    files::run(
        arguments,
        command,
        rest,
        &VALUES,
        |_| Ok(()),
        |from, place| put(from, place, arguments.verbosity.quiet),
    )
}

/// Refuses options that only apply to profiles.
fn check(arguments: &Run) -> Result<()> {
    filter(&arguments.choices)?;
    arguments.recording.check(ToolName::Pcc)?;
    arguments.library.check_none(ToolName::Pcc)?;
    arguments.wanted.check_none(ToolName::Pcc)
}

/// Moves values to their place.
pub fn put(from: &Path, place: Place<'_>, quiet: bool) -> Result<()> {
    let recorded = read_values(from)?;
    let to = place(recorded.meta.get("main").map(String::as_str));
    move_file(from, &to)?;
    if quiet {
        return Ok(());
    }
    let values: usize = recorded.counts.values().map(|values| values.len()).sum();
    let (values, methods) =
        (counted(values as u64, "value"), counted(recorded.counts.len() as u64, "method"));
    say(&format!("cctrewrite: {}: {values} at {methods}", to.display()));
    for note in &recorded.notes {
        say(&format!("note: {note}"));
    }
    say(&format!("to see it: cctrewrite pcc dump {}", shell_word(&to)));
    Ok(())
}
