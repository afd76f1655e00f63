//! Arguments of `cctrewrite merge`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{LibraryArguments, SitesArguments, WantedArguments};

const EXAMPLES: &str = "\
Examples:
    cctrewrite merge monday.cct tuesday.cct -o week.cct
    cctrewrite merge */run.cct -o fleet.cct --threads all
    cctrewrite merge run.cct -o own.cct --mine 'com.acme.**'
    cctrewrite merge old.cct new.cct -o - --join-bodies | cctrewrite report -";

/// Add up profiles of several runs, or of a whole fleet
///
/// Methods match by class, name, descriptor and body, contexts by their stacks, threads by their
/// names. Calls and bytecodes are added up. Profiles that count different things (block rule,
/// metrics, intrinsics) are refused. If only some distinguish call sites, the sum does not. The
/// result has the number of runs and every note, with the profile of notes that do not apply to
/// all.
///
/// If a file is truncated, the sound part is added up. The result and standard error name what is
/// missing, and the exit code is 3.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Merge {
    /// Profiles; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub profiles: Vec<PathBuf>,

    /// Output file; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,

    /// Threads whose trees are added up
    #[arg(long, value_enum, default_value_t = ThreadsArgument::ByName, value_name = "WHICH")]
    pub threads: ThreadsArgument,

    #[command(flatten)]
    pub library: LibraryArguments,

    #[command(flatten)]
    pub wanted: WantedArguments,

    #[command(flatten)]
    pub sites: SitesArguments,

    /// Merge methods of the same class, name and descriptor, even if their bodies differ. Bodies
    /// differ if a class was recompiled between the runs, or between JDKs
    #[arg(long)]
    pub join_bodies: bool,
}

/// Threads whose trees are added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ThreadsArgument {
    /// Threads of the same name
    ByName,
    /// All threads, into one tree
    All,
    /// None
    Apart,
}
