//! What is recorded of a class.

use cct_index::record::ClassRecord;
use cct_markers::Marked;
use cct_rewrite::report::ClassReport;
use cct_verify::{Finding, Tally};

/// What is kept of a rewritten class until its archive is complete.
#[derive(Debug)]
pub struct Record {
    /// Where it was.
    pub depth: usize,
    /// Its row in the index.
    pub class: Option<ClassRecord>,
    /// Its static side, if it is traced.
    pub structure: Option<Vec<u8>>,
    /// What was done.
    pub report: ClassReport,
    /// Its markers, if any stand beside.
    pub marked: Marked,
    /// What a check against the original gave, if there was one.
    pub check: Option<Box<(Vec<Finding>, Tally)>>,
}
