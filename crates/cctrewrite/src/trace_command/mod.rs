//! `cctrewrite trace`: reads traces (docs/research/trace.md).

mod analyses;
mod dump;
mod info;
mod remarks;

use anyhow::Result;
use cct_build::pending_file::PendingFile;
use cct_trace::{Trace, contexts};

use crate::args::{TraceCommand, TraceContexts};
use crate::exit::say;
use crate::trace_command::remarks::remarks;

/// Runs the command.
pub fn run(command: &TraceCommand) -> Result<()> {
    match command {
        TraceCommand::Info(arguments) => info::run(arguments),
        TraceCommand::Dump(arguments) => dump::run(arguments),
        TraceCommand::Replay(arguments) => analyses::replay(arguments),
        TraceCommand::Contexts(arguments) => contexts(arguments),
        TraceCommand::Callgraph(arguments) => analyses::callgraph(arguments),
        TraceCommand::Metrics(arguments) => analyses::metrics(arguments),
        TraceCommand::Coverage(arguments) => analyses::coverage(arguments),
        TraceCommand::Timeline(arguments) => analyses::timeline(arguments),
        TraceCommand::Structure(arguments) => analyses::structure(arguments),
    }
}

fn contexts(arguments: &TraceContexts) -> Result<()> {
    let trace = Trace::open(&arguments.file)?;
    let (mut profile, oddities) = contexts::profile(&trace)?;
    profile.notes.extend(remarks(&trace, &oddities));
    profile.notes.sort();
    PendingFile::write_profile(&arguments.output, |out| profile.write(out))?.commit()?;
    for note in &profile.notes {
        say(&format!("note: {note}"));
    }
    Ok(())
}
