//! Arguments of `cctrewrite instrument`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Rewrites jars and folders of classes.
///
/// Give everything that belongs together in one run, or name the rest with --library. When an input lies inside a JDK, the rest of that
/// JDK is looked at by itself, so that classes which stay as they are are respected.
///
/// Example: cctrewrite instrument rt.jar -o inst_rt.jar
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct Instrument {
    /// Jars or folders of classes
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,

    /// Where the output goes: a file (or, for a folder of classes, a folder) for one input; a folder, which receives one output of the
    /// same name for each, for several
    #[arg(short, long, value_name = "PATH")]
    pub output: PathBuf,

    /// Classes that the inputs refer to and that are not rewritten now: jars or folders, original or already instrumented
    #[arg(long, value_name = "PATH")]
    pub library: Vec<PathBuf>,

    /// Record only classes that match (globs over names with slashes, `java/util/**`); others hand contexts through
    #[arg(long, value_name = "GLOB")]
    pub include: Vec<String>,

    /// Do not record classes that match; they hand contexts through
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,

    /// What is counted
    #[arg(long, value_enum, default_value_t = MetricsArgument::Bytecodes)]
    pub metrics: MetricsArgument,

    /// How basic blocks are cut: `default` counts a block whole even if an exception leaves it half-way; `precise` never counts a
    /// bytecode that did not start
    #[arg(long, value_enum, default_value_t = BlocksArgument::Default)]
    pub blocks: BlocksArgument,

    /// Number of threads; the output does not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,

    /// Write the completeness report: every method whose treatment is not the ordinary one, and why
    #[arg(long, value_name = "FILE.json")]
    pub report: Option<PathBuf>,
}

/// Metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MetricsArgument {
    /// Calls only
    Calls,
    /// Calls and executed bytecodes
    Bytecodes,
}

/// Block rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BlocksArgument {
    /// Default BBA
    Default,
    /// Precise BBA
    Precise,
}
