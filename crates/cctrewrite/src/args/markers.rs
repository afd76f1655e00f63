//! Arguments of `cctrewrite markers`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::LimitsArguments;

const EXAMPLES: &str = "\
Examples:
  What a file of rules says, and what it matches in a program:
    cctrewrite markers check iterators.toml app.jar

  The program with these markers, and a client that hears of them:
    cctrewrite instrument app.jar --tool markers --markers iterators.toml -o out/app.jar
    cctrewrite markers jar -o cctrewrite-markers.jar
    javac -cp cctrewrite-markers.jar MyClient.java
    java $(cctrewrite flags out/app.jar) -Dcctrewrite.markers.clients=MyClient -cp out/app.jar:. Main";

/// Check rules for markers (code locations at which clients are called), and write the clients' jar
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Markers {
    /// What to do
    #[command(subcommand)]
    pub command: MarkersCommand,
}

/// What can be done with markers.
#[derive(Debug, Subcommand)]
pub enum MarkersCommand {
    Check(MarkersCheck),
    Jar(MarkersJar),
}

/// Check a rules file, and list the locations in some classes that its rules match
#[derive(Debug, Args)]
pub struct MarkersCheck {
    /// The rules
    #[arg(value_name = "FILE.toml")]
    pub rules: PathBuf,

    /// Jars, folders of classes, images, jmods
    #[arg(value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,

    /// What the inputs refer to: rules with subtypes-of must know what is above their classes
    /// (repeatable)
    #[arg(long, value_name = "PATH")]
    pub library: Vec<PathBuf>,

    /// Name each place
    #[arg(long)]
    pub places: bool,

    #[command(flatten)]
    pub limits: LimitsArguments,
}

/// Write the jar of the runtime, against which clients are compiled
#[derive(Debug, Args)]
pub struct MarkersJar {
    /// Where the jar goes
    #[arg(short, long, value_name = "FILE", default_value = "cctrewrite-markers.jar")]
    pub output: PathBuf,
}
