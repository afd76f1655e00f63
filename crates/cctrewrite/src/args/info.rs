//! Arguments of `cctrewrite info`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

const EXAMPLES: &str = "\
Examples:
    cctrewrite info run.cct
    cctrewrite info *.cct --format json";

/// Describe a profile: program, JVM, options, sizes, threads, and what is missing
///
/// Reads and checks the whole file. If a file is truncated, the sound part is described, and the
/// exit code is 3.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Info {
    /// Profiles; `-` is standard input
    #[arg(value_name = "FILE", default_value = super::run::PROFILE)]
    pub profiles: Vec<PathBuf>,

    /// Output format
    #[arg(long, value_enum, default_value_t = InfoFormat::Text)]
    pub format: InfoFormat,
}

/// Formats of a description.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum InfoFormat {
    /// Text
    Text,
    /// One JSON object (docs/reference/formats/json.md)
    Json,
}
