//! The manifest of an image: size and hash of each file that determines the behaviour of its JVMs
//! (docs/reference/formats/manifest.md).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use xxhash_rust::xxh3::xxh3_128;

/// The file's name, in the folder [`crate::record::FOLDER`].
pub const NAME: &str = "manifest";

/// The first line.
const FIRST_LINE: &str = "cctrewrite manifest 1";

/// Prefix of the hash of all lines before.
const LAST_WORD: &str = "end";

/// Hex digits of a hash.
const DIGITS: usize = 32;

/// Size and hash of each covered file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// In the order of their paths.
    pub files: Vec<CoveredFile>,
}

/// A file's state when the image was built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoveredFile {
    /// The path relative to the image.
    pub path: PathBuf,
    /// The size in bytes.
    pub size: u64,
    /// The XXH3-128 hash of its contents.
    pub hash: u128,
}

/// Why a manifest cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The end line is missing.
    #[error("its end is missing")]
    End,
    /// The hash in its last line does not match the lines before.
    #[error("its checksum differs")]
    Checksum,
    /// The manifest's first line is unknown.
    #[error("another version of cctrewrite made it")]
    Version,
    /// A line is invalid.
    #[error("one of its lines cannot be read")]
    Line,
}

impl Manifest {
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

    /// Parses a file's bytes.
    ///
    /// # Errors
    /// Fails if they are not those of a complete manifest, or if a path leads out of the image.
    pub fn parse(bytes: &[u8]) -> Result<Manifest, Error> {
        let lines = bytes.strip_suffix(b"\n").ok_or(Error::End)?;
        let last = lines.iter().rposition(|byte| *byte == b'\n').ok_or(Error::End)? + 1;
        if lines[last..] != *format!("{LAST_WORD} {:032x}", xxh3_128(&bytes[..last])).as_bytes() {
            return Err(Error::Checksum);
        }
        let mut lines = lines[..last - 1].split(|byte| *byte == b'\n');
        if lines.next() != Some(FIRST_LINE.as_bytes()) {
            return Err(Error::Version);
        }
        let files = lines.map(|line| CoveredFile::parse(line).ok_or(Error::Line));
        Ok(Manifest { files: files.collect::<Result<_, _>>()? })
    }
}

impl CoveredFile {
    fn parse(line: &[u8]) -> Option<CoveredFile> {
        let mut words = line.splitn(3, |byte| *byte == b' ');
        let mut word = || words.next();
        // Rust's parsers accept a sign, which no manifest contains.
        let digits = |word: &[u8]| {
            std::str::from_utf8(word).ok().filter(|word| !word.starts_with('+')).map(str::to_owned)
        };
        let hash = u128::from_str_radix(&digits(word()?).filter(|word| word.len() == DIGITS)?, 16).ok()?;
        let size = digits(word()?)?.parse().ok()?;
        let path = PathBuf::from(OsStr::from_bytes(word()?));
        // A path must stay inside the image.
        let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
        (is_inside && path != Path::new("")).then_some(CoveredFile { path, size, hash })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        let file = |path: &str, size, hash| CoveredFile { path: path.into(), size, hash };
        Manifest { files: vec![file("bin/java", 5, 7), file("lib/a b.so", 0, u128::MAX)] }
    }

    #[test]
    fn written_data_reads_back() {
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
            assert_eq!(Manifest::parse(&Manifest { files }.bytes()), Err(Error::Line), "{path}");
        }
    }

    #[test]
    fn numbers_have_no_signs_and_hashes_all_their_digits() {
        let hash = "0".repeat(DIGITS);
        for (line, is_read) in [
            (format!("{hash} 5 bin/java"), true),
            (format!("{hash} +5 bin/java"), false),
            (format!("+{} 5 bin/java", &hash[1..]), false),
            (format!("{} 5 bin/java", &hash[1..]), false),
            (format!("0{hash} 5 bin/java"), false),
            (format!("{hash} 18446744073709551616 bin/java"), false),
        ] {
            assert_eq!(CoveredFile::parse(line.as_bytes()).is_some(), is_read, "{line}");
        }
    }
}
