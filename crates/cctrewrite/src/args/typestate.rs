//! Arguments of `cctrewrite typestate`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

const EXAMPLES: &str = "\
Examples:
  What a file of properties says, as automata:
    cctrewrite typestate check properties.toml

  The automata of the built-in properties, as pictures:
    cctrewrite typestate check iterator --format dot | dot -Tsvg > iterator.svg

  A file of your own that begins as a built-in one:
    cctrewrite typestate shipped streams > properties.toml

  What a run found, for people, and for a code host:
    cctrewrite typestate report run.typestate
    cctrewrite typestate report run.typestate --format sarif > run.sarif";

/// Work with typestate properties (regular expressions over an object's events) and their reports
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Typestate {
    /// What to do
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

/// What properties say: events, states, transitions, and what need not be heard in which state
#[derive(Debug, Args)]
pub struct TypestateCheck {
    /// The file, or the name of a built-in one
    #[arg(value_name = "FILE.toml")]
    pub file: PathBuf,

    /// What to write
    #[arg(long, value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
}

/// Formats of automata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// Tables
    Text,
    /// For Graphviz; what is not listened to is dashed
    Dot,
}

/// List the built-in properties, or print the file of one
#[derive(Debug, Args)]
pub struct TypestateShipped {
    /// Which one
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

/// The rules of markers that the events of properties need: a file for --markers
#[derive(Debug, Args)]
pub struct TypestateRules {
    /// The file, or the name of a built-in one
    #[arg(value_name = "FILE.toml")]
    pub file: PathBuf,

    /// Where the rules go; without it to standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// The automata as the analysis in the JVM reads them, by -Dcctrewrite.typestate=FILE
#[derive(Debug, Args)]
pub struct TypestateTables {
    /// The file, or the name of a built-in one
    #[arg(value_name = "FILE.toml")]
    pub file: PathBuf,

    /// Where they go; without it to standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// What runs found: exit code 1 if there is a violation
#[derive(Debug, Args)]
pub struct TypestateReport {
    /// Files that runs left behind; - is standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// What to write
    #[arg(long, value_enum, default_value_t = TypestateFormat::Text)]
    pub format: TypestateFormat,

    /// From which level on a violation makes the exit code 1
    #[arg(long, value_enum, default_value_t = LevelArgument::Note)]
    pub fail_on: LevelArgument,
}

/// Formats of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TypestateFormat {
    /// For people
    Text,
    /// The same for programs
    Json,
    /// SARIF 2.1.0, for code hosts and editors
    Sarif,
}

/// Levels, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum LevelArgument {
    /// Any violation
    Note,
    /// Those of properties of level warning and error
    Warning,
    /// Those of properties of level error
    Error,
    /// None
    Never,
}
