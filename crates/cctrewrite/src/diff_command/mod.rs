//! `cctrewrite diff`: shows what has changed from one profile to another.

mod csv;
mod github;
mod json;
mod junit;
mod sentence;

use std::fs;

use anyhow::{Context, Result, bail};
use cct_build::classes;
use cct_build::text;
use cct_profile::Metric;
use cct_profile::diff::{DiffOptions, DiffOrder, Difference, Limits, SIDES, diff, write_text};
use cct_profile::labels::By;
use cct_profile::names::NameStyle;
use cct_profile::pair::{Share, TextOptions};

use crate::args::{ByArgument, Diff, DiffFormat, DiffOrderArgument};
use crate::exit::{self, Outcome};
use crate::profile_file::{ReadOptions, View, check_stdin, named, read_input, shown};
use crate::remedies::COMPARISON;

/// Runs the command.
pub fn run(arguments: &Diff) -> Result<Outcome> {
    let Diff { base, new, .. } = arguments;
    check_stdin([base, new])?;
    let place = |path| fs::canonicalize(path).ok();
    if place(base).is_some_and(|base| Some(base) == place(new)) {
        exit::say(&format!(
            "cctrewrite: warning: BASE and NEW are the same file {}; write each version's profile with `cctrewrite run -o FILE`",
            shown(base)
        ));
    }
    let options = options(arguments)?;
    let origins = classes::origins(&arguments.classes)?;
    let view = match (arguments.allocations, options.by) {
        (false, _) => arguments.column.map_or(View::Contexts, |column| View::Column(column.0)),
        (_, By::Method) => View::Objects,
        _ => View::Makers,
    };
    let reading = ReadOptions::new(&arguments.parts, view)?.asking_for(arguments.selection.methods());
    let (input_base, input_new) = (read_input(base, &reading)?, read_input(new, &reading)?);
    let dropped = [input_base.dropped_classes(), input_new.dropped_classes()];
    let names = [named(base, &input_base), named(new, &input_new)];
    let found = diff(input_base, input_new, &options, &origins)
        .map_err(|error| COMPARISON.explained(error))
        .with_context(|| format!("cannot compare A ({}) and B ({})", shown(base), shown(new)))?;
    let options = TextOptions { names, compared: compared(arguments, &found)?, width: arguments.width };
    let limits = Limits { total: arguments.fail_above, method: arguments.fail_method_above };
    if limits != Limits::default() {
        check_shares(&found, dropped, arguments)?;
        check_recordings(&found, arguments)?;
    }
    let excesses = found.excesses(limits);
    let judged = (limits != Limits::default()).then_some(&*excesses);
    exit::to_stdout(|out| match arguments.format {
        DiffFormat::Text => write_text(&found, &options, arguments.limit, judged, out),
        DiffFormat::Json => json::write(&found, &options, arguments, &excesses, out),
        DiffFormat::Csv => csv::write(&found, arguments.csv.reader(), out),
        DiffFormat::Junit => junit::write(&found, &options, arguments, &excesses, out),
        DiffFormat::Github => github::write(&found, judged, out),
    })?;
    Ok(match (found.is_incomplete(), excesses.is_empty()) {
        (true, _) => Outcome::Damaged,
        (false, true) => Outcome::Complete,
        (false, false) => Outcome::Different,
    })
}

/// Fails if the sides hold too small a share of a program for limits to make sense.
fn check_shares(found: &Difference, dropped: [Option<String>; 2], arguments: &Diff) -> Result<()> {
    let least = arguments.keep_at_least;
    for (side, share) in SIDES.iter().zip(found.shares.into_iter().flatten()) {
        if share.is_below(least) {
            bail!(
                "the selection keeps {share} of the {} of {side}, and limits do not check the \
                 rest; select at least {least}, or allow less with --keep-at-least",
                found.metric.name(),
            );
        }
    }
    // How much was dropped is not known, so it may be everything that matters.
    if (Share { part: 0, whole: 1 }).is_below(least) {
        for (side, rule) in SIDES.iter().zip(dropped) {
            let Some(rule) = rule else { continue };
            bail!(
                "{side} is without the work of some classes ({}), which limits do not check; record \
                 everything and use --mine here, or allow it with --keep-at-least 0",
                text::readable(rule.as_bytes())
            );
        }
    }
    Ok(())
}

/// Fails if the recordings differ so that limits would judge them and not the program.
fn check_recordings(found: &Difference, arguments: &Diff) -> Result<()> {
    if found.mismatches.is_empty() || arguments.allow_mismatch {
        return Ok(());
    }
    let [base, new] = SIDES;
    let what: Vec<String> = found.mismatches.iter().map(ToString::to_string).collect();
    bail!(
        "{base} and {new} were recorded differently, which limits would take for a change of the \
         program: {}; record both in the same way, or apply limits all the same with \
         --allow-mismatch",
        text::readable(what.join(", ").as_bytes())
    )
}

fn options(arguments: &Diff) -> Result<DiffOptions> {
    let by = arguments.by.into();
    if by == By::Thread {
        bail!("compare threads with --per-thread, or select some with --thread");
    }
    if By::needs_origins(by) && arguments.classes.is_empty() {
        bail!("{}", ByArgument::needs_classes(by));
    }
    Ok(DiffOptions {
        per_thread: arguments.per_thread,
        selection: arguments.selection.selection(),
        names: if arguments.raw_names { NameStyle::Raw } else { NameStyle::Normalised },
        calls_only: arguments.calls_only,
        by,
        recursion: arguments.fold_recursion,
        order: match arguments.sort {
            DiffOrderArgument::Own => DiffOrder::Own,
            DiffOrderArgument::Inclusive => DiffOrder::Inclusive,
            DiffOrderArgument::Calls => DiffOrder::Calls,
            DiffOrderArgument::Relative => DiffOrder::Relative,
        },
        least: arguments.min_percent,
        limit: arguments.limit,
    })
}

/// What is compared, in words.
fn compared(arguments: &Diff, found: &Difference) -> Result<String> {
    let what = match found.metric {
        Metric::Calls => "calls".to_owned(),
        Metric::Allocations => "objects by type".to_owned(),
        metric => format!("calls and {}", metric.name()),
    };
    let threads = arguments.selection.threads_in_words(arguments.per_thread);
    let least = arguments.min_percent.map(|least| format!("changes of at least {least} of the total"));
    let folded = arguments.fold_recursion.then(|| "recursion folded".to_owned());
    let parts = [what, threads].into_iter().chain(arguments.selection.in_words());
    let parts = parts.chain(folded).chain(arguments.parts.in_words()?).chain(least);
    Ok(text::readable(parts.collect::<Vec<String>>().join(", ").as_bytes()))
}
