//! The contexts that are viewed: one tree, or two over the same contexts.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use anyhow::Result;
use cct_profile::diff::{Change, UnitedTrees};
use cct_profile::labels::{By, Labels};
use cct_profile::names::NameStyle;
use cct_profile::origin::Origins;
use cct_profile::prefix_sums::prefix_sums;
use cct_profile::report::{Order, Table, percent};
use cct_profile::{Metric, Node, Profile, Tree};

use crate::view_command::numbers::{Numbers, Sort};

/// Contexts and their numbers. A context is the position of its node; 0 is the root.
pub struct Contexts {
    pub metric: Metric,
    new: TreeSums,
    /// The counts before, in a difference.
    base: Option<TreeSums>,
    names: Vec<LabelName>,
    /// The method of each label.
    methods: Vec<u32>,
    method_names: Vec<String>,
}

/// A tree with its inclusive sums.
struct TreeSums {
    tree: Tree,
    before: Vec<u64>,
}

/// The names of a label.
struct LabelName {
    exact: String,
    readable: String,
}

impl TreeSums {
    fn of(tree: Tree, metric: Metric) -> Result<TreeSums> {
        Ok(TreeSums { before: prefix_sums(&tree, metric)?, tree })
    }

    fn inclusive(&self, node: u32) -> u128 {
        let range = self.tree.subtree(node);
        u128::from(self.before[range.end as usize] - self.before[range.start as usize])
    }

    fn node(&self, node: u32) -> &Node {
        &self.tree.nodes()[node as usize]
    }
}

impl Contexts {
    /// The sum over the threads of a profile.
    pub fn of_profile(profile: &Profile, metric: Metric, folds: bool) -> Result<Contexts> {
        let labels =
            Labels::of_contexts(&profile.methods, By::Method, NameStyle::Normalised, &Origins::default());
        let tree = labels.tree(&profile.threads, folds)?;
        let readable = labels.readable().into_iter();
        let names =
            (0..).zip(readable).map(|(label, readable)| LabelName { exact: labels.exact(label), readable });
        Ok(Contexts {
            metric,
            new: TreeSums::of(tree, metric)?,
            base: None,
            names: names.collect(),
            methods: labels.methods().0,
            method_names: labels.readable_methods(),
        })
    }

    /// The change from one side of a difference to the other.
    pub fn of_difference(trees: UnitedTrees) -> Result<Contexts> {
        let UnitedTrees { base, new, metric, names, methods, .. } = trees;
        let method_names = names.iter().map(|name| name.readable.clone()).collect();
        let names = names.into_iter().map(|name| LabelName { exact: name.exact, readable: name.readable });
        Ok(Contexts {
            metric,
            new: TreeSums::of(new, metric)?,
            base: Some(TreeSums::of(base, metric)?),
            names: names.collect(),
            methods,
            method_names,
        })
    }

    /// Whether numbers are changes.
    pub fn are_of_difference(&self) -> bool {
        self.base.is_some()
    }

    /// The tree with the counts of the profile, or of the new side.
    pub fn tree(&self) -> &Tree {
        &self.new.tree
    }

    /// The method of each label of the tree.
    pub fn methods(&self) -> &[u32] {
        &self.methods
    }

    /// The label of a context.
    pub fn label(&self, node: u32) -> u32 {
        self.new.node(node).method
    }

    /// The method of a context.
    pub fn method(&self, node: u32) -> Option<u32> {
        self.methods.get(self.label(node) as usize).copied()
    }

    /// The name of a context for people.
    pub fn name(&self, node: u32) -> &str {
        self.names.get(self.label(node) as usize).map_or("?", |name| &name.readable)
    }

    /// The names of all labels for people.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &*name.readable)
    }

    /// The exact names of all labels.
    pub fn exact_names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &*name.exact)
    }

    /// The exact name of a context.
    pub fn exact_name(&self, node: u32) -> &str {
        self.names.get(self.label(node) as usize).map_or("", |name| &name.exact)
    }

    /// The name of a method for people.
    pub fn method_name(&self, method: u32) -> &str {
        self.method_names.get(method as usize).map_or("?", |name| name)
    }

    /// The method of this name.
    pub fn method_named(&self, name: &str) -> Option<u32> {
        let at = self.method_names.iter().rposition(|other| other == name)?;
        u32::try_from(at).ok()
    }

    /// The numbers of a context.
    pub fn numbers(&self, node: u32) -> Numbers {
        let of = |count: &dyn Fn(&TreeSums) -> u128| Change {
            base: self.base.as_ref().map_or(0, count),
            new: count(&self.new),
        };
        Numbers {
            inclusive: of(&|side| side.inclusive(node)),
            own: of(&|side| self.metric.of_node(side.node(node)).into()),
            calls: of(&|side| side.node(node).calls.into()),
        }
    }

    /// The metric's total.
    pub fn total(&self) -> Change {
        self.numbers(0).inclusive
    }

    /// A number's share of the total; the share of a change is in the total of the base.
    pub fn share(&self, change: Change) -> f64 {
        let total = self.total();
        percent(change.size(), if self.are_of_difference() { total.base } else { total.new })
    }

    /// The callees of a context, sorted.
    pub fn children(&self, node: u32, sort: Sort) -> Vec<u32> {
        let mut children: Vec<u32> = self.tree().children(node).collect();
        if sort != Sort::Name {
            // Siblings are stored by name.
            children.sort_by_cached_key(|&child| Reverse(sort.size(self.numbers(child))));
        }
        children
    }

    /// The sums of all methods with counts.
    pub fn sums_of_methods(&self) -> Result<BTreeMap<u32, Numbers>> {
        let labels = self.method_names.len();
        let table = |side: &TreeSums| {
            let trees = [(&side.tree, &*self.methods)];
            match self.metric {
                Metric::Allocations => Table::of_objects(&trees, labels, Order::Own),
                metric => Table::of(&trees, labels, metric, Order::Own),
            }
        };
        let mut found: BTreeMap<u32, Numbers> = BTreeMap::new();
        for row in table(&self.new)?.rows {
            let change = |new| Change { base: 0, new };
            let numbers = Numbers {
                inclusive: change(row.sums.inclusive),
                own: change(row.sums.own),
                calls: change(row.sums.calls),
            };
            found.insert(row.label, numbers);
        }
        let Some(base) = &self.base else { return Ok(found) };
        for row in table(base)?.rows {
            let numbers = found.entry(row.label).or_default();
            numbers.inclusive.base = row.sums.inclusive;
            numbers.own.base = row.sums.own;
            numbers.calls.base = row.sums.calls;
        }
        Ok(found)
    }
}
