//! Profiles from the memory of a running JVM, which is not stopped.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use cct_arena::{Memory, Recovery, State};

use crate::args::JvmArgument;
use crate::recover_command::file::in_jar;

/// A running JVM that is profiled.
#[derive(Debug, Clone, Copy)]
pub struct RunningJvm {
    process: u32,
}

impl fmt::Display for RunningJvm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}", self.process)
    }
}

impl RunningJvm {
    /// The JVM that the command line names.
    pub fn find(argument: &JvmArgument) -> Result<RunningJvm> {
        let name = match argument {
            JvmArgument::Process(process) => {
                memory_of(*process)?;
                return Ok(RunningJvm { process: *process });
            }
            JvmArgument::Name(name) => name,
        };
        let all = profiled();
        let found: Vec<&Program> = all.iter().filter(|program| program.is_called(name)).collect();
        match &found[..] {
            [only] => Ok(RunningJvm { process: only.process }),
            [] if all.is_empty() => bail!("no profiled JVM of yours is running"),
            [] => {
                bail!("no profiled JVM runs '{name}'; there are {}", listed(&all.iter().collect::<Vec<_>>()))
            }
            several => bail!("several JVMs run '{name}': {}; give a process id", listed(several)),
        }
    }

    /// The profile as of now.
    pub fn recover(self) -> Result<Recovery> {
        let memory = memory_of(self.process)?;
        cct_arena::recover(&memory, State::Running, &in_jar).with_context(|| self.to_string())
    }

    /// Whether the process has ended, though its parent may not know it yet.
    pub fn has_ended(self) -> bool {
        match fs::read_to_string(format!("/proc/{}/stat", self.process)) {
            // The state follows the name, which is in parentheses and may contain some.
            Ok(stat) => stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with(['Z', 'X'])),
            Err(_) => true,
        }
    }
}

/// A profiled JVM and what it runs.
struct Program {
    process: u32,
    name: String,
}

impl Program {
    /// Whether this is its main class or jar, with or without package and folder.
    fn is_called(&self, name: &str) -> bool {
        let rest = self.name.strip_suffix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with(['.', '/']))
    }
}

fn listed(programs: &[&Program]) -> String {
    programs.iter().map(|one| format!("{} ({})", one.process, one.name)).collect::<Vec<_>>().join(", ")
}

/// All profiled JVMs whose memory this user may read, by their process ids.
fn profiled() -> Vec<Program> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut found: Vec<Program> = processes
        .filter_map(|process| {
            let name = cct_arena::program(&memory_of(process).ok()?)?;
            Some(Program { process, name })
        })
        .collect();
    found.sort_by_key(|program| program.process);
    found
}

/// The memory of a process: the one among its open files that it maps shared and writable.
fn memory_of(process: u32) -> Result<Memory> {
    let folder = PathBuf::from(format!("/proc/{process}/fd"));
    let files = match fs::read_dir(&folder) {
        Ok(files) => files,
        Err(e) if e.kind() == ErrorKind::NotFound => bail!("no process {process}"),
        Err(e) => {
            return Err(e).with_context(|| format!("cannot read process {process}; it must be yours"));
        }
    };
    let maps = fs::read_to_string(format!("/proc/{process}/maps"))
        .with_context(|| format!("cannot read process {process}; it must be yours"))?;
    // A line has an address range, permissions, offset, device, inode and name.
    let written: BTreeSet<u64> = maps
        .lines()
        .filter_map(|line| {
            let mut parts = line.split_ascii_whitespace().skip(1);
            (parts.next() == Some("rw-s")).then_some(parts.nth(2)?.parse().ok()).flatten()
        })
        .collect();
    for file in files {
        let Ok(path) = file.map(|file| file.path()) else { continue };
        let is_written =
            fs::metadata(&path).is_ok_and(|file| file.is_file() && written.contains(&file.ino()));
        if is_written && let Ok(memory) = File::open(&path).map_err(Into::into).and_then(Memory::open) {
            return Ok(memory);
        }
    }
    // A process gives up its memory before it ends, and then waits for its parent.
    if maps.is_empty() {
        bail!("process {process} has ended");
    }
    bail!(
        "process {process} is not profiled; start the program with `cctrewrite run -- java ...`. (A \
         profiled JVM cannot be read if it records nothing, has no load-time library, or was \
         started with an empty -Dcctrewrite.arena=)"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_have_names_with_and_without_packages_and_folders() {
        let program = |name: &str| Program { process: 1, name: name.to_owned() };
        for (name, asked, is) in [
            ("com.acme.Main", "com.acme.Main", true),
            ("com.acme.Main", "Main", true),
            ("com.acme.Main", "ain", false),
            ("lib/app.jar", "app.jar", true),
            ("Main", "com.acme.Main", false),
        ] {
            assert_eq!(program(name).is_called(asked), is, "{asked} of {name}");
        }
    }

    /// It was called a JVM that is not profiled.
    #[test]
    fn a_process_that_waits_for_its_parent_has_ended() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let process = child.id();
        while !(RunningJvm { process }).has_ended() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let error = memory_of(process).err().unwrap().to_string();
        child.wait().unwrap();
        assert_eq!(error, format!("process {process} has ended"));
        let error = memory_of(std::process::id()).err().unwrap().to_string();
        assert!(error.contains(" is not profiled; start the program"), "{error}");
    }

    #[test]
    fn a_process_that_is_not_there_has_ended() {
        assert!(RunningJvm { process: u32::MAX }.has_ended());
        assert!(!RunningJvm { process: std::process::id() }.has_ended());
    }
}
