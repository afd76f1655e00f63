//! Arguments of `cctrewrite diff`.

use std::path::PathBuf;

use cct_profile::diff::Percentage;
use clap::{Args, ValueEnum};

use super::{ByArgument, ColumnArgument, SelectionArguments, SitesArguments};

const EXAMPLES: &str = "\
Examples:
    cctrewrite diff base.cct new.cct
    cctrewrite diff base.cct new.cct --by package --sort relative --limit 30
    cctrewrite diff base.cct new.cct --focus 'app.Parser.*' --min-percent 0.1
    cctrewrite diff base.cct new.cct --fail-above 1% --fail-method-above 5% --min-percent 0.01
    cctrewrite diff base.cct new.cct --fail-above 0.5% --format junit > diff.xml";

/// Show what changed between two profiles, by methods and by contexts
///
/// For two versions of a program: what does the change cost, and where? Methods are matched by
/// class, name and descriptor, contexts by their stacks. A context's change is that of what it
/// executed itself, so a changed line shows in the method and the context that execute it. Either
/// file may be a profile (.cct file) or a list of contexts. Whether two records of the same run
/// agree is what `compare` tells.
///
/// A pattern (METHOD, THREAD) is a name in which `*` stands for any characters:
/// `java.util.HashMap.put`, `java.util.*`, `*.hashCode()I`. Without a parenthesis the descriptor
/// does not matter.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Diff {
    /// The profile before the change; `-` is standard input
    pub base: PathBuf,

    /// The profile after it
    #[arg(default_value = super::run::PROFILE)]
    pub new: PathBuf,

    /// What to write
    #[arg(long, value_enum, default_value_t = DiffFormat::Text)]
    pub format: DiffFormat,

    #[command(flatten)]
    pub csv: super::CsvArguments,

    /// Fail (exit code 1) if the total has grown by more than P percent. 0 allows no growth
    #[arg(long, value_name = "P")]
    pub fail_above: Option<Percentage>,

    /// Fail if what a method (or group) executed itself has grown by more than P percent of what it
    /// was. A new method has grown by more than any percentage; --min-percent leaves out what does
    /// not matter
    #[arg(long, value_name = "P")]
    pub fail_method_above: Option<Percentage>,

    /// Refuse a limit (exit code 2) if the selection (--thread, --root, --focus, --drop) keeps
    /// less than P percent of either side: nothing would be said of the rest. 0 allows any
    #[arg(long, value_name = "P", default_value = "50%")]
    pub keep_at_least: Percentage,

    #[command(flatten)]
    pub selection: SelectionArguments,

    #[command(flatten)]
    pub sites: SitesArguments,

    /// What rows stand for
    #[arg(long, value_enum, default_value_t = ByArgument::Method, value_name = "GROUP")]
    pub by: ByArgument,

    /// Where classes come from, for `--by jar` and `--by module`: a jar, a folder, an image or the
    /// home of a JDK (repeatable)
    #[arg(long, value_name = "PATH")]
    pub classes: Vec<PathBuf>,

    /// Show a call of a method that is on the stack already in the context that it has there
    #[arg(long)]
    pub fold_recursion: bool,

    /// Keep threads apart, matched by their names, instead of adding up their trees
    #[arg(long)]
    pub per_thread: bool,

    /// Keep the numbers in the names of classes that are made while a program runs (lambdas,
    /// proxies, accessors)
    #[arg(long)]
    pub raw_names: bool,

    /// Look at calls, not bytecodes
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

    /// What is sorted by, the largest change first
    #[arg(long, value_enum, default_value_t = DiffOrderArgument::Own)]
    pub sort: DiffOrderArgument,

    /// Leave out methods and contexts whose change is below P percent of the base's total. What is
    /// left out cannot fail
    #[arg(long, value_name = "P")]
    pub min_percent: Option<Percentage>,

    /// Show at most N methods and N contexts
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub limit: usize,

    /// Cut lines to N columns [text]
    #[arg(long, value_name = "N")]
    pub width: Option<usize>,
}

/// Formats of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// For people
    Text,
    /// For programs: one JSON object (docs/reference/formats/json.md)
    Json,
    /// For spreadsheets: all methods that have changed
    Csv,
    /// For servers that run tests: JUnit's XML, a test for each limit, a failure for each that is
    /// exceeded
    Junit,
    /// For GitHub Actions: an annotation for each limit that is exceeded, and one for the total
    Github,
}

/// What changes are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DiffOrderArgument {
    /// What methods and contexts executed themselves
    #[value(alias = "self")]
    Own,
    /// What methods executed with all that they called; contexts as by own
    Inclusive,
    /// Calls
    Calls,
    /// What methods and contexts executed themselves, relative to what it was
    Relative,
}
