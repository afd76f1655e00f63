//! A single class file, outside of archives.

use std::borrow::Cow;
use std::io::Write;
use std::path::Path;

use crate::container::Container;
use crate::entry::{Entry, EntryKind};
use crate::error::{EntryProblem, Error, Failure};
use crate::limits::Budget;
use crate::location::{ArchivePath, Location};
use crate::rewrite::{Action, Pass, RewriteAccount, Rewriter};

/// The first bytes of a class file (JVMS 4.1).
const MAGIC: [u8; 4] = [0xCA, 0xFE, 0xBA, 0xBE];

/// A class file as a container of one entry with the file's name.
#[derive(Debug)]
pub(crate) struct LoneClass {
    bytes: Vec<u8>,
    entry: [Entry; 1],
}

impl LoneClass {
    /// Whether a file begins like a class file.
    pub(crate) fn is_announced_by(bytes: &[u8]) -> bool {
        bytes.starts_with(&MAGIC)
    }

    /// The file at `path`, with its contents.
    pub(crate) fn new(path: &Path, bytes: Vec<u8>) -> LoneClass {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let entry = Entry { name: name.into(), kind: EntryKind::Class, size: bytes.len() as u64 };
        LoneClass { bytes, entry: [entry] }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Container for LoneClass {
    fn entries(&self) -> &[Entry] {
        &self.entry
    }

    fn read(&self, _: usize, budget: &Budget<'_>) -> Result<Cow<'_, [u8]>, EntryProblem> {
        budget.check_size(self.bytes.len() as u64)?;
        Ok(Cow::Borrowed(&self.bytes))
    }
}

/// Writes the class to `out` (`shown` in messages), with the changes of the rewriter of `pass`.
/// There is no place for added entries, so the rewriter is not asked for them.
pub(crate) fn rewrite<R: Rewriter>(
    pass: &Pass<'_, R>,
    lone: &LoneClass,
    archive: &ArchivePath<'_>,
    shown: &Path,
    out: &mut dyn Write,
) -> Result<RewriteAccount<R::Record>, Failure<R::Error>> {
    let at = Location { archive, index: 0, entry: &lone.entry[0] };
    let decision = pass.decide(lone, &at)?;
    let bytes = match &decision.action {
        Action::Keep => &lone.bytes,
        Action::Replace(bytes) => bytes,
        Action::Drop => return Err(Error::entry(&at)(EntryProblem::Undroppable).into()),
    };
    out.write_all(bytes).map_err(Error::io(shown, "write"))?;
    Ok(decision.account)
}
