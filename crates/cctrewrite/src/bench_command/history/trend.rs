//! How an entry's count developed over its last runs.

use std::collections::BTreeMap;

use cct_profile::diff::Change;

use super::file::HistoryLine;

/// Heights of a curve's points.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The last runs of an entry.
#[derive(Debug)]
pub struct Trend<'h> {
    /// The latest runs that can be compared with the last one, the oldest first; never empty.
    pub runs: Vec<&'h HistoryLine>,
    /// Number of older runs that can be compared, too.
    pub older: usize,
    /// Number of runs with another JDK, another metric or other settings.
    pub others: usize,
}

/// A change from one run to the next.
#[derive(Debug, Clone, Copy)]
pub struct Step<'h> {
    /// The run with the new count.
    pub run: &'h HistoryLine,
    /// The change.
    pub change: Change,
}

impl<'h> Trend<'h> {
    /// The trends of all entries over so many runs, sorted by entry.
    pub fn of_all(lines: &'h [HistoryLine], last: usize) -> Vec<Trend<'h>> {
        let mut by_entry: BTreeMap<&str, Vec<&HistoryLine>> = BTreeMap::new();
        for line in lines {
            by_entry.entry(&line.entry).or_default().push(line);
        }
        by_entry.into_values().filter_map(|runs| Trend::of_runs(&runs, last)).collect()
    }

    /// The trend of one entry; `None` if it has no runs.
    pub fn of_entry(lines: &'h [HistoryLine], entry: &str, last: usize) -> Option<Trend<'h>> {
        let runs: Vec<&HistoryLine> = lines.iter().filter(|line| line.entry == entry).collect();
        Trend::of_runs(&runs, last)
    }

    fn of_runs(all: &[&'h HistoryLine], last: usize) -> Option<Trend<'h>> {
        let latest = all.last()?;
        let comparable: Vec<&HistoryLine> =
            all.iter().copied().filter(|line| line.is_comparable(latest)).collect();
        let older = comparable.len().saturating_sub(last.max(1));
        let others = all.len() - comparable.len();
        Some(Trend { runs: comparable[older..].to_vec(), older, others })
    }

    /// The last run.
    pub fn latest(&self) -> Option<&'h HistoryLine> {
        self.runs.last().copied()
    }

    /// The change from the first to the last of these runs.
    pub fn change(&self) -> Change {
        let value = |line: Option<&&HistoryLine>| line.map_or(0, |line| line.value.into());
        Change { base: value(self.runs.first()), new: value(self.runs.last()) }
    }

    /// The runs whose count is not that of the run before, the latest first.
    pub fn steps(&self) -> Vec<Step<'h>> {
        let steps = self.runs.windows(2).filter_map(|pair| match *pair {
            [before, run] if before.value != run.value => {
                Some(Step { run, change: Change { base: before.value.into(), new: run.value.into() } })
            }
            _ => None,
        });
        let mut steps: Vec<Step<'_>> = steps.collect();
        steps.reverse();
        steps
    }

    /// The position of a count between the least (0) and the most (1); 0 if all are the same.
    pub fn height(&self, value: u64) -> f64 {
        let values = || self.runs.iter().map(|run| run.value);
        let (least, most) = (values().min().unwrap_or(0), values().max().unwrap_or(0));
        if least == most { 0.0 } else { value.saturating_sub(least) as f64 / (most - least) as f64 }
    }

    /// The curve, a character for each run.
    pub fn curve(&self) -> String {
        let highest = BARS.len() - 1;
        let bar = |run: &&HistoryLine| {
            BARS[((self.height(run.value) * highest as f64).round() as usize).min(highest)]
        };
        self.runs.iter().map(bar).collect()
    }
}

/// Number of entries that failed in their last run.
pub fn failing(trends: &[Trend<'_>]) -> usize {
    trends.iter().filter(|trend| trend.latest().is_some_and(|run| run.status.fails())).count()
}

/// The label of a run: its revision, else its time.
pub fn label(run: &HistoryLine) -> &str {
    run.revision.as_deref().or(run.time.as_deref()).unwrap_or("a run without a revision")
}
