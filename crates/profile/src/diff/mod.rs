//! Differences from a base profile to a new one, by methods and by contexts: how a change of a
//! program has changed its profile.
//!
//! [`crate::compare`] measures how far two records of the same run agree; this module finds the
//! cost of a change. Both match methods, threads and contexts in the same way ([`crate::pair`]).
//!
//! A context's change is that of its own count. So a changed line of a program shows in the context
//! that executes it and not in all of its callers. The changes of all methods' own counts add up to
//! the change of the total.

mod change;
mod difference;
mod groups;
#[cfg(test)]
mod tests;
mod text;
mod united_trees;

pub use change::{Change, NotAPercentage, Percentage};
pub use difference::{ChangedContext, ChangedMethod, Difference, Excess, Limits, Name};
pub use text::{SIDES, excess_in_words, relative, signed, verdict, write_text};
pub use united_trees::{UnitedTrees, united_trees};

use crate::fold::{Fold, folded_as};
use crate::labels::By;
use crate::largest::Largest;
use crate::metric::Counts;
use crate::names::NameStyle;
use crate::origin::Origins;
use crate::pair::{Input, Pair, PairError, PairOptions, Side, united};
use crate::sums::{Sums, sums};
use crate::walk::{Match, paths, walk};
use crate::{MergeError, Metric, Selection, Tree};
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// The order of changes, the largest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiffOrder {
    /// The change of own counts of methods and contexts.
    #[default]
    Own,
    /// The change of inclusive counts of methods; contexts as by [`DiffOrder::Own`].
    Inclusive,
    /// The change of calls.
    Calls,
    /// The change of own counts, relative to the base.
    Relative,
}

/// Options of a difference.
#[derive(Clone, Debug)]
pub struct DiffOptions {
    /// Keep threads separate: they are matched by their names.
    pub per_thread: bool,
    /// The part of both that is compared.
    pub selection: Selection,
    /// Whether to normalise names that differ between runs.
    pub names: NameStyle,
    /// Compare calls, not bytecodes.
    pub calls_only: bool,
    /// The kind of rows; not threads, and no kind that needs unknown origins.
    pub by: By,
    /// Fold recursion: show a call of a method on the stack in the context that it has there.
    pub recursion: bool,
    /// The order of rows.
    pub order: DiffOrder,
    /// Hide methods and contexts whose change is less than this percentage of the base's total.
    pub least: Option<Percentage>,
    /// Maximum number of listed contexts.
    pub limit: usize,
}

impl Default for DiffOptions {
    fn default() -> DiffOptions {
        DiffOptions {
            per_thread: false,
            selection: Selection::default(),
            names: NameStyle::Normalised,
            calls_only: false,
            by: By::Method,
            recursion: false,
            order: DiffOrder::Own,
            least: None,
            limit: 10,
        }
    }
}

impl DiffOptions {
    /// The options that apply to both inputs.
    fn of_pair(&self) -> PairOptions {
        PairOptions {
            per_thread: self.per_thread,
            selection: self.selection.clone(),
            names: self.names,
            calls_only: self.calls_only,
        }
    }
}

/// Finds the changes from `base` to `new`.
///
/// # Errors
/// Fails if they count different things, if an option requests something that neither has, or if
/// sums exceed 64 bits.
pub fn diff(
    base: Input,
    new: Input,
    options: &DiffOptions,
    origins: &Origins,
) -> Result<Difference, PairError> {
    united(base, new, &options.of_pair(), |pair| {
        let found = if options.by == By::Method && !options.recursion {
            Sides::of(pair, options, origins).difference(pair.a, pair.b)
        } else {
            let sides = Sides::of(pair, options, origins);
            let fold = if options.recursion { Fold::Recursion } else { Fold::Within };
            let folded = |tree: &Tree, side| {
                folded_as(&[(tree, &sides.labels)], fold, &sides.methods)
                    .map_err(|error| PairError::Merge(side, error))
            };
            let (a, b) = (folded(pair.a, Side::A)?, folded(pair.b, Side::B)?);
            let sides = Sides { labels: (0..sides.names.len() as u32).collect(), ..sides };
            sides.difference(&a, &b)
        };
        let found = found?;
        let remarks = std::mem::take(pair.remarks);
        let mismatches = std::mem::take(&mut pair.mismatches);
        Ok(Difference {
            remarks,
            shares: pair.shares,
            mismatches,
            noise_percent: pair.noise_percent,
            ..found
        })
    })
}

