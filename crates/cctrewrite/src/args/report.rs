//! Arguments of `cctrewrite report`.

use std::path::PathBuf;
use std::sync::LazyLock;

use cct_columns::Column;
use cct_export::html::MOST_CONTEXTS;
use cct_profile::Metric;
use cct_profile::labels::By;
use clap::builder::PossibleValue;
use clap::{ArgGroup, Args, ValueEnum};

use super::{LayoutArguments, PartArguments, SelectionArguments};

const EXAMPLES: &str = "\
Examples:
    cctrewrite report run.cct
    cctrewrite report run.cct --hot-path
    cctrewrite report run.cct --depth 0 --top 20 --sort inclusive
    cctrewrite report run.cct --min-percent 0 --wide | less -S
    cctrewrite report run.cct --focus 'java.util.regex.*' --drop '*.<clinit>' --fold-recursion
    cctrewrite report run.cct --html run.html
    cctrewrite report after.cct --diff before.cct --html change.html
    cctrewrite report run.cct --by package --top 20
    cctrewrite report run.cct --by jar --classes app.jar --classes $JAVA_HOME
    cctrewrite report run.cct --format csv --by class > classes.csv
    cctrewrite report --table natives *.cct
    cctrewrite report --table library --classes $JAVA_HOME antlr.cct bloat.cct
    cctrewrite report --format contexts a.cct > a.txt
    cctrewrite report --format contexts b.cct > b.txt; diff a.txt b.txt";

/// Show a profile: methods, contexts, threads, or tables
///
/// Shows a profile (.cct file) as text: a header with the gaps of the numbers, the heaviest methods
/// outside the JDK, then the calling-context tree, the heaviest contexts first. `own` is what a
/// method executes itself, `inclusive` adds its callees.
///
/// The tree has at most 60 lines. If more would be due, recursion is folded, and then the lightest
/// contexts are left out; the report says so. --lines, --depth and --min-percent change that.
///
/// In a pattern (METHOD, THREAD) `*` matches any characters: `java.util.HashMap.put`,
/// `java.util.*`, `*.hashCode()I`. A pattern without parentheses matches any descriptor.
///
/// If a file is truncated (the JVM was killed, the disk was full), the sound part is shown.
/// Standard error names what is missing, and the exit code is 3. Other damaged files are refused,
/// with exit code 1.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, group = ArgGroup::new("page").args(["html", "open"]).multiple(true))]
pub struct Report {
    /// Profiles; `-` is standard input. Several are added up, context by context; a --table has a
    /// row for each
    #[arg(value_name = "FILE", default_value = super::run::PROFILE)]
    pub profiles: Vec<PathBuf>,

    /// Output format
    #[arg(long, value_enum, default_value_t = ReportFormat::Text, help_heading = "Output")]
    pub format: ReportFormat,

    #[command(flatten)]
    pub selection: SelectionArguments,

    #[command(flatten)]
    pub parts: PartArguments,

    /// Grouping of rows. Calls within a group belong to the group's context
    #[arg(long, value_enum, default_value_t = ByArgument::Method, value_name = "GROUP", help_heading = "Contents")]
    pub by: ByArgument,

    /// Class path for `--by jar`, `--by module` and `--table library`, which profiles do not
    /// record: a jar, a folder, an image or the home of a JDK, instrumented or not (repeatable).
    /// The first class of a name is used
    #[arg(long, value_name = "PATH", help_heading = "Contents", hide_short_help = true)]
    pub classes: Vec<PathBuf>,

    /// Fold recursion: a call of a method that is already on the stack counts in its context there,
    /// so no method is twice on a path. Text does so by default if the tree exceeds its lines
    #[arg(long, help_heading = "Contents", hide_short_help = true)]
    pub fold_recursion: bool,

    /// Show each thread's tree instead of their sum
    #[arg(long, help_heading = "Contents", hide_short_help = true)]
    pub per_thread: bool,

    /// Keep the numbers in names of generated classes (lambdas, proxies, accessors). By default
    /// they are dropped, so that two runs can be compared
    #[arg(long, help_heading = "Contents", hide_short_help = true)]
    pub raw_names: bool,

    /// Metric of sums and percentages. Calls if the profile has no bytecodes
    #[arg(long, value_enum, value_name = "METRIC", help_heading = "Contents")]
    pub metric: Option<MetricArgument>,

