//! Instrumentation with markers alone.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cct_archive::{Failure, Layout};
use cct_settings::RefusedOptions;
use zip::result::ZipError;

use super::above::world;
use super::all::{OutputOptions, mark_all};
use super::{JAR, Marking, MarkingError, jar, tables_of};
use crate::check_failed::CheckFailed;
use crate::file_error::FileError;
use crate::instrument::lone_class::{self, LoneError};
use crate::instrument::opened::{OpenError, OpenedInputs, say_missing};
use crate::instrument::request::InstrumentRequest;
use crate::instrument::targets::{Targets, TargetsError};
use crate::observer::Observer;
use crate::pending_file::PendingFile;

/// A program that cannot be marked.
#[derive(Debug, thiserror::Error)]
pub enum MarkProgramError {
    /// Options cannot be combined.
    #[error(transparent)]
    Refused(#[from] RefusedOptions),
    /// An option is not for markers alone.
    #[error("{0} cannot be combined with --tool markers yet; leave it out")]
    NotYet(&'static str),
    /// The class library of a JDK from 9 on is to be marked as a whole.
    #[error(
        "{}: with --tool markers the class library of a JDK from 9 on becomes patches: give --patches, or make a whole JDK by `cctrewrite jdk`",
        .0.display()
    )]
    NoPatches(PathBuf),
    /// Rules or properties cannot be used.
    #[error(transparent)]
    Marking(#[from] MarkingError),
    /// An input or library cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// There is no place for an output.
    #[error(transparent)]
    Targets(#[from] TargetsError),
    /// An input that is a class file is not enough.
    #[error(transparent)]
    Lone(#[from] LoneError),
    /// An input or library cannot be read, or an output cannot be put in its place.
    #[error(transparent)]
    Archive(#[from] cct_archive::Error),
    /// A class cannot be marked, or an output cannot be written.
    #[error(transparent)]
    Class(#[from] Failure<cct_markers::Error>),
    /// The check of marked classes found something.
    #[error(transparent)]
    Check(#[from] CheckFailed),
    /// The jar of the runtime cannot be put together.
    #[error(transparent)]
    Jar(#[from] ZipError),
    /// A file beside an output cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Marks the inputs, and puts the outputs in their places.
///
/// # Errors
/// Fails if options cannot be combined, if an input or a rule cannot be read, or if an output
/// cannot be written.
pub fn instrument(request: &InstrumentRequest, observer: &dyn Observer) -> Result<(), MarkProgramError> {
    request.choices.check_marking()?;
    for (given, option) in [
        (request.if_changed, "--if-changed"),
        (request.report.is_some(), "--report"),
        (request.manifest, "--manifest"),
        (request.module.module.is_some(), "--udi"),
    ] {
        if given {
            return Err(MarkProgramError::NotYet(option));
        }
    }
    let marking = Marking::alone(&request.choices)?;
    let OpenedInputs { sources, named, left_out } = OpenedInputs::of(request)?;
    for input in &sources.inputs {
        if input.layout() != Layout::Plain && !request.patches {
            return Err(MarkProgramError::NoPatches(input.path().to_path_buf()));
        }
    }
    let targets = Targets::new(&request.output, &sources, &named, request.patches)?;
    for notice in lone_class::check(&sources.inputs, &targets.list, request.if_changed)? {
        observer.warn(&notice);
    }
    let steps = observer.begin("reading classes", None);
    let world = world(sources.inputs.iter().chain(&sources.libraries))?;
    drop(steps);
    let how = OutputOptions {
        bad: request.bad,
        level: request.level,
        patches: request.patches,
        lines: Some(marking.lines()),
        verify: request.verify,
        options: None,
    };
    let mut marked = mark_all(&marking, &world, &sources.inputs, &targets.list, &how, observer)?;
    marked.check()?;
    let jar = jar()?;
    // Outputs of what manifests name use the jar beside the output whose manifest names them.
    let given = &targets.list[..targets.list.len() - named.len()];
    let folders: BTreeSet<&Path> = given.iter().filter_map(|target| target.path().parent()).collect();
    let mut beside = Vec::new();
    for folder in folders {
        let pending = PendingFile::write(&folder.join(JAR), |out| out.write_all(&jar));
        beside.push(pending.map_err(FileError::from)?);
    }
    if let Some(tables) = marking.tables() {
        for target in &targets.list {
            let path = tables_of(target.path());
            let pending = PendingFile::write(&path, |out| out.write_all(tables.as_bytes()));
            beside.push(pending.map_err(FileError::from)?);
        }
    }
    for output in std::mem::take(&mut marked.outputs) {
        output.commit()?;
    }
    for file in beside {
        file.commit()?;
    }
    say_missing(&left_out, &targets.list, observer);
    targets.keep();
    marked.warn(observer);
    for line in marked.tally.lines(&marking.rules) {
        observer.note(&line);
    }
    if let Some(checked) = marked.checked() {
        observer.note(&checked);
    }
    observer.note(&format!("{}; run with the options of `cctrewrite flags`", marked.totals()));
    Ok(())
}
