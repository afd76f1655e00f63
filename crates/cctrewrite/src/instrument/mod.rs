//! `cctrewrite instrument`: survey, plan, rewrite, put in place.

mod class_path;
mod driver;
pub(crate) mod lone;
mod made_from;
pub(crate) mod manner;
pub(crate) mod opened;
mod record;
mod refusal;
mod summary;
pub mod targets;

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use cct_archive::{Input, RewriteOptions, Staged, Target};
use cct_index::mid::ClassHash;
use cct_index::provenance::Provenance;
use cct_rewrite::Rewriter;
use cct_rewrite::filter::Filter;

use crate::args::Instrument;
use crate::exit::say;
use crate::inputs::{BadClasses, Sources};
use crate::instrument::manner::Manner;
use crate::instrument::opened::{Opened, say_missing};
pub use crate::instrument::record::Record;
pub use crate::instrument::refusal::refused_by_jvms;
use crate::marking::Beside;
use crate::progress::Progress;
use crate::udi::Module;
use cct_build::output;
use driver::Driver;
use targets::Targets;

pub use summary::Summary;

/// What a run gives.
#[derive(Debug)]
pub struct Rewritten {
    /// What was done.
    pub summary: Summary,
    /// One for each input, in no particular order, not in their places yet.
    pub outputs: Vec<Staged<Record>>,
    /// Where they come from.
    pub provenance: Provenance,
}

/// Runs the command.
pub fn run(arguments: &Instrument) -> Result<()> {
    with_threads(arguments.threads, || instrument(arguments))
}

/// Runs `work` with a number of threads, by default one for each core.
pub fn with_threads<T: Send>(threads: Option<u16>, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let mut pool = rayon::ThreadPoolBuilder::new();
    if let Some(threads) = threads {
        pool = pool.num_threads(threads.into());
    }
    pool.build().context("cannot start worker threads")?.install(work)
}

fn instrument(arguments: &Instrument) -> Result<()> {
    let started = std::time::Instant::now();
    arguments.choices.check()?;
    if arguments.choices.settings().traces() {
        bail!(
            "--tool trace is for whole JDKs, whose methods are numbered together: give it to `cctrewrite jdk` or `cctrewrite run`; programs are rewritten while they are loaded"
        );
    }
    if arguments.choices.marks_alone() {
        return crate::marking::instrument(arguments);
    }
    let Opened { mut sources, named, left_out } = Opened::of(arguments)?;
    sources.for_jlink = !arguments.patches;
    let targets = Targets::new(&arguments.output, &sources, &named, arguments.patches)?;
    check_report(arguments, &sources.inputs, &targets)?;
    for notice in lone::check(&sources.inputs, &targets.list, arguments.if_changed)? {
        say(&notice);
    }
    let beside = Beside::of(arguments, &sources)?;
    let made_from = made_from::of(arguments, &sources, beside.as_ref())?;
    if arguments.if_changed && made_from::is_current(&made_from, &targets.list, arguments.report.as_deref()) {
        if !arguments.quiet {
            say(&format!("{}: up to date", arguments.output.display()));
        }
        return Ok(());
    }
    let manner = Manner {
        choices: &arguments.choices,
        bad: if arguments.keep_bad_classes { BadClasses::Keep } else { BadClasses::Refuse },
        level: arguments.level,
        quiet: arguments.quiet,
        options: None,
        patches: arguments.patches,
        manifest: arguments.manifest,
        made_from: Some(&made_from),
        verify: arguments.verify,
        beside: beside.as_ref(),
    };
    if let Some(module) = Module::of(&arguments.udi)? {
        sources.udi = Some(module.transform(&sources.inputs, &arguments.udi, arguments.quiet)?);
    }
    let Rewritten { summary, outputs, .. } = rewrite_all(manner, &mut sources, &targets.list)?;
    let report = arguments.report.as_ref().map(|path| summary.write_report(path)).transpose()?;
    let mut tables = Vec::new();
    for target in &targets.list {
        tables.extend(beside.as_ref().map(|beside| beside.tables(target.path())).transpose()?.flatten());
    }
    for output in outputs {
        output.commit()?;
    }
    for file in tables.into_iter().chain(report) {
        file.commit()?;
    }
    if !arguments.quiet {
        say_missing(&left_out, &targets.list);
    }
    targets.keep();
    summary.print(started.elapsed(), arguments.quiet);
    Ok(())
}

/// Surveys, plans and rewrites all inputs, each to its target.
pub fn rewrite_all(manner: Manner<'_>, sources: &mut Sources, targets: &[Target]) -> Result<Rewritten> {
    let filter = manner.choices.filter()?;
    loop {
        let (rewritten, unfit) = attempt(manner, sources, targets, &filter)?;
        if unfit.is_empty() {
            return Ok(rewritten);
        }
        // Rare: some class is too full to be rewritten, or no JVM will have it. The others must
        // know that it stays raw.
        sources.unfit.extend(unfit);
    }
}

/// What an attempt gives, and the classes that stood in its way.
type Attempt = (Rewritten, BTreeMap<ClassHash, String>);

fn attempt(manner: Manner<'_>, sources: &Sources, targets: &[Target], filter: &Filter) -> Result<Attempt> {
    let settings = manner.choices.settings();
    let surveyed = {
        let progress = Progress::counting("looking at classes", !manner.quiet);
        sources.survey(&settings, manner.bad, &|_, _, _, _| progress.step())?
    };
    let mut summary = Summary::new(settings, surveyed.notices);
    summary.warn_of_unfit(&sources.unfit);
    if let Some(transformed) = &sources.udi {
        summary.add_udi(transformed);
    }
    if let Some(beside) = manner.beside {
        summary.mark(beside);
    }
    let filter = filter.clone();
    let mut rewriter =
        Rewriter::new(surveyed.world, settings, surveyed.provenance, move |class| filter.records(class))?;
    if let Some(beside) = manner.beside {
        rewriter = rewriter.with_markers(Arc::clone(&beside.markers));
    }
    let progress = Progress::of("rewriting", surveyed.classes, !manner.quiet);
    let driver = Driver::new(&rewriter, &manner, &progress, sources)?;
    let manifest = if manner.manifest { attributes(rewriter.provenance()) } else { Vec::new() };
    let options = RewriteOptions { level: manner.level, manifest, ..RewriteOptions::default() };
    let mut outputs = Vec::with_capacity(sources.inputs.len());
    let mut inputs: Vec<_> = sources.inputs.iter().zip(targets).collect();
    // The class library last: of jmods it gets the index of all.
    inputs.sort_by_key(|(input, _)| output::has_object(input));
    for (input, target) in inputs {
        let output = if manner.patches {
            input.rewrite_as_patches(target, &options, &driver)?
        } else {
            input.rewrite(target, &options, &driver)?
        };
        summary.add_output(target.path(), output.account());
        outputs.push(output);
    }
    let unfit = driver.unfit();
    if unfit.is_empty() {
        summary.check()?;
    }
    Ok((Rewritten { summary, outputs, provenance: rewriter.provenance().clone() }, unfit))
}

/// What a manifest says of how its jar was instrumented.
fn attributes(provenance: &Provenance) -> Vec<(String, String)> {
    let (mut tool, mut rest) = ("", Vec::new());
    for line in provenance.lines().lines() {
        match line.strip_prefix("tool=") {
            Some(name) => tool = name,
            // The whole table; its name and hash are there.
            None if line.starts_with("costs=") => {}
            None => rest.push(line),
        }
    }
    vec![("Instrumented-By".to_owned(), tool.to_owned()), ("Instrumented-With".to_owned(), rest.join(" "))]
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
