//! A method's treatment with its reason.

use cct_index::treatment::Treatment;

/// A method's treatment and its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Planned {
    /// The treatment.
    pub treatment: Treatment,
    /// The reason, for people; empty for the ordinary treatment of such a method.
    pub reason: &'static str,
}

impl Planned {
    /// A treatment from an earlier run, whose reasons are no longer known.
    pub const fn settled(treatment: Treatment) -> Self {
        Planned { treatment, reason: "" }
    }
}

pub(crate) const fn planned(treatment: Treatment, reason: &'static str) -> Planned {
    Planned { treatment, reason }
}
