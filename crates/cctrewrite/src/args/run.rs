//! Arguments of `cctrewrite run`.

use std::ffi::OsString;
use std::path::PathBuf;

use cct_build::image::cache::NoPlace;
use cct_build::image::request::ImageRequest;
use cct_build::jvm_options::stack_traces::{DEFAULT_DEPTH, MAX_DEPTH};
use clap::{Args, value_parser};

use super::{Choices, LibraryArguments, Recording, UdiArguments, Verbosity, WantedArguments};

/// Default path of the profile that `run` writes and that other commands read.
pub const PROFILE: &str = "cctrewrite.cct";

const EXAMPLES: &str = "\
Examples:
  Profile a program, and show the profile:
    cctrewrite run -- java -jar app.jar
    cctrewrite report cctrewrite.cct --top 20

  Profile a build with all JVMs that it starts: one profile of all, and one of each in build.jvms:
    cctrewrite run -o build.cct -- mvn -o test

  Record only between the program's own calls of start() and stop() (docs/use/parts.md):
    cctrewrite run --regions -- java -cp classes:cctrewrite-api.jar Harness

  Record only one method and its callees:
    cctrewrite run --extent com.acme.Server.handle -- java -jar server.jar

  Add the work of all other classes to the program's frames that call them (docs/use/my-code.md):
    cctrewrite run --mine 'com.acme.**' -- java -jar app.jar

  Count how often a program reaches marked locations (docs/research/markers.md), and check properties of its objects (docs/research/typestate.md):
    cctrewrite run --tool markers --markers rules.toml -- java -jar app.jar
    cctrewrite run --tool markers --typestate iterator -- java -jar app.jar
    cctrewrite typestate report cctrewrite.typestate

  Check properties and record a profile, in which each violation has a node:
    cctrewrite run --typestate iterator -- java -jar app.jar

  Use another JDK, and get the same profile each time:
    cctrewrite run --jdk $JAVA_HOME --reproducible -- java -cp classes Main

The exit code is that of the command. If that is 0 and a JVM left no profile, the exit code is 125.
As with env(1), 126 means that the command cannot be started, 127 that it is not found.";

/// Run a command on a profiled JDK and collect its profile
///
/// Uses the JDK that the command would use. Its profiled image is made once and kept in the cache.
/// All JVMs that the command starts, directly or indirectly, are profiled. Standard streams and the
/// exit code are those of the command.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Run {
    /// The command and its arguments, after `--`
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,

    /// Output file
    ///
    /// If the command starts several JVMs, their profiles are merged. The profile of each JVM goes
    /// into a folder next to FILE, with the ending `.jvms`
    #[arg(short, long, value_name = "FILE", default_value = PROFILE, help_heading = "Output")]
    pub output: PathBuf,

    #[command(flatten)]
    pub library: LibraryArguments,

    #[command(flatten)]
    pub wanted: WantedArguments,

    #[command(flatten)]
    pub choices: Choices,

    /// The JDK to use [default: that of COMMAND]
    ///
    /// The default is the JDK of COMMAND, else $JAVA_HOME, else that of `java` on the PATH
    #[arg(long, value_name = "JAVA_HOME", help_heading = "Image")]
    pub jdk: Option<PathBuf>,

    #[command(flatten)]
    pub udi: UdiArguments,

    #[command(flatten)]
    pub recording: Recording,

    /// The folder of images [default: $CCTREWRITE_CACHE, else the user's cache folder]
    #[arg(long, value_name = "FOLDER", help_heading = "Image", hide_short_help = true)]
    pub cache: Option<PathBuf>,

    /// Maximum number of frames in the stack trace of an exception; -1 for no limit. Use it instead
    /// of -XX:MaxJavaStackTraceDepth
    #[arg(long, value_name = "FRAMES", help_heading = "Image", hide_short_help = true, default_value_t = DEFAULT_DEPTH, allow_negative_numbers = true,
        value_parser = value_parser!(i32).range(-1..=MAX_DEPTH))]
    pub stack_depth: i32,

    #[command(flatten, next_help_heading = "Output")]
    pub verbosity: Verbosity,
}

impl Run {
    /// The options for the runtime in each JVM, as keys and values of properties `cctrewrite.KEY`.
    pub fn properties(&self) -> Vec<(&'static str, String)> {
        let counts = self.choices.counts_markers() && !self.recording.is_given("client");
        let counts = counts.then(|| ("markers.counts", "all".to_owned()));
        self.recording.properties().chain(counts).chain(self.udi.told()).collect()
    }

    /// The image of the JDK at `home` that this run needs.
    ///
    /// # Errors
    /// The user has no cache folder.
    pub fn image(&self, home: PathBuf) -> Result<ImageRequest, NoPlace> {
        let request = ImageRequest::for_use(home, self.choices.get().clone(), self.cache.clone())?;
        Ok(ImageRequest { module: self.udi.options(), stack_depth: self.stack_depth, ..request })
    }
}
