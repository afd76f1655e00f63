//! A difference as annotations of GitHub Actions.

use std::io::Write;

use cct_profile::ReportError;
use cct_profile::diff::{Difference, Excess, verdict};

use crate::ci::github::{Kind, annotate};
use crate::diff_command::sentence::sentence;

const TITLE: &str = "cctrewrite diff";

/// Writes an error for each limit that is exceeded, and a notice with the last line of the text.
pub fn write(
    found: &Difference,
    judged: Option<&[Excess<'_>]>,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    for excess in judged.unwrap_or_default() {
        annotate(Kind::Error, TITLE, &sentence(excess, found), out)?;
    }
    let kind = if found.is_incomplete() { Kind::Warning } else { Kind::Notice };
    Ok(annotate(kind, TITLE, &verdict(found, judged), out)?)
}
