//! Arguments of `cctrewrite compare`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{ColumnArgument, PartArguments, SelectionArguments};

const EXAMPLES: &str = "\
Examples:
    cctrewrite compare before.cct after.cct
    cctrewrite compare default.cct precise.cct --root app.Main.main --limit 20
    cctrewrite compare a.cct b.cct --drop java.lang.Thread.join --drop 'sun.*'
    cctrewrite report --format contexts run.cct | cctrewrite compare expected.txt -
    cctrewrite compare a.cct b.cct --format json > difference.json";

/// Check whether two recordings of one run agree: contexts that differ, relative error, overlap
///
/// A and B are profiles (.cct files) or lists of contexts as `report --format contexts` writes
/// them: text with a line `calls bytecodes frame;frame;...` for each context. B is the reference:
/// relative errors are relative to its counts.
///
/// Contexts match by their stacks, methods by class, name and descriptor. The output lists contexts
/// of one side only and contexts with different calls or bytecodes. It has the totals, the relative
/// error and the overlap percentage: the sum, over all contexts, of the smaller of the two shares.
/// Differences of the headers, and the notes of both, come first.
///
/// In a pattern (METHOD, THREAD) `*` matches any characters: `java.util.HashMap.put`,
/// `java.util.*`, `*.hashCode()I`. A pattern without parentheses matches any descriptor.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Compare {
    /// A profile or a list of contexts; `-` is standard input
    pub a: PathBuf,

    /// The profile or list to compare with
    pub b: PathBuf,

    /// Compare thread by thread, matched by name, instead of adding up the threads' trees
    #[arg(long)]
    pub per_thread: bool,

    #[command(flatten)]
    pub selection: SelectionArguments,

    #[command(flatten)]
    pub parts: PartArguments,

    /// Drop the numbers in names of generated classes (lambdas, proxies, accessors), as `report`
    /// does. Contexts that become equal are added up
    #[arg(long)]
    pub normalize_generated: bool,

    /// Compare calls, not bytecodes
    #[arg(long)]
    pub calls_only: bool,

    /// Compare objects and arrays by type instead of calls and bytecodes. Needs profiles recorded
    /// with --allocations
    #[arg(long, conflicts_with = "calls_only")]
    pub allocations: bool,

    /// Compare this column instead of bytecodes. Needs profiles recorded with the option of the
    /// same name
    #[arg(long, value_enum, conflicts_with_all = ["calls_only", "allocations"])]
    pub column: Option<ColumnArgument>,

    /// Show at most N contexts in each list
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub limit: usize,

    /// Output format
    #[arg(long, value_enum, default_value_t = CompareFormat::Text)]
    pub format: CompareFormat,

    /// Cut lines after N columns [text]
    #[arg(long, value_name = "N")]
    pub width: Option<usize>,
}

/// Formats of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// Text
    Text,
    /// One JSON object, with the frames of each listed context, outermost first
    Json,
}
