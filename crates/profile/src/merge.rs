//! Merging of trees and profiles.
//!
//! All merging is one walk ([`joined`]): it visits several trees in parallel and unites the
//! children that have the same label. Labels are indices into a table of the caller: methods for
//! profiles, frames for reports.

use crate::allocations::ALLOCATIONS;
use crate::columns::COLUMNS;
use crate::metric::COST_MODEL;
use crate::sites::CALL_SITES;
use crate::{Damage, Method, Profile, Site, ThreadTree, Tree, TreeBuilder, TreeTooLarge};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

mod merger;
#[cfg(test)]
mod tests;

pub use merger::{MERGED, Merger, RUNS};

/// Why trees or profiles cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// A sum above 2^64 - 1.
    #[error("a count exceeds 64 bits when the trees are added up")]
    Overflow,
    /// More contexts than can be numbered.
    #[error(transparent)]
    TooLarge(#[from] TreeTooLarge),
    /// A node of a method that is not in the profile. Profiles that were read have none.
    #[error("a tree has a context of method {method}, but there are only {count} methods")]
    NoSuchMethod {
        /// Index of the method.
        method: u32,
        /// Number of methods.
        count: usize,
    },
    /// Profiles that count different things.
    #[error(
        "the profiles were made with different '{key}' ({first} and {second}): their numbers cannot be added up"
    )]
    Incompatible {
        /// The `META` key.
        key: &'static str,
        /// The key's value in one profile.
        first: String,
        /// The key's value in another.
        second: String,
    },
}

/// Which trees of the merged profiles are added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// None: every tree stays separate.
    Apart,
    /// Trees of threads with the same name.
    #[default]
    ByName,
    /// All, into one tree.
    All,
}

/// Treatment of methods with the same class, name and descriptor, but different MIDs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bodies {
    /// They stay different methods.
    #[default]
    Apart,
    /// They become one, for a class that was recompiled between the runs. Its MID is 0 if they
    /// differ.
    Together,
}

/// Options of a merge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeOptions {
    /// Which trees are added up.
    pub threads: Threads,
    /// Treatment of several bodies of one name.
    pub bodies: Bodies,
}

/// Name of the tree that [`Threads::All`] creates.
pub const ALL_THREADS: &str = "(all threads)";

/// `META` keys that must agree for numbers to have a common meaning.
const DECISIVE: [&str; 4] = ["blocks", COST_MODEL, "intrinsics", "metrics"];

/// Merges profiles: methods by their names (and MIDs, see [`Bodies`]), contexts by their paths,
/// counts by addition. The result is in canonical order, also for a single profile. Metadata that
/// differ are joined with `" | "` (provenance: by lines; `exact` is `no` if it is `no` for any).
/// The notes of all are kept, and damage becomes a note too. If only some of the profiles
/// distinguish call sites, the sum does not, and a note says so.
///
/// # Errors
/// Fails if counts overflow, or if the profiles count different things.
pub fn merge(profiles: &[&Profile], options: MergeOptions) -> Result<Profile, MergeError> {
    let objects = profiles.iter().filter_map(|profile| counts_objects(profile, &profile.meta));
    let objects: BTreeSet<bool> = objects.collect();
    if objects.len() > 1 {
        return Err(MergeError::Incompatible {
            key: ALLOCATIONS,
            first: "no".to_owned(),
            second: "yes".to_owned(),
        });
    }
    let columns = profiles.iter().filter_map(|profile| columns_counted(profile, &profile.meta));
    let columns: BTreeSet<String> = columns.collect();
    if let [first, second, ..] = &*columns.into_iter().collect::<Vec<_>>() {
        return Err(different_columns(first.clone(), second.clone()));
    }
    let sites = Sites::of(profiles.iter().filter_map(|profile| tells(profile, &profile.meta)));
    let mut merged = summed(profiles, options, sites)?;
    merged.meta = merged_meta(profiles.iter().map(|p| &p.meta))?;
    sites.into_meta(&mut merged.meta);
    let damage = profiles.iter().flat_map(|p| &p.damage).map(Damage::to_string);
    let notes = profiles.iter().flat_map(|p| p.notes.iter().cloned());
    let mixed = (sites == Sites::Mixed).then(|| MIXED.to_owned());
    let notes: BTreeSet<String> = notes.chain(damage).chain(mixed).collect();
    merged.notes = notes.into_iter().collect();
    Ok(merged)
}

