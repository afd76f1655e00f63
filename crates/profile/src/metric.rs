//! Metrics: the counts of a context.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use cct_columns::Column;

use crate::meta_keys::{BYTECODES, CALLS, METRICS, METRICS_OF_OBJECTS};
use crate::{Node, Profile};

/// A count of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Calls.
    Calls,
    /// Executed bytecodes.
    Bytecodes,
    /// The cost of executed bytecodes by a cost model (docs/research/cost-models.md). It replaces
    /// their number.
    Cost(Unit),
    /// A column ([`crate::columns`]), in the result of [`Profile::by_column`]. It replaces the
    /// number of bytecodes.
    Column(Unit),
    /// Objects, in the result of [`Profile::allocations`]. They replace the number of calls.
    Allocations,
}

/// The unit of costs, or the name of a column: a word in the plural, such as `cycles`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit(&'static str);

/// Maximum length of a unit, in letters.
const LONGEST_UNIT: usize = 24;

impl Unit {
    /// The unit of that name, if it is a valid one: lower-case letters, digits and `-`, as cost
    /// models have them. Each name is kept once, for ever.
    pub fn of(word: &str) -> Option<Unit> {
        static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if !(1..=LONGEST_UNIT).contains(&word.len()) || !word.chars().all(is_plain) {
            return None;
        }
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(word) {
            return Some(Unit(known));
        }
        let word: &'static str = Box::leak(word.into());
        known.insert(word);
        Some(Unit(word))
    }

    /// The word.
    pub fn name(self) -> &'static str {
        self.0
    }
}

impl Metric {
    /// The default metric of a profile: bytecodes or their cost, or calls where nothing else was
    /// counted.
    pub fn of_profile(profile: &Profile) -> Metric {
        Metric::of_meta(profile.meta.get(METRICS).map(String::as_str))
    }

    /// The default metric by the `META` key `metrics`: `calls`, `calls+bytecodes`, `calls+UNIT`,
    /// `calls+COLUMN`.
    pub(crate) fn of_meta(metrics: Option<&str>) -> Metric {
        match metrics {
            Some("calls") => Metric::Calls,
            Some(METRICS_OF_OBJECTS) => Metric::Allocations,
            None | Some("calls+bytecodes") => Metric::Bytecodes,
            Some(other) => match other.strip_prefix("calls+").and_then(Unit::of) {
                Some(unit) if Column::named(unit.name()).is_some() => Metric::Column(unit),
                Some(unit) => Metric::Cost(unit),
                None => Metric::Bytecodes,
            },
        }
    }

    /// The metric of a column of the table.
    pub fn of_column(column: Column) -> Metric {
        // A test of the table ensures that its names are units.
        Unit::of(column.name()).map_or(Metric::Bytecodes, Metric::Column)
    }

    /// The word for the metric, in the plural.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Calls => CALLS,
            Metric::Allocations => "allocations",
            Metric::Bytecodes => BYTECODES,
            Metric::Cost(Unit(unit)) | Metric::Column(Unit(unit)) => unit,
        }
    }

    /// The word in the singular.
    pub fn one(self) -> &'static str {
        let name = self.name();
        name.strip_suffix('s').unwrap_or(name)
    }

    /// The word with a capital letter.
    pub fn capitalised(self) -> String {
        let (first, rest) = self.name().split_at(1);
        first.to_ascii_uppercase() + rest
    }

    /// The metric's count in the counts of a context.
    pub fn of(self, counts: Counts) -> u64 {
        match self {
            Metric::Calls | Metric::Allocations => counts.calls,
            Metric::Bytecodes | Metric::Cost(_) | Metric::Column(_) => counts.bytecodes,
        }
    }

    /// The metric's count in a node itself.
    pub fn of_node(self, node: &Node) -> u64 {
        match self {
            Metric::Calls | Metric::Allocations => node.calls,
            Metric::Bytecodes | Metric::Cost(_) | Metric::Column(_) => node.bytecodes,
        }
    }
}

/// Counts of a context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls.
    pub calls: u64,
    /// Executed bytecodes, their cost, or a column; 0 where they are not used.
    pub bytecodes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_says_what_it_counts() {
        let name = |metrics| Metric::of_meta(metrics).name();
        assert_eq!(
            [name(None), name(Some("calls")), name(Some("calls+bytecodes"))],
            ["bytecodes", "calls", "bytecodes"]
        );
        let cycles = Metric::of_meta(Some("calls+cycles"));
        assert_eq!((cycles.name(), cycles.one(), &*cycles.capitalised()), ("cycles", "cycle", "Cycles"));
        assert_eq!(cycles, Metric::of_meta(Some("calls+cycles")));
        assert_ne!(cycles, Metric::of_meta(Some("calls+ticks")));
        let monitors = Metric::of_meta(Some("calls+monitors"));
        assert!(matches!(monitors, Metric::Column(unit) if unit.name() == "monitors"));
        // Values that no writer produces are not shown.
        for odd in ["calls+", "calls+<b>", "calls+\u{1b}[2J", "calls+averyveryverylongwordforaunit", "other"]
        {
            assert_eq!(name(Some(odd)), "bytecodes", "{odd:?}");
        }
    }
}
