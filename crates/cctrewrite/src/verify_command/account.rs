//! What a check has found.

use std::collections::BTreeSet;

use cct_verify::{Finding, Links, Tally, linked};

/// What was found in a class.
#[derive(Debug)]
pub struct Found {
    /// Where the rewritten class is, or the original, if it has no other.
    pub place: String,
    /// What is wrong with it.
    pub findings: Vec<What>,
}

/// What may be wrong with a class.
#[derive(Debug)]
pub enum What {
    /// Something in it.
    Finding(Finding),
    /// It has no counterpart.
    Alone(&'static str),
    /// It calls an extended form that is not there.
    Missing(String),
}

/// What was checked.
#[derive(Debug, Default)]
pub struct Account {
    /// Classes, methods and so on.
    pub tally: Tally,
    /// Classes with findings, in the order of the rewritten classes, those that are missing behind
    /// them.
    pub found: Vec<Found>,
    /// Classes of the runtime, which the output has beside its own.
    pub runtime: u64,
    /// Classes of the original that a patch leaves out.
    pub left_out: u64,
    /// Hashes of the originals, where the static side of a trace is looked at.
    pub(crate) originals: BTreeSet<u64>,
    /// What the classes want of each other.
    pub(crate) links: Vec<Links>,
    /// References to extended forms that lead to one, and such as cannot be followed in what was
    /// given.
    pub linked: (u64, u64),
    /// Call sites that count a callee that is there, and such whose callee is not in what was
    /// given.
    pub counted: (u64, u64),
}

impl Account {
    pub(crate) fn add(&mut self, place: String, findings: Vec<Finding>, tally: Tally) {
        self.tally.add(tally);
        if !findings.is_empty() {
            let findings = findings.into_iter().map(What::Finding).collect();
            self.found.push(Found { place, findings });
        }
    }

    pub(crate) fn alone(&mut self, place: String, why: &'static str) {
        self.found.push(Found { place, findings: vec![What::Alone(why)] });
    }

    /// Looks for the extended forms that classes call, and for the callees that they count.
    pub(crate) fn link(&mut self) {
        let linked = linked::follow(&std::mem::take(&mut self.links));
        self.linked = (linked.found, linked.unknown);
        self.counted = (linked.counted, linked.uncounted);
        self.tally.unknown_ids = self.tally.unknown_ids.saturating_sub(linked.ids);
        for (class, finding) in linked.wrong {
            self.found.push(Found { place: class, findings: vec![What::Finding(finding)] });
        }
        for (class, callee) in linked.missing {
            let findings = vec![What::Missing(callee)];
            self.found.push(Found { place: class, findings });
        }
    }

    /// Number of findings.
    pub fn findings(&self) -> usize {
        self.found.iter().map(|found| found.findings.len()).sum()
    }
}
