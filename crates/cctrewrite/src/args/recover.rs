//! Arguments of `cctrewrite recover` and `cctrewrite snapshot`.

use std::path::PathBuf;

use clap::Args;

const RECOVER_EXAMPLES: &str = "\
Examples:
    profiled-jdk/bin/java -Dcctrewrite.arena=app.arena -jar app.jar
    cctrewrite recover app.arena -o app.cct
    cctrewrite recover app.arena -o - | cctrewrite report -";

const SNAPSHOT_EXAMPLES: &str = "\
Examples:
    cctrewrite snapshot 4711 -o now.cct
    cctrewrite snapshot 4711 -o - | cctrewrite report - --top 20";

/// Make a profile of what a JVM left behind that was killed
///
/// Started with -Dcctrewrite.arena=FILE a profiled JVM keeps its trees in that file, which is gone when it has written its profile itself. After
/// `kill -9`, a crash, or when the kernel was out of memory, the file has all that was recorded up to that instant. `cctrewrite run` does all this by itself.
///
/// The profile's notes say what cannot be known. Of a file that is damaged what is sound is taken, the rest is named, and the exit code is 3.
#[derive(Debug, Args)]
#[command(after_long_help = RECOVER_EXAMPLES)]
pub struct Recover {
    /// The file that -Dcctrewrite.arena named
    #[arg(value_name = "FILE")]
    pub arena: PathBuf,

    /// The profile to write; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

/// Take a profile of a JVM that goes on running
///
/// The JVM must be a profiled one, with the library that rewrites classes at load time, as all that `cctrewrite jdk` and `cctrewrite run` make
/// have, and be yours. It does not notice: its memory is read from outside. Counts are those of the moment at which each is read; what a loop without calls has
/// executed is counted when it calls, or after 65,536 bytecodes.
#[derive(Debug, Args)]
#[command(after_long_help = SNAPSHOT_EXAMPLES)]
pub struct Snapshot {
    /// The JVM's process
    #[arg(value_name = "PID")]
    pub process: u32,

    /// The profile to write; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}
