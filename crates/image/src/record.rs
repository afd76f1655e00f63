//! The record of an image: a file of lines `key=value`, for people and for this command.

use std::fmt::Write;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The folder, in `java.home`'s `lib`, of an image's files besides a JDK's own.
pub const FOLDER: &str = "cctrewrite";

/// The record's file in that folder.
pub const NAME: &str = "IMAGE";

/// The index of the whole class library, in the same folder (docs/reference/formats/index.md).
pub const INDEX: &str = "index";

/// The static data of its classes if these are traced, in the same folder
/// (docs/reference/formats/trace.md).
pub const STRUCTURE: &str = "structure";

/// The list of the files of the JDK's own class library, for agents that read class files. It has
/// absolute paths, one a line, and is in the same folder.
pub const ORIGINALS: &str = "originals";

/// The jar from which the JVM of a user's module starts.
pub const UDI_HOST: &str = "udi.jar";

/// The completeness report, in the same folder.
pub const COMPLETENESS: &str = "completeness.json";

/// The key of the line that says that the image has a manifest.
pub const HAS_MANIFEST: &str = "manifest";

/// The first line of [`NAME`]: the format's version.
const FIRST_LINE: &str = "cctrewrite image 1";

/// Why a record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The record's first line is unknown.
    #[error(
        "its first line is not {FIRST_LINE:?}; it was made by another version of cctrewrite, or is damaged"
    )]
    Version,
    /// A line has no key.
    #[error("damaged: the line {0:?}")]
    Line(String),
    /// An error in a file.
    #[error("{path}")]
    File {
        /// The file.
        path: PathBuf,
        /// The error.
        source: Box<Error>,
    },
    /// The system cannot read it.
    #[error("cannot read {path}")]
    System {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
}

/// The properties of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    lines: Vec<(String, String)>,
}

impl Record {
    /// Creates a record of these lines, in this order. A key may occur several times.
    pub fn new(lines: Vec<(&str, String)>) -> Record {
        Record { lines: lines.into_iter().map(|(key, value)| (key.to_owned(), value)).collect() }
    }

    /// The first value of a key.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.lines.iter().find(|(name, _)| name == key).map(|(_, value)| &**value)
    }

    /// The file's text.
    pub fn text(&self) -> String {
        let mut text = format!("{FIRST_LINE}\n");
        for (key, value) in &self.lines {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{key}={}", value.replace(['\n', '\r'], " "));
        }
        text
    }

    /// Parses a file's text.
    ///
    /// # Errors
    /// Fails if its first line is different, or if a line has no key.
    pub fn parse(text: &str) -> Result<Record, Error> {
        let mut lines = text.lines();
        if lines.next() != Some(FIRST_LINE) {
            return Err(Error::Version);
        }
        let pairs = lines.map(|line| {
            let (key, value) = line.split_once('=').ok_or_else(|| Error::Line(line.to_owned()))?;
            Ok((key.to_owned(), value.to_owned()))
        });
        Ok(Record { lines: pairs.collect::<Result<_, _>>()? })
    }

    /// The record of the image in a folder; `None` if there is none.
    ///
    /// # Errors
    /// Fails if it cannot be read.
    pub fn of_image(image: &Path) -> Result<Option<Record>, Error> {
        for lib in ["lib", "jre/lib"] {
            let path = image.join(lib).join(FOLDER).join(NAME);
            match fs::read_to_string(&path) {
                Ok(text) => {
                    let record = Record::parse(&text);
                    return record.map(Some).map_err(|error| Error::File { path, source: Box::new(error) });
                }
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
                Err(source) => return Err(Error::System { path, source }),
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_are_written() {
        let record = Record::new(vec![("key", "1".to_owned()), ("option", "-Da=b".to_owned())]);
        assert_eq!(Record::parse(&record.text()).unwrap(), record);
        assert_eq!(record.value("option"), Some("-Da=b"));
        assert_eq!(record.value("opt"), None);
    }

    #[test]
    fn other_data_than_records_is_refused() {
        assert!(Record::parse("").is_err());
        assert!(Record::parse("cctrewrite image 2\nkey=1\n").is_err());
        assert!(Record::parse("cctrewrite image 1\nkey\n").is_err());
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Record::of_image(folder.path()).unwrap(), None);
    }
}
