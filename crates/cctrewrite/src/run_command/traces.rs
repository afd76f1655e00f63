//! `cctrewrite run --tool trace`: each JVM writes a trace while it runs.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use anyhow::Result;
use cct_build::image::fit::ToolOutput;
use cct_build::instrument::filter;
use cct_build::text::{counted, shell_word};
use cct_settings::ToolName;
use cct_trace::Trace;

use super::files::{self, Kind, Place, move_file, with_suffix};
use crate::args::Run;
use crate::exit::{Outcome, say};

const TRACES: Kind = Kind {
    leaves: ToolOutput::Traces,
    extension: "trace",
    jdk: "tracing JDK",
    missing: "left no trace; it refused to run, or ended before recording began",
};

/// Runs a command on a tracing JDK, and moves the traces to their places.
pub fn run(arguments: &Run, command: &OsStr, rest: &[OsString]) -> Result<Outcome> {
    check(arguments)?;
    files::run(
        arguments,
        command,
        rest,
        &TRACES,
        |_| Ok(()),
        |from, place| put(from, place, arguments.verbosity.quiet),
    )
}

/// Refuses options that only apply to profiles.
fn check(arguments: &Run) -> Result<()> {
    filter(&arguments.choices)?;
    arguments.recording.check(ToolName::Trace)?;
    arguments.library.check_none(ToolName::Trace)?;
    arguments.wanted.check_none(ToolName::Trace)
}

/// Moves a trace to its place. Reports its contents, unless `quiet`.
pub fn put(from: &Path, place: Place<'_>, quiet: bool) -> Result<()> {
    let trace = Trace::open(from)?;
    let to = place(trace.meta.get("main").map(String::as_str));
    move_file(from, &to)?;
    // A killed JVM leaves the last events, which were in its memory, in a file beside the trace.
    let last = with_suffix(from, cct_trace::LAST_SUFFIX);
    if last.is_file() {
        move_file(&last, &with_suffix(&to, cct_trace::LAST_SUFFIX))?;
    }
    if !quiet {
        let threads = counted(trace.threads.len() as u64, "thread");
        let words = counted(trace.words(), "word");
        say(&format!(
            "cctrewrite: {}: {words} of events of {threads}, {} bytes",
            to.display(),
            trace.sizes.file
        ));
        say(&format!("to see it: cctrewrite trace info {}", shell_word(&to)));
    }
    if !trace.is_complete {
        say(&format!(
            "note: {}: the JVM was killed or crashed; its trace is complete up to the last chunk",
            to.display()
        ));
    }
    Ok(())
}
