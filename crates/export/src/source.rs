//! Sources of exports: trees of a profile, with names instead of methods.

use crate::name::{Names, all_methods};
use crate::prune::pruned;
use crate::{ExportError, Name, NameForm, PRUNED, PrunedContexts, Threshold};
use cct_profile::names::NameStyle;
use cct_profile::report::counted;
use cct_profile::selection::{Selection, SelectionResult};
use cct_profile::tree_sum::joined;
use cct_profile::{Damage, Metric, Profile, Tree, Unit};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Options of a source.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Keep threads separate; those of one name are added up. Otherwise all are.
    pub per_thread: bool,
    /// The part of the trees that is exported.
    pub selection: Selection,
    /// The form of method names.
    pub form: NameForm,
    /// Whether to normalise names that differ between runs.
    pub style: NameStyle,
    /// The metric; `None` for bytecodes, or calls where bytecodes were not counted. Formats with
    /// both use it for the threshold only.
    pub metric: Option<Metric>,
    /// The threshold of pruning.
    pub threshold: Threshold,
    /// Values that distinguish the profile in tables, by their columns.
    pub labels: BTreeMap<String, String>,
}

/// The source of an export.
#[derive(Clone, Debug)]
pub struct Source {
    /// The names, which [`cct_profile::Node::method`] of the trees indexes.
    pub names: Vec<Name>,
    /// The trees: one, or one for each thread, sorted by name.
    pub stacks: Vec<Stacks>,
    /// The metric for formats with only one.
    pub metric: Metric,
    /// Sum of all contexts' calls; at most 2^63 - 1.
    pub calls: u64,
    /// Sum of all contexts' bytecodes; `None` if not counted.
    pub bytecodes: Option<u64>,
    /// The meaning of `bytecodes`: their number, or their cost.
    pub executed: Option<Metric>,
    /// Further columns, in the order of [`Tree::values`], each with the sum over all contexts; at
    /// most 2^63 - 1.
    pub columns: Vec<(Unit, u64)>,
    /// Number of contexts before pruning.
    pub contexts: u64,
    /// The sum of the pruned contexts.
    pub pruned: PrunedContexts,
    /// The threshold of pruning.
    pub threshold: Threshold,
    /// How the numbers were recorded, as in the profile.
    pub meta: BTreeMap<String, String>,
    /// Values that distinguish the profile in tables, by their columns.
    pub labels: BTreeMap<String, String>,
    /// Notes for the reader of the numbers.
    pub notes: Vec<String>,
    /// Missing parts of the profile.
    pub incomplete: Vec<String>,
    /// Patterns of [`Selection::drop`] that match no method.
    pub unmatched: Vec<String>,
}

/// A tree to be exported.
#[derive(Clone, Debug)]
pub struct Stacks {
    /// The thread, or the name of several; `None` for the sum of all.
    pub thread: Option<Arc<str>>,
    /// The tree's contexts. Children are sorted by name, and siblings have different names.
    pub tree: Tree,
}

impl Source {
    /// Creates the source of a profile. Takes the profile, so that its trees can be freed.
    ///
    /// # Errors
    /// Fails if counts overflow, if the metric was not counted, or if the root does not occur.
    pub fn new(profile: Profile, options: &Options) -> Result<Source, ExportError> {
        let metric = metric(&profile, options)?;
        let profile = profile.with_native_callers();
        let SelectionResult { profile, unmatched } = options.selection.of_profile(profile, options.style)?;
        let methods = all_methods(&[&profile]);
        let names = Names::new(&methods, options.form, options.style);
        let stacks = stacks(&profile, &names.of_method(), options.per_thread)?;
        let source = Source {
            names: names.names,
            stacks,
            metric,
            calls: 0,
            bytecodes: profile.counts_bytecodes().then_some(0),
            executed: profile.counts_bytecodes().then(|| Metric::of_profile(&profile)),
            columns: profile.columns().into_iter().map(|column| (column, 0)).collect(),
            contexts: 0,
            pruned: PrunedContexts::default(),
            threshold: options.threshold,
            meta: profile.meta,
            labels: options.labels.clone(),
            notes: profile.notes,
            incomplete: profile.damage.iter().map(Damage::to_string).collect(),
            unmatched,
        };
        drop(profile.threads);
        source.summed()?.pruned()
    }

    /// The source with the sums over all contexts.
    pub(crate) fn summed(mut self) -> Result<Source, ExportError> {
        let nodes = || self.stacks.iter().flat_map(|stacks| &stacks.tree.nodes()[1..]);
        let sum = |metric: Metric| {
            let mut counts = nodes().map(|node| metric.of_node(node));
            let sum = counts.try_fold(0u64, u64::checked_add);
            sum.filter(|&sum| i64::try_from(sum).is_ok()).ok_or(ExportError::TooMany(metric.name()))
        };
        let (calls, bytecodes) = (sum(Metric::Calls)?, sum(Metric::Bytecodes)?);
        for (place, (column, total)) in self.columns.iter_mut().enumerate() {
            let trees = self.stacks.iter().map(|stacks| &stacks.tree);
            let mut values = trees
                .flat_map(|tree| (1..tree.nodes().len() as u32).map(move |node| tree.values(node)[place]));
            let sum = values.try_fold(0u64, u64::checked_add).filter(|&sum| i64::try_from(sum).is_ok());
            *total = sum.ok_or(ExportError::TooMany(column.name()))?;
        }
        self.contexts = self.rows();
        self.calls = calls;
        self.bytecodes = self.bytecodes.map(|_| bytecodes);
        Ok(self)
    }

