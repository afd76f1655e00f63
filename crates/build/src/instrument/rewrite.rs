//! Inputs to outputs that are complete and not in their places yet.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Result;
use cct_archive::{RewriteOptions, Staged, Target};
use cct_index::mid::ClassHash;
use cct_index::provenance::Provenance;
use cct_rewrite::Rewriter;
use cct_rewrite::filter::Filter;

use super::counting::Counting;
use super::filter::filter;
use super::output_options::OutputOptions;
use super::record::Record;
use super::summary::Summary;
use crate::driver::Driver;
use crate::inputs::Sources;
use crate::observer::Observer;
use crate::output;

/// Outputs that are complete.
#[derive(Debug)]
pub struct Outputs {
    /// What was done.
    pub summary: Summary,
    /// One for each input, in no particular order, not in their places yet.
    pub outputs: Vec<Staged<Record>>,
    /// Where they come from.
    pub provenance: Provenance,
}

/// Surveys, plans and rewrites all inputs, each to its target.
///
/// # Errors
/// Classes that are none, files that cannot be read or written.
pub fn rewrite_all(
    how: OutputOptions<'_>,
    sources: &mut Sources,
    targets: &[Target],
    observer: &dyn Observer,
) -> Result<Outputs> {
    let filter = filter(how.choices)?;
    loop {
        let (rewritten, unfit) = attempt(how, sources, targets, &filter, observer)?;
        if unfit.is_empty() {
            return Ok(rewritten);
        }
        // Rare: some class is too full to be rewritten, or no JVM will have it. The others must
        // know that it stays raw.
        sources.unfit.extend(unfit);
    }
}

/// What an attempt gives, and the classes that stood in its way.
type Attempt = (Outputs, BTreeMap<ClassHash, String>);

fn attempt(
    how: OutputOptions<'_>,
    sources: &Sources,
    targets: &[Target],
    filter: &Filter,
    observer: &dyn Observer,
) -> Result<Attempt> {
    let settings = how.choices.settings();
    let survey = {
        let steps = observer.begin("looking at classes", None);
        sources.survey(&settings, how.bad, &|_, _, _, _| steps.step())?
    };
    let mut summary = Summary::new(settings, survey.notices);
    summary.warn_of_unfit(&sources.unfit);
    if let Some(transformed) = &sources.udi {
        summary.add_udi(transformed);
    }
    if let Some(beside) = how.beside {
        summary.mark(beside);
    }
    let filter = filter.clone();
    let mut rewriter =
        Rewriter::new(survey.world, settings, survey.provenance, move |class| filter.records(class))?;
    if let Some(beside) = how.beside {
        rewriter = rewriter.with_markers(Arc::clone(&beside.markers));
    }
    let steps = observer.begin("rewriting", Some(survey.classes));
    let counting = Counting::new(&rewriter, &how, &*steps, sources)?;
    let driver = Driver::new(counting, how.patches, how.options);
    let manifest = if how.manifest { attributes(rewriter.provenance()) } else { Vec::new() };
    let options = RewriteOptions { level: how.level, manifest, ..RewriteOptions::default() };
    let mut outputs = Vec::with_capacity(sources.inputs.len());
    let mut inputs: Vec<_> = sources.inputs.iter().zip(targets).collect();
    // The class library last: of jmods it gets the index of all.
    inputs.sort_by_key(|(input, _)| output::has_object(input));
    for (input, target) in inputs {
        let output = driver.write(input, target, &options)?;
        summary.add_output(target.path(), output.account());
        outputs.push(output);
    }
    let unfit = driver.transformation.unfit();
    if unfit.is_empty() {
        summary.check()?;
    }
    Ok((Outputs { summary, outputs, provenance: rewriter.provenance().clone() }, unfit))
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
