//! The result of a difference.

use super::change::{Change, Percentage};
use crate::Metric;
use crate::labels::By;
use crate::pair::{Mismatch, Remark, Share};

/// A method, or a group of methods, that has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedMethod {
    /// The method's name, as a position in [`Difference::names`].
    pub name: u32,
    /// The method's calls.
    pub calls: Change,
    /// The method's own count.
    pub own: Change,
    /// The method's inclusive count; recursion counts once.
    pub inclusive: Change,
}

/// A context that has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedContext {
    /// The context's frames, outermost first, as positions in [`Difference::names`].
    pub path: Vec<u32>,
    /// The context's calls.
    pub calls: Change,
    /// The context's own count.
    pub own: Change,
}

/// The name of a method or group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The exact name, as in a list of contexts.
    pub exact: String,
    /// The name for people: short and unique.
    pub readable: String,
}

/// Result of a difference.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Remarks for the reader of the numbers: missing parts, and differences besides the contexts.
    pub remarks: Vec<Remark>,
    /// The parts of the base and of the new profile that the selection keeps; `None` if it is
    /// everything.
    pub shares: Option<[Share; 2]>,
    /// Differences of the recordings that make counts differ even if the program does the same.
    pub mismatches: Vec<Mismatch>,
    /// The change of the total, in percent, that recordings of one version may show; 0 if unknown.
    pub noise_percent: u8,
    /// The metric.
    pub metric: Metric,
    /// The kind of rows.
    pub by: By,
    /// Number of contexts.
    pub contexts: Change,
    /// All calls.
    pub calls: Change,
    /// All bytecodes, where they are compared.
    pub bytecodes: Option<Change>,
    /// Number of contexts that have different counts, or are in only one of the two. 0 if the two
    /// are identical.
    pub changed_contexts: u64,
    /// Number of these that are not in [`Difference::largest_contexts`], because of the limit or as
    /// too small.
    pub unlisted_contexts: u64,
    /// The contexts that have changed most.
    pub largest_contexts: Vec<ChangedContext>,
    /// All methods with changed own or inclusive counts, except those hidden as too small; sorted.
    pub methods: Vec<ChangedMethod>,
    /// Number of methods that have changed.
    pub changed_methods: usize,
    /// The names.
    pub names: Vec<Name>,
}

/// Limits of changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// For the total.
    pub total: Option<Percentage>,
    /// For a method's own count.
    pub method: Option<Percentage>,
}

/// A change above its limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excess<'d> {
    /// The method; `None` for the total.
    pub method: Option<&'d Name>,
    /// The change.
    pub change: Change,
    /// The limit.
    pub limit: Percentage,
}

impl Difference {
    /// Whether both have the same contexts with the same counts.
    pub fn is_identical(&self) -> bool {
        self.changed_contexts == 0
    }

    /// Whether part of an input is missing, so that no result is certain.
    pub fn is_incomplete(&self) -> bool {
        self.remarks.iter().any(|remark| matches!(remark, Remark::Incomplete(..) | Remark::Marker { .. }))
    }

    /// The change of the total.
    pub fn total(&self) -> Change {
        match self.metric {
            Metric::Calls | Metric::Allocations => self.calls,
            Metric::Bytecodes | Metric::Cost(_) | Metric::Column(_) => self.bytecodes.unwrap_or_default(),
        }
    }

    /// Whether a change may be chance: recordings of one version may differ as much
    /// (docs/use/diff.md).
    pub fn may_be_noise(&self, change: Change) -> bool {
        let noise = self.total().base.saturating_mul(self.noise_percent.into());
        change.size().saturating_mul(100) < noise
    }

    /// Counts that have grown above their limits: the total first, then methods, in their order.
    /// Methods that were hidden as too small are not among them.
    pub fn excesses(&self, limits: Limits) -> Vec<Excess<'_>> {
        let mut excesses = Vec::new();
        if let Some(limit) = limits.total.filter(|&limit| self.total().exceeds(limit)) {
            excesses.push(Excess { method: None, change: self.total(), limit });
        }
        let Some(limit) = limits.method else { return excesses };
        let methods = self.methods.iter().filter(|method| method.own.exceeds(limit));
        excesses.extend(methods.map(|method| Excess {
            method: self.names.get(method.name as usize),
            change: method.own,
            limit,
        }));
        excesses
    }
}
