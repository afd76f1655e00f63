//! Arguments of `cctrewrite recover` and `cctrewrite snapshot`.

use std::path::PathBuf;

use clap::Args;

const RECOVER_EXAMPLES: &str = "\
Examples:
    profiled-jdk/bin/java -Dcctrewrite.arena=app.arena -jar app.jar
    cctrewrite recover app.arena -o app.cct
    cctrewrite recover app.arena -o - | cctrewrite report -

  What runs that were killed left in the current folder:
    cctrewrite recover";

const SNAPSHOT_EXAMPLES: &str = "\
Examples:
    cctrewrite snapshot 4711 -o now.cct
    cctrewrite snapshot 4711 -o - | cctrewrite report - --top 20";

/// Recover the profiles of killed JVMs and of killed runs
///
/// FILE is the file that -Dcctrewrite.arena names. A profiled JVM keeps its trees in it, and
/// removes it when it has written its profile. After `kill -9`, a crash, or when the kernel was out
/// of memory, the file has all that was recorded up to that instant. The profile's notes say what
/// cannot be known.
///
/// `cctrewrite run` does this for its JVMs. If `run` itself is killed, it leaves a hidden folder
/// beside its output, or in $TMPDIR. This command collects what such folders hold: finished
/// profiles, and those of killed JVMs. The profile is named after the output of the killed run:
/// `app.recovered.cct` for `app.cct`. Nothing is overwritten, and a collected folder is removed. A
/// folder stays as it is while its run is at work, or while a JVM of the run, or a process that may
/// start one, still runs.
///
/// Of a file that is damaged what is sound is taken, the rest is named, and the exit code is 3. It
/// is 3, too, if a folder must stay.
#[derive(Debug, Args)]
#[command(after_long_help = RECOVER_EXAMPLES)]
pub struct Recover {
    /// A file with a JVM's memory, a folder in which runs were killed, or the hidden folder of one
    /// of them [default: the current folder and $TMPDIR]
    #[arg(value_name = "FILE|FOLDER")]
    pub from: Option<PathBuf>,

    /// The profile to write; `-` is standard output. Required for a file
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Take a profile of a running JVM
///
/// The JVM must be a profiled one, with the library that rewrites classes at load time, as all that
/// `cctrewrite jdk` and `cctrewrite run` make have, and be yours. It does not notice: its memory is
/// read from outside. Counts are those of the moment at which each is read; what a loop without
/// calls has executed is counted when it calls, or after 65,536 bytecodes.
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
