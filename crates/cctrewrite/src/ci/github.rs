//! Annotations of GitHub Actions (workflow commands).

use std::io::{self, Write};

/// How an annotation is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// What makes the job fail.
    Error,
    /// What deserves a look.
    Warning,
    /// What is only said.
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

/// What ends a command, or stands for something else in it, as its code.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}
