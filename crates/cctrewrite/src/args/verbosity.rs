//! How much a command says besides its result.

use clap::Args;

use crate::progress::Terminal;

/// Options for messages on standard error.
#[derive(Debug, Clone, Copy, Args)]
pub struct Verbosity {
    /// Print only warnings and errors
    #[arg(short, long)]
    pub quiet: bool,

    /// Also print each step with its time, and which JDK and image a run uses
    #[arg(short, long, conflicts_with = "quiet", hide_short_help = true)]
    pub verbose: bool,
}

impl Verbosity {
    /// Where messages go.
    pub fn terminal(self) -> Terminal {
        Terminal { quiet: self.quiet, verbose: self.verbose }
    }
}
