//! Lines on standard output.

use std::fmt::Display;
use std::io::Write as _;

use anyhow::Result;

/// Writes a line to standard output.
///
/// # Errors
/// If nobody reads it any more.
pub(crate) fn print_line(line: &dyn Display) -> Result<()> {
    Ok(writeln!(std::io::stdout(), "{line}")?)
}
