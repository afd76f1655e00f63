//! Arguments of `cctrewrite run`.

use std::ffi::OsString;
use std::path::PathBuf;

use cct_build::image::cache::NoPlace;
use cct_build::image::request::ImageRequest;
use cct_build::jvm_options::stack_traces::{DEFAULT_DEPTH, MAX_DEPTH};
use clap::{Args, value_parser};

use super::{Choices, Recording, UdiArguments, WantedArguments};

/// Default path of the profile that `run` writes and that other commands read.
pub const PROFILE: &str = "cctrewrite.cct";

const EXAMPLES: &str = "\
Examples:
  A program as it is, and what it did:
    cctrewrite run -- java -jar app.jar
    cctrewrite report cctrewrite.cct --top 20

  A build with all JVMs that it starts: one profile of all, and one of each in build.jvms:
    cctrewrite run -o build.cct -- mvn -o test

  Only the parts of a program that it says itself (docs/use/parts.md):
    cctrewrite run --regions -- java -cp classes:cctrewrite-api.jar Harness

  Only what one method does, with any caller:
    cctrewrite run --extent com.acme.Server.handle -- java -jar server.jar

  Everything, without the class library: what it calls back hangs under the program's own methods
    cctrewrite run --only 'com.acme.**' -- java -jar app.jar

  How often a program as it is comes to places of your choice (docs/research/markers.md), and whether it does with its objects what it may (docs/research/typestate.md):
    cctrewrite run --tool markers --markers rules.toml -- java -jar app.jar
    cctrewrite run --tool markers --typestate iterator -- java -jar app.jar
    cctrewrite typestate report cctrewrite.typestate

  The same beside a profile, in which violations have their nodes:
    cctrewrite run --typestate iterator -- java -jar app.jar

  Another JDK than the command would use, and the same profile each time:
    cctrewrite run --jdk $JAVA_HOME --reproducible -- java -cp classes Main

The command's exit code is passed on. If it is 0 and a JVM left no profile, the exit code is 125; 126 and 127 mean that the command
cannot be started or found, as with env(1).";

/// Run a command on a profiled JDK and collect its profile
///
/// The JDK is the one that the command would use. Its profiled image is made at the first use and
/// taken from the cache afterwards. Arguments, standard streams and the exit code are those of the
/// command; JVMs that it starts, and those that these start, are profiled.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Run {
    /// The command and its arguments, after `--`
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,

    /// Output file
    ///
    /// If the command starts several JVMs, their profiles are merged, and the profile of each goes
    /// into a folder beside it: FILE with the ending `.jvms`
    #[arg(short, long, value_name = "FILE", default_value = PROFILE, help_heading = "Output")]
    pub output: PathBuf,

    #[command(flatten)]
    pub wanted: WantedArguments,

    #[command(flatten)]
    pub choices: Choices,

    /// The JDK to use [default: that of COMMAND]
    ///
    /// The default is the JDK that COMMAND belongs to, else $JAVA_HOME, else that of `java` on the
    /// PATH
    #[arg(long, value_name = "JAVA_HOME", help_heading = "Image")]
    pub jdk: Option<PathBuf>,

    #[command(flatten)]
    pub udi: UdiArguments,

    #[command(flatten)]
    pub recording: Recording,

    /// The folder of images [default: $CCTREWRITE_CACHE, else the user's cache folder]
    #[arg(long, value_name = "FOLDER", help_heading = "Image", hide_short_help = true)]
    pub cache: Option<PathBuf>,

    /// How many frames the stack trace of an exception has at most; -1 for no limit. Give here what
    /// would be -XX:MaxJavaStackTraceDepth without cctrewrite
    #[arg(long, value_name = "FRAMES", help_heading = "Image", hide_short_help = true, default_value_t = DEFAULT_DEPTH, allow_negative_numbers = true,
        value_parser = value_parser!(i32).range(-1..=MAX_DEPTH))]
    pub stack_depth: i32,

    /// Say nothing but warnings and errors
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
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
