//! Rewriting of an image: decisions in parallel, writing in order.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};

use super::Image;
use super::writer::{ImageWriter, Problem};
use crate::container::Container;
use crate::error::{EntryProblem, Error, Failure};
use crate::location::{ArchivePath, Location};
use crate::pipeline;
use crate::rewrite::{Action, NewEntry, Pass, RewriteAccount, Rewriter, check_collisions};

/// Size of the buffer for the scratch file, in bytes.
const WRITE_BUFFER: usize = 1 << 20;

/// Writes `image` to `out`, with the changes of the rewriter of `pass`. The index comes first in
/// the file, but depends on all contents. So the contents are first written to `scratch`, an empty
/// file.
pub(crate) fn rewrite<R: Rewriter>(
    pass: &Pass<'_, R>,
    image: &Image,
    archive: &ArchivePath<'_>,
    out: &mut File,
    scratch: File,
) -> Result<RewriteAccount<R::Record>, Failure<R::Error>> {
    let entries = image.entries();
    let leading = pass.leading(archive)?;
    let mut writer = ImageWriter::new(image, BufWriter::with_capacity(WRITE_BUFFER, scratch));
    add_all(&mut writer, &leading, archive)?;

    let mut dropped = vec![false; entries.len()];
    let mut total = RewriteAccount::default();
    pipeline::in_order(
        entries.len(),
        pass.options.window_bytes.min(u64::MAX - 1),
        |index| entries[index].size,
        |index| pass.decide(image, &Location { archive, index, entry: &entries[index] }),
        |start, window| {
            for (offset, decision) in window.into_iter().enumerate() {
                let index = start + offset;
                let written = match decision.action {
                    Action::Keep => writer.copy(index),
                    Action::Replace(bytes) => writer.replace(index, &bytes),
                    Action::Drop => {
                        dropped[index] = true;
                        Ok(())
                    }
                };
                written.map_err(|cause| {
                    write_error(&Location { archive, index, entry: &entries[index] }, cause)
                })?;
                total.add(decision.account);
            }
            Ok(())
        },
    )?;

    let trailing = pass.trailing(archive, &total.records)?;
    add_all(&mut writer, &trailing, archive)?;
    let kept = entries.iter().zip(&dropped).filter(|&(_, &dropped)| !dropped).map(|(entry, _)| &*entry.name);
    check_collisions(leading.iter().chain(&trailing), kept, archive)?;
    total.tally.added += (leading.len() + trailing.len()) as u64;

    let (index, contents) = writer.finish().map_err(|problem| match problem {
        Problem::Io(cause) => write_error(archive, cause),
        Problem::Image(problem) => Failure::Archive(Error::Archive { archive: archive.to_string(), problem }),
    })?;
    let assemble = || {
        let mut buffered = BufWriter::with_capacity(WRITE_BUFFER, &*out);
        index.write(&mut buffered)?;
        buffered.flush()?;
        drop(buffered);
        let mut contents = contents.into_inner().map_err(io::IntoInnerError::into_error)?;
        contents.rewind()?;
        io::copy(&mut contents, out)
    };
    assemble().map_err(|cause| write_error(archive, cause))?;
    Ok(total)
}

fn add_all<W: Write, E>(
    writer: &mut ImageWriter<'_, W>,
    new: &[NewEntry],
    archive: &ArchivePath<'_>,
) -> Result<(), Failure<E>> {
    for entry in new {
        let added = writer.add(&entry.name, &entry.bytes);
        added.map_err(Error::entry(&archive.entry(&entry.name)))?;
    }
    Ok(())
}

fn write_error<E>(at: &dyn std::fmt::Display, cause: io::Error) -> Failure<E> {
    let problem = EntryProblem::Io { action: "write the output", cause };
    Failure::Archive(Error::Entry { entry: at.to_string(), problem })
}
