//! Arguments of `cctrewrite top`.

use clap::Args;

use super::{DiffOrderArgument, JvmArgument, LayoutArguments, LibraryArguments, Period};

const EXAMPLES: &str = "\
Examples:
    cctrewrite top 4711
    cctrewrite top com.acme.Main --collapse-library
    cctrewrite top app.jar --once --every 10s";

/// Show what a running JVM executes, by methods and contexts, per second
///
/// The JVM must be yours and run on a JDK that `cctrewrite jdk` or `cctrewrite run` made. Its
/// memory is read from outside each --every, so it is not stopped, and the difference to the last
/// look is shown. On a terminal each table replaces the one before; elsewhere they follow each
/// other. It ends with the JVM, or by Ctrl-C.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Top {
    /// Process id of the JVM, or its main class or jar, with or without package and folder
    #[arg(value_name = "PID|NAME")]
    pub jvm: JvmArgument,

    /// The time between two looks: 10s, 500ms, 2m or the like
    #[arg(long, value_name = "TIME", default_value = "2s")]
    pub every: Period,

    /// Show one table, and end
    #[arg(long, conflicts_with = "batch")]
    pub once: bool,

    /// Show N tables, one after the other, and end
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub batch: Option<u32>,

    /// Show at most N methods and N contexts [default: what fits the terminal; 10 elsewhere]
    #[arg(long, value_name = "N")]
    pub lines: Option<usize>,

    /// Sort order, the largest rate first
    #[arg(long, value_enum, default_value_t = DiffOrderArgument::Own)]
    pub sort: DiffOrderArgument,

    #[command(flatten)]
    pub library: LibraryArguments,

    #[command(flatten)]
    pub layout: LayoutArguments,
}
