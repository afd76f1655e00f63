//! Arguments of `cctrewrite doctor`.

use std::path::PathBuf;

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  What a bug report should contain:
    cctrewrite doctor

  Whether one JDK can be profiled:
    cctrewrite doctor --jdk /opt/jdk-21

  All JDKs of this machine (each needs an image: some 10 s and 400 MB):
    cctrewrite doctor --all";

/// Check the installation: libraries, cache, environment, JDKs, and a tiny program
///
/// Profiles a program of known counts on the JDK that `java` belongs to, and compares calls and
/// bytecodes. Each fault comes with its remedy. Put the output into a bug report.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Doctor {
    /// Run the program on this JDK [default: that of `java`, else of JAVA_HOME]
    #[arg(long, value_name = "HOME", conflicts_with = "all")]
    pub jdk: Option<PathBuf>,

    /// Run the program on all JDKs that were found
    #[arg(long)]
    pub all: bool,

    /// Run no program, and so make no image
    #[arg(long, conflicts_with_all = ["jdk", "all"])]
    pub no_trial: bool,
}
