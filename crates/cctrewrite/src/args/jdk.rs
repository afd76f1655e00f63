//! Arguments of `cctrewrite jdk`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cct_build::image::cache;
use cct_build::image::request::ImageRequest;
use cct_build::image::tree::CopyMode;
use cct_build::jvm_options::stack_traces::{DEFAULT_DEPTH, MAX_DEPTH};
use clap::{Args, value_parser};

use super::{Choices, UdiArguments};

const EXAMPLES: &str = "\
Examples:
  A profiled JDK, and a program on it. No options, nothing to instrument:
    cctrewrite jdk $JAVA_HOME -o profiled-jdk
    profiled-jdk/bin/java -Dcctrewrite.out=run.cct -jar app.jar
    cctrewrite report run.cct --top 20

  In a script: made once, found again as long as the JDK, the options and cctrewrite are the same:
    export JAVA_HOME=$(cctrewrite jdk $JAVA_HOME --cache -q)

  Whether all files of an image, or of all images of the cache, are as they were made:
    cctrewrite jdk --check profiled-jdk
    cctrewrite jdk --check --repair

  A JDK on which clients of yours hear of places in the class library and in programs (docs/research/markers.md):
    cctrewrite jdk $JAVA_HOME --tool markers --markers rules.toml -o marked-jdk
    marked-jdk/bin/java -Dcctrewrite.markers.clients=MyClient -cp app.jar:. Main

  The same beside profiles: clients are told in which node of the tree they are
    cctrewrite jdk $JAVA_HOME --markers rules.toml -o marked-profiled-jdk

The image can be moved, copied and packed: nothing in it says where it lies. It is put in its place when it is complete.";

/// Make a profiled JDK from a JDK
///
/// The image has the layout of the JDK it is made from. Its class library is rewritten, classes of
/// the program are when they are loaded, and the options that exact numbers need are built in, so
/// `bin/java`, `bin/javac` and all other tools leave a profile behind. Options that are given to
/// them go before those.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Jdk {
    /// Home of a JDK or JRE (HotSpot): the folder in which `bin` and `lib` are. With --check an
    /// image
    #[arg(value_name = "JAVA_HOME", required_unless_present = "check")]
    pub home: Option<PathBuf>,

    /// Where the image goes: a new or empty folder, or an earlier image, which is replaced
    #[arg(short, long, value_name = "DIR", required_unless_present_any = ["cache", "check"])]
    pub output: Option<PathBuf>,

    /// Make no image: read all files of the one at JAVA_HOME (default: of all images of the cache),
    /// and name damaged ones
    #[arg(long)]
    pub check: bool,

    /// Replace damaged files of an image by sound copies from the cache, the JDK or this command.
    /// Remove damaged images from the cache; they are made again when they are needed
    #[arg(long, requires = "check")]
    pub repair: bool,

    #[command(flatten)]
    pub choices: Choices,

    #[command(flatten)]
    pub udi: UdiArguments,

    /// Keep images in a cache folder and take them from there if they have been made before.
    /// Without --output the image's path is printed [default folder: $CCTREWRITE_CACHE, else the
    /// user's cache folder]
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, require_equals = true)]
    pub cache: Option<Option<PathBuf>>,

    /// Files that stay as they are become hard links where the file system allows it, instead of
    /// copies. What is written into such a file later, in either place, is in both
    #[arg(long)]
    pub link: bool,

    /// Do not make an archive of classes for faster starts (CDS)
    #[arg(long)]
    pub no_cds: bool,

    /// How many frames the stack trace of an exception has at most; -1 for no limit. Give here what
    /// would be -XX:MaxJavaStackTraceDepth without cctrewrite
    #[arg(long, value_name = "FRAMES", default_value_t = DEFAULT_DEPTH, allow_negative_numbers = true,
        value_parser = value_parser!(i32).range(-1..=MAX_DEPTH))]
    pub stack_depth: i32,

    /// Write the completeness report: every method whose treatment is not the ordinary one, and why
    #[arg(long, value_name = "FILE.json")]
    pub report: Option<PathBuf>,

    /// Number of threads; the image does not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..))]
    pub threads: Option<u16>,

    /// Say nothing but warnings and errors
    #[arg(short, long)]
    pub quiet: bool,
}

impl Jdk {
    /// Arguments that `--check` accepts. The others say how an image is made.
    pub const WITH_CHECK: [&'static str; 6] = ["home", "check", "repair", "cache", "threads", "quiet"];

    /// Home of the JDK to make an image of.
    pub fn home(&self) -> Result<&Path> {
        self.home.as_deref().context("no JDK is named; name its home")
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
