//! Executable files that a test writes and then runs.
//!
//! Another process writes them. If the test wrote them itself, a concurrent test that starts a
//! program at that moment would inherit the open file until its `exec`. Until then the system
//! refuses to run the file ("Text file busy", execve(2)).

use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Writes a script for `/bin/sh` with mode 0755. Replaces the contents of an existing file.
///
/// # Errors
/// Fails if the file cannot be written.
pub fn script(path: &Path, commands: &str) -> io::Result<()> {
    let mut writer = Command::new("/bin/sh");
    // The mode is that of a new file, whatever the umask.
    writer.args(["-c", "cat > \"$1\" && chmod 755 \"$1\"", "sh"]).arg(path).stdin(Stdio::piped());
    let mut child = writer.spawn()?;
    let written = child.stdin.take().map_or(Ok(()), |mut pipe| write!(pipe, "#!/bin/sh\n{commands}\n"));
    ended(child)?;
    written
}

/// Copies a program with its mode.
///
/// # Errors
/// Fails if the file cannot be read or written.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    ended(Command::new("cp").arg("-p").arg("--").args([from, to]).spawn()?)
}

fn ended(mut child: Child) -> io::Result<()> {
    let status = child.wait()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(status.to_string())) }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    /// With [`std::fs::copy`] instead of another process up to 3 of 60 programs did not start.
    #[test]
    fn executables_run_at_once_while_other_threads_start_programs() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: String| folder.path().join(name);
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        Command::new("/bin/true").status().unwrap();
                    }
                });
            }
            let run = || {
                for number in 0..60 {
                    let (written, copied) =
                        (path(format!("script-{number}")), path(format!("true-{number}")));
                    script(&written, "exit 3")?;
                    copy(Path::new("/bin/true"), &copied)?;
                    assert_eq!(Command::new(written).status()?.code(), Some(3));
                    assert!(Command::new(copied).status()?.success());
                }
                io::Result::Ok(())
            };
            let result = run();
            is_over.store(true, Ordering::Relaxed);
            result.unwrap();
        });
    }

    #[test]
    fn failures_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing/file");
        assert!(script(&missing, "exit").is_err());
        assert!(copy(Path::new("/bin/true"), &missing).is_err());
    }
}
