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

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Error => "error",
            Kind::Warning => "warning",
            Kind::Notice => "notice",
        }
    }
}

/// Writes one annotation.
pub fn annotate(kind: Kind, title: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "::{} title={title}::{}", kind.name(), escaped(text))
}

/// Writes one annotation at a line, counted from 1, of a file of the repository.
pub fn annotate_at(
    kind: Kind,
    title: &str,
    (file, line): (&str, u16),
    text: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    // Properties end at a comma, their names at a colon.
    let file = escaped(file).replace(':', "%3A").replace(',', "%2C");
    writeln!(out, "::{} file={file},line={line},title={title}::{}", kind.name(), escaped(text))
}

/// Escapes `%`, which begins an escape, and line ends, which would end the workflow command.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}
