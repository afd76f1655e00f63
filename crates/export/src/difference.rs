//! The comparison of two profiles, for exports.

use crate::name::{Names, all_methods};
use crate::source::{metric, stacks};
use crate::walk::{Step, Walk};
use crate::{ExportError, Metric, Options, PRUNED, PrunedContexts, Source, Stacks};
use cct_profile::report::{counted, grouped};
use cct_profile::selection::{SelectionError, SelectionResult};
use cct_profile::tree_sum::joined;
use cct_profile::{Damage, Node, Profile, Tree, TreeBuilder};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The metric in which [`Difference::source`] has the counts of the first profile.
pub(crate) const BEFORE: Metric = Metric::Calls;

/// The metric in which it has the counts of the second profile.
pub(crate) const AFTER: Metric = Metric::Bytecodes;

/// The counts of one metric in two profiles, context by context.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The metric that is compared.
    pub metric: Metric,
    /// A source in which each context has the counts of both profiles, as [`BEFORE`] and [`AFTER`].
    /// Thresholds apply to the latter.
    pub(crate) source: Source,
    /// Reasons why the numbers of the two differ even where the programs do the same, in sentences.
    pub differing: Vec<String>,
}

/// `META` keys that must agree for numbers to have a common meaning.
pub(crate) const DECISIVE: [&str; 4] = ["blocks", "intrinsics", "java.version", "library"];

impl Difference {
    /// Compares two profiles. Metadata and notes are those of `after`.
    ///
    /// # Errors
    /// Fails as [`Source::new`].
    pub fn new(before: Profile, after: Profile, options: &Options) -> Result<Difference, ExportError> {
        let metric_before = metric(&before, options)?;
        let metric = match options.metric {
            None if metric_before == Metric::Calls => Metric::Calls,
            _ => metric(&after, options)?,
        };
        let model = |profile: &Profile| profile.meta.get("cost-model").cloned();
        if metric != Metric::Calls && (model(&before), metric_before) != (model(&after), metric) {
            let named = |profile, metric: Metric| model(profile).unwrap_or_else(|| metric.name().to_owned());
            return Err(ExportError::CostModels(named(&before, metric_before), named(&after, metric)));
        }
        let (before, after, sites_lost) = with_same_sites(before, after)?;
        let (before, after) = (Side::of(before, options)?, Side::of(after, options)?);
        if let (Some(error), Some(_)) = (&before.nothing, &after.nothing) {
            return Err(error.clone().into());
        }
        let unmatched =
            before.unmatched.into_iter().filter(|pattern| after.unmatched.contains(pattern)).collect();
        let nothing = [("before", before.nothing), ("after", after.nothing)]
            .map(|(side, nothing)| nothing.map(|error| format!("{side}, {error}")));
        let (before, after) = (before.profile, after.profile);
        let methods = all_methods(&[&before, &after]);
        let names = Names::new(&methods, options.form, options.style);
        let of_method = names.of_method();
        let (of_before, of_after) = of_method.split_at(before.methods.len());
        let stacks_before = stacks(&before, of_before, options.per_thread)?;
        let stacks_after = stacks(&after, of_after, options.per_thread)?;
        let differing =
            DECISIVE.iter().filter_map(|&key| match (before.meta.get(key), after.meta.get(key)) {
                (Some(a), Some(b)) if a != b => {
                    Some(format!("the profiles were recorded with different '{key}' ({a} before, {b} after)"))
                }
                _ => None,
            });
        let sites_lost = sites_lost.map(|side| {
            let side = if side == 0 { "before" } else { "after" };
            format!("only the profile {side} distinguishes call sites, so they are added up")
        });
        let differing = nothing.into_iter().flatten().chain(differing).chain(sites_lost).collect();
        let damage = before.damage.iter().chain(&after.damage).map(Damage::to_string).collect();
        drop((before.threads, after.threads));
        let identity: Vec<u32> = (0..u32::MAX).take(names.names.len()).collect();
        let mut weighed: BTreeMap<Option<Arc<str>>, Vec<Tree>> = BTreeMap::new();
        for (stacks, is_after) in [(stacks_before, false), (stacks_after, true)] {
            for Stacks { thread, tree } in stacks {
                let weight = |node: &Node| {
                    let weight = metric.of_node(node);
                    if is_after { (0, weight) } else { (weight, 0) }
                };
                weighed.entry(thread).or_default().push(with_counts(&tree, weight)?);
            }
        }
        let mut united = Vec::with_capacity(weighed.len());
        for (thread, trees) in weighed {
            let trees: Vec<(&Tree, &[u32])> = trees.iter().map(|tree| (tree, &*identity)).collect();
            united.push(Stacks { thread, tree: joined(&trees)? });
        }
        let source = Source {
            names: names.names,
            stacks: united,
            metric: AFTER,
            calls: 0,
            bytecodes: Some(0),
            executed: Some(metric),
            columns: Vec::new(),
            contexts: 0,
            pruned: PrunedContexts::default(),
            threshold: options.threshold,
            meta: after.meta,
            labels: options.labels.clone(),
            notes: after.notes,
            incomplete: damage,
            unmatched,
        };
        Ok(Difference { metric, source: source.summed()?.pruned()?, differing })
    }

