//! Arguments of `cctrewrite config`.

use clap::Args;

/// Show the options that the configuration file sets
///
/// The file is cctrewrite.toml in the current folder, or the one that
/// `cctrewrite --config FILE config` names. The options are shown as on command lines.
#[derive(Debug, Args)]
pub struct Config {}
