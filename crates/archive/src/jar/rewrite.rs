//! Rewrites a jar: decides and compresses in parallel, writes in order.

use std::borrow::Cow;
use std::io::{self, Write};

use rayon::prelude::*;

use super::writer::{JarWriter, PackedEntry};
use super::{DEFLATED, Jar, STORED};
use crate::codec;
use crate::container::Container;
use crate::entry::{Entry, EntryKind, Method};
use crate::error::{EntryProblem, Error, Failure, Notice};
use crate::layout::Layout;
use crate::location::{ArchivePath, Location};
use crate::manifest::{self, strip_digests};
use crate::pipeline;
use crate::rewrite::{Action, NewEntry, Pass, RewriteAccount, Rewriter, check_collisions};

/// Writes `jar` to `out` with the changes that the rewriter of `pass` makes.
pub(crate) fn rewrite<R: Rewriter, W: Write + Send>(
    pass: &Pass<'_, R>,
    jar: &Jar<'_>,
    archive: &ArchivePath<'_>,
    out: W,
) -> Result<RewriteAccount<R::Record>, Failure<R::Error>> {
    let level = pass.options.level;
    let entries = jar.entries();
    let mut leading = pass.leading(archive)?;
    let attributes = attributes(pass, archive);
    if !attributes.is_empty() && !entries.iter().any(|entry| entry.kind == EntryKind::Manifest) {
        let bytes = manifest::with_main_attributes(b"", attributes);
        leading.insert(0, NewEntry { name: manifest::NAME.to_owned(), bytes, method: Method::Deflated });
    }
    let packed_leading = pack_new(&leading, archive, level)?;
    let leading_at = entries.iter().take_while(|entry| is_head(entry)).count();

    // The manifest of a signed jar comes first and depends on what becomes of the last class. So
    // the window must hold the whole jar.
    let signed = entries.iter().any(|entry| entry.kind == EntryKind::Signature);
    let window = if signed { u64::MAX } else { pass.options.window_bytes.min(u64::MAX - 1) };

    let mut dropped = vec![false; entries.len()];
    let mut total = RewriteAccount::default();
    let mut writer = JarWriter::new(out, jar).map_err(write_error(archive))?;
    let write_leading = |writer: &mut JarWriter<W>| {
        leading.iter().zip(&packed_leading).try_for_each(|(new, packed)| writer.add(&new.name, packed))
    };
    pipeline::in_order(
        entries.len(),
        window,
        // Counts the packed size, too: an entry that is only copied may be large.
        |index| entries[index].size.max(jar.packed(index).len() as u64),
        |index| step(pass, jar, &Location { archive, index, entry: &entries[index] }),
        |start, mut steps| {
            if signed && steps.iter().any(|step| !matches!(step.fate, Fate::Keep)) {
                remove_signature(jar, archive, &mut steps, pass)?;
            }
            for (offset, step) in steps.into_iter().enumerate() {
                let index = start + offset;
                if index == leading_at {
                    write_leading(&mut writer).map_err(write_error(archive))?;
                }
                match step.fate {
                    Fate::Keep => writer.copy(jar, index),
                    Fate::Replace(packed) => writer.replace(jar, index, &packed),
                    Fate::Drop => {
                        dropped[index] = true;
                        Ok(())
                    }
                }
                .map_err(write_error(&Location {
                    archive,
                    index,
                    entry: &entries[index],
                }))?;
                total.add(step.account);
            }
            Ok(())
        },
    )?;
    if leading_at == entries.len() {
        write_leading(&mut writer).map_err(write_error(archive))?;
    }

    let trailing = pass.trailing(archive, &total.records)?;
    for (new, packed) in trailing.iter().zip(&pack_new(&trailing, archive, level)?) {
        writer.add(&new.name, packed).map_err(write_error(archive))?;
    }
    let kept = entries.iter().zip(&dropped).filter(|&(_, &dropped)| !dropped).map(|(entry, _)| &*entry.name);
    check_collisions(leading.iter().chain(&trailing), kept, archive)?;
    total.tally.added += (leading.len() + trailing.len()) as u64;
    writer.finish(jar).map_err(write_error(archive))?;
    Ok(total)
}

/// The attributes to add to the archive's manifest. Only a plain input gets them, no nested
/// archive.
fn attributes<'p, R>(pass: &Pass<'p, R>, archive: &ArchivePath<'_>) -> &'p [(String, String)] {
    if archive.depth() == 0 && archive.layout() == Layout::Plain { &pass.options.manifest } else { &[] }
}

/// Whether an entry must precede added ones.
fn is_head(entry: &Entry) -> bool {
    entry.kind == EntryKind::Manifest || &*entry.name == "META-INF/"
}

