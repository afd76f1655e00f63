//! Arguments of `cctrewrite trace`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

const EXAMPLES: &str = "\
Examples:
  Describe a trace:
    cctrewrite trace info run.trace

  Print the first events of the main thread:
    cctrewrite trace dump run.trace --thread main --limit 100

  Rebuild the calling-context tree that the profiler would count:
    cctrewrite trace contexts run.trace -o run.cct
    cctrewrite report run.cct --top 20

  Write the executed lines of a program:
    cctrewrite trace coverage run.trace --classes 'com.acme.*' > run.info";

/// Analyze execution traces (recorded with --tool trace)
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Trace {
    /// The subcommand
    #[command(subcommand)]
    pub command: TraceCommand,
}

/// What can be done with a trace.
#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    Info(TraceInfo),
    Dump(TraceDump),
    Replay(TraceReplay),
    Contexts(TraceContexts),
    Callgraph(TraceCallgraph),
    Metrics(TraceMetrics),
    Coverage(TraceCoverage),
    Timeline(TraceTimeline),
    Structure(TraceStructure),
}

/// Print the calls of each thread in order: one line a call, indented by its depth
#[derive(Debug, Args)]
pub struct TraceReplay {
    /// Trace file
    #[arg(value_name = "FILE.trace")]
    pub file: PathBuf,

    /// Only threads of this name, or with this number (repeatable)
    #[arg(long, value_name = "THREAD")]
    pub thread: Vec<String>,

    /// Maximum number of calls of each thread
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
}

/// Write the dynamic call graph, with the number of calls of each edge
#[derive(Debug, Args)]
pub struct TraceCallgraph {
    /// Trace file
    #[arg(value_name = "FILE.trace")]
    pub file: PathBuf,

    /// Output format
    #[arg(long, value_enum, default_value_t = GraphFormat::Dot)]
    pub format: GraphFormat,

    /// Only calls from or to methods of these classes: a pattern over names with dots, such as
    /// `com.acme.*`
    #[arg(long, value_name = "PATTERN")]
    pub classes: Option<String>,
}

/// Formats of call graphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// For Graphviz
    Dot,
    /// JSON: methods and edges
    Json,
}

/// Print dynamic metrics of the program (Dufour et al. 2003)
#[derive(Debug, Args)]
pub struct TraceMetrics {
    /// Trace file
    #[arg(value_name = "FILE.trace")]
    pub file: PathBuf,

    /// JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// Report coverage by line and bytecode
#[derive(Debug, Args)]
pub struct TraceCoverage {
    /// Trace file
    #[arg(value_name = "FILE.trace")]
    pub file: PathBuf,

    /// Output format
    #[arg(long, value_enum, default_value_t = CoverageFormat::Lcov)]
    pub format: CoverageFormat,

    /// Only these classes: a pattern over names with dots, such as `com.acme.*`
    #[arg(long, value_name = "PATTERN")]
    pub classes: Option<String>,
}

/// Formats of coverage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CoverageFormat {
    /// A tracefile of LCOV, for genhtml and editors
    Lcov,
    /// An XML report as JaCoCo writes it
    Jacoco,
    /// A line for each basic block: how often it began, its first bytecode index, its method
    Blocks,
}

/// Write a timeline for Perfetto and chrome://tracing, in Chrome's JSON. The time of a thread is
/// its number of executed bytecodes
#[derive(Debug, Args)]
pub struct TraceTimeline {
    /// Trace file
    #[arg(value_name = "FILE.trace")]
    pub file: PathBuf,

    /// Omit calls with fewer bytecodes, callees included
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub least: u64,

    /// Omit calls deeper than this
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub depth: usize,

    /// Maximum number of calls of all threads: the longest ones. A note gives the number of omitted
    /// calls
    #[arg(long, value_name = "N", default_value_t = 500_000)]
    pub limit: usize,
}

/// Print the static side: classes, methods, basic blocks with their metrics, call sites, exception
/// handlers and bytecode
#[derive(Debug, Args)]
pub struct TraceStructure {
    /// The trace, or the file `lib/cctrewrite/structure` of a tracing JDK
    #[arg(value_name = "FILE.trace")]
    pub file: PathBuf,

    /// Output format
    #[arg(long, value_enum, default_value_t = StructureFormat::Xml)]
    pub format: StructureFormat,

    #[command(flatten)]
    pub csv: super::CsvArguments,

    /// Only these classes: a pattern over names with dots, such as `com.acme.*`
    #[arg(long, value_name = "PATTERN")]
    pub classes: Option<String>,
}

/// Formats of the static side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StructureFormat {
    /// XML, as in the paper
    Xml,
    /// CSV, with a row for each basic block
    Csv,
    /// Text, with a line for each class
    Json,
    /// Parquet, with the columns of the CSV
    Parquet,
}

/// Describe a trace: threads, events, classes, and anomalies
#[derive(Debug, Args)]
pub struct TraceInfo {
    /// Trace file
    #[arg(value_name = "FILE.trace")]
    pub file: PathBuf,
}

/// Print events as text, one a line
#[derive(Debug, Args)]
pub struct TraceDump {
    /// Trace file
    #[arg(value_name = "FILE.trace")]
    pub file: PathBuf,

    /// Only threads of this name, or with this number (repeatable)
    #[arg(long, value_name = "THREAD")]
    pub thread: Vec<String>,

    /// Only this method and its callees: CLASS.METHOD, from each entry to its exit
    #[arg(long, value_name = "METHOD")]
    pub below: Option<String>,

    /// Maximum number of events of each thread
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,

    /// Print the events of all threads in global order, each after its thread's number. Needs a
    /// trace of mode `shared`
    #[arg(long, conflicts_with = "below")]
    pub in_order: bool,

    /// Print event numbers instead of text, as in the paper
    #[arg(long)]
    pub numbers: bool,
}

/// Rebuild the calling-context tree of a trace: a profile for all commands
#[derive(Debug, Args)]
pub struct TraceContexts {
    /// Trace file
    #[arg(value_name = "FILE.trace")]
    pub file: PathBuf,

    /// Output file
    #[arg(short, long, value_name = "FILE.cct")]
    pub output: PathBuf,
}
