//! Arguments for writing CSV.

use cct_profile::csv::Reader;

/// Options of commands that write CSV.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct CsvArguments {
    /// Write names unchanged, for programs. By default a spreadsheet cannot read a name as a
    /// formula: a `'` precedes `=`, `+`, `-` and `@` at the start of a cell, and control characters
    /// are escaped [csv]
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub raw: bool,
}

impl CsvArguments {
    /// The kind of reader for which values are written.
    pub fn reader(self) -> Reader {
        if self.raw { Reader::Program } else { Reader::Spreadsheet }
    }
}
