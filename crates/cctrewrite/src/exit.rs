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
    /// Part of the input was damaged, which has been said on standard error.
    Damaged,
    /// Two profiles were compared, and are different, or more so than is allowed.
    Different,
    /// A command was run, and ended with this exit code.
    Passed(u8),
}

/// Has a write fail that goes beyond the limit on the size of files (`ulimit -f`). By default the
/// system ends the process there and then: without a word, and with its temporary files left
/// behind. Programs that we start have the default again.
pub fn outlive_size_limits() {
    #[cfg(unix)]
    {
        // Nobody asks for it: that somebody watches suffices. Should that fail, the default stays.
        let seen = std::sync::Arc::default();
        let _ = signal_hook::flag::register(rustix::process::Signal::XFSZ.as_raw(), seen);
    }
}

/// Ends the process's work: says what failed, on one line, and returns the exit code.
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

/// A program that was run did not do what it should.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct ProgramFailed {
    /// Which, and what became of it.
    pub what: String,
    /// What it said, in lines, which are shown below.
    pub said: String,
}

/// Writes a line to standard error. Unlike `eprintln!` it does not panic when that is closed
/// (`2>&1 | head`). Names in it come from strangers: they can neither harm a terminal nor look like
/// a line of their own.
pub fn say(line: &str) {
    // Nobody is left who could be told.
    let _ = writeln!(io::stderr(), "{}", harmless(line));
}

/// Writes lines to standard error.
pub fn say_lines(lines: &str) {
    lines.lines().for_each(say);
}

/// Writes text to standard output, as [`to_stdout`] does. Whatever names are in it, it cannot harm
/// a terminal.
pub fn text_to_stdout<E>(write: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), E>) -> Result<()>
where
    E: Into<anyhow::Error>,
{
    to_stdout(|out| write(&mut Harmless(out)))
}

/// Escapes what might harm a terminal. What is written at once is whole characters, as by `write!`.
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
    fn what_is_written_as_text_is_harmless() {
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
