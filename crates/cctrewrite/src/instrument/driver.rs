//! What becomes of each entry of an input: classes are rewritten, and each archive gets its index and, if it holds
//! `java/lang/Object`, the runtime.

use cct_archive::{Action, ArchivePath, INDEX_NAME, Location, Method, NewEntry, Rewriter as ArchiveRewriter};
use cct_rewrite::index::{self, ClassRecord};
use cct_rewrite::report::ClassReport;
use cct_rewrite::{Error, Rewriter, convention};

/// What is kept of a rewritten class until its archive is complete.
#[derive(Debug)]
pub struct Record {
    /// Where it was.
    pub depth: usize,
    /// Its row in the index.
    pub class: Option<ClassRecord>,
    /// What was done.
    pub report: ClassReport,
}

/// The archive crate's rewriter, on top of ours.
pub struct Driver<'r> {
    rewriter: &'r Rewriter,
}

impl<'r> Driver<'r> {
    /// A driver.
    pub fn new(rewriter: &'r Rewriter) -> Self {
        Driver { rewriter }
    }
}

impl ArchiveRewriter for Driver<'_> {
    type Record = Record;
    type Error = Error;

    fn rewrite(&self, at: &Location<'_>, bytes: &[u8]) -> Result<(Action, Option<Record>), Error> {
        let rewritten = self.rewriter.rewrite(bytes)?;
        let record = Record { depth: at.archive.depth(), class: rewritten.record, report: rewritten.report };
        Ok((rewritten.bytes.map_or(Action::Keep, Action::Replace), Some(record)))
    }

    fn trailing(&self, archive: &ArchivePath<'_>, records: &[Record]) -> Result<Vec<NewEntry>, Error> {
        let here = records.iter().filter(|r| r.depth == archive.depth());
        let classes: Vec<ClassRecord> = here.filter_map(|r| r.class.clone()).collect();
        let mut entries = Vec::new();
        if classes.iter().any(|c| *c.name == *convention::OBJECT) {
            entries.extend(jdk_wrap::classes().iter().map(|(name, bytes)| NewEntry {
                name: format!("{name}.class"),
                bytes: bytes.to_vec(),
                method: Method::Deflated,
            }));
        }
        entries.push(NewEntry {
            name: INDEX_NAME.to_owned(),
            bytes: index::write(self.rewriter.provenance(), &classes)?,
            method: Method::Deflated,
        });
        Ok(entries)
    }
}
