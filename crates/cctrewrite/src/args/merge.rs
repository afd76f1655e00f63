//! Arguments of `cctrewrite merge`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{SitesArguments, WantedArguments};

const EXAMPLES: &str = "\
Examples:
    cctrewrite merge monday.cct tuesday.cct -o week.cct
    cctrewrite merge */run.cct -o fleet.cct --threads all
    cctrewrite merge run.cct -o own.cct --only 'com.acme.**'
    cctrewrite merge old.cct new.cct -o - --join-bodies | cctrewrite report -";

/// Add up profiles of several runs, or of a whole fleet
///
/// Methods are matched by class, name, descriptor and body, contexts by their stacks, threads by
/// their names; calls and bytecodes are added up. Profiles that count different things (block rule,
/// metrics, intrinsics) are refused; where only some tell call sites apart, the sum does not. The
/// result says how many runs it is the sum of, keeps every note, and says of which profile it is
/// where it does not hold for all.
///
/// Of files that were cut off what is sound is added up, the result and standard error say what is
/// missing, and the exit code is 3.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Merge {
    /// Profiles; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub profiles: Vec<PathBuf>,

    /// The profile to write; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,

    /// Which trees are added up
    #[arg(long, value_enum, default_value_t = ThreadsArgument::ByName, value_name = "WHICH")]
    pub threads: ThreadsArgument,

    #[command(flatten)]
    pub wanted: WantedArguments,

    #[command(flatten)]
    pub sites: SitesArguments,

    /// Make one of several bodies of a method, of the same class, name and descriptor: those of a
    /// class that was compiled again between the runs, or of class libraries of different JDKs
    #[arg(long)]
    pub join_bodies: bool,
}

/// Which trees are added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ThreadsArgument {
    /// Those of threads that have the same name
    ByName,
    /// All, into one tree
    All,
    /// None
    Apart,
}
