//! Records of rewritten classes.

use cct_index::record::ClassRecord;
use cct_markers::MarkedClass;
use cct_rewrite::report::ClassReport;
use cct_verify::{Finding, Tally};

/// The record of a rewritten class, kept until its archive is complete.
#[derive(Debug)]
pub struct Record {
    /// The depth of its archive: 0 for the input itself.
    pub depth: usize,
    /// Its row in the index.
    pub class: Option<ClassRecord>,
    /// Its static side, if it is traced.
    pub structure: Option<Vec<u8>>,
    /// The report of its rewriting.
    pub report: ClassReport,
    /// Its markers; none without rules.
    pub marked: MarkedClass,
    /// The findings and the tally of the check against its original, if it was checked.
    pub check: Option<Box<(Vec<Finding>, Tally)>>,
}
