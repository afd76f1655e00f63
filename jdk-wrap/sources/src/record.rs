//! The record of the compiler, sources and class files in the repository.

use std::fmt;
use std::fs;
use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

use crate::{Error, GROUPS, Result, SOURCES, at, files_below};

/// The record's name in `jdk-wrap/classes`.
pub const RECORD: &str = "made-from.txt";

/// The compiler of the class files, and hashes that show which sources and class files belong
/// together. The hashes detect edits, not forgeries: a test that compiles the sources detects
/// those.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The version that the compiler reported: `javac 1.8.0_504`.
    pub compiler: String,
    /// Hash of the sources' names and contents.
    pub sources: String,
    /// Hash of the class files' names and contents.
    pub classes: String,
}

impl Record {
    /// Computes the record of the sources in `jdk_wrap` and the class files in `classes`, as they
    /// are now.
    ///
    /// # Errors
    /// Fails if a file cannot be read.
    pub fn of(compiler: String, jdk_wrap: &Path, classes: &Path) -> Result<Record> {
        Ok(Record {
            compiler,
            sources: hash(jdk_wrap, &SOURCES, true)?,
            classes: hash(classes, &GROUPS, false)?,
        })
    }

    /// Reads the record next to class files.
    ///
    /// # Errors
    /// Fails if it cannot be read, or is invalid.
    pub fn read(classes: &Path) -> Result<Record> {
        let path = classes.join(RECORD);
        let text = at(&path, fs::read_to_string(&path))?;
        let line = |word: &'static str| {
            let rest = text.lines().find_map(|line| line.strip_prefix(word)?.strip_prefix(' '));
            rest.map(str::to_owned).ok_or_else(|| Error::NoRecord { path: path.clone(), line: word })
        };
        Ok(Record { compiler: line("compiler")?, sources: line("sources")?, classes: line("classes")? })
    }

    /// The record in `jdk_wrap/classes`, if it matches sources and class files.
    ///
    /// # Errors
    /// Fails if it does not match, or cannot be read.
    pub fn checked(jdk_wrap: &Path) -> Result<Record> {
        let classes = jdk_wrap.join("classes");
        let said = Record::read(&classes)?;
        let found = Record::of(said.compiler.clone(), jdk_wrap, &classes)?;
        if said.sources != found.sources {
            return Err(Error::OtherSources);
        }
        if said.classes != found.classes {
            return Err(Error::OtherClasses);
        }
        Ok(said)
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Record { compiler, sources, classes } = self;
        writeln!(f, "compiler {compiler}\nsources {sources}\nclasses {classes}")
    }
}

/// A hash of all files below these folders of `root`: of their paths and contents. Line ends of
/// texts are ignored, since git may write different ones.
fn hash(root: &Path, folders: &[&str], texts: bool) -> Result<String> {
    let mut hash = Xxh3::new();
    for folder in folders {
        for file in files_below(&root.join(folder))? {
            let mut bytes = at(&file, fs::read(&file))?;
            if texts {
                bytes.retain(|&byte| byte != b'\r');
            }
            let relative = file.strip_prefix(root).unwrap_or(&file);
            let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
            for part in [parts.join("/").as_bytes(), &bytes] {
                hash.update(&(part.len() as u64).to_le_bytes());
                hash.update(part);
            }
        }
    }
    Ok(format!("{:032x}", hash.digest128()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn jdk_wrap() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_owned();
        for name in SOURCES {
            fs::create_dir_all(root.join(name)).unwrap();
            fs::write(root.join(name).join("A.java"), "class A {\n}\n").unwrap();
        }
        for name in GROUPS {
            fs::create_dir_all(root.join("classes").join(name)).unwrap();
            fs::write(root.join("classes").join(name).join("A.class"), [0xCA, b'\r', 0xFE]).unwrap();
        }
        let record = Record::of("javac 1.8.0".into(), &root, &root.join("classes")).unwrap();
        fs::write(root.join("classes").join(RECORD), record.to_string()).unwrap();
        (folder, root)
    }

    #[test]
    fn a_record_is_read_as_it_is_written() {
        let (_folder, root) = jdk_wrap();
        let record = Record::checked(&root).unwrap();
        assert_eq!(record.compiler, "javac 1.8.0");
        assert_eq!(record.to_string(), fs::read_to_string(root.join("classes").join(RECORD)).unwrap());
    }

    #[test]
    fn any_other_file_is_found() {
        type Change = fn(&Path);
        let changes: [(Change, bool); 7] = [
            (|root| fs::write(root.join("java/A.java"), "class A {\n;}\n").unwrap(), true),
            (|root| fs::write(root.join("stubs/B.java"), "").unwrap(), true),
            (|root| fs::rename(root.join("udi/A.java"), root.join("udi/B.java")).unwrap(), true),
            (|root| fs::rename(root.join("udi/A.java"), root.join("api/B.java")).unwrap(), true),
            (|root| fs::write(root.join("classes/api/A.class"), [0xCA, 0xFE]).unwrap(), false),
            (|root| fs::remove_file(root.join("classes/runtime/A.class")).unwrap(), false),
            (|root| fs::write(root.join("classes/udi/B.class"), []).unwrap(), false),
        ];
        for (number, (change, of_sources)) in changes.into_iter().enumerate() {
            let (_folder, root) = jdk_wrap();
            change(&root);
            match Record::checked(&root).unwrap_err() {
                Error::OtherSources => assert!(of_sources, "{number}"),
                Error::OtherClasses => assert!(!of_sources, "{number}"),
                other => panic!("{number}: {other}"),
            }
        }
    }

    #[test]
    fn line_ends_of_sources_do_not_count() {
        let (_folder, root) = jdk_wrap();
        fs::write(root.join("java/A.java"), "class A {\r\n}\r\n").unwrap();
        Record::checked(&root).unwrap();
    }

    #[test]
    fn a_record_without_a_line_is_none() {
        let (_folder, root) = jdk_wrap();
        fs::write(root.join("classes").join(RECORD), "compiler javac\nsources 1\n").unwrap();
        let error = Record::checked(&root).unwrap_err();
        assert!(matches!(error, Error::NoRecord { line: "classes", .. }), "{error}");
    }
}
