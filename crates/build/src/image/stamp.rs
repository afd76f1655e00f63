//! The stamp of an image: size, time and inode of each file that its manifest covers. It is written
//! after all these files were read and matched the manifest (docs/reference/formats/manifest.md).
//!
//! At each start, `run` compares the stamp instead of reading about 200 MB. A copy of an image has
//! other inodes, so `run` reads all its files once.

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_128;

use super::manifest::STAMP;
use crate::file_error::FileError;
use crate::pending_file::PendingFile;
use cct_image::manifest::{self, Manifest};

/// The first line of the stamp's file: its format and version.
const FIRST_LINE: &str = "cctrewrite stamp 1";

/// Whether the stamp in `folder` equals the current metadata of the image's files.
pub fn fits(image: &Path, folder: &Path, manifest: &Manifest) -> bool {
    let stored = fs::read(folder.join(STAMP));
    stored.is_ok_and(|stored| text(image, manifest).is_some_and(|now| now == stored))
}

/// Writes a stamp of the current metadata. Call it only after all files were read and matched the
/// manifest.
///
/// # Errors
/// Fails if the stamp cannot be written. The next start then reads all files again.
pub fn renew(image: &Path, folder: &Path, manifest: &Manifest) -> Result<(), FileError> {
    let Some(text) = text(image, manifest) else { return Ok(()) };
    PendingFile::write_decisive(&folder.join(STAMP), |out| out.write_all(&text))?.commit()
}

/// The text of a stamp of the current metadata; `None` if the metadata of a covered file cannot be
/// read.
fn text(image: &Path, manifest: &Manifest) -> Option<Vec<u8>> {
    let mut text = format!("{FIRST_LINE}\n{} {:032x}\n", manifest::NAME, xxh3_128(&manifest.bytes()));
    for file in &manifest.files {
        let its = fs::metadata(image.join(&file.path)).ok()?;
        let path = file.path.to_string_lossy();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{} {}.{:09} {} {path}", its.len(), its.mtime(), its.mtime_nsec(), its.ino());
    }
    Some(text.into_bytes())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn a_change_or_a_copy_does_not_fit() {
        let folder = tempfile::tempdir().unwrap();
        let image = folder.path().join("image");
        let own = image.join("lib/cctrewrite");
        fs::create_dir_all(&own).unwrap();
        let file = own.join("index");
        fs::write(&file, b"index").unwrap();
        let manifest = super::super::manifest::of_image(&image, Path::new("/jdk")).unwrap();
        let fits = || fits(&image, &own, &manifest);
        assert!(!fits());
        renew(&image, &own, &manifest).unwrap();
        assert!(fits());

        let time = fs::metadata(&file).unwrap().modified().unwrap();
        let touch =
            |time: SystemTime| fs::File::options().append(true).open(&file).unwrap().set_modified(time);
        touch(time + Duration::from_nanos(1)).unwrap();
        assert!(!fits());
        touch(time).unwrap();
        assert!(fits());

        // The same bytes and time in another file, as after a copy.
        let copy = own.join("copy");
        fs::copy(&file, &copy).unwrap();
        fs::rename(&copy, &file).unwrap();
        touch(time).unwrap();
        assert!(!fits());
        renew(&image, &own, &manifest).unwrap();
        assert!(fits());

        let mut text = fs::read(own.join(STAMP)).unwrap();
        text[30] ^= 1;
        fs::write(own.join(STAMP), text).unwrap();
        assert!(!fits());
    }
}
