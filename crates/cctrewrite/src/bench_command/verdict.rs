//! The verdict on an entry: whether its counts are acceptable.

use cct_profile::Metric;
use cct_profile::diff::{Change, Percentage};
use cct_profile::report::grouped;
use serde::{Deserialize, Serialize};

use super::baseline::StoredEntry;
use super::counts::{Count, Counts};
use super::entry::Entry;
use super::variation::Variation;

/// The part of the counts that is compared with the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Everything that is executed.
    All,
    /// What the program's own classes execute.
    Program {
        /// Whether numbers of methods are without the work of the library.
        has_methods: bool,
    },
}

impl Scope {
    /// The part of some counts.
    pub fn count(self, counts: &Counts) -> Count {
        match self {
            Scope::All => counts.all,
            Scope::Program { .. } => counts.program,
        }
    }
}

/// An entry, its counts, and the verdict on them.
#[derive(Debug)]
pub struct Judgement {
    /// The entry.
    pub entry: Entry,
    /// What it executes. If JVMs differ: the most, or the least where even that exceeds the limit.
    pub counts: Counts,
    /// What other threads executed meanwhile.
    pub elsewhere: u128,
    /// The verdict on the counts.
    pub verdict: Verdict,
    /// How the counts differ between JVMs; `None` if they are the same.
    pub variation: Option<Variation>,
}

/// The verdict on the counts of an entry.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// They were stored.
    Stored {
        /// What was stored before.
        before: Option<Count>,
    },
    /// The baseline does not have the entry.
    Unknown,
    /// They vary too much to be stored.
    Unsteady {
        /// The largest variation that would be stored.
        limit: Percentage,
    },
    /// Some JVMs exceed the limit, others do not, so a regression is not proved.
    Flaky {
        /// What the baseline stores: the most.
        base: u128,
    },
    /// They were compared with the baseline.
    Compared {
        /// The change of all that was executed.
        change: Change,
        /// The change of calls.
        calls: Change,
        /// The methods that have changed, the largest change first.
        methods: Vec<(String, Change)>,
        /// Whether the change exceeds the limit.
        exceeds: bool,
    },
}

impl Verdict {
    /// The verdict on the counts of several JVMs, and the counts to show.
    pub fn on<'c>(
        base: &StoredEntry,
        runs: &[&'c Counts],
        metric: Metric,
        scope: Scope,
        limit: Percentage,
    ) -> Option<(Verdict, &'c Counts)> {
        let number = |counts: &&&Counts| scope.count(counts).of(metric);
        let (least, most) = (*runs.iter().min_by_key(number)?, *runs.iter().max_by_key(number)?);
        let of = |counts| Verdict::compared(&base.counts, counts, metric, scope, limit);
        let (of_least, of_most) = (of(least), of(most));
        Some(match (of_least.fails(), of_most.fails()) {
            (true, _) => (of_least, least),
            (false, true) => (Verdict::Flaky { base: scope.count(&base.counts).of(metric) }, most),
            (false, false) => (of_most, most),
        })
    }

    /// Compares counts with those of the baseline.
    pub fn compared(base: &Counts, new: &Counts, metric: Metric, scope: Scope, limit: Percentage) -> Verdict {
        let (base_count, new_count) = (scope.count(base), scope.count(new));
        let change = Change { base: base_count.of(metric), new: new_count.of(metric) };
        let mut methods = base.changes_to(new, metric);
        if let Scope::Program { has_methods } = scope {
            methods.retain(|(name, _)| has_methods && !is_jdk(name));
        }
        let calls = Change { base: base_count.calls, new: new_count.calls };
        Verdict::Compared { change, calls, methods, exceeds: change.exceeds(limit) }
    }

    /// The kind of verdict.
    pub fn status(&self) -> Status {
        match self {
            Verdict::Stored { .. } => Status::Stored,
            Verdict::Unknown => Status::Unknown,
            Verdict::Unsteady { .. } => Status::NotRepeatable,
            Verdict::Flaky { .. } => Status::Flaky,
            Verdict::Compared { exceeds: true, .. } => Status::Exceeds,
            Verdict::Compared { .. } => Status::Passes,
        }
    }

    /// Whether `bench` must fail because of this entry.
    pub fn fails(&self) -> bool {
        self.status().fails()
    }
}

/// The kinds of verdicts, by their names in JSON and in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The counts were stored.
    Stored,
    /// The baseline does not have the entry.
    Unknown,
    /// The counts vary too much to be stored.
    #[serde(rename = "not repeatable")]
    NotRepeatable,
    /// Some JVMs exceed the limit, others do not.
    Flaky,
    /// The counts exceed the limit.
    Exceeds,
    /// The counts do not exceed the limit.
    Passes,
}

impl Status {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Status::Stored => "stored",
            Status::Unknown => "unknown",
            Status::NotRepeatable => "not repeatable",
            Status::Flaky => "flaky",
            Status::Exceeds => "exceeds",
            Status::Passes => "passes",
        }
    }

    /// Whether `bench` must fail because of an entry with this verdict.
    pub fn fails(self) -> bool {
        match self {
            Status::Stored | Status::Passes => false,
            Status::Unknown | Status::NotRepeatable | Status::Flaky | Status::Exceeds => true,
        }
    }
}

