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
  3  a profile is damaged; what is sound of it was shown";

/// How a command that did not fail ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Everything was done.
    Complete,
    /// Part of the input was damaged, which has been said on standard error.
    Damaged,
}

/// Ends the process's work: says what failed, on one line, and chooses the exit code.
pub fn finish(result: Result<Outcome>) -> ExitCode {
    match result {
        Ok(Outcome::Complete) => ExitCode::SUCCESS,
        Ok(Outcome::Damaged) => ExitCode::from(3),
        Err(error) => {
            say(&format!("cctrewrite: {error:#}"));
            ExitCode::from(1)
        }
    }
}

/// Writes a line to standard error. Unlike `eprintln!` it does not panic when that is closed (`2>&1 | head`).
pub fn say(line: &str) {
    // Nobody is left who could be told.
    let _ = writeln!(io::stderr(), "{line}");
}

/// Writes to standard output, buffered. A reader that has had enough (`| head`) is no error.
pub fn to_stdout<E>(write: impl FnOnce(&mut dyn Write) -> Result<(), E>) -> Result<()>
where
    E: Into<anyhow::Error>,
{
    let mut out = BufWriter::new(io::stdout().lock());
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
