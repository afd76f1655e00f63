//! `cctrewrite compare`: the differences between two profiles.

mod json;

use anyhow::{Context, Result};
use cct_profile::ReportError;
use cct_profile::compare::{CompareOptions, Comparison, compare, write_text};
use cct_profile::names::NameStyle;
use cct_profile::pair::TextOptions;

use crate::args::{Compare, CompareFormat};
use crate::exit::{self, Outcome};
use crate::profile_file::{ReadOptions, View, check_stdin, named, read_input, shown};
use crate::remedies::COMPARISON;

/// Runs the command.
pub fn run(arguments: &Compare) -> Result<Outcome> {
    let Compare { a, b, .. } = arguments;
    check_stdin([a, b])?;
    let view = match arguments.column {
        _ if arguments.allocations => View::Objects,
        None => View::Contexts,
        Some(column) => View::Column(column.0),
    };
    let reading = ReadOptions::new(&arguments.parts, view)?.asking_for(arguments.selection.methods());
    let (input_a, input_b) = (read_input(a, &reading)?, read_input(b, &reading)?);
    let names = [named(a, &input_a), named(b, &input_b)];
    let found = compare(input_a, input_b, &options(arguments))
        .map_err(|error| COMPARISON.explained(error))
        .with_context(|| format!("cannot compare A ({}) and B ({})", shown(a), shown(b)))?;
    let options = TextOptions { names, compared: compared(arguments, &found)?, width: arguments.width };
    exit::to_stdout(|out| match arguments.format {
        CompareFormat::Text => write_text(&found, &options, out),
        CompareFormat::Json => json::write(&found, &options, out).map_err(ReportError::Io),
    })?;
    Ok(match (found.is_incomplete(), found.is_equal()) {
        (true, _) => Outcome::Damaged,
        (false, true) => Outcome::Complete,
        (false, false) => Outcome::Different,
    })
}

fn options(arguments: &Compare) -> CompareOptions {
    CompareOptions {
        per_thread: arguments.per_thread,
        selection: arguments.selection.selection(),
        names: if arguments.normalize_generated { NameStyle::Normalised } else { NameStyle::Raw },
        calls_only: arguments.calls_only,
        limit: arguments.limit,
    }
}

/// What is compared, in words.
fn compared(arguments: &Compare, found: &Comparison) -> Result<String> {
    let what = if arguments.allocations {
        "objects by type".to_owned()
    } else {
        found.agreements().map(|agreement| agreement.metric.name()).collect::<Vec<_>>().join(" and ")
    };
    let threads = arguments.selection.threads_in_words(arguments.per_thread);
    let names = arguments.normalize_generated.then(|| "numbers of generated classes dropped".to_owned());
    let parts = [what, threads]
        .into_iter()
        .chain(arguments.selection.in_words())
        .chain(names)
        .chain(arguments.parts.in_words()?);
    Ok(cct_build::text::readable(parts.collect::<Vec<String>>().join(", ").as_bytes()))
}
