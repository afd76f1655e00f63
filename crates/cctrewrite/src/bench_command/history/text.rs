//! A history as text.

use std::io::{self, Write};

use cct_build::text::{counted, readable};
use cct_profile::report::{aligned, grouped};

use super::super::numbers::{counted_entries, signed};
use super::trend::{Step, Trend, failing, label};

/// Maximum number of changes shown of an entry.
const STEPS: usize = 5;

/// Writes a table of entries, with the runs below them in which a count changed.
pub fn write(trends: &[Trend<'_>], out: &mut dyn Write) -> io::Result<()> {
    let head = ["count", "metric", "change", "%", "runs", "trend", "entry"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(head).chain(trends.iter().map(row)).collect();
    for (line, trend) in aligned(&rows).zip(std::iter::once(None).chain(trends.iter().map(Some))) {
        writeln!(out, "{line}")?;
        let Some(trend) = trend else { continue };
        let steps = trend.steps();
        for Step { run, change } in steps.iter().take(STEPS) {
            let (base, new) = (grouped(change.base), grouped(change.new));
            let (label, status) = (readable(label(run).as_bytes()), run.status.name());
            writeln!(out, "    {} in {label}: {base} to {new}, {status}", signed(*change))?;
        }
        if steps.len() > STEPS {
            writeln!(out, "    and {} before", counted((steps.len() - STEPS) as u64, "change"))?;
        }
        if trend.others > 0 {
            let others = counted(trend.others as u64, "run");
            writeln!(out, "    {others} with another JDK, metric or settings not shown")?;
        }
    }
    let failing = failing(trends);
    let entries = counted_entries(trends.len());
    let failing = if failing == 0 { "none".to_owned() } else { grouped(failing as u128) };
    writeln!(out, "\n{entries}: {failing} failed in the last run")
}

fn row(trend: &Trend<'_>) -> [String; 7] {
    let (change, latest) = (trend.change(), trend.latest());
    let percent = change.percent().filter(|percent| *percent != 0.0);
    [
        grouped(change.new),
        readable(latest.map_or("", |run| &run.metric).as_bytes()),
        signed(change),
        percent.map_or(String::new(), |percent| format!("{percent:+.2} %")),
        grouped(trend.runs.len() as u128),
        trend.curve(),
        readable(latest.map_or("", |run| &run.entry).as_bytes()),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::history;
    use super::*;

    #[test]
    fn each_entry_has_its_curve_and_its_changes() {
        let mut out = Vec::new();
        write(&Trend::of_all(&history(), 4), &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "count     metric  change         %  runs  trend  entry\n\
             1,850  bytecodes    +750  +68.18 %     4   ▁▂█▇  app.A.<b>(\"|\")\n    \
                 -150 in r5: 2,000 to 1,850, exceeds\n    \
                 +800 in r4: 1,200 to 2,000, exceeds\n    \
                 +100 in r3: 1,100 to 1,200, passes\n    \
                 1 run with another JDK, metric or settings not shown\n   \
                10  bytecodes       0               1      ▁  app.A.c\n\
             \n2 entries: 1 failed in the last run\n"
        );
    }

    #[test]
    fn only_the_last_runs_are_shown() {
        let lines = history();
        let trend = Trend::of_entry(&lines, "app.A.<b>(\"|\")", 2).unwrap();
        assert_eq!((trend.runs.len(), trend.older, trend.others), (2, 3, 1));
        assert_eq!(trend.curve(), "█▁");
        assert!(Trend::of_entry(&lines, "app.A.none", 2).is_none());
    }
}