    /// The source without contexts below the threshold.
    pub(crate) fn pruned(mut self) -> Result<Source, ExportError> {
        let least = self.threshold.least(self.total());
        let depth = self.threshold.depth.unwrap_or(usize::MAX);
        if least == 0 && depth == usize::MAX {
            return Ok(self);
        }
        let label = self.names.len() as u32;
        for stacks in &mut self.stacks {
            stacks.tree = pruned(&stacks.tree, self.metric, least, depth, label, &mut self.pruned)?;
        }
        if self.pruned != PrunedContexts::default() {
            self.names.push(Name::of_text(PRUNED));
        }
        Ok(self)
    }

    /// The source, of which nothing is pruned yet, without contexts below a threshold.
    ///
    /// # Errors
    /// Fails if the tree of what stays is too large.
    pub fn with_threshold(self, threshold: Threshold) -> Result<Source, ExportError> {
        Source { threshold, ..self }.pruned()
    }

    /// The sum of the metric over all contexts.
    pub fn total(&self) -> u64 {
        self.total_of(self.metric)
    }

    /// The sum of a metric over all contexts.
    pub fn total_of(&self, metric: Metric) -> u64 {
        match metric {
            Metric::Calls | Metric::Allocations => self.calls,
            Metric::Bytecodes | Metric::Cost(_) | Metric::Column(_) => self.bytecodes.unwrap_or(0),
        }
    }

    /// The counted metrics: the more specific one of calls and bytecodes first, then columns.
    pub fn metrics(&self) -> Vec<Metric> {
        if self.metric == Metric::Allocations {
            return vec![self.metric];
        }
        let columns = self.columns.iter().map(|(column, _)| Metric::Column(*column));
        self.executed.into_iter().chain([Metric::Calls]).chain(columns).collect()
    }

    /// The count of a metric in a context of one of the trees.
    pub fn value(&self, tree: &Tree, node: u32, metric: Metric) -> u64 {
        let place = self.columns.iter().position(|(column, _)| Metric::Column(*column) == metric);
        match place {
            Some(place) => tree.values(node)[place],
            None => metric.of_node(&tree.nodes()[node as usize]),
        }
    }

    /// Whether a column replaces bytecodes.
    pub(crate) fn is_by_column(&self) -> bool {
        matches!(self.executed, Some(Metric::Column(_)))
    }

    /// Number of written contexts. Pruned ones count as one for each context that lost callees.
    pub fn rows(&self) -> u64 {
        self.stacks.iter().map(|stacks| stacks.tree.contexts() as u64).sum()
    }

    /// The program's name: its main class or jar.
    pub fn program(&self) -> &str {
        self.meta.get("main").map_or("(unknown program)", |main| main)
    }

    /// Whether call sites are distinguished.
    pub fn has_call_sites(&self) -> bool {
        self.names.iter().any(|name| name.bci.is_some() || name.line.is_some())
    }

    /// Remarks about the numbers, in sentences: missing parts, pruning, the notes of the profile.
    pub fn remarks(&self) -> Vec<String> {
        let incomplete = self.incomplete.iter().map(|what| format!("INCOMPLETE: {what}"));
        incomplete.chain(self.pruning()).chain(self.notes.iter().cloned()).collect()
    }

    /// How much was pruned, in a sentence; `None` if nothing was.
    pub fn pruning(&self) -> Option<String> {
        let PrunedContexts { contexts, calls, bytecodes } = self.pruned;
        let one = self.executed.map_or("bytecode", Metric::one);
        let bytecodes = self.bytecodes.map(|_| format!(" and {}", counted(bytecodes.into(), one)));
        (contexts > 0).then(|| {
            format!(
                "{} with {}{} pruned{}, and added up as {PRUNED}",
                counted(contexts.into(), "context"),
                counted(calls.into(), "call"),
                bytecodes.unwrap_or_default(),
                self.threshold.reasons(self.metric)
            )
        })
    }
}

/// The requested metric.
pub(crate) fn metric(profile: &Profile, options: &Options) -> Result<Metric, ExportError> {
    // A profile of objects has no other metric.
    if profile.is_of_objects() {
        return Ok(Metric::Allocations);
    }
    match (options.metric, profile.counts_bytecodes()) {
        (Some(Metric::Allocations), _) => Err(ExportError::NoObjects),
        (Some(Metric::Calls), _) | (None, false) => Ok(Metric::Calls),
        (Some(_), false) => Err(ExportError::NoBytecodes),
        // For profiles with a cost model, the cost of bytecodes.
        (_, true) => Ok(Metric::of_profile(profile)),
    }
}

/// The trees of a profile whose methods have these names.
pub(crate) fn stacks(
    profile: &Profile,
    of_method: &[u32],
    per_thread: bool,
) -> Result<Vec<Stacks>, ExportError> {
    /// Trees to be added up, each with the names of its methods.
    type Group<'p> = Vec<(&'p Tree, &'p [u32])>;
    let mut groups: BTreeMap<Option<Arc<str>>, Group<'_>> = BTreeMap::new();
    if !per_thread {
        groups.insert(None, Vec::new());
    }
    for thread in &profile.threads {
        groups.entry(per_thread.then(|| thread.name.clone())).or_default().push((&thread.tree, of_method));
    }
    let stacks = groups.into_iter().map(|(thread, trees)| Ok(Stacks { thread, tree: joined(&trees)? }));
    stacks.collect()
}

impl Stacks {
    /// The frame of the thread: `[main]`; `None` where all threads are added up.
    pub fn frame(&self) -> Option<String> {
        self.thread.as_ref().map(|thread| Name::of_text(&format!("[{thread}]")).text)
    }
}
