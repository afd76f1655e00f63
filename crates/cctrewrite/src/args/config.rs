//! Arguments of `cctrewrite config`.

use clap::Args;

/// Show the options that the configuration file sets
///
/// Reads cctrewrite.toml in the current folder, or FILE of `cctrewrite --config FILE config`.
/// Prints the options as on a command line.
#[derive(Debug, Args)]
pub struct Config {}