/// Properties of both sides besides their trees.
struct Sides<'o> {
    options: &'o DiffOptions,
    metric: Metric,
    bytecodes: bool,
    /// The meaning of the labels of the trees, as positions in the names.
    labels: Vec<u32>,
    /// For each name the name of the method, where call sites are distinguished.
    methods: Vec<u32>,
    names: Vec<Name>,
    /// Whether a name is a thread's and no method's.
    is_thread: Vec<bool>,
}

impl<'o> Sides<'o> {
    fn of(pair: &Pair<'_>, options: &'o DiffOptions, origins: &Origins) -> Sides<'o> {
        let groups = groups::groups(pair, options.by, options.names, origins);
        Sides {
            options,
            metric: pair.metric,
            bytecodes: pair.executed.is_some(),
            labels: groups.labels,
            methods: groups.methods,
            names: groups.names,
            is_thread: groups.is_thread,
        }
    }

    fn difference(&self, a: &Tree, b: &Tree) -> Result<Difference, PairError> {
        let merge = |side| move |error| PairError::Merge(side, error);
        let totals = [total(a).map_err(merge(Side::A))?, total(b).map_err(merge(Side::B))?];
        let change = |of: fn(Counts) -> u64| Change { base: of(totals[0]).into(), new: of(totals[1]).into() };
        let calls = change(|counts| counts.calls);
        let bytecodes = self.bytecodes.then(|| change(|counts| counts.bytecodes));
        let base = match self.metric {
            Metric::Calls | Metric::Allocations => calls.base,
            Metric::Bytecodes | Metric::Cost(_) | Metric::Column(_) => change(|counts| counts.bytecodes).base,
        };
        let is_large = |changes: &[Change]| {
            self.options.least.is_none_or(|least| changes.iter().any(|c| least.is_reached_by(c.size(), base)))
        };

        // Methods are summed up over all their call sites.
        let methods: Vec<u32> = self.labels.iter().map(|&name| self.methods[name as usize]).collect();
        let of = |tree, side| sums(&[(tree, &methods)], self.names.len(), self.metric).map_err(merge(side));
        let (in_a, in_b) = (of(a, Side::A)?, of(b, Side::B)?);
        let mut methods = self.methods(&in_a, &in_b);
        let changed_methods = methods.len();
        methods.retain(|method| is_large(&[method.own, method.inclusive]));
        methods.sort_by(|x, y| self.cmp(x, y).reverse().then(x.name.cmp(&y.name)));

        let mut contexts = Change::default();
        let mut changed = 0;
        let mut largest = Largest::new(self.options.limit);
        walk(a, b, |context| {
            let (in_a, in_b) = self.counts(a, b, context);
            contexts.base += u128::from(in_a != Counts::default());
            contexts.new += u128::from(in_b != Counts::default());
            if in_a == in_b {
                return;
            }
            changed += 1;
            let own = self.change(in_a, in_b);
            if is_large(&[own]) {
                let calls = Change { base: in_a.calls.into(), new: in_b.calls.into() };
                largest.add(ContextKey { order: self.options.order, own, calls }, context);
            }
        });
        let found = largest.into_sorted();
        let mut difference = Difference {
            remarks: Vec::new(),
            shares: None,
            mismatches: Vec::new(),
            noise_percent: 0,
            metric: self.metric,
            by: self.options.by,
            contexts,
            calls,
            bytecodes,
            changed_contexts: changed,
            unlisted_contexts: changed - found.len() as u64,
            largest_contexts: self.contexts(a, b, &found),
            methods,
            changed_methods,
            names: Vec::new(),
        };
        self.name(&mut difference);
        Ok(difference)
    }

    fn counts(&self, a: &Tree, b: &Tree, context: Match) -> (Counts, Counts) {
        let of = |tree: &Tree, node: u32| {
            let node = &tree.nodes()[node as usize];
            Counts { calls: node.calls, bytecodes: if self.bytecodes { node.bytecodes } else { 0 } }
        };
        match context {
            Match::A(x) => (of(a, x), Counts::default()),
            Match::B(y) => (Counts::default(), of(b, y)),
            Match::Both(x, y) => (of(a, x), of(b, y)),
        }
    }

    fn change(&self, a: Counts, b: Counts) -> Change {
        Change { base: self.metric.of(a).into(), new: self.metric.of(b).into() }
    }

    fn methods(&self, a: &[Sums], b: &[Sums]) -> Vec<ChangedMethod> {
        let rows = (0..).zip(a.iter().zip(b)).zip(&self.is_thread);
        let changed = rows.filter(|((_, (a, b)), is_thread)| a != b && !**is_thread);
        let change = |base, new| Change { base, new };
        let method = |((name, (a, b)), _): ((u32, (&Sums, &Sums)), &bool)| ChangedMethod {
            name,
            calls: change(a.calls, b.calls),
            own: change(a.own, b.own),
            inclusive: change(a.inclusive, b.inclusive),
        };
        changed.map(method).collect()
    }

    fn cmp(&self, x: &ChangedMethod, y: &ChangedMethod) -> Ordering {
        let key = |m: &ChangedMethod| match self.options.order {
            DiffOrder::Own | DiffOrder::Relative => (m.own.size(), m.inclusive.size(), m.calls.size()),
            DiffOrder::Inclusive => (m.inclusive.size(), m.own.size(), m.calls.size()),
            DiffOrder::Calls => (m.calls.size(), m.own.size(), m.inclusive.size()),
        };
        let relative = match self.options.order {
            DiffOrder::Relative => x.own.cmp_relative(y.own),
            _ => Ordering::Equal,
        };
        relative.then_with(|| key(x).cmp(&key(y)))
    }

    /// The listed contexts, with their paths as labels.
    fn contexts(&self, a: &Tree, b: &Tree, found: &[Match]) -> Vec<ChangedContext> {
        let mut in_a = Vec::new();
        let mut in_b = Vec::new();
        let mut listed = Vec::with_capacity(found.len());
        for (position, &context) in found.iter().enumerate() {
            match context {
                Match::A(node) | Match::Both(node, _) => in_a.push((node, position)),
                Match::B(node) => in_b.push((node, position)),
            }
            let (counts_a, counts_b) = self.counts(a, b, context);
            let calls = Change { base: counts_a.calls.into(), new: counts_b.calls.into() };
            listed.push(ChangedContext { path: Vec::new(), calls, own: self.change(counts_a, counts_b) });
        }
        for (tree, mut nodes) in [(a, in_a), (b, in_b)] {
            // One walk finds all paths of a tree; it needs its nodes in order.
            nodes.sort_unstable();
            let paths = paths(tree, &nodes.iter().map(|&(node, _)| node).collect::<Vec<u32>>());
            for ((_, position), path) in nodes.into_iter().zip(paths) {
                listed[position].path = path.into_iter().map(|label| self.labels[label as usize]).collect();
            }
        }
        listed
    }

    /// Keeps only the names that are needed, and renumbers them.
    fn name(&self, difference: &mut Difference) {
        let methods = difference.methods.iter_mut().map(|method| &mut method.name);
        let paths = difference.largest_contexts.iter_mut().flat_map(|context| &mut context.path);
        let mut used: Vec<&mut u32> = methods.chain(paths).collect();
        let needed: Vec<u32> =
            used.iter().map(|name| **name).collect::<BTreeSet<u32>>().into_iter().collect();
        for name in &mut used {
            **name = needed.partition_point(|&other| other < **name) as u32;
        }
        difference.names = needed.into_iter().map(|name| self.names[name as usize].clone()).collect();
    }
}

/// The sort key of contexts.
#[derive(Clone, Copy, Debug)]
struct ContextKey {
    order: DiffOrder,
    own: Change,
    calls: Change,
}

impl Ord for ContextKey {
    fn cmp(&self, other: &Self) -> Ordering {
        let own = (self.own.size(), self.calls.size());
        let of_other = (other.own.size(), other.calls.size());
        match self.order {
            DiffOrder::Own | DiffOrder::Inclusive => own.cmp(&of_other),
            DiffOrder::Calls => (own.1, own.0).cmp(&(of_other.1, of_other.0)),
            DiffOrder::Relative => self.own.cmp_relative(other.own).then(own.cmp(&of_other)),
        }
    }
}

impl PartialOrd for ContextKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ContextKey {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for ContextKey {}

/// The sums over all contexts, which must fit: a tree with a larger sum could not be united with
/// any other.
fn total(tree: &Tree) -> Result<Counts, MergeError> {
    tree.nodes()[1..].iter().try_fold(Counts::default(), |total, node| {
        Ok(Counts {
            calls: total.calls.checked_add(node.calls).ok_or(MergeError::Overflow)?,
            bytecodes: total.bytecodes.checked_add(node.bytecodes).ok_or(MergeError::Overflow)?,
        })
    })
}
