//! Output of lines to standard output.

use std::fmt::Display;
use std::io::Write as _;

use anyhow::Result;

/// Writes a line to standard output.
///
/// # Errors
/// Fails if the output is closed.
pub fn print_line(line: &dyn Display) -> Result<()> {
    Ok(writeln!(std::io::stdout(), "{line}")?)
}
