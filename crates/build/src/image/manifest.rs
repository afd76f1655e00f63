//! The manifest of an image: size and hash of each file that decides what its JVMs do (docs/formats/manifest.md).
//!
//! It covers the files that cctrewrite makes or changes, and programs and libraries that are copies of the JDK's. It does
//! not cover files that people edit, and files that the image shares with its JDK (`--link`).

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

use super::record;
use super::tree::{Tree, is_configuration};
use crate::fingerprint::of_file;

/// The file's name, in the folder of [`record::NAME`].
pub const NAME: &str = "manifest";

/// The file's name, in the folder of the manifest.
pub const STAMP: &str = "stamp";

/// The first line.
const FIRST_LINE: &str = "cctrewrite manifest 1";

/// What stands in front of the hash of all lines before.
const LAST_WORD: &str = "end";

/// Size and hash of each covered file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// In the order of their paths.
    pub files: Vec<CoveredFile>,
}

/// A file as it was when the image was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoveredFile {
    /// Relative to the image.
    pub path: PathBuf,
    /// In bytes.
    pub size: u64,
    /// XXH3-128 of its contents.
    pub hash: u128,
}

/// What is wrong with a covered file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It is not there, or is no file.
    Missing,
    /// Its size in bytes differs.
    Size(u64),
    /// It has the same size and other contents.
    Contents,
    /// The system does not give its bytes.
    Unreadable(String),
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::Missing => write!(f, "is missing"),
            Fault::Size(size) => write!(f, "has {size} bytes, which is another size"),
            Fault::Contents => write!(f, "has other contents"),
            Fault::Unreadable(why) => write!(f, "cannot be read ({why})"),
        }
    }
}

impl Manifest {
    /// The manifest of an image that is complete. `jdk` is the home from which its other files were copied.
    pub fn of_image(image: &Path, jdk: &Path) -> Result<Manifest> {
        let tree = Tree::list(image)?;
        let paths: Vec<&Path> = tree.files().collect();
        let files = paths.into_par_iter().filter(|path| !is_own(path)).map(|path| covered(image, jdk, path));
        let mut files: Vec<CoveredFile> = files.filter_map(Result::transpose).collect::<Result<_>>()?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Manifest { files })
    }

    /// The file's bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{FIRST_LINE}\n").into_bytes();
        for CoveredFile { path, size, hash } in &self.files {
            bytes.extend(format!("{hash:032x} {size} ").into_bytes());
            bytes.extend(path.as_os_str().as_bytes());
            bytes.push(b'\n');
        }
        let hash = xxh3_128(&bytes);
        bytes.extend(format!("{LAST_WORD} {hash:032x}\n").into_bytes());
        bytes
    }

    /// Reads a file's bytes. The error says what is wrong with them.
    pub fn parse(bytes: &[u8]) -> Result<Manifest> {
        let lines = bytes.strip_suffix(b"\n").context("its end is missing")?;
        let last = lines.iter().rposition(|byte| *byte == b'\n').context("its end is missing")? + 1;
        if lines[last..] != *format!("{LAST_WORD} {:032x}", xxh3_128(&bytes[..last])).as_bytes() {
            bail!("its checksum differs");
        }
        let mut lines = lines[..last - 1].split(|byte| *byte == b'\n');
        if lines.next() != Some(FIRST_LINE.as_bytes()) {
            bail!("another version of cctrewrite made it");
        }
        let files = lines.map(|line| CoveredFile::parse(line).context("one of its lines cannot be read"));
        Ok(Manifest { files: files.collect::<Result<_>>()? })
    }

    /// Reads all files. Returns those that differ, in the order of their paths.
    pub fn faults(&self, image: &Path) -> Vec<(&CoveredFile, Fault)> {
        let faults = self.files.par_iter().filter_map(|file| Some((file, file.fault(image)?)));
        faults.collect()
    }
}

impl CoveredFile {
    fn parse(line: &[u8]) -> Option<CoveredFile> {
        let mut words = line.splitn(3, |byte| *byte == b' ');
        let mut word = || words.next();
        let hash = u128::from_str_radix(std::str::from_utf8(word()?).ok()?, 16).ok()?;
        let size = std::str::from_utf8(word()?).ok()?.parse().ok()?;
        let path = PathBuf::from(OsStr::from_bytes(word()?));
        // A path leads nowhere but into the image.
        let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
        (is_inside && path != Path::new("")).then_some(CoveredFile { path, size, hash })
    }

