//! A difference as annotations of GitHub Actions (workflow commands).

use std::io::Write;

use cct_profile::ReportError;
use cct_profile::diff::{Difference, Excess, verdict};

use super::sentence;

const TITLE: &str = "cctrewrite diff";

/// Writes an error for each limit that is exceeded, and a notice with the last line of the text.
pub fn write(
    found: &Difference,
    judged: Option<&[Excess<'_>]>,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    for excess in judged.unwrap_or_default() {
        writeln!(out, "::error title={}::{}", TITLE, escaped(&sentence(excess, found)))?;
    }
    let kind = if found.is_incomplete() { "warning" } else { "notice" };
    Ok(writeln!(out, "::{kind} title={TITLE}::{}", escaped(&verdict(found, judged)))?)
}

/// What ends a command, or stands for something else in it, as its code.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}
