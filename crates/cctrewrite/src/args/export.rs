//! Arguments of `cctrewrite export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::report::percentage;
use super::{MetricArgument, SelectionArguments, SitesArguments};

const EXAMPLES: &str = "\
Examples:
    cctrewrite export --format svg run.cct -o run.svg
    cctrewrite export --format svg after.cct --diff before.cct -o difference.svg
    cctrewrite export --format icicle run.cct --root app.Main.main --metric calls -o main.svg
    cctrewrite export --format callgrind run.cct -o callgrind.out.run; callgrind_annotate callgrind.out.run
    cctrewrite export --format pprof run.cct -o run.pb.gz; go tool pprof -top run.pb.gz
    cctrewrite export --format parquet run.cct --per-thread -o run.parquet
    cctrewrite export --format collapsed run.cct -o - | flamegraph.pl > run.svg";

/// Write a profile in the format of another tool
///
/// The sum over what is written is that of the profile. What a threshold (--min-percent, --depth)
/// cuts off is added up, in a context named `[pruned]` below its caller, and said on standard
/// error. docs/use/exports.md says what each format can hold.
///
/// Of a file that was cut off (the JVM was killed, the disk was full) what is sound is written,
/// standard error says what is missing, and the exit code is 3.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Export {
    /// Profiles; `-` is standard input. Several are added up, context by context
    #[arg(value_name = "FILE", default_value = super::run::PROFILE)]
    pub profiles: Vec<PathBuf>,

    /// What to write
    #[arg(long, value_enum)]
    pub format: ExportFormat,

    /// Where to write it; `-` is standard output. A file is complete or not there
    #[arg(short, long, value_name = "PATH")]
    pub output: PathBuf,

    /// What is counted where a format holds one metric [collapsed, svg, icicle], and what
    /// --min-percent is a percentage of. Default: bytecodes, or calls where bytecodes were not
    /// counted
    #[arg(long, value_enum)]
    pub metric: Option<MetricArgument>,

    /// Keep threads apart instead of adding up their trees
    #[arg(long)]
    pub per_thread: bool,

    /// What of the trees is written
    #[command(flatten)]
    pub selection: SelectionArguments,

    #[command(flatten)]
    pub sites: SitesArguments,

    /// Write all contexts, however many bytes that takes
    #[arg(long, conflicts_with_all = ["min_percent", "depth"])]
    pub all: bool,

    /// Cut off contexts whose inclusive share is below P percent. Default: 0, which keeps all; 0.1
    /// for pictures, and for collapsed stacks that would take more than 10 MB
    #[arg(long, value_name = "P", value_parser = percentage)]
    pub min_percent: Option<f64>,

    /// Cut off contexts deeper than N frames. Default: no limit, and 500 for pictures
    #[arg(long, value_name = "N")]
    pub depth: Option<usize>,

    /// What methods are called
    #[arg(long, value_enum, default_value_t = NamesArgument::Readable)]
    pub names: NamesArgument,

    /// Keep the numbers in the names of classes that are made while a program runs (lambdas,
    /// proxies, accessors)
    #[arg(long)]
    pub raw_names: bool,

    /// Draw the difference from this profile: the widths are those of FILE, red has more than here,
    /// blue less [svg, icicle]
    #[arg(long, value_name = "BEFORE")]
    pub diff: Option<PathBuf>,
}

/// Formats of exports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Collapsed stacks: a line `frame;frame;... count` for each context, for FlameGraph, inferno,
    /// speedscope
    Collapsed,
    /// A flame graph to be opened in a browser
    Svg,
    /// The same, growing downward
    Icicle,
    /// speedscope's JSON
    Speedscope,
    /// profile.proto, compressed, for pprof
    Pprof,
    /// Functions and calls, for callgrind_annotate and KCachegrind
    Callgrind,
    /// A table with a row for each context, for DuckDB, Spark, pandas
    Parquet,
    /// All of it as one object (docs/reference/formats/export.md)
    Json,
}

/// What methods are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NamesArgument {
    /// java.util.HashMap.put(Object, Object)
    Readable,
    /// java.util.HashMap.put(Ljava/lang/Object,Ljava/lang/Object,)Ljava/lang/Object,
    Exact,
    /// java.util.HashMap.put; methods that differ in their parameters become one
    Short,
}
