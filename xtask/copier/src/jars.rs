//! Whole inputs: copied class by class, or converted to jars with other contents.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context as _, Result, anyhow};
use cct_archive::{Action, EntryKind, Input, Limits, Location, RewriteOptions, Target};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::class;

/// Counts of the copied classes.
pub struct CopiedSize {
    /// Number of classes.
    pub classes: u64,
    /// The classes' uncompressed size, in bytes.
    pub bytes: u64,
}

/// Copies inputs into a folder under their names, every class by [`class::copy`]; entries keep
/// their compression method.
///
/// # Errors
/// Fails if an input cannot be read, or an output cannot be written.
pub fn copy(inputs: &[&Path], folder: &Path) -> Result<CopiedSize> {
    let (classes, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
    let rewriter = |_: &Location<'_>, old: &[u8]| -> Result<Action> {
        // Only the sums matter.
        classes.fetch_add(1, Ordering::Relaxed);
        bytes.fetch_add(old.len() as u64, Ordering::Relaxed);
        Ok(Action::Replace(class::copy(old)?))
    };
    // The setting of `cctrewrite instrument --threads 1`.
    rayon::ThreadPoolBuilder::new().num_threads(1).build()?.install(|| -> Result<()> {
        for path in inputs {
            let input = Input::open(path, &Limits::default())?;
            let name = path.file_name().with_context(|| format!("{} has no name", path.display()))?;
            let target = Target::new(&folder.join(name), &[&input])?;
            let staged = input.rewrite(&target, &RewriteOptions::default(), &rewriter);
            staged.map_err(|failure| anyhow!("{}: {failure}", path.display()))?.commit()?;
        }
        Ok(())
    })?;
    Ok(CopiedSize { classes: classes.into_inner(), bytes: bytes.into_inner() })
}

/// Writes a jar with uncompressed entries: those of an input's classes whose indices `wants`
/// accepts, in the order of the input. A jar of all classes of an image also gets its resources.
///
/// # Errors
/// Fails if the input cannot be read, or the jar cannot be written.
pub fn jar(from: &Path, to: &Path, wants: &dyn Fn(usize) -> bool) -> Result<CopiedSize> {
    let input = Input::open(from, &Limits::default())?;
    let is_image = input.kind() == cct_archive::InputKind::Image;
    let mut jar = ZipWriter::new(BufWriter::new(File::create(to)?));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut counted = CopiedSize { classes: 0, bytes: 0 };
    let mut place = 0;
    for (index, entry) in input.entries().iter().enumerate() {
        let is_class = entry.kind == EntryKind::Class;
        let wanted = if is_class { wants(place) } else { is_image && entry.kind != EntryKind::Directory };
        place += usize::from(is_class);
        if !wanted {
            continue;
        }
        let bytes = input.read(index).context("an entry that is not there")??;
        counted.classes += u64::from(is_class);
        counted.bytes += if is_class { bytes.len() as u64 } else { 0 };
        jar.start_file(entry.name.trim_start_matches('/'), stored)?;
        jar.write_all(&bytes)?;
    }
    jar.finish()?.flush()?;
    Ok(counted)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::fixtures;

    #[test]
    fn parts_hold_their_share_and_are_copied_whole() {
        let work = tempfile::tempdir().unwrap();
        let (whole, part) = (work.path().join("whole.jar"), work.path().join("part.jar"));
        let mut jar = ZipWriter::new(File::create(&whole).unwrap());
        let bytes = fixtures::classes().remove(0);
        for name in ["a.txt", "A.class", "B.class", "C.class", "D.class", "E.class"] {
            jar.start_file(name, SimpleFileOptions::default()).unwrap();
            jar.write_all(&bytes).unwrap();
        }
        jar.finish().unwrap();

        let counted = super::jar(&whole, &part, &|index| index % 4 < 1).unwrap();
        assert_eq!((counted.classes, counted.bytes), (2, 2 * bytes.len() as u64));
        let names = |path: &Path| {
            let input = Input::open(path, &Limits::default()).unwrap();
            input.entries().iter().map(|entry| entry.name.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names(&part), ["A.class", "E.class"]);

        let out = work.path().join("out");
        fs::create_dir(&out).unwrap();
        let counted = copy(&[&whole, &part], &out).unwrap();
        assert_eq!(counted.classes, 7);
        assert_eq!(names(&out.join("whole.jar")).len(), 6);
        assert_eq!(names(&out.join("part.jar")), ["A.class", "E.class"]);
    }
}
