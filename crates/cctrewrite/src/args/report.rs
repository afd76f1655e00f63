//! Arguments of `cctrewrite report`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Shows profiles (.cct files).
#[derive(Debug, Args)]
pub struct Report {
    /// Profiles; `-` is standard input. Several are added up, context by context
    #[arg(required = true, value_name = "FILE")]
    pub profiles: Vec<PathBuf>,

    /// What to write
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub format: ReportFormat,

    /// Keep threads apart instead of adding up their trees
    #[arg(long)]
    pub per_thread: bool,

    /// Keep the numbers in the names of classes that are made while a program runs (lambdas, proxies, accessors). Without this they
    /// are left out, so that two runs can be compared
    #[arg(long)]
    pub raw_names: bool,

    /// Add a table of the N methods that cost most, over all contexts [text]
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,

    /// What the table of methods is sorted by [text]
    #[arg(long, value_enum, default_value_t = OrderArgument::Own, requires = "top")]
    pub sort: OrderArgument,

    /// Hide contexts deeper than N frames [text]
    #[arg(long, value_name = "N")]
    pub depth: Option<usize>,

    /// Hide contexts whose inclusive share is below P percent; 0 shows all [text]
    #[arg(long, value_name = "P", default_value_t = 0.5)]
    pub min_percent: f64,

    /// Cut lines to N columns [text]
    #[arg(long, value_name = "N")]
    pub width: Option<usize>,
}

/// Formats of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For people: where the numbers come from, then the tree
    Text,
    /// For programs: one line per context, `calls bytecodes frame;frame;...`, sorted by bytes, after comment lines that start with #
    Contexts,
}

/// Orders of the table of methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OrderArgument {
    /// Bytecodes of the method itself
    Own,
    /// Bytecodes of the method and all that it called
    Inclusive,
    /// Calls
    Calls,
}
