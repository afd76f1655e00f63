//! Arguments of `cctrewrite export`.

use std::path::PathBuf;
use std::sync::LazyLock;

use cct_export::{FORMATS, Format};
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

use super::report::percentage;
use super::{MetricArgument, PartArguments, SelectionArguments};

const EXAMPLES: &str = "\
Examples:
    cctrewrite export --format svg run.cct -o run.svg
    cctrewrite export --format svg after.cct --diff before.cct -o difference.svg
    cctrewrite export --format icicle run.cct --root app.Main.main --metric calls -o main.svg
    cctrewrite export --format callgrind run.cct -o callgrind.out.run; callgrind_annotate callgrind.out.run
    cctrewrite export --format pprof run.cct -o run.pb.gz; go tool pprof -top run.pb.gz
    cctrewrite export --format parquet run.cct --per-thread -o run.parquet
    cctrewrite export --format collapsed run.cct -o - | flamegraph.pl > run.svg";

/// Write a profile in the format of another tool
///
/// The sums of the output are those of the profile. Contexts below a threshold (--min-percent,
/// --depth) are added up in a context `[pruned]` below their caller, and standard error names them.
/// docs/use/exports.md lists what each format can hold.
///
/// If a file is truncated (the JVM was killed, the disk was full), the sound part is written.
/// Standard error names what is missing, and the exit code is 3.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Export {
    /// Profiles; `-` is standard input. Several are added up, context by context
    #[arg(value_name = "FILE", default_value = super::run::PROFILE)]
    pub profiles: Vec<PathBuf>,

    /// Output format
    #[arg(long, value_enum, help_heading = "Output")]
    pub format: ExportFormat,

    /// Output file; `-` is standard output. The file is written completely or not at all
    #[arg(short, long, value_name = "PATH", help_heading = "Output")]
    pub output: PathBuf,

    /// Metric of formats that hold only one [collapsed, svg, icicle], and of --min-percent.
    /// Default: bytecodes, or calls if the profile has no bytecodes
    #[arg(long, value_enum, help_heading = "Contents")]
    pub metric: Option<MetricArgument>,

    /// Show each thread's tree instead of their sum
    #[arg(long, help_heading = "Contents")]
    pub per_thread: bool,

    /// Contexts to write
    #[command(flatten)]
    pub selection: SelectionArguments,

    #[command(flatten)]
    pub parts: PartArguments,

    /// Write all contexts, whatever the size of the output
    #[arg(long, conflicts_with_all = ["min_percent", "depth"], help_heading = "Contents")]
    pub all: bool,

    /// Prune contexts whose inclusive share is below P percent. Default: 0, which keeps all; 0.1
    /// for pictures, and for collapsed stacks of more than 10 MB
    #[arg(long, value_name = "P", value_parser = percentage, help_heading = "Contents")]
    pub min_percent: Option<f64>,

    /// Prune contexts deeper than N frames. Default: no limit; 500 for pictures
    #[arg(long, value_name = "N", help_heading = "Contents")]
    pub depth: Option<usize>,

    /// Form of method names
    #[arg(long, value_enum, default_value_t = NamesArgument::Readable, help_heading = "Contents", hide_short_help = true)]
    pub names: NamesArgument,

    /// Keep the numbers in names of generated classes (lambdas, proxies, accessors)
    #[arg(long, help_heading = "Contents", hide_short_help = true)]
    pub raw_names: bool,

    /// Add a column with this value to the table, such as `--label run=17` (repeatable) [parquet]
    #[arg(long, value_name = "COLUMN=VALUE", value_parser = label, help_heading = "Output", hide_short_help = true)]
    pub label: Vec<(String, String)>,

    /// Draw the difference from this profile: widths are those of the input, red has more than this
    /// profile, blue less [svg, icicle]
    #[arg(long, value_name = "BEFORE", help_heading = "Contents")]
    pub diff: Option<PathBuf>,
}

/// A label: the name of a column and its value.
fn label(text: &str) -> Result<(String, String), String> {
    let (column, value) = text.split_once('=').ok_or("expected COLUMN=VALUE")?;
    let is_name = |column: &str| {
        column.starts_with(|c: char| c.is_ascii_lowercase())
            && column.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    };
    if !is_name(column) {
        return Err(format!("'{column}' must begin with a to z, and consist of a to z, 0 to 9 and _"));
    }
    if cct_export::parquet::is_reserved(column) {
        return Err(format!("'{column}' is a column of the table; choose another name"));
    }
    Ok((column.to_owned(), value.to_owned()))
}

/// One of the [`FORMATS`] of exports.
#[derive(Debug, Clone, Copy)]
pub struct ExportFormat(pub &'static Format);

impl ValueEnum for ExportFormat {
    fn value_variants<'a>() -> &'a [ExportFormat] {
        static ALL: LazyLock<Vec<ExportFormat>> =
            LazyLock::new(|| FORMATS.iter().map(ExportFormat).collect());
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name).help(self.0.help))
    }
}

/// What methods are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NamesArgument {
    /// java.util.HashMap.put(Object, Object)
    Readable,
    /// java.util.HashMap.put(Ljava/lang/Object,Ljava/lang/Object,)Ljava/lang/Object,
    Exact,
    /// java.util.HashMap.put; methods that differ in their parameters become one
    Short,
}
