//! How the command ends: exit codes, error messages, closed pipes.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use anyhow::Result;
use cct_build::text::harmless;

use crate::exit_codes::ExitCodes;

/// How a command that did not fail ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Everything was done.
    Complete,
    /// Part of the input was damaged. A message on standard error has said so.
    Damaged,
    /// The verdict is negative: profiles differ (by more than allowed), or there are findings,
    /// violations or faults.
    Different,
    /// The command ran another one, which ended with this exit code.
    Passed(u8),
}

/// Makes a write fail if it goes beyond the limit on the size of files (`ulimit -f`). By default
/// the system kills the process at once: without a message, and with its temporary files left
/// behind. Programs that this process starts have the default again.
pub fn outlive_size_limits() {
    #[cfg(unix)]
    {
        // Nobody reads the flag: a handler is enough. If registering it fails, the default stays.
        let seen = std::sync::Arc::default();
        let _ = signal_hook::flag::register(rustix::process::Signal::XFSZ.as_raw(), seen);
    }
}

/// Reports a failure, with the output of a failed program, and returns the exit code.
pub fn finish(result: Result<Outcome>, codes: &ExitCodes) -> ExitCode {
    match result {
        Ok(Outcome::Complete) => ExitCode::SUCCESS,
        Ok(Outcome::Different) => ExitCode::from(1),
        Ok(Outcome::Damaged) => ExitCode::from(3),
        Ok(Outcome::Passed(code)) => ExitCode::from(code),
        Err(error) => {
            say(&format!("cctrewrite: {error:#}"));
            if let Some(failed) = error.downcast_ref::<ProgramFailed>() {
                say_lines(&failed.said);
            }
            ExitCode::from(codes.failure)
        }
    }
}

/// A program that the command ran has failed.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct ProgramFailed {
    /// The program and how it ended.
    pub what: String,
    /// The program's output, shown below the message line by line.
    pub said: String,
}

/// Writes a line to standard error. Unlike `eprintln!` it does not panic if standard error is
/// closed (`2>&1 | head`). Names in the line may come from strangers. They can neither harm a
/// terminal nor look like a line of their own.
pub fn say(line: &str) {
    // If standard error is closed, nobody can be told.
    let _ = writeln!(io::stderr(), "{}", harmless(line));
}

/// Writes lines to standard error.
pub fn say_lines(lines: &str) {
    lines.lines().for_each(say);
}

/// Writes text to standard output by [`to_stdout`], and escapes what might harm a terminal.
pub fn text_to_stdout<E>(write: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), E>) -> Result<()>
where
    E: Into<anyhow::Error>,
{
    to_stdout(|out| write(&mut Harmless(out)))
}

/// Escapes what might harm a terminal. Each write must hold whole characters, as those of `write!`
/// do.
struct Harmless<'w>(&'w mut (dyn Write + Send));

impl Write for Harmless<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                self.0.write_all(b"\n")?;
            }
            self.0.write_all(harmless(line).as_bytes())?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Writes to standard output, buffered. A reader that stops early (`| head`) is no error.
pub fn to_stdout<E>(write: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), E>) -> Result<()>
where
    E: Into<anyhow::Error>,
{
    let mut out = BufWriter::new(io::stdout());
    let written = write(&mut out).map_err(Into::into);
    let written = written.and_then(|()| Ok(out.flush()?));
    // After an error, dropping the writer must not write its buffer again.
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
    fn written_text_is_harmless() {
        let mut out: Vec<u8> = Vec::new();
        writeln!(Harmless(&mut out), "a\u{1b}[2Jb\n\u{e9}").unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "a\\u{1b}[2Jb\n\u{e9}\n");
    }

    #[test]
    fn only_a_closed_pipe_is_forgiven() {
        let of = |kind: io::ErrorKind| anyhow::Error::from(cct_profile::ReportError::Io(kind.into()));
        assert!(is_broken_pipe(&of(io::ErrorKind::BrokenPipe)));
        assert!(is_broken_pipe(&of(io::ErrorKind::BrokenPipe).context("outer")));
        assert!(!is_broken_pipe(&of(io::ErrorKind::StorageFull)));
    }
}
