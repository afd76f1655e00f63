//! A JVM that has registered in the folder of a run.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use cct_arena::Memory;
use cct_private::PrivateFolder;
use cct_profile::collection::{Entry, entries};

use super::record::cut;

/// A JVM that started.
#[derive(Debug)]
pub struct Jvm {
    /// Its number, in the order of starts; from 1.
    pub number: usize,
    /// Its process id.
    pub process: u32,
    /// Its command line.
    pub arguments: Vec<String>,
    /// Its profile; `None` if it left none.
    pub profile: Option<PathBuf>,
    /// The path of its profile, whether or not the file exists.
    pub place: PathBuf,
    /// The file with its trees, if it exists.
    pub arena: Option<PathBuf>,
}

impl Jvm {
    /// Lists the JVMs of a folder, in the order of their starts.
    pub fn all(folder: &PrivateFolder) -> Result<Vec<Jvm>> {
        let entries = entries(folder).with_context(|| format!("cannot read {}", folder.path().display()))?;
        let is_file = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|its| its.is_file());
        let jvm = |(number, Entry { process, arguments, profile: place, arena })| {
            let profile = is_file(&place).then(|| place.clone());
            let arena = is_file(&arena).then_some(arena);
            Jvm { number, process, arguments, profile, place, arena }
        };
        Ok((1..).zip(entries).map(jvm).collect())
    }

    /// Whether a process with its process id runs.
    pub fn is_running(&self) -> bool {
        // A process that has ended, but was not waited for, has no arguments any more.
        self.process_arguments().is_some_and(|text| !text.is_empty())
    }

    /// Whether this JVM runs. Its process id may belong to another process by now, so arguments are
    /// compared. A JVM also runs if its trees are in use.
    pub fn still_runs(&self) -> bool {
        let arguments = self.process_arguments().filter(|text| !text.is_empty());
        let is_this = |text: Vec<u8>| {
            let text = String::from_utf8_lossy(&text);
            text.split_terminator('\0').eq(self.arguments.iter().map(String::as_str))
        };
        arguments.is_some_and(is_this) || self.has_arena_in_use()
    }

    /// Whether a process has its trees open. It may be one that this process cannot see, as in a
    /// container.
    fn has_arena_in_use(&self) -> bool {
        let memory = self.arena.as_ref().and_then(|arena| fs::File::open(arena).ok()).map(Memory::open);
        memory.is_some_and(|memory| memory.is_ok_and(|memory| memory.is_in_use()))
    }

    fn process_arguments(&self) -> Option<Vec<u8>> {
        fs::read(format!("/proc/{}/cmdline", self.process)).ok()
    }

    /// The command line for people, cut if it is long.
    pub fn command(&self) -> String {
        cut(&self.arguments.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_has_the_number_of_another_is_not_the_jvm() {
        let text = fs::read("/proc/self/cmdline").unwrap();
        let own = String::from_utf8_lossy(&text);
        let own = own.split_terminator('\0').map(str::to_owned).collect();
        let jvm = |arguments| Jvm {
            number: 1,
            process: std::process::id(),
            arguments,
            profile: None,
            place: PathBuf::new(),
            arena: None,
        };
        assert!(jvm(own).still_runs());
        let other = jvm(vec!["java".to_owned(), "Main".to_owned()]);
        assert!(!other.still_runs() && other.is_running());
    }
}
