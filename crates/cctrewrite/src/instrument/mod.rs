//! `cctrewrite instrument`: survey, plan, rewrite, put in place.

mod driver;
mod summary;
mod targets;

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use cct_archive::{Input, RewriteOptions, Staged, Target};
use cct_rewrite::Rewriter;
use cct_rewrite::mid::ClassHash;

use crate::args::Instrument;
use crate::filter::Filter;
use crate::inputs::{BadClasses, Sources};
use crate::output;
use crate::pending_file::PendingFile;
use crate::progress::Progress;
use driver::{Driver, Record};
use summary::Summary;
use targets::Targets;

/// Runs the command.
pub fn run(arguments: &Instrument) -> Result<()> {
    let mut pool = rayon::ThreadPoolBuilder::new();
    if let Some(threads) = arguments.threads {
        pool = pool.num_threads(threads.into());
    }
    pool.build().context("cannot start worker threads")?.install(|| instrument(arguments))
}

fn instrument(arguments: &Instrument) -> Result<()> {
    let started = std::time::Instant::now();
    let mut sources = Sources::open(&arguments.inputs, &arguments.choices.library)?;
    let targets = Targets::new(&arguments.output, &sources)?;
    check_report(arguments, &sources.inputs, &targets)?;
    let filter = arguments.choices.filter()?;

    let (summary, staged) = loop {
        let (summary, staged, outgrown) = attempt(arguments, &sources, &targets, &filter)?;
        if outgrown.is_empty() {
            break (summary, staged);
        }
        // Rare: some class is too full to be rewritten. The others must know that it stays raw.
        sources.outgrown.extend(outgrown);
    };
    let report = arguments.report.as_ref().map(|path| {
        PendingFile::write(path, |out| Ok(serde_json::to_writer_pretty(out, &summary.completeness())?))
    });
    let report = report.transpose()?;
    for output in staged {
        output.commit()?;
    }
    if let Some(report) = report {
        report.commit()?;
    }
    targets.keep();
    summary.print(started.elapsed(), arguments.quiet);
    Ok(())
}

/// What an attempt gives: the summary, the outputs, and the classes that stood in its way.
type Attempt = (Summary, Vec<Staged<Record>>, BTreeMap<ClassHash, String>);

/// Surveys, plans and rewrites all inputs.
fn attempt(arguments: &Instrument, sources: &Sources, targets: &Targets, filter: &Filter) -> Result<Attempt> {
    let settings = arguments.choices.settings();
    let bad = if arguments.keep_bad_classes { BadClasses::Keep } else { BadClasses::Refuse };
    let surveyed = {
        let progress = Progress::counting("looking at classes", !arguments.quiet);
        sources.survey(&settings, bad, &|_, _, _, _| progress.step())?
    };
    let mut summary = Summary::new(settings, surveyed.notices);
    summary.warn_of_outgrown(&sources.outgrown);
    let filter = filter.clone();
    let rewriter =
        Rewriter::new(surveyed.world, settings, surveyed.provenance, move |class| filter.records(class))?;
    let progress = Progress::of("rewriting", surveyed.classes, !arguments.quiet);
    let driver = Driver::new(&rewriter, bad, &progress, &sources.outgrown);
    let options = RewriteOptions { level: arguments.level, ..RewriteOptions::default() };
    let mut staged = Vec::with_capacity(sources.inputs.len());
    let mut inputs: Vec<_> = sources.inputs.iter().zip(&targets.list).collect();
    // The class library last: of jmods it gets the index of all.
    inputs.sort_by_key(|(input, _)| output::has_object(input));
    for (input, target) in inputs {
        let output = input.rewrite(target, &options, &driver)?;
        summary.add_output(target.path(), output.account());
        staged.push(output);
    }
    Ok((summary, staged, driver.outgrown()))
}

/// The report may overwrite neither an input nor an output.
fn check_report(arguments: &Instrument, inputs: &[Input], targets: &Targets) -> Result<()> {
    let Some(report) = &arguments.report else { return Ok(()) };
    if report.is_dir() {
        bail!("report {} is a folder; name a file", report.display());
    }
    Target::new(report, &inputs.iter().collect::<Vec<_>>())?;
    let absolute = std::path::absolute(report)?;
    for target in &targets.list {
        if std::path::absolute(target.path())? == absolute {
            bail!("report {} is also an output; name another file", report.display());
        }
    }
    Ok(())
}
