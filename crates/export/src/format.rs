//! A row in the table of formats.

use std::io::Write;

use crate::{Difference, ExportError, Source};

/// A format of exports.
#[derive(Debug)]
pub struct Format {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, in one line of the help text.
    pub help: &'static str,
    /// Whether it is unreadable on a terminal.
    pub is_binary: bool,
    /// Writes a source.
    pub write: Writer<Source>,
    /// Writes a difference, in formats for pictures.
    pub write_difference: Option<Writer<Difference>>,
    /// The size of a source in this format, in bytes, where it may be out of proportion to the
    /// profile.
    pub size: Option<fn(&Source) -> u128>,
}

/// A function that writes something in a format.
pub type Writer<T> = fn(&T, &mut Output<'_>) -> Result<(), ExportError>;

/// Where a format is written to.
pub type Output<'o> = dyn Write + Send + 'o;

impl Format {
    /// A text format for data.
    pub(crate) const fn text(name: &'static str, help: &'static str, write: Writer<Source>) -> Format {
        Format { name, help, is_binary: false, write, write_difference: None, size: None }
    }

    /// Whether it is a picture: too small contexts cannot be seen in it.
    pub fn is_picture(&self) -> bool {
        self.write_difference.is_some()
    }
}
