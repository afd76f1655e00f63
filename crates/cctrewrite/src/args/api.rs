//! Arguments of `cctrewrite api`.

use std::path::PathBuf;

use clap::Args;

const EXAMPLES: &str = "\
Example:
  Record what a harness runs, and nothing else:
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

/// Write the jar with which a program controls its recording and reads its counts
///
/// Its class cctrewrite.api.Recording switches recording on and off, for one thread or for all.
/// cctrewrite.api.Counts reads what was executed so far (docs/use/counts.md). On a JDK that is not
/// profiled both do nothing, so a program can ship with them. The jar needs Java 8 or later and no
/// other jar.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Api {
    /// Output file
    #[arg(short, long, value_name = "FILE", default_value = "cctrewrite-api.jar")]
    pub output: PathBuf,

    /// Write the jar against which user modules are compiled instead (--udi, docs/research/udi.md)
    #[arg(long)]
    pub modules: bool,
}