impl Judgement {
    /// Why the entry fails, as a sentence without a full stop; `None` if it does not.
    pub fn failure(&self, metric: Metric, limit: Percentage) -> Option<String> {
        let entry = &self.entry;
        Some(match &self.verdict {
            Verdict::Unknown => format!("{entry} is not in the baseline; store it with --update"),
            Verdict::Unsteady { limit } => {
                let range = self.variation.as_ref()?.range(metric);
                format!(
                    "{entry} varies between {}, by more than {limit}, and is not stored",
                    between(range, metric)
                )
            }
            Verdict::Flaky { base } => {
                let variation = self.variation.as_ref()?;
                format!(
                    "{entry} is flaky, which does not prove a regression: {} JVMs executed between {}, and \
                     {} are stored; make it repeatable, or store its range again with --update",
                    variation.jvms,
                    between(variation.range(metric), metric),
                    grouped(*base)
                )
            }
            Verdict::Compared { change, methods, exceeds: true, .. } => {
                let grown = change.percent().map_or(String::new(), |percent| format!(" ({percent:+.2} %)"));
                let most = methods.iter().find(|(_, change)| change.new > change.base);
                let most = most.map_or(String::new(), |(name, change)| {
                    format!("; {name} most, +{}", grouped(change.size()))
                });
                format!(
                    "{entry} grew from {} to {} {}{grown}, limit {limit}{most}",
                    grouped(change.base),
                    grouped(change.new),
                    metric.name()
                )
            }
            _ => return None,
        })
    }
}

/// A range in words.
fn between(range: Change, metric: Metric) -> String {
    format!("{} and {} {}", grouped(range.base), grouped(range.new), metric.name())
}

/// Whether a method, named as in a list of contexts, belongs to the JDK.
fn is_jdk(method: &str) -> bool {
    let name = method.split('(').next().unwrap_or_default();
    let class = name.rsplit_once('.').map_or(name, |(class, _)| class);
    cct_profile::origin::is_jdk_by_name(&class.replace('.', "/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(methods: &[(&str, u128)]) -> Counts {
        let mut counts = Counts::default();
        for &(name, bytecodes) in methods {
            let count = Count { calls: 1, bytecodes };
            counts.methods.insert(name.to_owned(), count);
            counts.all.calls += 1;
            counts.all.bytecodes += bytecodes;
            if !is_jdk(name) {
                counts.program.calls += 1;
                counts.program.bytecodes += bytecodes;
            }
        }
        counts
    }

    fn judged(base: &Counts, new: &Counts, scope: Scope, limit: &str) -> Verdict {
        Verdict::compared(base, new, Metric::Bytecodes, scope, limit.parse().unwrap())
    }

    #[test]
    fn growth_above_the_limit_fails_and_names_the_method() {
        let base = counts(&[("app.A.a()V", 100), ("java.lang.String.length()I", 100)]);
        let new = counts(&[("app.A.a()V", 103), ("java.lang.String.length()I", 100), ("app.A.b()V", 1)]);
        let verdict = judged(&base, &new, Scope::All, "1");
        let Verdict::Compared { change, methods, exceeds, .. } = &verdict else { panic!("{verdict:?}") };
        assert_eq!((*change, *exceeds), (Change { base: 200, new: 204 }, true));
        let names: Vec<&str> = methods.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["app.A.a()V", "app.A.b()V"]);
        assert!(!judged(&base, &new, Scope::All, "2").fails());
        assert!(judged(&base, &new, Scope::Program { has_methods: true }, "2").fails());
        assert!(!judged(&new, &base, Scope::All, "0").fails(), "less is no failure");
    }

    #[test]
    fn a_flaky_entry_is_no_regression() {
        let stored = |bytecodes| StoredEntry { counts: counts(&[("app.A.a()V", bytecodes)]), least: None };
        let (low, high) = (counts(&[("app.A.a()V", 100)]), counts(&[("app.A.a()V", 110)]));
        let on = |base, limit: &str| {
            let runs = [&high, &low, &high];
            Verdict::on(&stored(base), &runs, Metric::Bytecodes, Scope::All, limit.parse().unwrap()).unwrap()
        };
        assert_eq!(on(105, "0"), (Verdict::Flaky { base: 105 }, &high));
        assert!(on(105, "0").0.fails());
        let (all_exceed, shown) = on(90, "0");
        assert!(matches!(&all_exceed, Verdict::Compared { exceeds: true, .. }), "{all_exceed:?}");
        assert_eq!(shown, &low);
        assert!(!on(110, "0").0.fails(), "within the stored range");
        assert!(!on(105, "5").0.fails());
    }

    #[test]
    fn a_status_has_one_name() {
        use Status::{Exceeds, Flaky, NotRepeatable, Passes, Stored, Unknown};
        for status in [Stored, Unknown, NotRepeatable, Flaky, Exceeds, Passes] {
            assert_eq!(serde_json::to_value(status).unwrap(), status.name());
        }
    }

    #[test]
    fn another_jdk_s_methods_do_not_count_for_the_program() {
        let base = counts(&[("app.A.a()V", 100), ("java.lang.String.length()I", 100)]);
        let new = counts(&[("app.A.a()V", 100), ("java.lang.String.length()I", 200)]);
        let verdict = judged(&base, &new, Scope::Program { has_methods: true }, "0");
        let Verdict::Compared { change, methods, exceeds, .. } = &verdict else { panic!("{verdict:?}") };
        assert_eq!((*change, methods.len(), *exceeds), (Change { base: 100, new: 100 }, 0, false));
    }
}
