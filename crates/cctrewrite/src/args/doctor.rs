//! Arguments of `cctrewrite doctor`.

use std::path::PathBuf;

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  For a bug report:
    cctrewrite doctor

  Check whether one JDK can be profiled:
    cctrewrite doctor --jdk /opt/jdk-21

  Check all JDKs of this machine (each needs an image: about 10 s and 400 MB):
    cctrewrite doctor --all";

/// Check the installation: libraries, cache, environment, JDKs, and a tiny program
///
/// Profiles a program with known counts on the JDK of `java`, and compares calls and bytecodes.
/// Each fault has a remedy. Add the output to a bug report.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Doctor {
    /// Run the program on this JDK [default: that of `java`, else that of JAVA_HOME]
    #[arg(long, value_name = "HOME", conflicts_with = "all")]
    pub jdk: Option<PathBuf>,

    /// Run the program on all JDKs of this machine
    #[arg(long)]
    pub all: bool,

    /// Run no program, and make no image
    #[arg(long, conflicts_with_all = ["jdk", "all"])]
    pub no_trial: bool,
}
