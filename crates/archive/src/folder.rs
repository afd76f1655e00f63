//! Folders of classes, jars and other files.

use std::borrow::Cow;
use std::fs::{self, Metadata, Permissions};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::container::Container;
use crate::entry::{Entry, EntryKind};
use crate::error::{EntryProblem, Error, Failure};
use crate::limits::Budget;
use crate::location::{ArchivePath, Location};
use crate::pipeline;
use crate::rewrite::{Action, NewEntry, Pass, RewriteAccount, Rewriter, check_collisions};

/// A folder with everything below it: each folder before its contents, siblings in the order of
/// their names' bytes. Symbolic links are followed if they stay inside.
#[derive(Debug)]
pub(crate) struct Folder {
    /// The canonical path.
    root: PathBuf,
    entries: Vec<Entry>,
    /// Parallel to `entries`: relative paths, whose names need not be UTF-8.
    paths: Vec<PathBuf>,
}

impl Folder {
    /// Walks the folder at `root`, a canonical path that messages call `shown`.
    pub(crate) fn walk(root: PathBuf, shown: &Path) -> Result<Folder, Error> {
        let mut folder = Folder { root, entries: Vec::new(), paths: Vec::new() };
        let start = folder.root.clone();
        folder.walk_below(&start, Path::new(""), &mut vec![start.clone()], shown)?;
        Ok(folder)
    }

    /// Lists the contents of `real`, the folder found under `relative`. `above` are the canonical
    /// folders on the way. Implemented here, since a walker follows links before the caller can
    /// check whether they stay inside.
    fn walk_below(
        &mut self,
        real: &Path,
        relative: &Path,
        above: &mut Vec<PathBuf>,
        shown: &Path,
    ) -> Result<(), Error> {
        let list = || -> std::io::Result<Vec<_>> {
            let mut names = Vec::new();
            for entry in fs::read_dir(real)? {
                names.push(entry?.file_name());
            }
            Ok(names)
        };
        let mut names = list().map_err(Error::io(shown.join(relative), "list"))?;
        // Compares bytes, whatever the locale and the order on disk.
        names.sort();
        for name in names {
            let relative = relative.join(&name);
            let at = || shown.join(&relative);
            let bad = |problem| Error::Entry { entry: at().display().to_string(), problem };
            let mut real = real.join(&name);
            let kind = fs::symlink_metadata(&real).map_err(Error::io(at(), "read"))?.file_type();
            if kind.is_symlink() {
                let target = fs::canonicalize(&real).map_err(Error::io(at(), "follow the symbolic link"))?;
                if !target.starts_with(&self.root) {
                    return Err(bad(EntryProblem::LinkOutside { target }));
                }
                real = target;
            }
            let metadata = fs::metadata(&real).map_err(Error::io(at(), "read"))?;
            if metadata.is_dir() {
                if above.contains(&real) {
                    return Err(bad(EntryProblem::LinkLoop));
                }
                self.push(relative.clone(), true, 0);
                above.push(real.clone());
                self.walk_below(&real, &relative, above, shown)?;
                above.pop();
            } else if metadata.is_file() {
                self.push(relative, false, metadata.len());
            } else {
                return Err(bad(EntryProblem::Special));
            }
        }
        Ok(())
    }

    fn push(&mut self, relative: PathBuf, is_folder: bool, size: u64) {
        let mut name = String::new();
        for part in &relative {
            if !name.is_empty() {
                name.push('/');
            }
            name.push_str(&part.to_string_lossy());
        }
        if is_folder {
            name.push('/');
        }
        self.entries.push(Entry { kind: EntryKind::of(&name), name: name.into(), size });
        self.paths.push(relative);
    }

    fn metadata(&self, index: usize) -> Result<Metadata, EntryProblem> {
        fs::metadata(self.root.join(&self.paths[index])).map_err(io("read"))
    }
}

fn io(action: &'static str) -> impl Fn(std::io::Error) -> EntryProblem {
    move |cause| EntryProblem::Io { action, cause }
}

