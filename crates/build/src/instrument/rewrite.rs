//! Rewriting of inputs to complete outputs that are not in their places yet.

use std::sync::Arc;

use cct_archive::{Failure, RewriteOptions, StagedOutput, Target};
use cct_index::provenance::Provenance;
use cct_rewrite::Rewriter;
use cct_rewrite::filter::Filter;
use cct_settings::UnknownSettings;

use super::counting::InputRewriter;
use super::filter::{FilterError, filter};
use super::output_options::OutputOptions;
use super::record::Record;
use super::summary::Summary;
use crate::check_failed::CheckFailed;
use crate::driver::Driver;
use crate::inputs::{Sources, Survey, SurveyError, UnfitClasses};
use crate::observer::Observer;
use crate::output;

/// Inputs that cannot be rewritten.
#[derive(Debug, thiserror::Error)]
pub enum RewriteError {
    /// Choices do not go together, or name no classes to record.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// The survey of the classes fails.
    #[error(transparent)]
    Survey(#[from] SurveyError),
    /// The classes cannot be planned.
    #[error(transparent)]
    Plan(#[from] cct_rewrite::Error),
    /// The check of rewritten classes does not know the settings.
    #[error(transparent)]
    Settings(#[from] UnknownSettings),
    /// A class cannot be rewritten, or an output cannot be written.
    #[error(transparent)]
    Output(#[from] Failure<cct_rewrite::Error>),
    /// The check of rewritten classes found something.
    #[error(transparent)]
    Check(#[from] CheckFailed),
}

/// Complete outputs of a run.
#[derive(Debug)]
pub struct Outputs {
    /// The summary of the run.
    pub summary: Summary,
    /// One output for each input, in no particular order, not in its place yet.
    pub outputs: Vec<StagedOutput<Record>>,
    /// Their provenance.
    pub provenance: Provenance,
}

/// Surveys, plans and rewrites all inputs, each to its target.
///
/// # Errors
/// Fails if a class file is damaged and may not be kept, or if a file cannot be read or written.
pub fn rewrite_all(
    how: OutputOptions<'_>,
    sources: &Sources,
    targets: &[Target],
    observer: &dyn Observer,
) -> Result<Outputs, RewriteError> {
    let filter = filter(how.choices)?;
    let survey = {
        let steps = observer.begin("reading classes", None);
        sources.survey(&how.choices.settings(), how.bad, &|_, _, _, _| steps.step())?
    };
    let run = Run { how, sources, survey: &survey, targets, filter: &filter, observer };
    let mut unfit = UnfitClasses::new();
    loop {
        let (outputs, more) = run.attempt(&unfit)?;
        if more.is_empty() {
            return Ok(outputs);
        }
        // Rare: a class outgrows a class file when it is rewritten, or JVMs refuse it. The other
        // classes are planned again, knowing that it stays unchanged.
        unfit.extend(more);
    }
}

/// The data that all attempts share.
struct Run<'a> {
    how: OutputOptions<'a>,
    sources: &'a Sources,
    survey: &'a Survey,
    targets: &'a [Target],
    filter: &'a Filter,
    observer: &'a dyn Observer,
}

impl Run<'_> {
    /// Plans and rewrites all inputs, except for unfit classes. Also returns the classes that
    /// turned out to be unfit; if there are any, the outputs are useless.
    fn attempt(&self, unfit: &UnfitClasses) -> Result<(Outputs, UnfitClasses), RewriteError> {
        let Run { how, sources, survey, targets, filter, observer } = *self;
        let settings = how.choices.settings();
        let mut summary = Summary::new(settings, survey.notices.clone());
        summary.warn_of_unfit(unfit);
        if let Some(transformed) = &sources.udi {
            summary.add_udi(transformed);
        }
        if let Some(beside) = how.beside {
            summary.mark(beside);
        }
        let filter = filter.clone();
        let (world, provenance) = (survey.world(unfit), survey.provenance.clone());
        let mut rewriter = Rewriter::new(world, settings, provenance, move |class| filter.records(class))?;
        if let Some(beside) = how.beside {
            rewriter = rewriter.with_markers(Arc::clone(&beside.markers));
        }
        let steps = observer.begin("rewriting", Some(survey.in_inputs));
        let counting = InputRewriter::new(&rewriter, &how, &*steps, sources, unfit)?;
        let driver = Driver::new(counting, how.patches, how.options);
        let manifest = if how.manifest { attributes(rewriter.provenance()) } else { Vec::new() };
        let options = RewriteOptions { level: how.level, manifest, ..RewriteOptions::default() };
        let mut outputs = Vec::with_capacity(sources.inputs.len());
        let mut inputs: Vec<_> = sources.inputs.iter().zip(targets).collect();
        // The class library comes last: among jmods it gets the index of all.
        inputs.sort_by_key(|(input, _)| output::has_object(input));
        for (input, target) in inputs {
            let output = driver.write(input, target, &options)?;
            summary.add_output(target.path(), output.account());
            outputs.push(output);
        }
        let more = driver.transformation.unfit();
        if more.is_empty() {
            summary.check()?;
        }
        Ok((Outputs { summary, outputs, provenance: rewriter.provenance().clone() }, more))
    }
}

/// The attributes by which a manifest states how its jar was instrumented.
fn attributes(provenance: &Provenance) -> Vec<(String, String)> {
    let (mut tool, mut rest) = ("", Vec::new());
    for line in provenance.lines().lines() {
        match line.strip_prefix("tool=") {
            Some(name) => tool = name,
            // The whole cost model. Another line has its name and hash.
            None if line.starts_with("costs=") => {}
            None => rest.push(line),
        }
    }
    vec![("Instrumented-By".to_owned(), tool.to_owned()), ("Instrumented-With".to_owned(), rest.join(" "))]
}