    /// What is wrong with the file now.
    pub fn fault(&self, image: &Path) -> Option<Fault> {
        let path = image.join(&self.path);
        match fs::metadata(&path) {
            Ok(its) if !its.is_file() => Some(Fault::Missing),
            Ok(its) if its.len() != self.size => Some(Fault::Size(its.len())),
            Ok(_) => match of_file(&path) {
                Ok(hash) => (hash != self.hash).then_some(Fault::Contents),
                Err(error) => Some(Fault::Unreadable(error.root_cause().to_string())),
            },
            Err(error) if [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&error.kind()) => {
                Some(Fault::Missing)
            }
            Err(error) => Some(Fault::Unreadable(error.to_string())),
        }
    }
}

/// Whether a file belongs to the checks themselves.
fn is_own(path: &Path) -> bool {
    let is_named = |name: &str| path.file_name() == Some(OsStr::new(name));
    let is_beside_record = path.parent().is_some_and(|folder| folder.ends_with(record::FOLDER));
    is_beside_record && (is_named(NAME) || is_named(STAMP))
}

/// A file of the image, unless the manifest does not cover it.
fn covered(image: &Path, jdk: &Path, path: &Path) -> Result<Option<CoveredFile>> {
    let file = image.join(path);
    let its = fs::metadata(&file).with_context(|| format!("cannot find {}", file.display()))?;
    if its.nlink() > 1 || is_configuration(path) || is_text_of_jdk(&its, &jdk.join(path), path) {
        return Ok(None);
    }
    if path.as_os_str().as_bytes().contains(&b'\n') {
        bail!("{}: a name with a line break; rename the file", file.display());
    }
    Ok(Some(CoveredFile { path: path.to_path_buf(), size: its.len(), hash: of_file(&file)? }))
}

/// Whether a file is a copy of the JDK's, and neither a program nor a library. Copies keep their time ([`Tree::copy`]).
fn is_text_of_jdk(its: &Metadata, source: &Path, path: &Path) -> bool {
    let is_copy = fs::metadata(source).is_ok_and(|of| {
        (of.len(), of.mtime(), of.mtime_nsec()) == (its.len(), its.mtime(), its.mtime_nsec())
    });
    is_copy && its.mode() & 0o111 == 0 && path.extension() != Some(OsStr::new("so"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        let file = |path: &str, size, hash| CoveredFile { path: path.into(), size, hash };
        Manifest { files: vec![file("bin/java", 5, 7), file("lib/a b.so", 0, u128::MAX)] }
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(Manifest::parse(&manifest().bytes()).unwrap(), manifest());
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_found() {
        let good = manifest().bytes();
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(Manifest::parse(&bad).is_err(), "bit {bit}");
        }
        for length in 0..good.len() {
            assert!(Manifest::parse(&good[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn a_path_leads_into_the_image() {
        for path in ["../x", "/x", "a/../../x", ""] {
            let files = vec![CoveredFile { path: path.into(), size: 0, hash: 0 }];
            assert!(Manifest::parse(&Manifest { files }.bytes()).is_err(), "{path}");
        }
    }

    #[test]
    fn what_people_edit_is_not_covered_and_what_runs_is() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (jdk, image) = (folder.path().join("jdk"), folder.path().join("image"));
        for (path, mode) in [
            ("bin/java", 0o755),
            ("lib/net.properties", 0o644),
            ("lib/libjava.so", 0o644),
            ("lib/classlist", 0o644),
            ("conf/java.security", 0o644),
        ] {
            let path = jdk.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, b"JDK").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        fs::create_dir(&image).unwrap();
        Tree::list(&jdk).unwrap().copy(&image, super::super::tree::Manner::Copy, || ()).unwrap();
        let own = image.join("lib").join(record::FOLDER);
        fs::create_dir(&own).unwrap();
        for path in
            ["lib/classlist", "lib/cctrewrite/index", "lib/cctrewrite/manifest", "lib/cctrewrite/stamp"]
        {
            fs::write(image.join(path), b"made").unwrap();
        }
        fs::write(image.join("lib/linked.so"), b"made").unwrap();
        fs::hard_link(image.join("lib/linked.so"), jdk.join("lib/linked.so")).unwrap();
        let manifest = Manifest::of_image(&image, &jdk).unwrap();
        let covered: Vec<&str> = manifest.files.iter().map(|file| file.path.to_str().unwrap()).collect();
        assert_eq!(covered, ["bin/java", "lib/cctrewrite/index", "lib/classlist", "lib/libjava.so"]);
        assert_eq!(manifest.faults(&image), []);

        fs::write(image.join("lib/classlist"), b"edam").unwrap();
        fs::write(image.join("lib/cctrewrite/index"), b"mad").unwrap();
        fs::remove_file(image.join("bin/java")).unwrap();
        let faults: Vec<Fault> = manifest.faults(&image).into_iter().map(|(_, fault)| fault).collect();
        assert_eq!(faults, [Fault::Missing, Fault::Size(3), Fault::Contents]);
    }
}
