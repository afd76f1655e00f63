//! Instrumentation from inputs to outputs: survey, plan, rewrite, put in place.

mod class_path;
mod counting;
pub(crate) mod filter;
pub mod lone;
mod made_from;
pub mod opened;
pub mod output_options;
mod record;
mod refusal;
pub(crate) mod request;
mod rewrite;
mod summary;
pub mod targets;
pub mod treatments;

use anyhow::{Result, bail};
use cct_archive::{Input, Target};

use self::opened::{OpenedInputs, say_missing};
use self::output_options::OutputOptions;
use self::targets::Targets;
use crate::marking::TreeMarking;
use crate::observer::Observer;
use crate::user_module::Module;

pub use self::filter::filter;
pub use self::record::Record;
pub use self::refusal::refused_by_jvms;
pub use self::request::InstrumentRequest;
pub use self::rewrite::{Outputs, rewrite_all};
pub use self::summary::Summary;

/// Surveys, plans and rewrites the inputs, and puts the outputs in their places.
///
/// # Errors
/// Fails if options cannot be combined, if an input cannot be read, or if an output cannot be
/// written.
pub fn instrument(request: &InstrumentRequest, observer: &dyn Observer) -> Result<()> {
    let started = std::time::Instant::now();
    request.choices.check()?;
    if request.choices.settings().traces() {
        bail!(
            "--tool trace is for whole JDKs, whose methods are numbered together: give it to `cctrewrite jdk` or `cctrewrite run`; programs are rewritten while they are loaded"
        );
    }
    if request.choices.marks_alone() {
        return crate::marking::instrument(request, observer);
    }
    let OpenedInputs { mut sources, named, left_out } = OpenedInputs::of(request)?;
    sources.for_jlink = !request.patches;
    let targets = Targets::new(&request.output, &sources, &named, request.patches)?;
    check_report(request, &sources.inputs, &targets)?;
    for notice in lone::check(&sources.inputs, &targets.list, request.if_changed)? {
        observer.warn(&notice);
    }
    let beside = TreeMarking::of(request, &sources)?;
    let made_from = made_from::of(request, &sources, beside.as_ref())?;
    if request.if_changed && made_from::is_current(&made_from, &targets.list, request.report.as_deref()) {
        observer.note(&format!("{}: up to date", request.output.display()));
        return Ok(());
    }
    let how = OutputOptions {
        choices: &request.choices,
        bad: request.bad,
        level: request.level,
        options: None,
        patches: request.patches,
        manifest: request.manifest,
        made_from: Some(&made_from),
        verify: request.verify,
        beside: beside.as_ref(),
    };
    if let Some(module) = Module::of(&request.module)? {
        sources.udi = Some(module.transform(&sources.inputs, observer)?);
    }
    let Outputs { summary, outputs, .. } = rewrite_all(how, &sources, &targets.list, observer)?;
    let report = request.report.as_ref().map(|path| summary.write_report(path)).transpose()?;
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
    say_missing(&left_out, &targets.list, observer);
    targets.keep();
    summary.say(started.elapsed(), observer);
    Ok(())
}

/// Fails if the report would overwrite an input or an output, or if it is a folder.
fn check_report(request: &InstrumentRequest, inputs: &[Input], targets: &Targets) -> Result<()> {
    let Some(report) = &request.report else { return Ok(()) };
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
