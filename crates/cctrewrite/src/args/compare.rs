//! Arguments of `cctrewrite compare`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{ColumnArgument, SelectionArguments, SitesArguments};

const EXAMPLES: &str = "\
Examples:
    cctrewrite compare before.cct after.cct
    cctrewrite compare default.cct precise.cct --root app.Main.main --limit 20
    cctrewrite compare a.cct b.cct --drop java.lang.Thread.join --drop 'sun.*'
    cctrewrite report --format contexts run.cct | cctrewrite compare expected.txt -
    cctrewrite compare a.cct b.cct --format json > difference.json";

/// Compare two profiles, context by context
///
/// Either may be a profile (.cct file) or a list of contexts, as `report --format contexts` writes
/// it: text with a line `calls bytecodes frame;frame;...` for each context. B is the reference:
/// relative errors are relative to its counts.
///
/// Contexts are the same when their stacks are, methods when class, name and descriptor are. Shown
/// are the contexts that are in one only, those whose calls or bytecodes differ, the totals, the
/// overlap percentage (the sum of the smaller of both shares of each context) and the relative
/// error. What differs in the headers, and the notes of both, stands above.
///
/// A pattern (METHOD, THREAD) is a name in which `*` stands for any characters:
/// `java.util.HashMap.put`, `java.util.*`, `*.hashCode()I`. Without a parenthesis the descriptor
/// does not matter.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Compare {
    /// A profile or a list of contexts; `-` is standard input
    pub a: PathBuf,

    /// What it is compared with
    pub b: PathBuf,

    /// Keep threads apart, matched by their names, instead of adding up their trees
    #[arg(long)]
    pub per_thread: bool,

    #[command(flatten)]
    pub selection: SelectionArguments,

    #[command(flatten)]
    pub sites: SitesArguments,

    /// Leave out the numbers in the names of classes that are made while a program runs (lambdas,
    /// proxies, accessors), as `report` does. Contexts that become equal are added up
    #[arg(long)]
    pub normalize_generated: bool,

    /// Compare calls, not bytecodes
    #[arg(long)]
    pub calls_only: bool,

    /// Look at objects and arrays by type, not at calls and bytecodes; of programs that were
    /// rewritten with --allocations
    #[arg(long, conflicts_with = "calls_only")]
    pub allocations: bool,

    /// Compare this column instead of bytecodes; needs profiles recorded with the option of its
    /// name
    #[arg(long, value_enum, conflicts_with_all = ["calls_only", "allocations"])]
    pub column: Option<ColumnArgument>,

    /// Show at most N contexts in each list
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub limit: usize,

    /// What to write
    #[arg(long, value_enum, default_value_t = CompareFormat::Text)]
    pub format: CompareFormat,

    /// Cut lines to N columns [text]
    #[arg(long, value_name = "N")]
    pub width: Option<usize>,
}

/// Formats of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// For people
    Text,
    /// For programs: the same as one JSON object, with the frames of each listed context, outermost
    /// first
    Json,
}