/// The action on an entry, ready to be written.
struct Step<T> {
    fate: Fate,
    account: RewriteAccount<T>,
}

enum Fate {
    Keep,
    Replace(PackedEntry<'static>),
    Drop,
}

/// Decides about one entry and compresses its new contents. Runs in parallel.
fn step<R: Rewriter>(
    pass: &Pass<'_, R>,
    jar: &Jar<'_>,
    at: &Location<'_>,
) -> Result<Step<R::Record>, Failure<R::Error>> {
    let decision = pass.decide(jar, at)?;
    let attributes = attributes(pass, at.archive);
    let fate = match decision.action {
        Action::Keep if at.entry.kind == EntryKind::Manifest && !attributes.is_empty() => {
            let bytes = jar.read(at.index, &pass.budget).map_err(Error::entry(at))?;
            let bytes = manifest::with_main_attributes(&bytes, attributes);
            Fate::Replace(
                pack(bytes, jar.record(at.index).method, pass.options.level).map_err(Error::entry(at))?,
            )
        }
        Action::Keep => Fate::Keep,
        Action::Drop => Fate::Drop,
        Action::Replace(bytes) => Fate::Replace(
            pack(bytes, jar.record(at.index).method, pass.options.level).map_err(Error::entry(at))?,
        ),
    };
    Ok(Step { fate, account: decision.account })
}

/// Packs contents by the compression method of the entry that they replace.
fn pack(bytes: Vec<u8>, method: u16, level: u32) -> Result<PackedEntry<'static>, EntryProblem> {
    match method {
        STORED => Ok(PackedEntry::stored(bytes)),
        DEFLATED => Ok(PackedEntry::deflated(&bytes, codec::deflate(&bytes, level)?)),
        other => Err(EntryProblem::Method(other)),
    }
}

fn pack_new<'n, E: Send>(
    new: &'n [NewEntry],
    archive: &ArchivePath<'_>,
    level: u32,
) -> Result<Vec<PackedEntry<'n>>, Failure<E>> {
    let packed: Vec<_> = new
        .par_iter()
        .map(|new| match new.method {
            Method::Stored => Ok(PackedEntry::stored(Cow::Borrowed(new.bytes.as_slice()))),
            Method::Deflated => Ok(PackedEntry::deflated(&new.bytes, codec::deflate(&new.bytes, level)?)),
        })
        .collect();
    let named = |(packed, new): (Result<_, _>, &NewEntry)| {
        packed.map_err(|problem| Failure::Archive(Error::Entry { entry: archive.entry(&new.name), problem }))
    };
    packed.into_iter().zip(new).map(named).collect()
}

/// Drops the signature files of a jar and removes the digests from its manifests. `steps` has all
/// entries of the jar.
fn remove_signature<R: Rewriter>(
    jar: &Jar<'_>,
    archive: &ArchivePath<'_>,
    steps: &mut [Step<R::Record>],
    pass: &Pass<'_, R>,
) -> Result<(), Failure<R::Error>> {
    let (mut files, mut digests) = (Vec::new(), 0);
    for (index, (step, entry)) in steps.iter_mut().zip(jar.entries()).enumerate() {
        let tally = &mut step.account.tally;
        match (entry.kind, &step.fate) {
            (EntryKind::Signature, Fate::Keep | Fate::Replace(_)) => {
                files.push(entry.name.clone());
                *tally = Default::default();
                tally.dropped = 1;
                step.fate = Fate::Drop;
            }
            // A manifest that the rewriter replaced stays as it is.
            (EntryKind::Manifest, _) if tally.kept > 0 => {
                let at = Location { archive, index, entry };
                let stripped = strip_digests(&jar.read(index, &pass.budget).map_err(Error::entry(&at))?);
                if stripped.digests > 0 {
                    digests += stripped.digests;
                    let attributes = attributes(pass, archive);
                    let bytes = if attributes.is_empty() {
                        stripped.bytes
                    } else {
                        manifest::with_main_attributes(&stripped.bytes, attributes)
                    };
                    let packed = pack(bytes, jar.record(index).method, pass.options.level);
                    step.fate = Fate::Replace(packed.map_err(Error::entry(&at))?);
                }
            }
            _ => {}
        }
    }
    if let Some(first) = steps.first_mut() {
        let notice = Notice::SignatureRemoved { archive: archive.to_string(), files, digests };
        first.account.notices.insert(0, notice);
    }
    Ok(())
}

fn write_error<E>(at: &dyn std::fmt::Display) -> impl FnOnce(io::Error) -> Failure<E> {
    move |cause| {
        let problem = EntryProblem::Io { action: "write the output", cause };
        Failure::Archive(Error::Entry { entry: at.to_string(), problem })
    }
}
