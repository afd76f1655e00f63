//! A method's treatment with its reason.

use cct_index::treatment::Treatment;

/// A method's treatment and its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedTreatment {
    /// The treatment.
    pub treatment: Treatment,
    /// The reason, for people; empty for the ordinary treatment of such a method.
    pub reason: &'static str,
}

impl PlannedTreatment {
    /// A treatment from an earlier run, whose reasons are no longer known.
    pub const fn settled(treatment: Treatment) -> Self {
        PlannedTreatment { treatment, reason: "" }
    }
}

pub(crate) const fn planned(treatment: Treatment, reason: &'static str) -> PlannedTreatment {
    PlannedTreatment { treatment, reason }
}
