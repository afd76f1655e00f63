//! The caller's actions on entries, and how each entry's action is decided in any container.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::container::Container;
use crate::entry::{EntryKind, Method};
use crate::error::{EntryProblem, Error, Failure, Notice};
use crate::jar;
use crate::limits::Budget;
use crate::location::{ArchivePath, Location};
use crate::survey::open_nested;

/// The action on an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Copy it unchanged.
    Keep,
    /// Write it with these contents.
    Replace(Vec<u8>),
    /// Drop it.
    Drop,
}

/// An entry that the caller adds to an archive. In a jar it is dated 1980-01-01.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEntry {
    /// The entry's name: relative, parts separated by `/`.
    pub name: String,
    /// The entry's contents.
    pub bytes: Vec<u8>,
    /// How a jar stores it.
    pub method: Method,
}

/// Options of a rewrite, besides the limits of the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewriteOptions {
    /// Deflate level of replaced and added entries, 0 (fastest) to 9 (smallest).
    pub level: u32,
    /// Bytes of entries (before compression) that are processed between two writes. A larger window
    /// gives threads more to share and takes more memory.
    pub window_bytes: u64,
    /// Attributes for the main section of the manifest, if the input is a jar; a manifest is added
    /// if there is none.
    pub manifest: Vec<(String, String)>,
}

impl Default for RewriteOptions {
    /// Level 6, which is the JDK's default, 16 MiB, and unchanged manifests.
    fn default() -> RewriteOptions {
        RewriteOptions { level: 6, window_bytes: 16 << 20, manifest: Vec::new() }
    }
}

/// The caller's part in a rewrite. Called from many threads.
///
/// A closure `Fn(&Location, &[u8]) -> Result<Action, E>` is a rewriter that sees the classes, adds
/// nothing and records nothing.
pub trait Rewriter: Sync {
    /// The caller's record for an entry; passed to [`Rewriter::trailing`] and in
    /// [`RewriteAccount::records`].
    type Record: Send;
    /// The caller's errors.
    type Error: Send;

    /// Whether [`Rewriter::rewrite`] sees this entry; others are kept. Called for classes,
    /// resources, manifests and signature files; directories are kept and nested archives are
    /// walked.
    fn wants(&self, at: &Location<'_>) -> bool {
        at.entry.kind == EntryKind::Class
    }

    /// Decides about one entry.
    fn rewrite(&self, at: &Location<'_>, bytes: &[u8])
    -> Result<(Action, Option<Self::Record>), Self::Error>;

    /// Entries to add at the start of an archive: after its `META-INF/` directory and manifest,
    /// which `java.util.jar.JarInputStream` finds only there. Called before any entry of the
    /// archive is rewritten, for the input and for each archive nested in it.
    fn leading(&self, _archive: &ArchivePath<'_>) -> Result<Vec<NewEntry>, Self::Error> {
        Ok(Vec::new())
    }

    /// Entries to add at the end of an archive. Called after all entries of the archive were
    /// rewritten, with the records of them and of archives nested in it, in input order.
    fn trailing(
        &self,
        _archive: &ArchivePath<'_>,
        _records: &[Self::Record],
    ) -> Result<Vec<NewEntry>, Self::Error> {
        Ok(Vec::new())
    }
}

impl<F, E> Rewriter for F
where
    F: Fn(&Location<'_>, &[u8]) -> Result<Action, E> + Sync,
    E: Send,
{
    type Record = ();
    type Error = E;

    fn rewrite(&self, at: &Location<'_>, bytes: &[u8]) -> Result<(Action, Option<()>), E> {
        self(at, bytes).map(|action| (action, None))
    }
}

/// Number of entries for each action, including those of nested archives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Copied unchanged.
    pub kept: u64,
    /// Written with new contents; counts neither nested archives nor manifests that lost their
    /// digests.
    pub replaced: u64,
    /// Dropped, including signature files.
    pub dropped: u64,
    /// Added.
    pub added: u64,
    /// Nested archives that were opened.
    pub nested: u64,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.kept += other.kept;
        self.replaced += other.replaced;
        self.dropped += other.dropped;
        self.added += other.added;
        self.nested += other.nested;
    }

    /// Whether the output differs from the input.
    pub fn changed(&self) -> bool {
        self.replaced + self.dropped + self.added > 0
    }
}

/// The account of a rewritten input or archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewriteAccount<T> {
    /// Number of entries for each action.
    pub tally: Tally,
    /// The rewriter's records, in input order.
    pub records: Vec<T>,
    /// Notices for the user, in input order.
    pub notices: Vec<Notice>,
}

impl<T> Default for RewriteAccount<T> {
    fn default() -> RewriteAccount<T> {
        RewriteAccount { tally: Tally::default(), records: Vec::new(), notices: Vec::new() }
    }
}

impl<T> RewriteAccount<T> {
    pub(crate) fn add(&mut self, other: RewriteAccount<T>) {
        self.tally.add(other.tally);
        self.records.extend(other.records);
        self.notices.extend(other.notices);
    }
}

