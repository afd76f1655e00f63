//! The project's own program that copies classes (`xtask/copier`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use xtask_tools::process;

/// The path of the program.
pub struct Copier(pub PathBuf);

/// Counts of the inputs' classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassCounts {
    /// Number of classes.
    pub classes: u64,
    /// The classes' uncompressed size, in bytes.
    pub bytes: u64,
}

impl Copier {
    /// The command that reads, parses and writes everything, on one thread.
    pub fn copy(&self, files: &[PathBuf], folder: &Path) -> Command {
        let mut command = Command::new(&self.0);
        command.arg("copy").arg(folder).args(files);
        command
    }

    /// Counts classes, by copying them into a folder in `work` that is removed afterwards.
    ///
    /// # Errors
    /// Fails if they cannot be read.
    pub fn count(&self, files: &[PathBuf], work: &Path) -> Result<ClassCounts> {
        let folder = work.join("counted");
        fs::create_dir(&folder)?;
        let counted = counted(&process::output(&mut self.copy(files, &folder))?)?;
        fs::remove_dir_all(&folder)?;
        Ok(counted)
    }

    /// Creates a jar with the contents of an image.
    ///
    /// # Errors
    /// Fails if it cannot be read or written.
    pub fn jar(&self, image: &Path, jar: &Path) -> Result<ClassCounts> {
        counted(&process::output(Command::new(&self.0).arg("jar").arg(image).arg(jar))?)
    }

    /// Creates a jar with the first `part` of each `of` classes of another.
    ///
    /// # Errors
    /// Fails if it cannot be read or written.
    pub fn part(&self, from: &Path, jar: &Path, part: u32, of: u32) -> Result<ClassCounts> {
        let mut command = Command::new(&self.0);
        command.arg("part").arg(from).arg(jar).args([part.to_string(), of.to_string()]);
        counted(&process::output(&mut command)?)
    }
}

/// Parses its output.
fn counted(output: &str) -> Result<ClassCounts> {
    let mut numbers = output.split_whitespace().map(str::parse::<u64>);
    let mut next = || numbers.next().context("two numbers expected")?.context("a number expected");
    Ok(ClassCounts { classes: next()?, bytes: next()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_copier_prints_is_read() {
        assert_eq!(counted("12 3456\n").unwrap(), ClassCounts { classes: 12, bytes: 3456 });
        assert!(counted("12\n").is_err());
        assert!(counted("a b\n").is_err());
    }
}
