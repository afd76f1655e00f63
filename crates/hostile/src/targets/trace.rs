//! Target for traces: opened, replayed, and converted to every format.

use cct_events::{FrameKind, FrameWriter};
use cct_profile::Profile;
use cct_trace::executions::Executions;
use cct_trace::timeline::Timeline;
use cct_trace::{LAST_SUFFIX, MergedEvents, Trace, contexts, coverage, metrics, structure, timeline};
use tempfile::TempDir;

use crate::Dice;

thread_local! {
    /// Folder for the files of all inputs: a folder for each would take longer than most of the
    /// work.
    static FOLDER: TempDir = tempfile::tempdir().unwrap();
}

/// Maximum length in bytes of a trace's events: frames of events may be two hundred times as long
/// as they are stored.
const MOST_EVENT_BYTES: u64 = 1 << 20;

/// Reads a trace. Accepted ones can be replayed, and converted to every format, or are refused with
/// a reason.
pub fn trace(bytes: &[u8]) {
    FOLDER.with(|folder| {
        let path = folder.path().join("a.trace");
        std::fs::write(&path, bytes).unwrap();
        if let Ok(trace) = Trace::open(&path) {
            let mut dice = super::dice(bytes);
            if dice.once_in(4) { static_side(&trace, &mut dice) } else { analysis(&trace, &mut dice) }
        }
    });
}

/// Reads the last events of a killed JVM (`.last`), with a trace without an end.
pub fn last(bytes: &[u8]) {
    thread_local! {
        static WITHOUT_AN_END: TempDir = without_an_end();
    }
    let trace = WITHOUT_AN_END.with(|folder| {
        std::fs::write(folder.path().join(format!("a.trace{LAST_SUFFIX}")), bytes).unwrap();
        Trace::open(&folder.path().join("a.trace")).unwrap()
    });
    let events: usize = trace.threads.iter().map(|thread| trace.chunks(thread).count()).sum();
    assert!(events <= bytes.len(), "more chunks than bytes");
    analysis(&trace, &mut super::dice(bytes));
}

/// A folder with a trace without an end.
fn without_an_end() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut file = FrameWriter::new(Vec::new(), "last=100\nmode=shared\n").unwrap();
    crate::seeds::frames(&mut file, |kind| kind != FrameKind::Events && kind != FrameKind::End);
    std::fs::write(folder.path().join("a.trace"), file.into_inner()).unwrap();
    folder
}

/// Converts the classes alone, which need no events, to one of the formats.
fn static_side(trace: &Trace, dice: &mut Dice) {
    let mut out = Vec::new();
    match dice.below(4) {
        0 => structure::xml(trace, &|_| true, &mut out).unwrap(),
        1 => structure::csv(trace, &|_| true, cct_profile::csv::Reader::Spreadsheet, &mut out).unwrap(),
        2 => structure::json(trace, &|_| true, &mut out).unwrap(),
        _ => drop(structure::parquet(trace, &|_| true, &mut out)),
    }
}

/// Runs one analysis of events, since each goes through all of them.
fn analysis(trace: &Trace, dice: &mut Dice) {
    if trace.words() > MOST_EVENT_BYTES / 4 {
        return;
    }
    let mut out = Vec::new();
    match dice.below(6) {
        0 => {
            let Ok((profile, _)) = contexts::profile(trace) else { return };
            let written = profile.to_bytes().unwrap();
            let again = Profile::read(&written).unwrap();
            assert!(again.damage.is_empty() && again.to_bytes().unwrap() == written);
        }
        1 => {
            let Ok((executions, _)) = Executions::of(trace) else { return };
            executions.calls();
            coverage::counts(trace, &executions, &|_| true, &mut out).unwrap();
        }
        2 => {
            let Ok((ways, _)) = coverage::ways(trace) else { return };
            coverage::lcov(trace, &ways, &|_| true, &mut out).unwrap();
            coverage::jacoco(trace, &ways, &|_| true, &mut out).unwrap();
        }
        3 => drop(metrics::of(trace)),
        4 => {
            let options = timeline::Options { least: 2, depth: 50, limit: 100 };
            let Ok(timeline) = Timeline::of(trace, options) else { return };
            timeline.write(trace, &mut out).unwrap();
        }
        _ => MergedEvents::of(trace, &trace.threads).for_each(drop),
    }
}
