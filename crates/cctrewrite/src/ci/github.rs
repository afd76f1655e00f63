//! Annotations of GitHub Actions (workflow commands).

use std::io::{self, Write};

/// The level of an annotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A failure of the job.
    Error,
    /// A problem that does not fail the job.
    Warning,
    /// Information without a problem.
    Notice,
}

/// Writes one annotation.
pub fn annotate(kind: Kind, title: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
    let kind = match kind {
        Kind::Error => "error",
        Kind::Warning => "warning",
        Kind::Notice => "notice",
    };
    writeln!(out, "::{kind} title={title}::{}", escaped(text))
}

/// Escapes `%`, which begins an escape, and line ends, which would end the workflow command.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}
