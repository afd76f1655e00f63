//! Arguments of `cctrewrite markers`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::LimitsArguments;

const EXAMPLES: &str = "\
Examples:
  Check a rules file, and count the locations that it matches in a program:
    cctrewrite markers check iterators.toml app.jar

  Insert these markers into the program, and run it with a client:
    cctrewrite instrument app.jar --tool markers --markers iterators.toml -o out/app.jar
    cctrewrite markers jar -o cctrewrite-markers.jar
    javac -cp cctrewrite-markers.jar MyClient.java
    java $(cctrewrite flags out/app.jar) -Dcctrewrite.markers.clients=MyClient -cp out/app.jar:. Main";

/// Check rules for markers (code locations at which clients are called), and write the jar for
/// clients
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Markers {
    /// The subcommand
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
    /// Rules file
    #[arg(value_name = "FILE.toml")]
    pub rules: PathBuf,

    /// Jars, folders of classes, images, jmods
    #[arg(value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,

    /// Classes that the inputs use (repeatable). Rules with subtypes-of need the supertypes of the
    /// inputs' classes
    #[arg(long, value_name = "PATH")]
    pub library: Vec<PathBuf>,

    /// List each location
    #[arg(long)]
    pub places: bool,

    #[command(flatten)]
    pub limits: LimitsArguments,
}

/// Write the jar against which marker clients are compiled
#[derive(Debug, Args)]
pub struct MarkersJar {
    /// Output file
    #[arg(short, long, value_name = "FILE", default_value = "cctrewrite-markers.jar")]
    pub output: PathBuf,
}
