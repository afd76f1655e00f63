//! Jars without the `Class-Path` of their manifests.
//!
//! Debian's jars name others by absolute paths (`/usr/share/java/commons-io.jar`). If those happen
//! to be installed, they would precede the class path, and another version of them would run, not
//! rewritten.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

const MANIFEST: &str = "META-INF/MANIFEST.MF";

/// Copies the jar `from` to `to`, with its manifest without `Class-Path`; all other entries stay
/// unchanged.
///
/// # Errors
/// Fails if it cannot be read, or written.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    copied(from, to).with_context(|| format!("copy {}", from.display()))
}

fn copied(from: &Path, to: &Path) -> Result<()> {
    let mut jar = ZipArchive::new(File::open(from)?)?;
    let mut copy = ZipWriter::new(File::create(to)?);
    for index in 0..jar.len() {
        let mut entry = jar.by_index(index)?;
        if entry.name()? == MANIFEST {
            let mut manifest = Vec::new();
            entry.read_to_end(&mut manifest)?;
            copy.start_file(MANIFEST, SimpleFileOptions::default())?;
            copy.write_all(&without_class_path(&manifest))?;
        } else {
            drop(entry);
            copy.raw_copy_file(jar.by_index_raw(index)?)?;
        }
    }
    copy.finish()?;
    Ok(())
}

/// A manifest without the header `Class-Path` and its continuation lines, which start with a space.
fn without_class_path(manifest: &[u8]) -> Vec<u8> {
    let mut inside = false;
    let mut kept = Vec::with_capacity(manifest.len());
    for line in manifest.split_inclusive(|byte| *byte == b'\n') {
        inside = if line.starts_with(b" ") {
            inside
        } else {
            line.to_ascii_lowercase().starts_with(b"class-path:")
        };
        if !inside {
            kept.extend_from_slice(line);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_path_goes_with_all_its_lines() {
        let manifest = b"Manifest-Version: 1.0\r\nClass-Path: /a.jar /b.j\r\n ar /c.jar\r\nMain-Class: a.lo\r\n ng.Name\r\n\r\n";
        let kept = b"Manifest-Version: 1.0\r\nMain-Class: a.lo\r\n ng.Name\r\n\r\n";
        assert_eq!(without_class_path(manifest), kept);
    }
}
