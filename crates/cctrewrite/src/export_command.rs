//! `cctrewrite export`: profiles in the formats of other tools.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use cct_build::pending_file::PendingFile;
use cct_build::text::size;
use cct_export::{Difference, ExportError, Format, Metric, NameForm, Options, Output, Source, Threshold};
use cct_profile::Profile;
use cct_profile::names::NameStyle;

use crate::args::{Export, NamesArgument};
use crate::exit::{self, Outcome};
use crate::profile_file::{ReadOptions, View, check_stdin, read, read_sum, shown};

/// Minimum share of a box in a picture, in percent: about one pixel.
const PICTURE_MIN_PERCENT: f64 = 0.1;

/// Maximum depth of stacks in a picture, in frames: the height of several screens.
const PICTURE_DEPTH: usize = 500;

/// Collapsed stacks that take more bytes are pruned like pictures, unless the user says what to
/// keep.
const LARGE: u128 = 10_000_000;

/// The data to export.
enum ExportInput {
    Profile(Source),
    Difference(Difference),
}

/// Runs the command.
pub fn run(arguments: &Export) -> Result<Outcome> {
    check(arguments)?;
    let exported = exported(arguments)?;
    let (unmatched, pruning, incomplete) = match &exported {
        ExportInput::Profile(source) => (&*source.unmatched, source.pruning(), &*source.incomplete),
        ExportInput::Difference(two) => (two.unmatched(), two.pruning(), two.incomplete()),
    };
    if let ExportInput::Difference(two) = &exported {
        for what in &two.differing {
            exit::say(&format!("cctrewrite: warning: {what}"));
        }
    }
    for pattern in unmatched {
        let pattern = cct_build::text::readable(pattern.as_bytes());
        exit::say(&format!("cctrewrite: no method matches --drop '{pattern}'"));
    }
    if let Some(pruning) = pruning {
        let is_chosen = arguments.min_percent.is_some() || arguments.depth.is_some();
        let is_by_default = arguments.format.0.is_picture() && !is_chosen;
        let remedy = if is_by_default { "; --all keeps them" } else { "" };
        exit::say(&format!("cctrewrite: {pruning}{remedy}"));
    }
    if arguments.output == Path::new("-") {
        exit::to_stdout(|out| write(arguments.format.0, &exported, out))?;
    } else if arguments.output.exists() && !arguments.output.is_file() {
        // A pipe or a device cannot be replaced. The output may be too large to keep in memory
        // first, so it is written directly.
        let cannot = || format!("cannot write {}", arguments.output.display());
        let file = fs::OpenOptions::new().write(true).open(&arguments.output).with_context(cannot)?;
        let mut out = BufWriter::new(file);
        write(arguments.format.0, &exported, &mut out).with_context(cannot)?;
        out.flush().with_context(cannot)?;
    } else {
        let file = PendingFile::write(&arguments.output, |out| write(arguments.format.0, &exported, out))?;
        file.commit()?;
    }
    Ok(if incomplete.is_empty() { Outcome::Complete } else { Outcome::Damaged })
}

/// Reads the data to export.
fn exported(arguments: &Export) -> Result<ExportInput> {
    let reading = ReadOptions::new(&arguments.parts, View::of(arguments.metric))?;
    let reading = reading.asking_for(arguments.selection.methods());
    let (sum, damage) = read_sum(&arguments.profiles, &reading)?;
    // A sum lacks what any of its parts lacks.
    let profile = Profile { damage, ..sum };
    let options = options(arguments);
    let exported = match &arguments.diff {
        Some(before) => {
            let before = reading.of(read(before)?)?;
            Difference::new(before, profile, &options).map(ExportInput::Difference)
        }
        None => {
            let source = Source::new(profile, &options);
            source.and_then(|source| of_moderate_size(source, arguments)).map(ExportInput::Profile)
        }
    };
    exported.with_context(|| {
        let files: Vec<String> = arguments.profiles.iter().map(|path| shown(path)).collect();
        files.join(", ")
    })
}

/// Prunes a source that would take very many bytes, and says how many.
fn of_moderate_size(source: Source, arguments: &Export) -> Result<Source, ExportError> {
    let is_chosen = arguments.min_percent.is_some() || arguments.depth.is_some();
    let Some(size_of) = arguments.format.0.size.filter(|_| !is_chosen) else { return Ok(source) };
    let bytes = size_of(&source);
    if bytes <= LARGE {
        return Ok(source);
    }
    let size = size(u64::try_from(bytes).unwrap_or(u64::MAX));
    if arguments.all {
        exit::say(&format!("cctrewrite: writes {size}"));
        return Ok(source);
    }
    exit::say(&format!(
        "cctrewrite: all contexts would take {size}, since each line has the whole stack; --all writes them"
    ));
    source.with_threshold(Threshold { min_percent: PICTURE_MIN_PERCENT, depth: None })
}

/// Refuses arguments that contradict each other.
fn check(arguments: &Export) -> Result<()> {
    let Export { format, output, profiles, diff, .. } = arguments;
    let is_picture = format.0.is_picture();
    if diff.is_some() && !is_picture {
        bail!(
            "--diff is for the formats svg and icicle; `cctrewrite compare` shows differences as text and as JSON"
        );
    }
    if !arguments.label.is_empty() && format.0.name != "parquet" {
        bail!("--label adds columns to tables; choose --format parquet");
    }
    let columns: BTreeSet<&String> = arguments.label.iter().map(|(column, _)| column).collect();
    if columns.len() < arguments.label.len() {
        bail!("two --label have the same column");
    }
    let inputs = || profiles.iter().chain(diff);
    check_stdin(inputs())?;
    if output == Path::new("-") {
        if format.0.is_binary && std::io::stdout().is_terminal() {
            bail!("this format cannot go to a terminal; name a file with -o");
        }
    } else if let Ok(place) = fs::canonicalize(output)
        && let Some(input) = inputs().find(|input| fs::canonicalize(input).is_ok_and(|input| input == place))
    {
        bail!("the output would replace the input {}", input.display());
    }
    Ok(())
}

fn options(arguments: &Export) -> Options {
    let is_picture = arguments.format.0.is_picture();
    let is_pruned = is_picture && !arguments.all;
    let min_percent = if is_pruned { PICTURE_MIN_PERCENT } else { 0.0 };
    Options {
        per_thread: arguments.per_thread,
        selection: arguments.selection.selection(),
        form: match arguments.names {
            NamesArgument::Readable => NameForm::Readable,
            NamesArgument::Exact => NameForm::Exact,
            NamesArgument::Short => NameForm::Short,
        },
        style: if arguments.raw_names { NameStyle::Raw } else { NameStyle::Normalised },
        metric: arguments.metric.map(Metric::from),
        threshold: Threshold {
            min_percent: arguments.min_percent.unwrap_or(min_percent),
            depth: arguments.depth.or(is_pruned.then_some(PICTURE_DEPTH)),
        },
        labels: arguments.label.iter().cloned().collect(),
    }
}

fn write(format: &Format, exported: &ExportInput, out: &mut Output<'_>) -> Result<(), ExportError> {
    match (exported, format.write_difference) {
        (ExportInput::Profile(source), _) => (format.write)(source, out),
        (ExportInput::Difference(difference), Some(write)) => write(difference, out),
        (ExportInput::Difference(_), None) => Err(ExportError::NoDifference(format.name)),
    }
}
