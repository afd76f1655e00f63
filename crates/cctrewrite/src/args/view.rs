//! Arguments of `cctrewrite view`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{MetricArgument, PartArguments, SelectionArguments};

const EXAMPLES: &str = "\
Examples:
    cctrewrite view
    cctrewrite view run.cct --mine 'com.acme.**'
    cctrewrite view old.cct new.cct --sort own";

/// Look through a profile on the terminal: contexts, callers, methods
///
/// Shows the tree of contexts, of which you open what you want to see. `c` shows the callers of a
/// method, `m` all methods, `/` searches, and `?` lists the keys. With two files it shows what
/// changed from the first to the second, as `diff` does.
///
/// It needs a terminal; `report` writes to files and pipes.
///
/// In a pattern (METHOD, THREAD) `*` matches any characters: `java.util.HashMap.put`,
/// `java.util.*`, `*.hashCode()I`. A pattern without parentheses matches any descriptor.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct View {
    /// A profile (.cct file), or the profiles before and after a change
    #[arg(value_name = "FILE", num_args = 0..=2, default_value = super::run::PROFILE)]
    pub profiles: Vec<PathBuf>,

    #[command(flatten)]
    pub selection: SelectionArguments,

    #[command(flatten)]
    pub parts: PartArguments,

    /// Fold recursion: a call of a method that is already on the stack counts in its context there
    #[arg(long)]
    pub fold_recursion: bool,

    /// First metric; the key `M` changes it. Calls if the profile has no bytecodes
    #[arg(long, value_enum, value_name = "METRIC")]
    pub metric: Option<MetricArgument>,

    /// First sort order; the key `s` changes it
    #[arg(long, value_enum, default_value_t = SortArgument::Inclusive)]
    pub sort: SortArgument,
}

/// Orders of rows, the largest count or change first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SortArgument {
    /// What a context or method executes with its callees
    Inclusive,
    /// What it executes itself
    #[value(alias = "self")]
    Own,
    /// Calls
    Calls,
    /// Names
    Name,
}
