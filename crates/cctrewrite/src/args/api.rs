//! Arguments of `cctrewrite api`.

use std::path::PathBuf;

use clap::Args;

const EXAMPLES: &str = "\
Example:
  What a harness runs is recorded, and nothing around it:
    cctrewrite api -o cctrewrite-api.jar
    javac -cp cctrewrite-api.jar Harness.java
    cctrewrite run --regions -- java -cp .:cctrewrite-api.jar Harness

In Harness.java:
    cctrewrite.api.Recording.start();
    try {
        work();
    } finally {
        cctrewrite.api.Recording.stop();
    }";

/// Write the jar with which a program controls its recording
///
/// Its class cctrewrite.api.Recording switches the recording of a thread, or of all, on and off. On
/// a JDK that is not profiled it does nothing, so that a program can be shipped with it. It is for
/// Java 8 and later and needs nothing else.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Api {
    /// Where the jar goes
    #[arg(short, long, value_name = "FILE", default_value = "cctrewrite-api.jar")]
    pub output: PathBuf,

    /// Write the jar for modules of your own instead (--udi, docs/research/udi.md): what they are
    /// compiled against
    #[arg(long)]
    pub modules: bool,
}