/// Methods and trees of the sum, in canonical order.
fn summed(profiles: &[&Profile], options: MergeOptions, sites: Sites) -> Result<Profile, MergeError> {
    let (methods, labels) = merged_methods(profiles, options.bodies, sites == Sites::Mixed);
    let mut threads = Vec::new();
    for group in groups(profiles, options.threads) {
        threads.push(group.merged(&labels)?);
    }
    Ok(Profile { methods, threads, ..Profile::default() })
}

/// Note of a sum in which only some profiles have call sites.
const MIXED: &str =
    "call sites are told apart in some of the profiles only: contexts that differ by them are added up";

/// Whether the profiles of a sum distinguish call sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sites {
    /// None does.
    None,
    /// All do.
    Told,
    /// Some do, so their sites must go: counts of the others cannot be split afterwards.
    Mixed,
}

impl Sites {
    fn of(told: impl Iterator<Item = bool>) -> Sites {
        let told: BTreeSet<bool> = told.collect();
        match (told.contains(&true), told.contains(&false)) {
            (false, _) => Sites::None,
            (true, false) => Sites::Told,
            (true, true) => Sites::Mixed,
        }
    }

    /// Sets the sum's metadata accordingly. Those of a profile may have been lost.
    fn into_meta(self, meta: &mut BTreeMap<String, String>) {
        meta.remove(CALL_SITES);
        if self == Sites::Told {
            meta.insert(CALL_SITES.to_owned(), "yes".to_owned());
        }
    }
}

/// Whether a profile with these metadata distinguishes call sites. `None` if that is undetermined:
/// it has no methods.
fn tells(profile: &Profile, meta: &BTreeMap<String, String>) -> Option<bool> {
    let says = meta.get(CALL_SITES).is_some_and(|value| value == "yes") || profile.has_call_sites();
    (says || !profile.methods.is_empty()).then_some(says)
}

/// Whether a profile with these metadata counts objects. `None` if that is undetermined.
fn counts_objects(profile: &Profile, meta: &BTreeMap<String, String>) -> Option<bool> {
    let counts = meta.get(ALLOCATIONS).is_some_and(|value| value == "yes") || profile.counts_objects();
    (counts || !profile.methods.is_empty()).then_some(counts)
}

/// The columns of a profile with these metadata. `None` if they are undetermined.
fn columns_counted(profile: &Profile, meta: &BTreeMap<String, String>) -> Option<String> {
    let columns = meta.get(COLUMNS).map_or("", |columns| columns);
    (!columns.is_empty() || !profile.methods.is_empty()).then(|| columns.to_owned())
}

/// The error for profiles with different columns.
fn different_columns(first: String, second: String) -> MergeError {
    let named = |columns: String| if columns.is_empty() { "none".to_owned() } else { columns };
    MergeError::Incompatible { key: COLUMNS, first: named(first), second: named(second) }
}

fn merged_meta<'a>(
    metas: impl Iterator<Item = &'a BTreeMap<String, String>>,
) -> Result<BTreeMap<String, String>, MergeError> {
    let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (key, value) in metas.flatten() {
        values.entry(key).or_default().extend(value.split(separator(key)));
    }
    for key in DECISIVE {
        let mut different = values.get(key).into_iter().flatten().map(|value| (*value).to_owned());
        if let (Some(first), Some(second)) = (different.next(), different.next()) {
            return Err(MergeError::Incompatible { key, first, second });
        }
    }
    let joined = |key: &str, values: BTreeSet<&str>| match key {
        // The sum is exact if all parts are.
        "exact" if values.contains("no") => "no".to_owned(),
        _ => values.into_iter().collect::<Vec<_>>().join(separator(key)),
    };
    Ok(values.into_iter().map(|(key, values)| (key.to_owned(), joined(key, values))).collect())
}

