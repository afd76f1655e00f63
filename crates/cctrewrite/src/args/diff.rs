//! Arguments of `cctrewrite diff`.

use std::path::PathBuf;

use cct_profile::diff::Percentage;
use clap::{Args, ValueEnum};

use super::{ByArgument, ColumnArgument, PartArguments, SelectionArguments};

const EXAMPLES: &str = "\
Examples:
    cctrewrite diff base.cct new.cct
    cctrewrite diff base.cct new.cct --by package --sort relative --limit 30
    cctrewrite diff base.cct new.cct --focus 'app.Parser.*' --min-percent 0.1
    cctrewrite diff base.cct new.cct --mine 'com.acme.**' --sort inclusive
    cctrewrite diff base.cct new.cct --fail-above 1% --fail-method-above 5% --min-percent 0.01
    cctrewrite diff base.cct new.cct --fail-above 0.5% --format junit > diff.xml";

/// Show which methods and contexts grew or shrank from one version of a program to another
///
/// For two versions of a program: what does the change cost, and where? Methods match by class,
/// name and descriptor, contexts by their stacks. The change of a context is that of its own
/// bytecodes, without its callees. So a changed line shows in the method and the context that
/// execute it. Each file is a profile (.cct file) or a list of contexts. To check whether two
/// recordings of the same run agree, use `compare`.
///
/// In a pattern (METHOD, THREAD) `*` matches any characters: `java.util.HashMap.put`,
/// `java.util.*`, `*.hashCode()I`. A pattern without parentheses matches any descriptor.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Diff {
    /// The profile before the change; `-` is standard input
    pub base: PathBuf,

    /// The profile after the change
    #[arg(default_value = super::run::PROFILE)]
    pub new: PathBuf,

    /// Output format
    #[arg(long, value_enum, default_value_t = DiffFormat::Text, help_heading = "Output")]
    pub format: DiffFormat,

    #[command(flatten)]
    pub csv: super::CsvArguments,

    /// Fail (exit code 1) if the total grows by more than P percent. 0 allows no growth
    #[arg(long, value_name = "P", help_heading = "Limits")]
    pub fail_above: Option<Percentage>,

    /// Fail if the own bytecodes of a method (or group) grow by more than P percent
    ///
    /// A new method exceeds any percentage; exclude small changes with --min-percent
    #[arg(long, value_name = "P", help_heading = "Limits")]
    pub fail_method_above: Option<Percentage>,

    /// Refuse limits (exit code 2) if the selection (--thread, --root, --focus, --drop, --only,
    /// --except) keeps less than P percent of either side, since limits do not check the rest. 0
    /// allows any selection
    #[arg(long, value_name = "P", default_value = "50%", help_heading = "Limits", hide_short_help = true)]
    pub keep_at_least: Percentage,

    /// Apply limits even if the two were recorded on different JDKs or with different settings,
    /// which is refused otherwise (exit code 2)
    #[arg(long, help_heading = "Limits", hide_short_help = true)]
    pub allow_mismatch: bool,

    #[command(flatten)]
    pub selection: SelectionArguments,

    #[command(flatten)]
    pub parts: PartArguments,

    /// Grouping of rows
    #[arg(long, value_enum, default_value_t = ByArgument::Method, value_name = "GROUP", help_heading = "Contents")]
    pub by: ByArgument,

    /// Class path for `--by jar` and `--by module`: a jar, a folder, an image or the home of a JDK
    /// (repeatable)
    #[arg(long, value_name = "PATH", help_heading = "Contents", hide_short_help = true)]
    pub classes: Vec<PathBuf>,

    /// Fold recursion: a call of a method that is already on the stack counts in its context there
    #[arg(long, help_heading = "Contents", hide_short_help = true)]
    pub fold_recursion: bool,

    /// Compare thread by thread, matched by name, instead of adding up the threads' trees
    #[arg(long, help_heading = "Contents", hide_short_help = true)]
    pub per_thread: bool,

    /// Keep the numbers in names of generated classes (lambdas, proxies, accessors)
    #[arg(long, help_heading = "Contents", hide_short_help = true)]
    pub raw_names: bool,

    /// Compare calls instead of bytecodes
    #[arg(long, help_heading = "Contents", hide_short_help = true)]
    pub calls_only: bool,

    /// Compare objects and arrays by type instead of calls and bytecodes. Needs profiles recorded
    /// with --allocations
    #[arg(long, conflicts_with = "calls_only", help_heading = "Contents", hide_short_help = true)]
    pub allocations: bool,

    /// Compare this column instead of bytecodes. Needs profiles recorded with the option of the
    /// same name
    #[arg(long, value_enum, conflicts_with_all = ["calls_only", "allocations"], help_heading = "Contents", hide_short_help = true)]
    pub column: Option<ColumnArgument>,

    /// Sort order, the largest change first
    #[arg(long, value_enum, default_value_t = DiffOrderArgument::Own, help_heading = "Contents")]
    pub sort: DiffOrderArgument,

    /// Hide methods and contexts whose change is below P percent of the base's total. Hidden ones
    /// cannot exceed a limit
    #[arg(long, value_name = "P", help_heading = "Contents")]
    pub min_percent: Option<Percentage>,

    /// Show at most N methods and N contexts
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Contents")]
    pub limit: usize,

    /// Cut lines after N columns [text]
    #[arg(long, value_name = "N", help_heading = "Output", hide_short_help = true)]
    pub width: Option<usize>,
}

/// Formats of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// Text
    Text,
    /// One JSON object (docs/reference/formats/json.md)
    Json,
    /// CSV, with all methods that changed
    Csv,
    /// JUnit's XML, with a test for each limit and a failure for each exceeded one
    Junit,
    /// GitHub Actions: an annotation for each exceeded limit, and one for the total
    Github,
}

/// What changes are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DiffOrderArgument {
    /// Own bytecodes of methods and contexts
    #[value(alias = "self")]
    Own,
    /// Bytecodes of methods with their callees; contexts as by own
    Inclusive,
    /// Calls
    Calls,
    /// Relative change of own bytecodes
    Relative,
}
