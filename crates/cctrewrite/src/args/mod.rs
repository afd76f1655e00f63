//! The command line. Each flag carries its own documentation; one file for each subcommand.

mod instrument;
mod report;

pub use instrument::{BlocksArgument, Instrument, MetricsArgument};
pub use report::{OrderArgument, Report, ReportFormat};

use clap::{Parser, Subcommand};

use crate::exit::EXIT_CODES;

/// Rewrites Java class files offline, the JDK's own class library included, so that a program yields its complete, exact
/// calling-context tree: calls and executed bytecodes for every call stack, the same on every machine.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Arguments {
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// Subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Rewrite jars or folders of classes
    Instrument(Instrument),
    /// Show the profile that a run left behind
    Report(Report),
}
