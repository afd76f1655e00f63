//! Arguments of `cctrewrite typestate`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

const EXAMPLES: &str = "\
Examples:
  Show the automata of a properties file:
    cctrewrite typestate check properties.toml

  Draw the automata of a built-in property:
    cctrewrite typestate check iterator --format dot | dot -Tsvg > iterator.svg

  Start your own file from a built-in one:
    cctrewrite typestate shipped streams > properties.toml

  Show what a run found, as text, and as SARIF for a code host:
    cctrewrite typestate report run.typestate
    cctrewrite typestate report run.typestate --format sarif > run.sarif";

/// Work with typestate properties (regular expressions over an object's events) and their reports
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Typestate {
    /// The subcommand
    #[command(subcommand)]
    pub command: TypestateCommand,
}

/// What can be done with properties and reports.
#[derive(Debug, Subcommand)]
pub enum TypestateCommand {
    Check(TypestateCheck),
    Shipped(TypestateShipped),
    Rules(TypestateRules),
    Tables(TypestateTables),
    Report(TypestateReport),
}

/// Show the automata of properties: events, states, transitions, and ignored events by state
#[derive(Debug, Args)]
pub struct TypestateCheck {
    /// Properties file, or the name of a built-in property
    #[arg(value_name = "FILE.toml")]
    pub file: PathBuf,

    /// Output format
    #[arg(long, value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
}

/// Formats of automata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// Tables
    Text,
    /// For Graphviz; ignored events are dashed
    Dot,
}

/// List the built-in properties, or print the file of one
#[derive(Debug, Args)]
pub struct TypestateShipped {
    /// Name of a property
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

/// Write the marker rules that the events of properties need: a file for --markers
#[derive(Debug, Args)]
pub struct TypestateRules {
    /// Properties file, or the name of a built-in property
    #[arg(value_name = "FILE.toml")]
    pub file: PathBuf,

    /// Output file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Write the automata for the analysis in the JVM (-Dcctrewrite.typestate=FILE)
#[derive(Debug, Args)]
pub struct TypestateTables {
    /// Properties file, or the name of a built-in property
    #[arg(value_name = "FILE.toml")]
    pub file: PathBuf,

    /// Output file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Show what runs found. The exit code is 1 if there is a violation
#[derive(Debug, Args)]
pub struct TypestateReport {
    /// Report files of runs; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// Output format
    #[arg(long, value_enum, default_value_t = TypestateFormat::Text)]
    pub format: TypestateFormat,

    /// Lowest level of violations for exit code 1
    #[arg(long, value_enum, default_value_t = LevelArgument::Note)]
    pub fail_on: LevelArgument,
}

/// Formats of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TypestateFormat {
    /// Text
    Text,
    /// JSON
    Json,
    /// SARIF 2.1.0, for code hosts and editors
    Sarif,
}

/// Levels, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum LevelArgument {
    /// Any violation
    Note,
    /// Violations of properties of level warning or error
    Warning,
    /// Violations of properties of level error
    Error,
    /// None
    Never,
}
