//! Arguments of `cctrewrite pcc`.

use std::path::PathBuf;

use cct_pcc::Value;
use clap::{Args, Subcommand};

const EXAMPLES: &str = "\
Examples:
  Count the contexts, as values, in which a program resizes hash tables:
    cctrewrite run --tool pcc --pcc-at java.util.HashMap.resize -- java -jar app.jar
    cctrewrite pcc dump cctrewrite.pcc

  Look up the contexts of the values in a tree of the same program:
    cctrewrite run --call-sites -o tree.cct -- java -jar app.jar
    cctrewrite pcc contexts cctrewrite.pcc --tree tree.cct

  Look up a value that a program wrote into its log:
    cctrewrite pcc contexts --value 89047a709daf3363 --tree tree.cct

  Count the contexts of the program that share a value:
    cctrewrite pcc collisions tree.cct";

/// Analyze values of calling contexts (recorded with --tool pcc)
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Pcc {
    /// The subcommand
    #[command(subcommand)]
    pub command: PccCommand,
}

/// What can be done with values.
#[derive(Debug, Subcommand)]
pub enum PccCommand {
    Info(PccInfo),
    Dump(PccDump),
    Contexts(PccContexts),
    Collisions(PccCollisions),
}

/// Describe a file of context values: methods, values, entries, and the chosen methods
#[derive(Debug, Args)]
pub struct PccInfo {
    /// The file of context values
    #[arg(value_name = "FILE.pcc")]
    pub file: PathBuf,
}

/// Print how often each method was entered with each value: a line each, with tabs between number,
/// value and method
#[derive(Debug, Args)]
pub struct PccDump {
    /// The file of context values
    #[arg(value_name = "FILE.pcc")]
    pub file: PathBuf,
}

/// Print the contexts of a tree that have the values. Lists all contexts of a value, and values
/// without a context
#[derive(Debug, Args)]
pub struct PccContexts {
    /// The file of context values
    #[arg(value_name = "FILE.pcc", required_unless_present = "value")]
    pub file: Option<PathBuf>,

    /// Look up this value instead of a file's values, for any method (repeatable): 16 hexadecimal
    /// digits, as cctrewrite.api.Pcc.current() returns
    #[arg(long, value_name = "VALUE", value_parser = value, conflicts_with = "file")]
    pub value: Vec<Value>,

    /// A profile of the same program, recorded with --call-sites
    #[arg(long, value_name = "FILE.cct")]
    pub tree: PathBuf,

    /// Maximum number of values: the most frequent ones of each method
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
}

/// Parses a value, written as 16 hexadecimal digits.
fn value(text: &str) -> Result<Value, String> {
    Value::parse(text).ok_or_else(|| "expected 16 hexadecimal digits, as in 89047a709daf3363".to_owned())
}

/// Count the contexts of a tree that share a value, and those expected to if values were random
#[derive(Debug, Args)]
pub struct PccCollisions {
    /// A profile that was recorded with --call-sites
    #[arg(value_name = "FILE.cct")]
    pub tree: PathBuf,
}
