//! `cctrewrite instrument`: survey, plan, rewrite, put in place.

mod class_path;
mod driver;
mod made_from;
mod summary;
pub mod targets;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use cct_archive::{Input, RewriteOptions, Staged, Target};
use cct_index::mid::ClassHash;
use cct_index::provenance::Provenance;
use cct_rewrite::Rewriter;
use cct_rewrite::filter::Filter;

use crate::args::{Choices, Instrument};
use crate::exit::say;
use crate::inputs::{BadClasses, Sources};
use crate::marking::Beside;
use crate::output;
use crate::progress::Progress;
use crate::udi::Module;
use class_path::Named;
use driver::Driver;
use targets::Targets;

pub use driver::{Record, refused_by_jvms};
pub use summary::Summary;

/// What decides about a run, beside what goes in and where it comes out.
#[derive(Debug, Clone, Copy)]
pub struct Manner<'a> {
    /// How classes are rewritten.
    pub choices: &'a Choices,
    /// What to do with entries that are no classes.
    pub bad: BadClasses,
    /// Compression of new entries, 0 to 9.
    pub level: u32,
    /// Whether nothing is shown but warnings and errors.
    pub quiet: bool,
    /// JVM options that the only input, the modules of a JDK, gets as a resource (one on each line). Its index is then left to the caller.
    pub options: Option<&'a str>,
    /// Whether images, modules and jmods become patches.
    pub patches: bool,
    /// Whether manifests of jars say that and how they were instrumented.
    pub manifest: bool,
    /// What outputs say they were made from.
    pub made_from: Option<&'a str>,
    /// Whether rewritten classes are checked against their originals.
    pub verify: bool,
    /// What is marked beside.
    pub beside: Option<&'a Beside>,
}

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

/// What a run works on.
#[derive(Debug)]
pub struct Opened {
    /// The inputs, those behind them that manifests name, and the libraries.
    pub sources: Sources,
    /// What manifests name, if it is wanted, too: the last inputs.
    pub named: Vec<Named>,
    /// The same if it is not: only to be told what is missing.
    pub left_out: Vec<Named>,
}

impl Opened {
    /// Opens what the command line names.
    pub fn of(arguments: &Instrument) -> Result<Opened> {
        let limits = arguments.limits.limits();
        let mut inputs = Sources::open_inputs(&arguments.inputs, &limits)?;
        let found = class_path::of(&inputs, &limits);
        let (named, left_out) = match arguments.class_path {
            true => {
                let (named, opened): (_, Vec<Input>) = found?.into_iter().unzip();
                inputs.extend(opened);
                (named, Vec::new())
            }
            false => (Vec::new(), found.unwrap_or_default().into_iter().map(|(named, _)| named).collect()),
        };
        Ok(Opened { sources: Sources::of(inputs, &arguments.choices.library, &limits)?, named, left_out })
    }
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
        // Rare: some class is too full to be rewritten, or no JVM will have it. The others must know that it stays raw.
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
        let output = match manner.patches {
            true => input.rewrite_as_patches(target, &options, &driver)?,
            false => input.rewrite(target, &options, &driver)?,
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

/// Says what outputs will look for beside them, and not find there.
pub fn say_missing(named: &[Named], targets: &[Target]) {
    for (input, target) in targets.iter().enumerate() {
        let beside = target.path().parent().unwrap_or(Path::new(""));
        let is_missing = |n: &&Named| n.input == input && !beside.join(&n.relative).exists();
        let missing: Vec<&Named> = named.iter().filter(is_missing).collect();
        if let Some(first) = missing.first() {
            say(&format!(
                "{}: its manifest names {} ({} in all), which are not beside it; copy them there, or rewrite them too with --class-path",
                target.path().display(),
                first.relative.display(),
                missing.len()
            ));
        }
    }
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
