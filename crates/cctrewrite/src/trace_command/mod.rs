//! `cctrewrite trace`: traces, read (docs/trace.md).

mod analyses;
mod dump;
mod info;

use anyhow::Result;
use cct_trace::replay::Oddities;
use cct_trace::{Trace, contexts};

use crate::args::{TraceCommand, TraceContexts};
use crate::exit::say;
use crate::pending_file::PendingFile;
use crate::text::counted;

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
    PendingFile::write_profile(&arguments.output, |out| Ok(profile.write(out)?))?.commit()?;
    for note in &profile.notes {
        say(&format!("note: {note}"));
    }
    Ok(())
}

/// What must be known of numbers that come from this trace.
fn remarks(trace: &Trace, oddities: &Oddities) -> Vec<String> {
    let mut remarks = Vec::new();
    if trace.cut.is_some() || !trace.is_complete {
        remarks.push(
            "the trace has no end: the JVM was killed or crashed, and what each thread did last is missing"
                .to_owned(),
        );
    }
    if let Some(last) = trace.last {
        remarks.push(format!(
            "the trace has the last events alone, {last} of each thread at least: what was before is missing, and with it the callers of what it begins with"
        ));
    }
    let missing: u64 = trace.threads.iter().map(|thread| thread.missing).sum();
    let counts = [
        (missing, "chunk", "of events are missing in the middle of the trace"),
        (oddities.ends, "end", "of methods have no beginning in the trace"),
        (oddities.blocks, "block", "of methods run that have no beginning in the trace"),
        (oddities.methods, "event", "are of methods that the trace does not describe"),
    ];
    for (count, what, rest) in counts {
        if count > 0 {
            remarks.push(format!("{} {rest}", counted(count, what)));
        }
    }
    remarks
}
