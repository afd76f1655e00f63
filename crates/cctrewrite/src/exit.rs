//! How the command ends: exit codes, error messages, closed pipes.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use anyhow::Result;

/// Exit codes, as `--help` shows them. 2 is clap's.
pub const EXIT_CODES: &str = "\
Exit codes:
  0  success
  1  the work failed; the message says why, and nothing was written
  2  the command line is wrong
  3  a profile is damaged; what is sound of it was shown
`compare` is like diff(1): 0 equal, 1 different, 2 trouble, 3 a damaged profile.
`diff` and `bench` likewise: 1 when a limit is exceeded; `verify`: 1 when something was found;
`typestate`: 1 when a report has a violation.
`run` is like env(1): the command's own exit code, 125 when a profile is missing or cctrewrite failed, 126 or 127 when the command
cannot be started or found.";

/// Exit code of a command that failed.
pub const FAILURE: u8 = 1;

/// Exit code of a comparison that failed: as in diff(1), 1 has another meaning.
pub const TROUBLE: u8 = 2;

/// How a command that did not fail ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Everything was done.
    Complete,
    /// Part of the input was damaged, which has been said on standard error.
    Damaged,
    /// Two profiles were compared, and are different, or more so than is allowed.
    Different,
    /// A command was run, and ended with this exit code.
    Passed(u8),
}

/// Has a write fail that goes beyond the limit on the size of files (`ulimit -f`). By default the system ends the process there and then: without a
/// word, and with its temporary files left behind. Programs that we start have the default again.
pub fn outlive_size_limits() {
    #[cfg(unix)]
    {
        // Nobody asks for it: that somebody watches suffices. Should that fail, the default stays.
        let seen = std::sync::Arc::default();
        let _ = signal_hook::flag::register(rustix::process::Signal::XFSZ.as_raw(), seen);
    }
}

/// Ends the process's work: says what failed, on one line, and chooses the exit code, which after a failure is `failure`.
pub fn finish(result: Result<Outcome>, failure: u8) -> ExitCode {
    match result {
        Ok(Outcome::Complete) => ExitCode::SUCCESS,
        Ok(Outcome::Different) => ExitCode::from(1),
        Ok(Outcome::Damaged) => ExitCode::from(3),
        Ok(Outcome::Passed(code)) => ExitCode::from(code),
        Err(error) => {
            say(&format!("cctrewrite: {error:#}"));
            ExitCode::from(failure)
        }
    }
}

/// Writes a line to standard error. Unlike `eprintln!` it does not panic when that is closed (`2>&1 | head`).
pub fn say(line: &str) {
    // Nobody is left who could be told.
    let _ = writeln!(io::stderr(), "{line}");
}

/// Writes to standard output, buffered. A reader that has had enough (`| head`) is no error.
pub fn to_stdout<E>(write: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), E>) -> Result<()>
where
    E: Into<anyhow::Error>,
{
    let mut out = BufWriter::new(io::stdout());
    let written = write(&mut out).map_err(Into::into);
    let written = written.and_then(|()| Ok(out.flush()?));
    // What is still buffered after an error must not be tried again on drop.
    let _ = out.into_parts();
    match written {
        Err(error) if is_broken_pipe(&error) => Ok(()),
        other => other,
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io_errors = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    io_errors.into_iter().any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_closed_pipe_is_forgiven() {
        let of = |kind: io::ErrorKind| anyhow::Error::from(cct_profile::ReportError::Io(kind.into()));
        assert!(is_broken_pipe(&of(io::ErrorKind::BrokenPipe)));
        assert!(is_broken_pipe(&of(io::ErrorKind::BrokenPipe).context("outer")));
        assert!(!is_broken_pipe(&of(io::ErrorKind::StorageFull)));
    }
}
