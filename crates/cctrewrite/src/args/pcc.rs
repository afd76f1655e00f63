//! Arguments of `cctrewrite pcc`.

use std::path::PathBuf;

use cct_pcc::Value;
use clap::{Args, Subcommand};

const EXAMPLES: &str = "\
Examples:
  In which contexts a program grows hash tables, as values and how often each:
    cctrewrite run --tool pcc --pcc-at java.util.HashMap.resize -- java -jar app.jar
    cctrewrite pcc dump cctrewrite.pcc

  The contexts behind the values, by a tree of the same program:
    cctrewrite run --call-sites -o tree.cct -- java -jar app.jar
    cctrewrite pcc contexts cctrewrite.pcc --tree tree.cct

  The context that a program has asked for, and written into its log:
    cctrewrite pcc contexts --value 89047a709daf3363 --tree tree.cct

  How many contexts of the program would have the same value:
    cctrewrite pcc collisions tree.cct";

/// Analyze values of calling contexts (recorded with --tool pcc)
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Pcc {
    /// What to do
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

/// What a file of values holds: methods, values, entries, and what was chosen
#[derive(Debug, Args)]
pub struct PccInfo {
    /// The file
    #[arg(value_name = "FILE.pcc")]
    pub file: PathBuf,
}

/// How often each method was entered with each value: a line for each, with tabs between the
/// number, the value and the method
#[derive(Debug, Args)]
pub struct PccDump {
    /// The file
    #[arg(value_name = "FILE.pcc")]
    pub file: PathBuf,
}

/// The contexts behind the values: those of a tree with call sites that have them. All are listed
/// where there are several; values that no context of the tree has are named
#[derive(Debug, Args)]
pub struct PccContexts {
    /// The file
    #[arg(value_name = "FILE.pcc", required_unless_present = "value")]
    pub file: Option<PathBuf>,

    /// Instead of a file's values these, of whatever methods: 16 hexadecimal digits, as of
    /// cctrewrite.api.Pcc.current() (repeatable)
    #[arg(long, value_name = "VALUE", value_parser = value, conflicts_with = "file")]
    pub value: Vec<Value>,

    /// A profile of the same program, made with --call-sites
    #[arg(long, value_name = "FILE.cct")]
    pub tree: PathBuf,

    /// So many values at most, of each method those that were met most often
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
}

/// Parses a value, written as 16 hexadecimal digits.
fn value(text: &str) -> Result<Value, String> {
    Value::parse(text).ok_or_else(|| "16 hexadecimal digits are expected, as in 89047a709daf3363".to_owned())
}

/// How many contexts of a tree share their values, and how many would if values were random numbers
#[derive(Debug, Args)]
pub struct PccCollisions {
    /// A profile that was made with --call-sites
    #[arg(value_name = "FILE.cct")]
    pub tree: PathBuf,
}
