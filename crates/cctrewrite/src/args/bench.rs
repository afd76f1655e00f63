//! Arguments of `cctrewrite bench`.

use std::ffi::OsString;
use std::path::PathBuf;

use cct_build::image::cache::NoPlace;
use cct_build::image::request::ImageRequest;
use cct_profile::diff::Percentage;
use clap::{Args, Subcommand, ValueEnum, value_parser};

use super::{BenchChoices, ColumnArgument, LibraryArguments, Verbosity};

const EXAMPLES: &str = "\
Examples:
  Count what two methods execute, and store the counts; commit the file:
    cctrewrite bench -c build/classes app.Bench.parse app.Bench.render --update

  Later, compare all entries of the file:
    cctrewrite bench -c build/classes
    cctrewrite bench -c build/classes --fail-above 0.5% --format github

  In a pull request, with the trend of each entry:
    cctrewrite bench -c build/classes --format markdown --history history.jsonl --revision 3f2a1c

  Print what such runs have appended, or draw it:
    cctrewrite bench history history.jsonl
    cctrewrite bench history history.jsonl --last 50 --html trend.html";

/// Number of runs of a trend, unless the user says another.
const LAST: usize = 10;

/// A number of runs, at least 1.
fn runs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least 1 run is needed".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err("not a number".to_owned()),
    }
}

/// Count what methods of a program execute, and compare the counts with a stored baseline
///
/// An entry is a method, such as `app.Bench.parse`. It is static, or its class has a constructor
/// without parameters; neither must be public. Arguments, another constructor or a static factory
/// method stand in the entry: `app.Bench.parse(1000, "text")`, `new app.Bench(1000).parse`,
/// `app.Bench.create(1000).parse`. Each entry runs in its own JVM, first to warm up, then recorded.
/// A second JVM repeats this. The numbers are calls and executed bytecodes, not seconds, so a slow
/// or busy machine does not change them.
///
/// Only the thread that runs the entry is counted. For a program with worker threads, or a whole
/// program, use `cctrewrite run` and `cctrewrite diff --fail-above`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Bench {
    /// The subcommand
    #[command(subcommand)]
    pub command: Option<BenchCommand>,

    /// Entries to run, as `Class.method` or with arguments [default: all entries of the baseline]
    #[arg(value_name = "ENTRY")]
    pub entries: Vec<String>,

    /// The program's class path, as for `java -cp`
    #[arg(short, long, value_name = "PATH", default_value = ".")]
    pub class_path: OsString,

    /// The baseline: the file of stored counts
    #[arg(short, long, value_name = "FILE", default_value = "cctrewrite-bench.json")]
    pub baseline: PathBuf,

    /// Store the counts of the entries instead of comparing them. Other entries of the baseline do
    /// not change
    #[arg(short, long)]
    pub update: bool,

    /// With --update: store an entry whose counts vary between JVMs, with its range, if they vary
    /// by at most P percent
    #[arg(long, value_name = "P", default_value = "5")]
    pub max_variation: Percentage,

    /// Fail if an entry executes more than P percent more bytecodes than its baseline (or, with
    /// --metrics calls, makes more calls)
    #[arg(long, value_name = "P", default_value = "0")]
    pub fail_above: Percentage,

    /// Compare with a baseline of another JDK, which is refused otherwise (exit code 2). Then only
    /// the counts of the program's own classes are compared
    #[arg(long)]
    pub allow_mismatch: bool,

    #[command(flatten)]
    pub library: LibraryArguments,

    /// Compare this column instead of bytecodes. Also needs the option of the same name
    #[arg(long, value_enum)]
    pub column: Option<ColumnArgument>,

    /// Number of runs of an entry before the counted one, so that classes are loaded and
    /// initialised
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub warm_up: u16,

    /// Number of JVMs that run an entry, to check that the counts agree [default: 2; with
    /// --update 5, started at different times]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..))]
    pub runs: Option<u16>,

    /// Output format
    #[arg(long, value_enum, default_value_t = BenchFormat::Text)]
    pub format: BenchFormat,

    /// Append the counts to this file, a JSON line for each entry. The summary then shows the trend
    /// of each entry
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,

    /// With --history: the program's revision, such as the hash of a commit
    #[arg(long, value_name = "TEXT", requires = "history")]
    pub revision: Option<String>,

    /// With --history: the time of the run, stored as it is given. By default no time is stored
    #[arg(long, value_name = "TEXT", requires = "history")]
    pub time: Option<String>,

    /// With --history: number of runs in the trend of an entry
    #[arg(long, value_name = "N", default_value_t = LAST, value_parser = runs)]
    pub last: usize,

    /// Also write the summary of `--format markdown` to this file
    #[arg(long, value_name = "FILE.md")]
    pub summary: Option<PathBuf>,

    /// An option for the JVMs, such as -Xmx2g (repeatable)
    #[arg(short = 'J', long, value_name = "OPTION", allow_hyphen_values = true)]
    pub java_option: Vec<OsString>,

    /// Keep the profile of each entry, `Class.method.cct`, in this folder. It is created if it is
    /// missing
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

    #[command(flatten)]
    pub verbosity: Verbosity,
}

/// What `bench` does instead of running entries.
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    History(BenchHistory),
}

/// Print the trend of each entry over its last runs, from the file of `bench --history`
///
/// Runs with another JDK, other settings or another metric than the last run of an entry are not
/// shown, since their counts cannot be compared.
#[derive(Debug, Args)]
pub struct BenchHistory {
    /// The file to which `bench --history` appends
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Number of runs in the trend of an entry
    #[arg(long, value_name = "N", default_value_t = LAST, value_parser = runs)]
    pub last: usize,

    /// Write a page for browsers instead, with a curve and a table for each entry; `-` is standard
    /// output
    #[arg(long, value_name = "OUT")]
    pub html: Option<PathBuf>,
}

/// Formats of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BenchFormat {
    /// Text
    Text,
    /// One JSON object (docs/ci/bench.md)
    Json,
    /// JUnit's XML, with a test for each entry
    Junit,
    /// GitHub Actions: an annotation for each entry that fails, and a summary
    Github,
    /// Markdown: a summary for a pull request (docs/ci/pull-requests.md)
    Markdown,
    /// JSON for Bencher, the Bencher Metric Format
    Bencher,
    /// JSON for github-action-benchmark, its tool `customSmallerIsBetter`
    GithubBenchmark,
}

impl Bench {
    /// The number of JVMs that run an entry.
    pub fn number_of_runs(&self) -> u16 {
        self.runs.unwrap_or(if self.update { 5 } else { 2 })
    }

    /// The image of the JDK at `home` that `bench` needs. It pins what differs from run to run.
    ///
    /// # Errors
    /// The user has no cache folder.
    pub fn image(&self, home: PathBuf) -> Result<ImageRequest, NoPlace> {
        let choices = self.choices.0.get().clone().reproducibly();
        ImageRequest::for_use(home, choices, self.cache.clone())
    }
}