    /// Show the N most expensive methods (or groups), over all contexts [text, json, csv]
    ///
    /// By default, text shows 5 outside the JDK (with --mine: in your code) by own and 5 by
    /// inclusive; JSON and CSV list all
    #[arg(long, value_name = "N", help_heading = "Contents")]
    pub top: Option<usize>,

    /// Sort order [default: the table by own, contexts by inclusive] [text, json, csv]
    #[arg(long, value_enum, help_heading = "Contents", hide_short_help = true)]
    pub sort: Option<OrderArgument>,

    /// Hide contexts deeper than N frames; 0 shows no tree [text, json]
    #[arg(long, value_name = "N", help_heading = "Contents")]
    pub depth: Option<usize>,

    /// Hide contexts whose inclusive share is below P percent; 0 shows all [default: 0.5] [text,
    /// json]
    #[arg(long, value_name = "P", value_parser = percentage, help_heading = "Contents")]
    pub min_percent: Option<f64>,

    /// Show the heaviest N lines of each tree, or of callers; 0 shows all, with recursion [default:
    /// 60; all with --depth or --min-percent] [text]
    #[arg(long, value_name = "N", help_heading = "Contents", hide_short_help = true)]
    pub lines: Option<usize>,

    /// Show one path instead of the tree: the heaviest context, its heaviest callee, and so on
    /// [text]
    #[arg(long, conflicts_with_all = ["table", "html", "open"], help_heading = "Contents")]
    pub hot_path: bool,

    /// Show the id of each context, which is the same for the same path in every profile. --context
    /// selects by it, and tables of `export --format parquet` have it. Recursion is not folded
    /// [text; json has ids]
    #[arg(long, conflicts_with_all = ["by", "fold_recursion", "callers", "table", "html", "open"], help_heading = "Contents", hide_short_help = true)]
    pub ids: bool,

    /// Show the callers of a method (a pattern), their callers, and the share of each [text]
    ///
    /// The calls of a line are those of the method through that caller, not those of the caller.
    /// Chains have at most --depth callers (default: 20); --min-percent is of the method
    #[arg(long, value_name = "METHOD", conflicts_with_all = ["focus", "by", "top", "sort", "fold_recursion", "per_thread", "hot_path", "table", "html", "open"], help_heading = "Contents")]
    pub callers: Option<String>,

    /// Write a table from the literature instead, with a row for each profile [text, json, csv]
    #[arg(long, value_enum, conflicts_with_all = ["by", "top", "sort", "depth", "fold_recursion", "per_thread", "metric", "collapse_library", "mine", "mine_from"], help_heading = "Contents", hide_short_help = true)]
    pub table: Option<TableArgument>,

    #[command(flatten)]
    pub csv: super::CsvArguments,

    /// Header: short, or with all that is known of the run, and all notes [text]
    #[arg(long, value_enum, value_name = "LENGTH", default_value_t = HeaderArgument::Short, help_heading = "Output", hide_short_help = true)]
    pub header: HeaderArgument,

    #[command(flatten)]
    pub layout: LayoutArguments,

    /// Write an HTML page instead: flame graph, tree and methods in one file
    ///
    /// The file needs no others (docs/use/html.md). It is written completely or not at all; `-` is
    /// standard output
    #[arg(long, value_name = "OUT", conflicts_with_all = ["format", "per_thread", "top", "sort", "depth", "min_percent", "lines", "table", "width", "wide"], help_heading = "HTML page")]
    pub html: Option<PathBuf>,

    /// Open the page in the browser. Without --html the file has the name of the profile with the
    /// ending `.html`, in the current folder
    #[arg(long, conflicts_with_all = ["format", "per_thread", "top", "sort", "depth", "min_percent", "lines", "table", "width", "wide"], help_heading = "HTML page", hide_short_help = true)]
    pub open: bool,

    /// Show what changed since this profile [html]
    #[arg(long, value_name = "BASE", requires = "page", help_heading = "HTML page", hide_short_help = true)]
    pub diff: Option<PathBuf>,

    /// Keep the N heaviest contexts, and show how much the others weigh [html]
    #[arg(long, value_name = "N", default_value_t = MOST_CONTEXTS, requires = "page", help_heading = "HTML page", hide_short_help = true)]
    pub max_contexts: usize,
}