/// The separator between different values of a key.
fn separator(key: &str) -> &'static str {
    if matches!(key, "provenance" | MERGED) { "\n" } else { " | " }
}

/// The united methods, and for each profile the new index of each of its methods. With `drop_sites`
/// the methods of all call sites are united.
pub(crate) fn merged_methods(
    profiles: &[&Profile],
    bodies: Bodies,
    drop_sites: bool,
) -> (Vec<Method>, Vec<Vec<u32>>) {
    // A method that native code calls has no site in a profile; the tree shows that it is below
    // native code.
    let site = |method: &Method| method.site.filter(|&site| !drop_sites && site != Site::NATIVE);
    let key = |method: &Method| {
        let mid = if bodies == Bodies::Together { 0 } else { method.mid };
        let site = site(method);
        (method.class.clone(), method.name.clone(), method.descriptor.clone(), site, mid)
    };
    let mut all: Vec<(usize, usize)> = Vec::new();
    for (p, profile) in profiles.iter().enumerate() {
        all.extend((0..profile.methods.len()).map(|m| (p, m)));
    }
    all.sort_by_cached_key(|&(p, m)| key(&profiles[p].methods[m]));
    let mut labels: Vec<Vec<u32>> = profiles.iter().map(|p| vec![0; p.methods.len()]).collect();
    let mut methods = Vec::new();
    for same in all.chunk_by(|&(p, m), &(q, n)| key(&profiles[p].methods[m]) == key(&profiles[q].methods[n]))
    {
        let Some((&(p, m), others)) = same.split_first() else { continue };
        let mut method = profiles[p].methods[m].clone();
        method.site = site(&method);
        for other in others.iter().map(|&(p, m)| &profiles[p].methods[m]) {
            method.flags |= other.flags;
            if method.mid != other.mid {
                method.mid = 0;
            }
        }
        for &(p, m) in same {
            labels[p][m] = methods.len() as u32;
        }
        methods.push(method);
    }
    (methods, labels)
}

/// Trees to be added up, each with the index of its profile.
struct Group<'a> {
    name: Arc<str>,
    members: Vec<(usize, &'a ThreadTree)>,
}

fn groups<'a>(profiles: &[&'a Profile], threads: Threads) -> Vec<Group<'a>> {
    let all =
        profiles.iter().enumerate().flat_map(|(p, profile)| profile.threads.iter().map(move |t| (p, t)));
    let mut all: Vec<(usize, &ThreadTree)> = all.collect();
    if all.is_empty() {
        return Vec::new();
    }
    // Stable: trees of the same name stay in the order of the profiles.
    all.sort_by(|a, b| a.1.name.cmp(&b.1.name));
    let group = |members: &[(usize, &'a ThreadTree)]| Group {
        name: members[0].1.name.clone(),
        members: members.to_vec(),
    };
    match threads {
        Threads::Apart => all.chunks(1).map(group).collect(),
        Threads::ByName => all.chunk_by(|a, b| a.1.name == b.1.name).map(group).collect(),
        Threads::All => vec![Group { name: ALL_THREADS.into(), members: all }],
    }
}

impl Group<'_> {
    fn merged(&self, labels: &[Vec<u32>]) -> Result<ThreadTree, MergeError> {
        let trees: Vec<(&Tree, &[u32])> = self.members.iter().map(|&(p, t)| (&t.tree, &*labels[p])).collect();
        // "Ended" and "daemon" hold for the whole if they hold for all.
        let flags = self.members.iter().fold(u64::MAX, |flags, (_, t)| flags & t.flags);
        let threads = sum(self.members.iter().map(|(_, t)| t.threads))?;
        Ok(ThreadTree { name: self.name.clone(), threads, flags, tree: joined(&trees)? })
    }
}

