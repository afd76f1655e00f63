//! Runs of other programs, with errors that name the program and show its output.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::process::{Command, Output};

use anyhow::{Context as _, Result, anyhow, bail};

/// Runs `command` to its end and returns its standard output.
///
/// # Errors
/// Fails if the program is not installed, cannot be started, or fails; the error then has the end
/// of its output.
pub fn output(command: &mut Command) -> Result<String> {
    let Output { status, stdout, stderr } = run(command)?;
    if !status.success() {
        let said = if stderr.is_empty() { &stdout } else { &stderr };
        bail!("`{}` failed ({status}): {}", name(command), last_lines(&String::from_utf8_lossy(said)));
    }
    String::from_utf8(stdout).with_context(|| format!("`{}` wrote something other than UTF-8", name(command)))
}

/// Runs `command` to its end and returns its output and exit status.
///
/// # Errors
/// Fails if the program is not installed or cannot be started.
pub fn run(command: &mut Command) -> Result<Output> {
    command.output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => anyhow!("the program `{}` is not there", name(command)),
        _ => anyhow!("`{}` cannot be started: {error}", name(command)),
    })
}

/// The program and its first argument: enough to identify a failure.
fn name(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args().take(1));
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

/// The last lines of a program's message, on one line.
fn last_lines(text: &str) -> String {
    const LINES: usize = 5;
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(LINES)..].join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_program_is_named_and_quoted() {
        let error = output(Command::new("sh").args(["-c", "echo trouble >&2; exit 3"])).unwrap_err();
        let message = error.to_string();
        assert!(
            message.contains("sh -c") && message.contains("trouble") && message.contains('3'),
            "{message}"
        );
    }

    #[test]
    fn a_missing_program_is_said_to_be_missing() {
        let error = output(&mut Command::new("no-such-program-anywhere")).unwrap_err();
        assert_eq!(error.to_string(), "the program `no-such-program-anywhere` is not there");
    }
}