/// Formats of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// Text: the header, the heaviest methods, then the tree
    Text,
    /// One JSON object, with the table of methods, too (docs/reference/formats/json.md)
    Json,
    /// CSV: the table of methods, or the --table
    Csv,
    /// One line per context, `calls bytecodes frame;frame;...`, sorted by bytes, after comment
    /// lines that start with #
    Contexts,
}

/// Headers of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HeaderArgument {
    /// Program and sums, exactness, and what is missing
    Short,
    /// All that is known of the run, a line for each fact
    Full,
}

/// What rows stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ByArgument {
    /// A method
    Method,
    /// A class
    Class,
    /// A package
    Package,
    /// A jar, image or folder (needs --classes)
    Jar,
    /// A module (needs --classes)
    Module,
    /// All threads of one name
    Thread,
}

impl Report {
    /// The percentage below which contexts are hidden.
    pub fn min_percent(&self) -> f64 {
        self.min_percent.unwrap_or(0.5)
    }
}

impl From<ByArgument> for By {
    fn from(by: ByArgument) -> By {
        match by {
            ByArgument::Method => By::Method,
            ByArgument::Class => By::Class,
            ByArgument::Package => By::Package,
            ByArgument::Jar => By::Jar,
            ByArgument::Module => By::Module,
            ByArgument::Thread => By::Thread,
        }
    }
}

impl ByArgument {
    /// The error message if rows need `--classes` and it is not given.
    pub fn needs_classes(by: By) -> String {
        format!(
            "profiles do not record the class path, which --by {} needs; name it, and the JDK's \
             home, with --classes",
            by.name()
        )
    }
}

/// What is summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricArgument {
    /// Executed bytecodes, or their cost.
    Bytecodes,
    /// Calls.
    Calls,
    /// Objects and arrays by type.
    Allocations,
    /// A column: a number that a pass counts.
    Column(Column),
}

impl ValueEnum for MetricArgument {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<MetricArgument>> = LazyLock::new(|| {
            let built_in = [MetricArgument::Bytecodes, MetricArgument::Calls, MetricArgument::Allocations];
            built_in.into_iter().chain(Column::all().map(MetricArgument::Column)).collect()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            MetricArgument::Bytecodes => PossibleValue::new("bytecodes").help("Executed bytecodes"),
            MetricArgument::Calls => PossibleValue::new("calls").help("Calls"),
            MetricArgument::Allocations => PossibleValue::new("allocations").help(
                "Objects and arrays by type, of profiles recorded with --allocations. Types are \
                 the innermost frames. Groups other than methods have no types: objects belong to \
                 the group that allocates them",
            ),
            MetricArgument::Column(column) => {
                let name = column.name();
                let (first, rest) = column.counts().split_at(1);
                let help =
                    format!("{}{rest}. Of profiles recorded with --{name}", first.to_ascii_uppercase());
                PossibleValue::new(name).help(help)
            }
        })
    }
}

impl From<MetricArgument> for Metric {
    fn from(metric: MetricArgument) -> Metric {
        match metric {
            MetricArgument::Bytecodes => Metric::Bytecodes,
            MetricArgument::Calls => Metric::Calls,
            MetricArgument::Allocations => Metric::Allocations,
            MetricArgument::Column(column) => Metric::of_column(column),
        }
    }
}

/// A column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnArgument(pub Column);

impl ValueEnum for ColumnArgument {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<ColumnArgument>> =
            LazyLock::new(|| Column::all().map(ColumnArgument).collect());
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        MetricArgument::Column(self.0).to_possible_value()
    }
}

/// Orders of rows, the largest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OrderArgument {
    /// What the method or context executes itself
    #[value(alias = "self")]
    Own,
    /// What it executes with its callees
    Inclusive,
    /// Calls
    Calls,
}

/// Tables of the literature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TableArgument {
    /// Native methods: contexts and calls, with their shares (CCCP, section 6.1, table 1)
    Natives,
    /// Calls within and between the application and the JDK (CCCP, section 6.2, table 2). Classes
    /// are assigned by package, or by --classes if it names a JDK
    Library,
    /// Numbers of methods, contexts and calls, depths (JP2, section 4, figure 9)
    Shape,
    /// Overlap percentages of all profiles with each other, by calls and by bytecodes (CCCP,
    /// section 6.1)
    Overlap,
}

pub(super) fn percentage(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("expected a number from 0 to 100".to_owned()),
    }
}
