//! Arguments of `cctrewrite jdk`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cct_build::image::cache;
use cct_build::image::request::ImageRequest;
use cct_build::image::tree::CopyMode;
use cct_build::jvm_options::stack_traces::{DEFAULT_DEPTH, MAX_DEPTH};
use clap::{Args, value_parser};

use super::{Choices, UdiArguments, Verbosity};

const EXAMPLES: &str = "\
Examples:
  Make a profiled JDK, and run a program on it:
    cctrewrite jdk $JAVA_HOME -o profiled-jdk
    profiled-jdk/bin/java -Dcctrewrite.out=run.cct -jar app.jar
    cctrewrite report run.cct --top 20

  In a script: make the image once, and reuse it while the JDK, the options and cctrewrite are the same:
    export JAVA_HOME=$(cctrewrite jdk $JAVA_HOME --cache -q)

  Check all files of an image, or of all images of the cache:
    cctrewrite jdk --check profiled-jdk
    cctrewrite jdk --check --repair

  Make a JDK that calls your marker clients in the class library and in programs (docs/research/markers.md):
    cctrewrite jdk $JAVA_HOME --tool markers --markers rules.toml -o marked-jdk
    marked-jdk/bin/java -Dcctrewrite.markers.clients=MyClient -cp app.jar:. Main

  Markers and profiles together: clients get the node of the tree
    cctrewrite jdk $JAVA_HOME --markers rules.toml -o marked-profiled-jdk

The image can be moved, copied and packed. It appears when it is complete.";

/// Make a profiled JDK from a JDK
///
/// The image has the layout of its JDK and a rewritten class library. The program's classes are
/// rewritten when they are loaded. The options that exact numbers need are built in, so `bin/java`,
/// `bin/javac` and all other tools write a profile. Options on the command line override the
/// built-in ones.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Jdk {
    /// Home of a JDK or JRE (HotSpot): the folder with `bin` and `lib`. With --check: an image
    #[arg(value_name = "JAVA_HOME", required_unless_present = "check")]
    pub home: Option<PathBuf>,

    /// Output folder: new or empty, or an earlier image, which is replaced
    #[arg(short, long, value_name = "DIR", required_unless_present_any = ["cache", "check"])]
    pub output: Option<PathBuf>,

    /// Check the image at JAVA_HOME instead of making one (default: all images of the cache): read
    /// all files, and name damaged ones
    #[arg(long)]
    pub check: bool,

    /// Replace damaged files of an image with sound copies from the cache, the JDK or this command.
    /// Remove damaged images from the cache; the next run that needs one makes it again
    #[arg(long, requires = "check")]
    pub repair: bool,

    #[command(flatten)]
    pub choices: Choices,

    #[command(flatten)]
    pub udi: UdiArguments,

    /// Keep images in a cache folder, and reuse them. Without --output, print the path of the image
    /// [default folder: $CCTREWRITE_CACHE, else the user's cache folder]
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, require_equals = true)]
    pub cache: Option<Option<PathBuf>>,

    /// Make hard links to unchanged files where the file system allows it, instead of copies. A
    /// later write to such a file changes both places
    #[arg(long)]
    pub link: bool,

    /// Do not make an archive of classes for faster starts (CDS)
    #[arg(long)]
    pub no_cds: bool,

    /// Maximum number of frames in the stack trace of an exception; -1 for no limit. Use it instead
    /// of -XX:MaxJavaStackTraceDepth
    #[arg(long, value_name = "FRAMES", default_value_t = DEFAULT_DEPTH, allow_negative_numbers = true,
        value_parser = value_parser!(i32).range(-1..=MAX_DEPTH))]
    pub stack_depth: i32,

    /// Write the completeness report: every method with a special treatment, and the reason
    #[arg(long, value_name = "FILE.json")]
    pub report: Option<PathBuf>,

    /// Number of threads; the image does not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..))]
    pub threads: Option<u16>,

    #[command(flatten)]
    pub verbosity: Verbosity,
}

impl Jdk {
    /// Arguments that `--check` accepts. The others say how an image is made.
    pub const WITH_CHECK: [&'static str; 7] =
        ["home", "check", "repair", "cache", "threads", "quiet", "verbose"];

    /// Home of the JDK to make an image of.
    pub fn home(&self) -> Result<&Path> {
        self.home.as_deref().context("no JDK is named; name the home of one")
    }

    /// These arguments as a request.
    ///
    /// # Errors
    /// No JDK is named, or the user has no cache folder.
    pub fn request(&self) -> Result<ImageRequest> {
        let cache = self.cache.as_ref().map(|folder| folder.clone().map_or_else(cache::default_folder, Ok));
        Ok(ImageRequest {
            home: self.home()?.to_path_buf(),
            choices: self.choices.get().clone(),
            module: self.udi.options(),
            cache: cache.transpose()?,
            copy_mode: if self.link { CopyMode::Link } else { CopyMode::Copy },
            archives_classes: !self.no_cds,
            stack_depth: self.stack_depth,
            has_report: self.report.is_some(),
            name: self.output.clone(),
        })
    }
}
