//! Counts of one entry that differ between JVMs: by how much, where first, and why.

use cct_profile::diff::{Change, DiffOptions, diff};
use cct_profile::origin::Origins;
use cct_profile::{Metric, Profile};

use super::causes::{Cause, causes};
use super::counts::{Count, EntryRun};

/// Maximum number of changed contexts in which the first one is sought.
const CONTEXTS: usize = 10_000;

/// How the counts of an entry differ between JVMs.
#[derive(Debug, PartialEq, Eq)]
pub struct Variation {
    /// Number of JVMs.
    pub jvms: usize,
    /// The counts of the JVM that executed least.
    pub least: Count,
    /// The counts of the JVM that executed most.
    pub most: Count,
    /// The methods that differ between these two JVMs, the largest difference first.
    pub methods: Vec<(String, Change)>,
    /// The outermost context whose own counts differ between two JVMs.
    pub first: Option<FirstDifference>,
    /// The calls whose results may differ, with their number.
    pub causes: Vec<(Cause, u128)>,
}

/// A context whose own counts differ.
#[derive(Debug, PartialEq, Eq)]
pub struct FirstDifference {
    /// Its methods, outermost first, as reports write them.
    pub path: Vec<String>,
    /// Its own counts in both JVMs.
    pub own: Change,
    /// Its calls in both JVMs.
    pub calls: Change,
}

impl Variation {
    /// The variation of several runs of one entry; `None` if their counts are the same.
    pub fn of(runs: &[EntryRun], metric: Metric) -> Option<Variation> {
        let key = |run: &&EntryRun| (run.counts.all.of(metric), run.counts.all.calls);
        let (least, most) = (runs.iter().min_by_key(key)?, runs.iter().max_by_key(key)?);
        // Two JVMs may execute as much, in different methods.
        let differs = |run: &&EntryRun| !least.counts.changes_to(&run.counts, metric).is_empty();
        let other = Some(most).filter(differs).or_else(|| runs.iter().find(differs))?;
        Some(Variation {
            jvms: runs.len(),
            least: least.counts.all,
            most: most.counts.all,
            methods: least.counts.changes_to(&other.counts, metric),
            first: first_difference(&least.profile, &other.profile),
            causes: causes(&other.profile),
        })
    }

    /// The difference of the number that the metric compares.
    pub fn range(&self, metric: Metric) -> Change {
        Change { base: self.least.of(metric), new: self.most.of(metric) }
    }
}

fn first_difference(a: &Profile, b: &Profile) -> Option<FirstDifference> {
    let options = DiffOptions { limit: CONTEXTS, ..DiffOptions::default() };
    let found = diff(a.clone().into(), b.clone().into(), &options, &Origins::default()).ok()?;
    let first = found.largest_contexts.iter().min_by_key(|context| context.path.len())?;
    let names = first.path.iter().filter_map(|&name| found.names.get(name as usize));
    Some(FirstDifference {
        path: names.map(|name| name.readable.clone()).collect(),
        own: first.own,
        calls: first.calls,
    })
}

#[cfg(test)]
mod tests {
    use super::super::counts::Counts;
    use super::*;
    use cct_profile::contexts::read_contexts;

    fn run(time: u64, below: u64) -> EntryRun {
        let list = format!(
            "1 5 app.A.run()V\n1 {time} app.A.run()V;app.A.time()V\n\
             1 {below} app.A.run()V;app.A.time()V;app.A.b()V\n"
        );
        let profile = read_contexts(list.as_bytes()).unwrap().profile;
        let count = |bytecodes: u64| Count { calls: 1, bytecodes: bytecodes.into() };
        let methods = [("app.A.run()V", 5), ("app.A.time()V", time), ("app.A.b()V", below)];
        let all = Count { calls: 3, bytecodes: u128::from(5 + time + below) };
        let methods = methods.map(|(name, bytecodes)| (name.to_owned(), count(bytecodes)));
        EntryRun { profile, counts: Counts { all, program: all, methods: methods.into() }, elsewhere: 0 }
    }

    #[test]
    fn the_outermost_difference_is_the_first() {
        assert_eq!(Variation::of(&[run(7, 1), run(7, 1)], Metric::Bytecodes), None);
        let found = Variation::of(&[run(8, 30), run(7, 10), run(9, 20)], Metric::Bytecodes).unwrap();
        assert_eq!((found.jvms, found.range(Metric::Bytecodes)), (3, Change { base: 22, new: 43 }));
        let first = found.first.unwrap();
        assert_eq!((first.path.len(), first.own), (2, Change { base: 7, new: 8 }));
        assert!(first.path[1].contains("A.time"), "{:?}", first.path);
    }

    #[test]
    fn equal_sums_hide_no_difference() {
        let found = Variation::of(&[run(7, 3), run(3, 7)], Metric::Bytecodes).unwrap();
        assert_eq!((found.range(Metric::Bytecodes).size(), found.methods.len()), (0, 2));
    }
}
