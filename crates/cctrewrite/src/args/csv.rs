//! Arguments for writing CSV.

use cct_profile::csv::Reader;

/// Options of commands that write CSV.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct CsvArguments {
    /// Write names as they are, for programs. By default no name can be a formula of a spreadsheet:
    /// a `'` precedes `=`, `+`, `-` and `@` at the start of a cell, and control characters are
    /// escaped [csv]
    #[arg(long)]
    pub raw: bool,
}

impl CsvArguments {
    /// The kind of reader for which values are written.
    pub fn reader(self) -> Reader {
        if self.raw { Reader::Program } else { Reader::Spreadsheet }
    }
}
