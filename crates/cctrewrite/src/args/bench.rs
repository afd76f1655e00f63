//! Arguments of `cctrewrite bench`.

use std::ffi::OsString;
use std::path::PathBuf;

use cct_build::image::cache::NoPlace;
use cct_build::image::request::ImageRequest;
use cct_profile::diff::Percentage;
use clap::{Args, ValueEnum, value_parser};

use super::{BenchChoices, ColumnArgument};

const EXAMPLES: &str = "\
Examples:
  Count what two methods execute, and store it; commit the file:
    cctrewrite bench -c build/classes app.Bench.parse app.Bench.render --update

  Later, all that is in the file:
    cctrewrite bench -c build/classes
    cctrewrite bench -c build/classes --fail-above 0.5% --format github";

/// Count what methods of a program execute, and compare it with a stored baseline
///
/// An entry is a method without parameters, `app.Bench.parse`: static, or of a class whose
/// constructor has no parameters, public or not. Each is run in a JVM of its own, first to warm up,
/// then recorded, and all that a second time: a count that is not the same twice is refused. The
/// numbers are calls and executed bytecodes, not seconds, so a slow or busy machine does not change
/// them.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Bench {
    /// What to run, `Class.method`; by default all entries of the baseline
    #[arg(value_name = "ENTRY")]
    pub entries: Vec<String>,

    /// The program's class path, as for `java -cp`
    #[arg(short, long, value_name = "PATH", default_value = ".")]
    pub class_path: OsString,

    /// The file of stored counts
    #[arg(short, long, value_name = "FILE", default_value = "cctrewrite-bench.json")]
    pub baseline: PathBuf,

    /// Store the counts of the entries instead of comparing them; other entries stay
    #[arg(short, long)]
    pub update: bool,

    /// Fail if an entry executes more than P percent more bytecodes than its baseline (or, with
    /// --metrics calls, makes more calls)
    #[arg(long, value_name = "P", default_value = "0")]
    pub fail_above: Percentage,

    /// Compare this column instead of bytecodes; needs the option of its name
    #[arg(long, value_enum)]
    pub column: Option<ColumnArgument>,

    /// How often an entry is run before it is counted, so that classes are loaded and initialised
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub warm_up: u16,

    /// How many JVMs run an entry, to see that the count is the same
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = value_parser!(u16).range(1..))]
    pub runs: u16,

    /// What to write
    #[arg(long, value_enum, default_value_t = BenchFormat::Text)]
    pub format: BenchFormat,

    /// An option for the JVMs, such as -Xmx2g (repeatable)
    #[arg(short = 'J', long, value_name = "OPTION", allow_hyphen_values = true)]
    pub java_option: Vec<OsString>,

    /// Keep the profile of each entry, `Class.method.cct`, in this folder, which is made if need be
    #[arg(long, value_name = "DIR")]
    pub profiles: Option<PathBuf>,

    /// The JDK to use [default: that of `java` on the PATH, else $JAVA_HOME]
    #[arg(long, value_name = "JAVA_HOME")]
    pub jdk: Option<PathBuf>,

    #[command(flatten)]
    pub choices: BenchChoices,

    /// The folder of images [default: $CCTREWRITE_CACHE, else the user's cache folder]
    #[arg(long, value_name = "FOLDER")]
    pub cache: Option<PathBuf>,

    /// Say nothing but the result, warnings and errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// Formats of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BenchFormat {
    /// For people
    Text,
    /// For programs: one JSON object (docs/ci/bench.md)
    Json,
    /// For servers that run tests: JUnit's XML, a test for each entry
    Junit,
    /// For GitHub Actions: an annotation for each entry that fails, and one for the whole
    Github,
}

impl Bench {
    /// The image of the JDK at `home` that `bench` needs. It pins what differs from run to run.
    ///
    /// # Errors
    /// The user has no cache folder.
    pub fn image(&self, home: PathBuf) -> Result<ImageRequest, NoPlace> {
        let choices = self.choices.0.get().clone().reproducibly();
        ImageRequest::for_use(home, choices, self.cache.clone())
    }
}
