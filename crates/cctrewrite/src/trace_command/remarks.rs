//! Remarks on a trace.

use cct_build::text::counted;
use cct_trace::Trace;
use cct_trace::replay::Oddities;

/// Remarks on numbers that come from this trace.
pub(crate) fn remarks(trace: &Trace, oddities: &Oddities) -> Vec<String> {
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