    /// Missing parts of either profile.
    pub fn incomplete(&self) -> &[String] {
        &self.source.incomplete
    }

    /// Patterns of [`cct_profile::Selection::drop`] that match no method of either.
    pub fn unmatched(&self) -> &[String] {
        &self.source.unmatched
    }

    /// How much was pruned, in a sentence; `None` if nothing was.
    pub fn pruning(&self) -> Option<String> {
        let PrunedContexts { contexts, calls: before, bytecodes: after } = self.source.pruned;
        let (word, reasons) = (self.metric.name(), self.source.threshold.reasons(self.metric));
        (contexts > 0).then(|| {
            format!(
                "{} with {} {word} before and {} after pruned{reasons}, and added up as {PRUNED}",
                counted(contexts.into(), "context"),
                grouped(before.into()),
                grouped(after.into())
            )
        })
    }
}

/// Both profiles, ready to be shown, so that either both distinguish call sites or neither does.
/// Also returns which of the two did alone, if one did. Call sites are without their lines, as in
/// `cctrewrite diff`: between versions of a program lines move while code stays.
pub(crate) fn with_same_sites(
    a: Profile,
    b: Profile,
) -> Result<(Profile, Profile, Option<usize>), ExportError> {
    Ok(match (a.tells_call_sites(), b.tells_call_sites()) {
        (true, false) => (a.without_call_sites()?, b, Some(0)),
        (false, true) => (a, b.without_call_sites()?, Some(1)),
        _ => (without_lines(a.with_native_callers()), without_lines(b.with_native_callers()), None),
    })
}

fn without_lines(mut profile: Profile) -> Profile {
    profile.methods.iter_mut().filter_map(|method| method.site.as_mut()).for_each(|site| site.line = 0);
    profile
}

/// The selected part of one of the profiles.
pub(crate) struct Side {
    pub(crate) profile: Profile,
    pub(crate) unmatched: Vec<String>,
    /// The reason why nothing is selected.
    pub(crate) nothing: Option<SelectionError>,
}

impl Side {
    pub(crate) fn of(profile: Profile, options: &Options) -> Result<Side, ExportError> {
        let Profile { meta, notes, methods, threads, damage } = profile;
        let rest = Profile { meta, notes, methods, threads: Vec::new(), damage };
        let whole = Profile { threads, ..rest.clone() };
        match options.selection.of_profile(whole, options.style) {
            Ok(SelectionResult { profile, unmatched }) => Ok(Side { profile, unmatched, nothing: None }),
            Err(SelectionError::Tree(error)) => Err(error.into()),
            Err(nothing) => {
                // A pattern may still match on the other side.
                let unmatched = options.selection.drop.iter().map(|pattern| pattern.given().to_owned());
                Ok(Side { profile: rest, unmatched: unmatched.collect(), nothing: Some(nothing) })
            }
        }
    }
}

/// The tree with other counts.
fn with_counts(tree: &Tree, counts: impl Fn(&Node) -> (u64, u64)) -> Result<Tree, ExportError> {
    let mut builder = TreeBuilder::new();
    for step in Walk::new(tree) {
        match step {
            Step::Enter(context) => {
                let node = &tree.nodes()[context as usize];
                let (calls, bytecodes) = counts(node);
                builder.enter(node.method, calls, bytecodes)?;
            }
            Step::Leave(_) => builder.leave(),
        }
    }
    Ok(builder.finish())
}
