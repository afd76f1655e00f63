//! What becomes of each entry of an input: classes get the markers that rules give them.

use cct_archive::{Action, ArchivePath, Location, Method, NewEntry, Rewriter};
use cct_markers::{Error, Marked, Rules, World, mark};

use super::ENTRY;
use crate::inputs::BadClasses;

/// What is kept of a class.
#[derive(Debug)]
pub struct Record {
    /// Its markers.
    pub marked: Marked,
    /// Whether it has any.
    pub changed: bool,
}

/// The archive crate's rewriter.
pub struct Driver<'d> {
    pub rules: &'d Rules,
    pub world: &'d World,
    pub bad: BadClasses,
    pub lines: String,
}

impl Rewriter for Driver<'_> {
    type Record = Record;
    type Error = Error;

    fn rewrite(&self, _at: &Location<'_>, bytes: &[u8]) -> Result<(Action, Option<Record>), Error> {
        let mut marked = match mark(bytes, self.rules, self.world) {
            Err(Error::Class(_)) if self.bad == BadClasses::Keep => return Ok((Action::Keep, None)),
            other => other?,
        };
        let bytes = marked.bytes.take();
        let record = Record { marked, changed: bytes.is_some() };
        Ok((bytes.map_or(Action::Keep, Action::Replace), Some(record)))
    }

    fn trailing(&self, archive: &ArchivePath<'_>, _records: &[Record]) -> Result<Vec<NewEntry>, Error> {
        if archive.depth() > 0 {
            return Ok(Vec::new());
        }
        let bytes = self.lines.clone().into_bytes();
        Ok(vec![NewEntry { name: ENTRY.to_owned(), bytes, method: Method::Stored }])
    }
}