fn sum(mut counts: impl Iterator<Item = u64>) -> Result<u64, MergeError> {
    counts.try_fold(0u64, u64::checked_add).ok_or(MergeError::Overflow)
}

/// The sum of trees, each with the table that maps its methods to labels. In the result
/// [`crate::Node::method`] is the label, children are sorted by it, and no two siblings have the
/// same.
///
/// # Errors
/// Fails if counts overflow, or if a table is too short.
pub fn joined(trees: &[(&Tree, &[u32])]) -> Result<Tree, MergeError> {
    let roots = || trees.iter().map(|(tree, _)| tree.nodes()[0]);
    let (calls, bytecodes) = (sum(roots().map(|r| r.calls))?, sum(roots().map(|r| r.bytecodes))?);
    let mut builder = TreeBuilder::with_root(calls, bytecodes).with_columns(columns_of(trees));
    join(trees, &mut builder)?;
    Ok(builder.finish())
}

/// Number of columns in the sum of trees. Trees of one profile, and of profiles that are merged,
/// have the same.
pub(crate) fn columns_of(trees: &[(&Tree, &[u32])]) -> usize {
    trees.iter().map(|(tree, _)| tree.columns()).max().unwrap_or(0)
}

/// A node that waits to be united with others of its label and its parent's path.
#[derive(Clone, Copy)]
struct Waiting {
    label: u32,
    tree: u32,
    node: u32,
}

/// Adds the contexts of all `trees`, united by label, below the node that `builder` is in.
pub(crate) fn join(trees: &[(&Tree, &[u32])], builder: &mut TreeBuilder) -> Result<(), MergeError> {
    // The waiting nodes of all levels of the walk, one level after the other. Each level is sorted
    // in descending order, so that the next label is at the end.
    let mut waiting: Vec<Waiting> = Vec::new();
    let mut levels: Vec<usize> = vec![0];
    let mut united: Vec<Waiting> = Vec::new();
    for tree in 0..trees.len() as u32 {
        wait_for_children(trees, tree, 0, &mut waiting)?;
    }
    sort_level(&mut waiting);
    while let Some(&start) = levels.last() {
        let Some(&Waiting { label, .. }) = waiting[start..].last() else {
            levels.pop();
            builder.leave();
            continue;
        };
        let first =
            waiting[start..].iter().rposition(|w| w.label != label).map_or(start, |other| start + other + 1);
        united.clear();
        united.extend(waiting.drain(first..));
        let nodes = || united.iter().map(|w| trees[w.tree as usize].0.nodes()[w.node as usize]);
        builder.enter(label, sum(nodes().map(|n| n.calls))?, sum(nodes().map(|n| n.bytecodes))?)?;
        for w in &united {
            let values = trees[w.tree as usize].0.values(w.node);
            for (sum, &value) in builder.numbers().iter_mut().zip(values) {
                *sum = sum.checked_add(value).ok_or(MergeError::Overflow)?;
            }
        }
        levels.push(first);
        for w in &united {
            wait_for_children(trees, w.tree, w.node, &mut waiting)?;
        }
        sort_level(&mut waiting[first..]);
    }
    Ok(())
}

fn sort_level(level: &mut [Waiting]) {
    level.sort_unstable_by_key(|w| std::cmp::Reverse((w.label, w.tree, w.node)));
}

fn wait_for_children(
    trees: &[(&Tree, &[u32])],
    index: u32,
    node: u32,
    waiting: &mut Vec<Waiting>,
) -> Result<(), MergeError> {
    let (tree, labels) = trees[index as usize];
    for child in tree.children(node) {
        let method = tree.nodes()[child as usize].method;
        let label = labels.get(method as usize).copied();
        let label = label.ok_or(MergeError::NoSuchMethod { method, count: labels.len() })?;
        waiting.push(Waiting { label, tree: index, node: child });
    }
    Ok(())
}
