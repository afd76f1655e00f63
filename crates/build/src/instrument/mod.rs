//! Instrumentation from inputs to outputs: survey, plan, rewrite, put in place.

mod class_path;
mod counting;
pub(crate) mod filter;
mod input_hash;
pub mod lone_class;
pub mod opened;
pub mod output_options;
mod record;
mod refusal;
pub(crate) mod request;
mod rewrite;
mod summary;
pub mod targets;
pub mod treatments;

use std::io;
use std::path::PathBuf;

use cct_archive::{Input, Target};
use cct_settings::RefusedOptions;

use self::lone_class::LoneError;
use self::opened::{OpenError, OpenedInputs, say_missing};
use self::output_options::OutputOptions;
use self::targets::{Targets, TargetsError};
use crate::file_error::FileError;
use crate::marking::{MarkProgramError, TreeMarking, TreeMarkingError};
use crate::observer::Observer;
use crate::user_module::{Module, ModuleError, UnreadableModule};

pub use self::class_path::ClassPathError;
pub use self::filter::{FilterError, filter};
pub use self::input_hash::HashError;
pub use self::record::Record;
pub use self::refusal::refused_by_jvms;
pub use self::request::InstrumentRequest;
pub use self::rewrite::{Outputs, RewriteError, rewrite_all};
pub use self::summary::Summary;

/// Inputs that cannot be instrumented.
#[derive(Debug, thiserror::Error)]
pub enum InstrumentError {
    /// Options cannot be combined.
    #[error(transparent)]
    Refused(#[from] RefusedOptions),
    /// A program is to be traced without its JDK.
    #[error(
        "--tool trace is for whole JDKs, whose methods are numbered together: give it to `cctrewrite jdk` or `cctrewrite run`; programs are rewritten while they are loaded"
    )]
    Trace,
    /// Marking fails.
    #[error(transparent)]
    Marking(#[from] MarkProgramError),
    /// An input or library cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// There is no place for an output.
    #[error(transparent)]
    Targets(#[from] TargetsError),
    /// There is no place for the report.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// An input that is a class file is not enough.
    #[error(transparent)]
    Lone(#[from] LoneError),
    /// Markers cannot be added.
    #[error(transparent)]
    TreeMarking(#[from] TreeMarkingError),
    /// The inputs cannot be hashed.
    #[error(transparent)]
    Hash(#[from] HashError),
    /// The user's module cannot be read.
    #[error(transparent)]
    UnreadableModule(#[from] UnreadableModule),
    /// The user's module fails.
    #[error(transparent)]
    Module(#[from] ModuleError),
    /// The inputs cannot be rewritten.
    #[error(transparent)]
    Rewrite(#[from] RewriteError),
    /// An output cannot be put in its place.
    #[error(transparent)]
    Output(#[from] cct_archive::Error),
    /// The report, or a file beside an output, cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A report that cannot be written where the user wants it.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// It would replace a folder.
    #[error("report {} is a folder; name a file", .0.display())]
    IsFolder(PathBuf),
    /// It would overwrite an output.
    #[error("report {} is also an output; name another file", .0.display())]
    IsOutput(PathBuf),
    /// It would overwrite an input, or its folder is missing.
    #[error(transparent)]
    Refused(#[from] cct_archive::Error),
    /// The folder of this process is missing, so a relative path leads nowhere.
    #[error(transparent)]
    NoFolder(#[from] io::Error),
}

/// Surveys, plans and rewrites the inputs, and puts the outputs in their places.
///
/// # Errors
/// Fails if options cannot be combined, if an input cannot be read, or if an output cannot be
/// written.
pub fn instrument(request: &InstrumentRequest, observer: &dyn Observer) -> Result<(), InstrumentError> {
    let started = std::time::Instant::now();
    request.choices.check()?;
    if request.choices.settings().traces() {
        return Err(InstrumentError::Trace);
    }
    if request.choices.marks_alone() {
        return Ok(crate::marking::instrument(request, observer)?);
    }
    let OpenedInputs { mut sources, named, left_out } = OpenedInputs::of(request)?;
    sources.for_jlink = !request.patches;
    let targets = Targets::new(&request.output, &sources, &named, request.patches)?;
    check_report(request, &sources.inputs, &targets)?;
    for notice in lone_class::check(&sources.inputs, &targets.list, request.if_changed)? {
        observer.warn(&notice);
    }
    let beside = TreeMarking::of(request, &sources)?;
    let made_from = input_hash::of(request, &sources, beside.as_ref())?;
    if request.if_changed && input_hash::is_current(&made_from, &targets.list, request.report.as_deref()) {
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
fn check_report(request: &InstrumentRequest, inputs: &[Input], targets: &Targets) -> Result<(), ReportError> {
    let Some(report) = &request.report else { return Ok(()) };
    if report.is_dir() {
        return Err(ReportError::IsFolder(report.clone()));
    }
    Target::new(report, &inputs.iter().collect::<Vec<_>>())?;
    let absolute = std::path::absolute(report)?;
    for target in &targets.list {
        if std::path::absolute(target.path())? == absolute {
            return Err(ReportError::IsOutput(report.clone()));
        }
    }
    Ok(())
}