impl Container for Folder {
    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn read(&self, index: usize, budget: &Budget<'_>) -> Result<Cow<'_, [u8]>, EntryProblem> {
        let limit = budget.limits.max_entry_bytes;
        let file = fs::File::open(self.root.join(&self.paths[index])).map_err(io("read"))?;
        let size = file.metadata().map_err(io("read"))?.len();
        budget.check_size(size)?;
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        // One byte more than the limit, in case the file is growing.
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(io("read"))?;
        budget.check_size(bytes.len() as u64)?;
        Ok(Cow::Owned(bytes))
    }
}

/// Writes `folder` below `out`, an empty folder, with the changes of the rewriter of `pass`. Files
/// keep their mode bits; links become copies of their targets; times are not kept.
pub(crate) fn rewrite<R: Rewriter>(
    pass: &Pass<'_, R>,
    folder: &Folder,
    archive: &ArchivePath<'_>,
    out: &Path,
) -> Result<RewriteAccount<R::Record>, Failure<R::Error>> {
    let entries = folder.entries();
    let at = |index: usize| Location { archive, index, entry: &entries[index] };
    let is_folder = |index: usize| entries[index].kind == EntryKind::Directory;
    let mut added = pass.leading(archive)?;

    for index in (0..entries.len()).filter(|&index| is_folder(index)) {
        let made =
            fs::create_dir(out.join(&folder.paths[index])).map_err(io("create the folder in the output"));
        made.map_err(Error::entry(&at(index)))?;
    }

    let mut dropped = vec![false; entries.len()];
    let mut total = RewriteAccount::default();
    pipeline::in_order(
        entries.len(),
        pass.options.window_bytes.min(u64::MAX - 1),
        |index| entries[index].size,
        |index| {
            // Files are written in parallel too; no two have the same path.
            let decision = pass.decide(folder, &at(index))?;
            let written = match &decision.action {
                _ if is_folder(index) => Ok(()),
                Action::Keep => copy(folder, index, out),
                Action::Replace(bytes) => replace(folder, index, bytes, out),
                Action::Drop => Ok(()),
            };
            written.map_err(Error::entry(&at(index)))?;
            Ok::<_, Failure<R::Error>>((matches!(decision.action, Action::Drop), decision.account))
        },
        |start, window| {
            for (offset, (drop, account)) in window.into_iter().enumerate() {
                dropped[start + offset] = drop;
                total.add(account);
            }
            Ok(())
        },
    )?;

    added.extend(pass.trailing(archive, &total.records)?);
    let kept = entries.iter().zip(&dropped).filter(|&(_, &dropped)| !dropped).map(|(entry, _)| &*entry.name);
    check_collisions(added.iter(), kept, archive)?;
    for new in &added {
        add(new, out).map_err(|problem| Error::Entry { entry: archive.entry(&new.name), problem })?;
    }
    total.tally.added += added.len() as u64;

    // Innermost first, and after everything else, since nothing can be created in a read-only
    // folder.
    for index in (0..entries.len()).rev().filter(|&index| is_folder(index)) {
        let set = || {
            let mode = folder.metadata(index)?.permissions();
            set_mode(&out.join(&folder.paths[index]), mode)
        };
        set().map_err(Error::entry(&at(index)))?;
    }
    Ok(total)
}

fn copy(folder: &Folder, index: usize, out: &Path) -> Result<(), EntryProblem> {
    // Copies the mode bits too.
    let copied = fs::copy(folder.root.join(&folder.paths[index]), out.join(&folder.paths[index]));
    copied.map(drop).map_err(io("copy it to the output"))
}

fn replace(folder: &Folder, index: usize, bytes: &[u8], out: &Path) -> Result<(), EntryProblem> {
    let path = out.join(&folder.paths[index]);
    fs::write(&path, bytes).map_err(io("write it to the output"))?;
    set_mode(&path, folder.metadata(index)?.permissions())
}

fn add(new: &NewEntry, out: &Path) -> Result<(), EntryProblem> {
    // The name was checked to stay below `out`; on disk, all parts but the last are folders.
    let path = out.join(&new.name);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(io("create its folder in the output"))?;
    }
    // Never overwrites a file that a case-insensitive file system takes for the same.
    let mut file = fs::File::create_new(&path).map_err(io("create it in the output"))?;
    std::io::Write::write_all(&mut file, &new.bytes).map_err(io("write it to the output"))
}

fn set_mode(path: &Path, mode: Permissions) -> Result<(), EntryProblem> {
    fs::set_permissions(path, mode).map_err(io("set the mode bits in the output"))
}
