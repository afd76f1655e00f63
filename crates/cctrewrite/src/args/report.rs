//! Arguments of `cctrewrite report`.

use std::path::PathBuf;
use std::sync::LazyLock;

use cct_columns::Column;
use cct_export::html::MOST_CONTEXTS;
use cct_profile::Metric;
use cct_profile::labels::By;
use clap::builder::PossibleValue;
use clap::{ArgGroup, Args, ValueEnum};

use super::{SelectionArguments, SitesArguments};

const EXAMPLES: &str = "\
Examples:
    cctrewrite report run.cct | less -S
    cctrewrite report run.cct --min-percent 0 --depth 5 --top 20 --sort calls
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
/// A profile (.cct file) is shown as text: where the numbers come from and what they lack, then the
/// calling-context tree, the heaviest contexts first.
///
/// A pattern (METHOD, THREAD) is a name in which `*` stands for any characters:
/// `java.util.HashMap.put`, `java.util.*`, `*.hashCode()I`. Without a parenthesis the descriptor
/// does not matter.
///
/// Of a file that was cut off (the JVM was killed, the disk was full) what is sound is shown,
/// standard error says what is missing, and the exit code is 3. A file that is damaged otherwise is
/// refused, with exit code 1.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, group = ArgGroup::new("page").args(["html", "open"]).multiple(true))]
pub struct Report {
    /// Profiles; `-` is standard input. Several are added up, context by context; in a --table each
    /// has a row
    #[arg(value_name = "FILE", default_value = super::run::PROFILE)]
    pub profiles: Vec<PathBuf>,

    /// What to write
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub format: ReportFormat,

    #[command(flatten)]
    pub selection: SelectionArguments,

    #[command(flatten)]
    pub sites: SitesArguments,

    /// What rows stand for. Calls within a group are part of the group's context
    #[arg(long, value_enum, default_value_t = ByArgument::Method, value_name = "GROUP")]
    pub by: ByArgument,

    /// Where classes come from, for `--by jar`, `--by module` and `--table library`, as profiles do
    /// not record it: a jar, a folder, an image or the home of a JDK, instrumented or not
    /// (repeatable). Of several classes of a name the first counts
    #[arg(long, value_name = "PATH")]
    pub classes: Vec<PathBuf>,

    /// Show a call of a method that is on the stack already in the context that it has there, so
    /// that no method is twice on a path
    #[arg(long)]
    pub fold_recursion: bool,

    /// Keep threads apart instead of adding up their trees
    #[arg(long)]
    pub per_thread: bool,

    /// Keep the numbers in the names of classes that are made while a program runs (lambdas,
    /// proxies, accessors). Without this they are left out, so that two runs can be compared
    #[arg(long)]
    pub raw_names: bool,

    /// What is summed and taken percentages of; calls where bytecodes were not counted
    #[arg(long, value_enum, value_name = "METRIC")]
    pub metric: Option<MetricArgument>,

    /// Show the N methods (or groups) that cost most, over all contexts. Text has them behind the
    /// tree if this is given; JSON and CSV have all without it [text, json, csv]
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,

    /// What is sorted by [default: the table by own, contexts by inclusive] [text, json, csv]
    #[arg(long, value_enum)]
    pub sort: Option<OrderArgument>,

    /// Hide contexts deeper than N frames [text, json]
    #[arg(long, value_name = "N")]
    pub depth: Option<usize>,

    /// Hide contexts whose inclusive share is below P percent; 0 shows all [text, json]
    #[arg(long, value_name = "P", default_value_t = 0.5, value_parser = percentage)]
    pub min_percent: f64,

    /// Show who calls a method (a pattern), who calls these, and how much of the method is due to
    /// each. Chains have at most --depth callers (20); --min-percent is of the method [text]
    #[arg(long, value_name = "METHOD", conflicts_with_all = ["focus", "by", "top", "sort", "fold_recursion", "per_thread", "table", "html", "open"])]
    pub callers: Option<String>,

    /// Write a table of the literature instead, with a row for each profile [text, json, csv]
    #[arg(long, value_enum, conflicts_with_all = ["by", "top", "sort", "depth", "fold_recursion", "per_thread", "metric"])]
    pub table: Option<TableArgument>,

    #[command(flatten)]
    pub csv: super::CsvArguments,

    /// Cut lines to N columns [text]
    #[arg(long, value_name = "N")]
    pub width: Option<usize>,

    /// Write a page for browsers instead: flame graph, tree and methods in one file that loads
    /// nothing (docs/use/html.md). It is complete or not there; `-` is standard output
    #[arg(long, value_name = "OUT", conflicts_with_all = ["format", "per_thread", "top", "sort", "depth", "min_percent", "table", "width"])]
    pub html: Option<PathBuf>,

    /// Open the page in the browser. Without --html it goes into the profile's name with the ending
    /// `.html`, in the current folder
    #[arg(long, conflicts_with_all = ["format", "per_thread", "top", "sort", "depth", "min_percent", "table", "width"])]
    pub open: bool,

    /// Show what has changed since this profile [html]
    #[arg(long, value_name = "BASE", requires = "page")]
    pub diff: Option<PathBuf>,

    /// Keep the N contexts that weigh most, and say how much the others are [html]
    #[arg(long, value_name = "N", default_value_t = MOST_CONTEXTS, requires = "page")]
    pub max_contexts: usize,
}

/// Formats of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For people: where the numbers come from, then the tree
    Text,
    /// For programs: the same and the table of methods, as one JSON object
    /// (docs/reference/formats/json.md)
    Json,
    /// For spreadsheets: the table of methods, or the --table
    Csv,
    /// For programs: one line per context, `calls bytecodes frame;frame;...`, sorted by bytes,
    /// after comment lines that start with #
    Contexts,
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
            "profiles do not record where classes come from: --by {} needs --classes, with the class path and the JDK's home",
            by.name()
        )
    }
}

/// What is summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricArgument {
    /// Executed bytecodes, or what they cost.
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
                "Objects and arrays by type, of programs that were rewritten with --allocations. Types are the innermost frames; by groups \
                 other than methods there are none, and objects are those of who made them",
            ),
            MetricArgument::Column(column) => {
                let name = column.name();
                let (first, rest) = column.counts().split_at(1);
                let help = format!(
                    "{}{rest}. Of programs that were rewritten with --{name}",
                    first.to_ascii_uppercase()
                );
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
    /// Bytecodes of the method or context itself
    #[value(alias = "self")]
    Own,
    /// Bytecodes of the method or context and all that it called
    Inclusive,
    /// Calls
    Calls,
}

/// Tables of the literature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TableArgument {
    /// Native methods: contexts and calls, and their shares of all (CCCP, section 6.1, table 1)
    Natives,
    /// Calls within and between the application and the JDK (CCCP, section 6.2, table 2). By names
    /// of packages; by the classes themselves if --classes names a JDK
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
        _ => Err("a number from 0 to 100 is wanted".to_owned()),
    }
}
