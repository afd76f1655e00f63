//! Merging of profiles.

use crate::meta_keys::{ALLOCATIONS, CALL_SITES, COLUMNS, COST_MODEL, MERGED};
use crate::tree_sum::{joined, sum};
use crate::united_methods::{Bodies, united_methods};
use crate::{Damage, MergeError, Profile, ThreadTree, Tree};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[cfg(test)]
mod tests;

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
pub(crate) const DECISIVE: [&str; 4] = ["blocks", COST_MODEL, "intrinsics", "metrics"];

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
    let sites =
        Sites::of(profiles.iter().filter_map(|profile| distinguishes_call_sites(profile, &profile.meta)));
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
pub(crate) fn summed(
    profiles: &[&Profile],
    options: MergeOptions,
    sites: Sites,
) -> Result<Profile, MergeError> {
    let (methods, labels) = united_methods(profiles, options.bodies, sites == Sites::Mixed);
    let mut threads = Vec::new();
    for group in groups(profiles, options.threads) {
        threads.push(group.merged(&labels)?);
    }
    Ok(Profile { methods, threads, ..Profile::default() })
}

/// Note of a sum in which only some profiles have call sites.
const MIXED: &str =
    "only some of the profiles keep call sites separate: contexts that differ only by them are added up";

/// Whether the profiles of a sum distinguish call sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sites {
    /// None does.
    None,
    /// All do.
    Separate,
    /// Some do, so their sites must go: counts of the others cannot be split afterwards.
    Mixed,
}

impl Sites {
    pub(crate) fn of(separate: impl Iterator<Item = bool>) -> Sites {
        let separate: BTreeSet<bool> = separate.collect();
        match (separate.contains(&true), separate.contains(&false)) {
            (false, _) => Sites::None,
            (true, false) => Sites::Separate,
            (true, true) => Sites::Mixed,
        }
    }

    /// Sets the sum's metadata accordingly. Those of a profile may have been lost.
    pub(crate) fn into_meta(self, meta: &mut BTreeMap<String, String>) {
        meta.remove(CALL_SITES);
        if self == Sites::Separate {
            meta.insert(CALL_SITES.to_owned(), "yes".to_owned());
        }
    }
}

/// Whether a profile with these metadata distinguishes call sites. `None` if that is undetermined:
/// it has no methods.
pub(crate) fn distinguishes_call_sites(profile: &Profile, meta: &BTreeMap<String, String>) -> Option<bool> {
    let says = meta.get(CALL_SITES).is_some_and(|value| value == "yes") || profile.has_call_sites();
    (says || !profile.methods.is_empty()).then_some(says)
}

/// Whether a profile with these metadata counts objects. `None` if that is undetermined.
pub(crate) fn counts_objects(profile: &Profile, meta: &BTreeMap<String, String>) -> Option<bool> {
    let counts = meta.get(ALLOCATIONS).is_some_and(|value| value == "yes") || profile.counts_objects();
    (counts || !profile.methods.is_empty()).then_some(counts)
}

/// The columns of a profile with these metadata. `None` if they are undetermined.
pub(crate) fn columns_counted(profile: &Profile, meta: &BTreeMap<String, String>) -> Option<String> {
    let columns = meta.get(COLUMNS).map_or("", |columns| columns);
    (!columns.is_empty() || !profile.methods.is_empty()).then(|| columns.to_owned())
}

/// The error for profiles with different columns.
pub(crate) fn different_columns(first: String, second: String) -> MergeError {
    let named = |columns: String| if columns.is_empty() { "none".to_owned() } else { columns };
    MergeError::Incompatible { key: COLUMNS, first: named(first), second: named(second) }
}

pub(crate) fn merged_meta<'a>(
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
