//! The file `release` in a JDK's home: lines `KEY="value"`.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::file_error::{FileError, Operation};

/// The text of the file; empty if there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release(String);

impl Release {
    /// Reads the file of a home.
    ///
    /// # Errors
    /// Fails if the file is there and cannot be read.
    pub fn read(home: &Path) -> Result<Release, FileError> {
        let path = home.join("release");
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Release(text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Release(String::new())),
            Err(error) => Err(Operation::Read.failed_on(&path)(error)),
        }
    }

    /// A value, without its quotes.
    pub fn value(&self, key: &str) -> Option<&str> {
        let line = self.0.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))?;
        Some(line.trim().trim_matches('"')).filter(|value| !value.is_empty())
    }

    /// The version, as precisely as possible.
    pub fn version(&self) -> Option<&str> {
        self.value("JAVA_RUNTIME_VERSION").or_else(|| self.value("JAVA_VERSION"))
    }

    /// The feature release: 8, 11, 17.
    pub fn feature(&self) -> Option<u32> {
        let version = self.value("JAVA_VERSION")?;
        let version = version.strip_prefix("1.").unwrap_or(version);
        version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    }

    /// Whether the JDK's JVM is OpenJ9.
    pub fn is_openj9(&self) -> bool {
        self.value("JVM_VARIANT").is_some_and(|name| name.eq_ignore_ascii_case("openj9"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lose_their_quotes() {
        let release = Release("IMPLEMENTOR=\"N/A\"\nJAVA_VERSION=\"17.0.15\"\nOS_NAME=Linux\n".to_owned());
        assert_eq!(release.version(), Some("17.0.15"));
        let feature = |version: &str| Release(format!("JAVA_VERSION=\"{version}\"")).feature();
        assert_eq!(["1.8.0_504", "17.0.15", "26-ea"].map(feature), [Some(8), Some(17), Some(26)]);
        assert_eq!(feature("x"), None);
        assert_eq!(release.value("OS_NAME"), Some("Linux"));
        assert_eq!(release.value("JAVA"), None);
        assert!(!release.is_openj9());
        assert!(Release("JVM_VARIANT=\"Openj9\"".to_owned()).is_openj9());
    }
}
