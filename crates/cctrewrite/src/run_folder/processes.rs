//! Processes whose JVMs write into the folder of a run. These are all that have the run's variable.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use cct_profile::collection::VARIABLE;

use super::record::cut;

/// A running process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its process id.
    pub id: u32,
    /// Its command line, for people.
    pub command: String,
}

/// The other processes of this user that were started with a folder of this name.
///
/// Compares names instead of paths: somebody may have moved the folder, and its name is random.
pub fn of_folder(folder: &Path) -> Vec<Process> {
    let Some(name) = folder.file_name() else { return Vec::new() };
    let ids = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = ids.filter_map(|entry| entry.file_name().to_str().and_then(|id| id.parse().ok()));
    let mut found: Vec<Process> = ids
        .filter(|&id: &u32| id != std::process::id())
        .filter(|id| fs::read(format!("/proc/{id}/environ")).is_ok_and(|text| names(&text, name)))
        .map(|id| {
            let arguments = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
            let arguments = String::from_utf8_lossy(&arguments);
            Process { id, command: cut(arguments.replace('\0', " ").trim_end()) }
        })
        .collect();
    found.sort_by_key(|process| process.id);
    found
}

/// Whether variables, each ended by a zero byte, name a folder of this name.
fn names(variables: &[u8], name: &OsStr) -> bool {
    let value = |variable: &'_ [u8]| -> Option<bool> {
        let value = variable.strip_prefix(VARIABLE.as_bytes())?.strip_prefix(b"=")?;
        Some(Path::new(OsStr::from_bytes(value)).file_name() == Some(name))
    };
    variables.split(|&byte| byte == 0).filter_map(value).any(|is_it| is_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_is_found_among_others() {
        let name = OsStr::new(".cctrewrite-a.run");
        for (variables, expected) in [
            (&b"A=b\0CCTREWRITE_RUN=/x/.cctrewrite-a.run\0C=d\0"[..], true),
            (b"CCTREWRITE_RUN=.cctrewrite-a.run/\0", true),
            (b"CCTREWRITE_RUN=/x/.cctrewrite-b.run\0", false),
            (b"CCTREWRITE_RUN=\0", false),
            (b"XCCTREWRITE_RUN=/x/.cctrewrite-a.run\0", false),
            (b"CCTREWRITE_RUNS=/x/.cctrewrite-a.run\0", false),
            (b"", false),
        ] {
            assert_eq!(names(variables, name), expected, "{}", String::from_utf8_lossy(variables));
        }
    }

    #[test]
    fn processes_that_were_started_with_a_folder_are_found() {
        let folder = Path::new("/nowhere/.cctrewrite-of-this-test.run");
        let mut command = std::process::Command::new("sleep");
        let mut child = command.arg("60").env(VARIABLE, folder).spawn().unwrap();
        // Until `exec`, the child is a copy of this process.
        let mut found = Vec::new();
        for _ in 0..500 {
            found = of_folder(folder);
            if !found.is_empty() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(found, [Process { id: child.id(), command: "sleep 60".to_owned() }]);
        assert_eq!(of_folder(folder), []);
    }
}
