//! Remarks on a trace.

use cct_build::text::counted;
use cct_trace::Trace;
use cct_trace::replay::Oddities;

/// Remarks on numbers that come from this trace.
pub(crate) fn remarks(trace: &Trace, oddities: &Oddities) -> Vec<String> {
    let mut remarks = Vec::new();
    if trace.cut.is_some() || !trace.is_complete {
        remarks.push(
            "the trace is truncated: the JVM was killed or crashed, and the last events of each \
             thread are missing"
                .to_owned(),
        );
    }
    if let Some(last) = trace.last {
        remarks.push(format!(
            "the trace has only the last events, at least {last} of each thread: earlier ones are \
             missing, and so are the callers of its first methods"
        ));
    }
    let missing: u64 = trace.threads.iter().map(|thread| thread.missing).sum();
    let counts = [
        (missing, "chunk", "of events are missing in the middle of the trace"),
        (oddities.ends, "end", "of methods have no entry in the trace"),
        (oddities.blocks, "block", "of methods run without an entry in the trace"),
        (oddities.methods, "event", "are of methods that the trace does not describe"),
    ];
    for (count, what, rest) in counts {
        if count > 0 {
            remarks.push(format!("{} {rest}", counted(count, what)));
        }
    }
    remarks
}
