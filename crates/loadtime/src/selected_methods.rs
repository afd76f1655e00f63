//! The methods and classes that the user named, and how they matched.

use std::collections::{BTreeMap, BTreeSet};

use cct_arena::layout::node::MERGED_MID;
use cct_rewrite::filter::Filter;
use cct_rewrite::marks::Marks;
use cct_rewrite::report::ClassReport;

/// The user's selection: the methods, where they were found, and which classes are recorded.
#[derive(Debug, Default)]
pub struct Selection {
    /// The methods as the user named them.
    pub marks: Marks,
    /// Which classes are recorded.
    pub filter: Filter,
    /// Whether loaders distinguish classes of one name.
    pub by_loader: bool,
    /// The ids of the nodes of each extent that was found; empty where its class is not recorded.
    pub(crate) extents: BTreeMap<usize, BTreeSet<u64>>,
    pub(crate) starts: BTreeSet<usize>,
    /// For each extent, why methods cannot be extents.
    pub(crate) refused: BTreeMap<usize, BTreeSet<String>>,
}

impl Selection {
    /// The rules by which a class is rewritten.
    pub fn rules(&self) -> (Marks, Filter) {
        (self.marks.clone(), self.filter.clone())
    }

    /// Records the matches in a rewritten class.
    pub fn found(&mut self, report: &ClassReport) {
        for (extent, mid) in &report.extents {
            self.extents.entry(*extent).or_default().extend(mid.map(|mid| mid.0));
        }
        self.starts.extend(&report.starts);
        for (extent, method, why) in &report.refused_extents {
            self.refused.entry(*extent).or_default().insert(format!("{method} cannot be an extent: {why}"));
        }
    }

    /// Remarks on the methods for the profile. `mids` says whether a node with an id exists.
    pub(crate) fn remarks(&self, mids: impl Fn(u64) -> bool) -> Vec<String> {
        const NOT_FOUND: &str = "no class with this method was rewritten at load time";
        let mut remarks: Vec<String> = self.refused.values().flatten().cloned().collect();
        for (place, method) in self.marks.extents.iter().enumerate() {
            match self.extents.get(&place) {
                None if self.refused.contains_key(&place) => {}
                None => remarks.push(format!("the extent {} was not found: {NOT_FOUND}", method.text())),
                // Unknown for merged contexts.
                Some(ids) if !ids.is_empty() && !ids.iter().any(|&id| mids(id)) && !mids(MERGED_MID) => {
                    remarks.push(format!("the extent {} was never entered", method.text()));
                }
                Some(_) => {}
            }
        }
        for (place, method) in self.marks.starts.iter().enumerate() {
            if !self.starts.contains(&place) {
                remarks.push(format!(
                    "{}, at which recording was to start, was not found: {NOT_FOUND}",
                    method.text()
                ));
            }
        }
        remarks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cct_rewrite::marks::MethodName;

    #[test]
    fn the_outcome_of_each_is_reported() {
        let name = |text| MethodName::parse(text).unwrap();
        let extents = ["a.A.entered", "a.A.idle", "a.A.gone", "a.A.<init>", "a.A.excluded"].map(name);
        let marks = Marks { extents: extents.into(), starts: vec![name("a.A.main")] };
        let mut selected = Selection { marks, ..Selection::default() };
        let mid = |id| Some(cct_index::mid::Mid(id));
        selected.found(&ClassReport {
            extents: vec![(0, mid(128)), (0, mid(256)), (1, mid(384)), (4, None)],
            refused_extents: vec![(3, "a/A.<init>()V".to_owned(), "why")],
            ..ClassReport::default()
        });
        let remarks = selected.remarks(|id| id == 256);
        let expected = [
            "a/A.<init>()V cannot be an extent: why",
            "the extent a.A.idle was never entered",
            "the extent a.A.gone was not found: no class with this method was rewritten at load time",
            "a.A.main, at which recording was to start, was not found: no class with this \
             method was rewritten at load time",
        ];
        assert_eq!(remarks, expected);
        let remarks = selected.remarks(|id| id == MERGED_MID);
        assert!(!remarks.iter().any(|remark| remark.contains("never entered")), "{remarks:?}");
    }
}
