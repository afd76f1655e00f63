//! A method's treatment and its reason.

use cct_index::treatment::Treatment;

/// A method's treatment and its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Planned {
    /// The treatment.
    pub treatment: Treatment,
    /// Why, for people; empty where the treatment is the ordinary one for such a method.
    pub reason: &'static str,
}

impl Planned {
    /// What was done in an earlier run, whose reasons are not known any more.
    pub const fn settled(treatment: Treatment) -> Self {
        Planned { treatment, reason: "" }
    }
}

pub(crate) const fn planned(treatment: Treatment, reason: &'static str) -> Planned {
    Planned { treatment, reason }
}
