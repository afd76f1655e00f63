//! The record that a run leaves in its folder about itself.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use anyhow::{Context, Result};
use cct_private::PrivateFolder;

/// The output and command of a run. In the file, a zero byte ends each part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its output: an absolute path, or a name in the parent of the run's folder.
    pub output: PathBuf,
    /// Its command, with arguments.
    pub command: Vec<OsString>,
}

impl Record {
    /// The contents of the file that holds the record.
    pub fn bytes(&self) -> Vec<u8> {
        let words = self.command.iter().map(OsString::as_os_str);
        let parts = std::iter::once(self.output.as_os_str()).chain(words);
        parts.flat_map(|part| [part.as_bytes(), b"\0"].concat()).collect()
    }

    /// Reads the record in a folder.
    pub fn of(folder: &PrivateFolder) -> Result<Record> {
        let bytes = folder.read(LOCK)?.unwrap_or_default();
        let mut parts = bytes.split(|&byte| byte == 0).map(|part| OsStr::from_bytes(part).to_owned());
        let output = parts.next().filter(|output| !output.is_empty()).map(PathBuf::from);
        let output =
            output.with_context(|| format!("{} names no output file", folder.path().join(LOCK).display()))?;
        let mut command: Vec<OsString> = parts.collect();
        // Removes the empty part after the last zero byte.
        command.pop();
        Ok(Record { output, command })
    }

    /// The command line for people, cut if it is long.
    pub fn command_line(&self) -> String {
        let words: Vec<_> = self.command.iter().map(|word| word.to_string_lossy()).collect();
        cut(&words.join(" "))
    }
}

/// A command line, cut after 120 characters.
pub fn cut(text: &str) -> String {
    const LONG: usize = 120;
    match text.char_indices().nth(LONG) {
        Some((end, _)) => format!("{} ...", &text[..end]),
        None => text.to_owned(),
    }
}

impl Default for Record {
    /// The record for a folder that has none.
    fn default() -> Record {
        Record { output: PathBuf::from("cctrewrite.cct"), command: Vec::new() }
    }
}

/// The file that the owner of a folder has locked; it holds the [`Record`].
pub(crate) const LOCK: &str = "lock";

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn records_come_back_whatever_their_bytes() {
        let made = tempfile::tempdir().unwrap();
        let folder = PrivateFolder::open(made.path()).unwrap();
        assert!(Record::of(&folder).is_err());
        let odd = OsString::from_vec(b"\xff\n x".to_vec());
        for command in [vec![], vec![odd.clone()], vec!["a".into(), "".into(), odd.clone()]] {
            let record = Record { output: odd.clone().into(), command };
            let _ = std::fs::remove_file(made.path().join(LOCK));
            cct_private::write(&made.path().join(LOCK), &record.bytes()).unwrap();
            assert_eq!(Record::of(&folder).unwrap(), record);
        }
    }

    #[test]
    fn long_command_lines_are_cut() {
        assert_eq!(cut(&"\u{e9}".repeat(200)), format!("{} ...", "\u{e9}".repeat(120)));
    }
}
