//! The result of a check.

use std::collections::BTreeSet;

use cct_verify::{Finding, Links, Tally, link_results};

/// What is wrong with a class.
#[derive(Debug)]
pub struct ClassFindings {
    /// Location of the rewritten class, or of the original if the output lacks the class.
    pub place: String,
    /// The findings about the class.
    pub findings: Vec<ClassFinding>,
}

/// A finding about a class.
#[derive(Debug)]
pub enum ClassFinding {
    /// Something inside the class is wrong.
    Finding(Finding),
    /// It has no counterpart.
    Alone(&'static str),
    /// It calls an extended form that is not there.
    Missing(String),
}

/// The counts and findings of a check.
#[derive(Debug, Default)]
pub struct Account {
    /// Numbers of classes, methods and so on.
    pub tally: Tally,
    /// Classes with findings: for each part of the output the rewritten classes in order, then
    /// missing ones. Findings about links between classes come last.
    pub found: Vec<ClassFindings>,
    /// Number of the runtime's classes in the output.
    pub runtime: u64,
    /// Number of original classes that a patch leaves out.
    pub left_out: u64,
    /// Hashes of the originals, if the static side of a trace is checked.
    pub(crate) originals: BTreeSet<u64>,
    /// References between classes, which `link` follows.
    pub(crate) links: Vec<Links>,
    /// Numbers of references to extended forms: those that lead to one, and those to classes that
    /// were not given.
    pub linked: (u64, u64),
    /// Numbers of call sites that count their callee: those whose callee is there, and those whose
    /// callee was not given.
    pub counted: (u64, u64),
}

impl Account {
    pub(crate) fn add(&mut self, place: String, findings: Vec<Finding>, tally: Tally) {
        self.tally.add(tally);
        if !findings.is_empty() {
            let findings = findings.into_iter().map(ClassFinding::Finding).collect();
            self.found.push(ClassFindings { place, findings });
        }
    }

    pub(crate) fn alone(&mut self, place: String, why: &'static str) {
        self.found.push(ClassFindings { place, findings: vec![ClassFinding::Alone(why)] });
    }

    /// Looks for the extended forms that classes call, and for the callees that they count.
    pub(crate) fn link(&mut self) {
        let linked = link_results::follow(&std::mem::take(&mut self.links));
        self.linked = (linked.found, linked.unknown);
        self.counted = (linked.counted, linked.uncounted);
        self.tally.unknown_ids = self.tally.unknown_ids.saturating_sub(linked.ids);
        for (class, finding) in linked.wrong {
            self.found.push(ClassFindings { place: class, findings: vec![ClassFinding::Finding(finding)] });
        }
        for (class, callee) in linked.missing {
            let findings = vec![ClassFinding::Missing(callee)];
            self.found.push(ClassFindings { place: class, findings });
        }
    }

    /// Number of findings.
    pub fn findings(&self) -> usize {
        self.found.iter().map(|found| found.findings.len()).sum()
    }
}