/// One pass over one input.
pub(crate) struct Pass<'a, R> {
    pub(crate) rewriter: &'a R,
    pub(crate) options: &'a RewriteOptions,
    pub(crate) budget: Budget<'a>,
}

/// The action on an entry, with the account of it.
pub(crate) struct Decision<T> {
    pub(crate) action: Action,
    pub(crate) account: RewriteAccount<T>,
}

impl<R: Rewriter> Pass<'_, R> {
    /// Decides about one entry: asks the rewriter, or rewrites the nested archive.
    pub(crate) fn decide(
        &self,
        container: &dyn Container,
        at: &Location<'_>,
    ) -> Result<Decision<R::Record>, Failure<R::Error>> {
        match at.entry.kind {
            EntryKind::Directory => Ok(Decision::keep()),
            EntryKind::NestedArchive => {
                let bytes = container.read(at.index, &self.budget).map_err(Error::entry(at))?;
                self.decide_nested(at, bytes)
            }
            _ if !self.rewriter.wants(at) => Ok(Decision::keep()),
            _ => {
                let bytes = container.read(at.index, &self.budget).map_err(Error::entry(at))?;
                let (action, record) = self
                    .rewriter
                    .rewrite(at, &bytes)
                    .map_err(|cause| Failure::Callback { at: at.to_string(), cause })?;
                let mut decision = Decision::of(action);
                decision.account.records.extend(record);
                Ok(decision)
            }
        }
    }

    fn decide_nested(
        &self,
        at: &Location<'_>,
        bytes: Cow<'_, [u8]>,
    ) -> Result<Decision<R::Record>, Failure<R::Error>> {
        let jar = match open_nested(at, bytes, &self.budget)? {
            Ok(jar) => jar,
            Err(notice) => {
                let mut decision = Decision::keep();
                decision.account.notices.push(notice);
                return Ok(decision);
            }
        };
        let mut out = Vec::new();
        let mut account = jar::rewrite(self, &jar, &ArchivePath::nested(at), &mut out)?;
        account.tally.nested += 1;
        // An unchanged archive is kept, including its compressed bytes.
        let action = if account.tally.changed() { Action::Replace(out) } else { Action::Keep };
        Ok(Decision { action, account })
    }

    /// The entries to add at the start of an archive.
    pub(crate) fn leading(&self, archive: &ArchivePath<'_>) -> Result<Vec<NewEntry>, Failure<R::Error>> {
        let new = self.rewriter.leading(archive);
        let new = new.map_err(|cause| Failure::Callback { at: archive.to_string(), cause })?;
        check_names(&new, archive).map(|()| new)
    }

    /// The entries to add at the end of an archive.
    pub(crate) fn trailing(
        &self,
        archive: &ArchivePath<'_>,
        records: &[R::Record],
    ) -> Result<Vec<NewEntry>, Failure<R::Error>> {
        let new = self.rewriter.trailing(archive, records);
        let new = new.map_err(|cause| Failure::Callback { at: archive.to_string(), cause })?;
        check_names(&new, archive).map(|()| new)
    }
}

impl<T> Decision<T> {
    fn keep() -> Decision<T> {
        Decision::of(Action::Keep)
    }

    fn of(action: Action) -> Decision<T> {
        let mut account = RewriteAccount::default();
        match action {
            Action::Keep => account.tally.kept = 1,
            Action::Replace(_) => account.tally.replaced = 1,
            Action::Drop => account.tally.dropped = 1,
        }
        Decision { action, account }
    }
}

/// Added names become paths below an output folder, and are loaded by name: no `..`, no roots, no
/// drive letters.
fn check_names<E>(new: &[NewEntry], archive: &ArchivePath<'_>) -> Result<(), Failure<E>> {
    for entry in new {
        let fine = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['\\', ':', '\0']);
        if !entry.name.split('/').all(fine) {
            return Err(added(archive, &entry.name, EntryProblem::BadName));
        }
    }
    Ok(())
}

/// The error that an added entry exists already, if one does. `kept` are the names that stay.
pub(crate) fn check_collisions<'n, E>(
    new: impl Iterator<Item = &'n NewEntry>,
    mut kept: impl Iterator<Item = &'n str>,
    archive: &ArchivePath<'_>,
) -> Result<(), Failure<E>> {
    let mut names = HashSet::new();
    for entry in new {
        if !names.insert(entry.name.as_str()) {
            return Err(added(archive, &entry.name, EntryProblem::NameTaken));
        }
    }
    match kept.find(|name| names.contains(name)) {
        Some(name) => Err(added(archive, name, EntryProblem::NameTaken)),
        None => Ok(()),
    }
}

fn added<E>(archive: &ArchivePath<'_>, name: &str, problem: EntryProblem) -> Failure<E> {
    Failure::Archive(Error::Entry { entry: archive.entry(name), problem })
}
