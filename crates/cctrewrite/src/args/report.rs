//! Arguments of `cctrewrite report`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

const EXAMPLES: &str = "\
Examples:
    cctrewrite report run.cct | less -S
    cctrewrite report run.cct --min-percent 0 --depth 5 --top 20 --sort calls
    cctrewrite report --format contexts a.cct > a.txt
    cctrewrite report --format contexts b.cct > b.txt; diff a.txt b.txt";

/// Show the profile that a run left behind
///
/// A profile (.cct file) is shown as text: where the numbers come from and what they lack, then the calling-context tree, the heaviest
/// contexts first.
///
/// Of a file that was cut off (the JVM was killed, the disk was full) what is sound is shown, standard error says what is missing, and
/// the exit code is 3. A file that is damaged otherwise is refused, with exit code 1.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
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
    #[arg(long, value_name = "P", default_value_t = 0.5, value_parser = percentage)]
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

fn percentage(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("a number from 0 to 100 is wanted".to_owned()),
    }
}
