//! Arguments of `cctrewrite trace`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

const EXAMPLES: &str = "\
Examples:
  What a trace holds:
    cctrewrite trace info run.trace

  The first events of the main thread, for people:
    cctrewrite trace dump run.trace --thread main --limit 100

  The calling-context tree, as the profiler would have counted it:
    cctrewrite trace contexts run.trace -o run.cct
    cctrewrite report run.cct --top 20

  The lines of a program that were executed:
    cctrewrite trace coverage run.trace --classes 'com.acme.*' > run.info";

/// Analyze execution traces (recorded with --tool trace)
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Trace {
    /// What to do
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

/// Print the stack of each thread step by step: one line for each call, indented by its depth
#[derive(Debug, Args)]
pub struct TraceReplay {
    /// The trace
    #[arg(value_name = "FILE.trace")]
    pub file: PathBuf,

    /// Only threads of this name, or with this number (repeatable)
    #[arg(long, value_name = "THREAD")]
    pub thread: Vec<String>,

    /// So many calls of each thread at most
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
}

/// Write the dynamic call graph, with the number of calls of each edge
#[derive(Debug, Args)]
pub struct TraceCallgraph {
    /// The trace
    #[arg(value_name = "FILE.trace")]
    pub file: PathBuf,

    /// What to write
    #[arg(long, value_enum, default_value_t = GraphFormat::Dot)]
    pub format: GraphFormat,

    /// Only calls between which and a method of these classes stand: a pattern over names with
    /// dots, such as `com.acme.*`
    #[arg(long, value_name = "PATTERN")]
    pub classes: Option<String>,
}

/// Formats of call graphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// For Graphviz
    Dot,
    /// Methods and edges
    Json,
}

/// Print dynamic metrics of the program (Dufour et al. 2003)
#[derive(Debug, Args)]
pub struct TraceMetrics {
    /// The trace
    #[arg(value_name = "FILE.trace")]
    pub file: PathBuf,

    /// JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// Report coverage by line and bytecode
#[derive(Debug, Args)]
pub struct TraceCoverage {
    /// The trace
    #[arg(value_name = "FILE.trace")]
    pub file: PathBuf,

    /// What to write
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

/// Write a timeline for Perfetto and chrome://tracing, in Chrome's JSON. A thread's time is the
/// number of bytecodes that it has executed
#[derive(Debug, Args)]
pub struct TraceTimeline {
    /// The trace
    #[arg(value_name = "FILE.trace")]
    pub file: PathBuf,

    /// Leave out calls with fewer bytecodes, callees included
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub least: u64,

    /// Leave out calls deeper than this
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub depth: usize,

    /// So many calls of all threads at most: the longest ones. How many are left out is said
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

    /// What to write
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
    /// As in the paper
    Xml,
    /// A row for each basic block
    Csv,
    /// A line for each class
    Json,
    /// The CSV's columns, for data bases
    Parquet,
}

/// Describe a trace: threads, events, classes, and oddities
#[derive(Debug, Args)]
pub struct TraceInfo {
    /// The trace
    #[arg(value_name = "FILE.trace")]
    pub file: PathBuf,
}

/// Print events in words, one a line
#[derive(Debug, Args)]
pub struct TraceDump {
    /// The trace
    #[arg(value_name = "FILE.trace")]
    pub file: PathBuf,

    /// Only threads of this name, or with this number (repeatable)
    #[arg(long, value_name = "THREAD")]
    pub thread: Vec<String>,

    /// Only what this method does, and what it calls: CLASS.METHOD, from each of its starts to its
    /// end
    #[arg(long, value_name = "METHOD")]
    pub below: Option<String>,

    /// So many events of each thread at most
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,

    /// The events of all threads in their order, each behind its thread's number; of a trace in
    /// mode `shared`
    #[arg(long, conflicts_with = "below")]
    pub in_order: bool,

    /// The numbers of events instead of words, as in the paper
    #[arg(long)]
    pub numbers: bool,
}

/// Rebuild the calling-context tree of a trace: a profile for all commands
#[derive(Debug, Args)]
pub struct TraceContexts {
    /// The trace
    #[arg(value_name = "FILE.trace")]
    pub file: PathBuf,

    /// Where the profile goes
    #[arg(short, long, value_name = "FILE.cct")]
    pub output: PathBuf,
}
