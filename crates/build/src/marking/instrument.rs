//! Instrumentation with markers alone.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, bail};
use cct_archive::Layout;

use super::above::world;
use super::all::{OutputOptions, mark_all};
use super::{JAR, Marking, jar, tables_of};
use crate::instrument::lone;
use crate::instrument::opened::{OpenedInputs, say_missing};
use crate::instrument::request::InstrumentRequest;
use crate::instrument::targets::Targets;
use crate::observer::Observer;
use crate::pending_file::PendingFile;

/// Marks the inputs, and puts the outputs in their places.
///
/// # Errors
/// Fails if options cannot be combined, if an input or a rule cannot be read, or if an output
/// cannot be written.
pub fn instrument(request: &InstrumentRequest, observer: &dyn Observer) -> Result<()> {
    request.choices.check_marking()?;
    for (given, option) in [
        (request.if_changed, "--if-changed"),
        (request.report.is_some(), "--report"),
        (request.manifest, "--manifest"),
        (request.module.module.is_some(), "--udi"),
    ] {
        if given {
            bail!("{option} does not go together with --tool markers yet; leave it out");
        }
    }
    let marking = Marking::alone(&request.choices)?;
    let OpenedInputs { sources, named, left_out } = OpenedInputs::of(request)?;
    for input in &sources.inputs {
        if input.layout() != Layout::Plain && !request.patches {
            bail!(
                "{}: with --tool markers the class library of a JDK from 9 on becomes patches: give --patches, or make a whole JDK by `cctrewrite jdk`",
                input.path().display()
            );
        }
    }
    let targets = Targets::new(&request.output, &sources, &named, request.patches)?;
    for notice in lone::check(&sources.inputs, &targets.list, request.if_changed)? {
        observer.warn(&notice);
    }
    let steps = observer.begin("looking at classes", None);
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
        beside.push(PendingFile::write(&folder.join(JAR), |out| out.write_all(&jar))?);
    }
    if let Some(tables) = marking.tables() {
        for target in &targets.list {
            let path = tables_of(target.path());
            beside.push(PendingFile::write(&path, |out| out.write_all(tables.as_bytes()))?);
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
