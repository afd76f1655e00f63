//! Arguments of `cctrewrite recover` and `cctrewrite snapshot`.

use std::path::PathBuf;

use clap::Args;

use super::{JvmArgument, Period};

const RECOVER_EXAMPLES: &str = "\
Examples:
    profiled-jdk/bin/java -Dcctrewrite.arena=app.arena -jar app.jar
    cctrewrite recover app.arena -o app.cct
    cctrewrite recover app.arena -o - | cctrewrite report -

  Recover the profiles of killed runs in the current folder:
    cctrewrite recover";

const SNAPSHOT_EXAMPLES: &str = "\
Examples:
    cctrewrite snapshot 4711 -o now.cct
    cctrewrite snapshot 4711 -o - | cctrewrite report - --top 20
    cctrewrite snapshot com.acme.Main -o now.cct --every 10s --count 6";

/// Recover the profiles of killed JVMs and of killed runs
///
/// FILE is the file that -Dcctrewrite.arena names. A profiled JVM keeps its trees there, and
/// removes it after it wrote its profile. After `kill -9`, a crash, or a kill by the kernel for
/// lack of memory, the file has everything recorded up to then. The profile's notes name what is
/// unknown.
///
/// `cctrewrite run` does this for its JVMs. If `run` itself is killed, it leaves a hidden folder
/// next to its output, or in $TMPDIR. This command collects the finished profiles and those of
/// killed JVMs from such folders. The output has the name of the killed run's output:
/// `app.recovered.cct` for `app.cct`. No file is overwritten, and a collected folder is removed. A
/// folder is skipped while its run, one of its JVMs, or a process that may start one is still
/// running.
///
/// If a file is damaged, the sound part is recovered, the rest is named, and the exit code is 3. It
/// is also 3 if a folder is skipped.
#[derive(Debug, Args)]
#[command(after_long_help = RECOVER_EXAMPLES)]
pub struct Recover {
    /// A file with a JVM's memory, a folder in which runs were killed, or the hidden folder of a
    /// killed run [default: the current folder and $TMPDIR]
    #[arg(value_name = "FILE|FOLDER")]
    pub from: Option<PathBuf>,

    /// Output file; `-` is standard output. Required if FILE is a file
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Take a profile of a running JVM
///
/// The JVM must be yours and run on a JDK that `cctrewrite jdk` or `cctrewrite run` made. Its
/// memory is read from outside, so it is not disturbed. Each count is current when it is read. A
/// loop without calls adds to its count when it calls, or after 65,536 bytecodes.
#[derive(Debug, Args)]
#[command(after_long_help = SNAPSHOT_EXAMPLES)]
pub struct Snapshot {
    /// Process id of the JVM, or its main class or jar, with or without package and folder
    #[arg(value_name = "PID|NAME")]
    pub jvm: JvmArgument,

    /// Output file; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,

    /// Take a snapshot each 10s, 500ms, 2m or the like, until the JVM ends. FILE gets a number
    /// before its ending: `now-1.cct`, `now-2.cct`
    #[arg(long, value_name = "TIME")]
    pub every: Option<Period>,

    /// Take at most N snapshots
    #[arg(long, value_name = "N", requires = "every", value_parser = clap::value_parser!(u32).range(1..))]
    pub count: Option<u32>,
}
