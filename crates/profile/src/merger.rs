//! Merging of many profiles, one after the other, with an account of the properties of each.

use crate::merge::{
    DECISIVE, MergeOptions, Sites, columns_counted, counts_objects, different_columns,
    distinguishes_call_sites, merged_meta, summed,
};
use crate::meta_keys::{ALLOCATIONS, LIBRARY, MERGED, RUNS, SELECTION};
use crate::{MergeError, Profile};
use std::collections::{BTreeMap, BTreeSet};

/// Keys whose values, unless they are `yes`, are reported together with the profiles that have
/// them.
const REPORTED_KEYS: [&str; 5] = ["exact", LIBRARY, "limits", "reproducible", SELECTION];

/// The note about profiles that distinguish call sites where others do not.
const SITES_LOST: &str =
    "call sites are kept separate, but not in other profiles: contexts that differ only by them are added up";

/// Number of contexts that wait before they are added to the sum. Otherwise each small profile
/// would cost a walk over all of it.
const BATCH: usize = 1 << 20;

/// Maximum number of profiles that a note names.
const NAMED: usize = 3;

/// Adds up named profiles. Memory holds the sum and about as many contexts that wait to be added,
/// or the largest profile.
///
/// The order of the profiles matters only for trees that stay separate
/// ([`Apart`](crate::merge::Threads::Apart)) and have the same thread's name.
#[derive(Debug)]
pub struct Merger {
    options: MergeOptions,
    heads: Vec<Head>,
    sum: Option<Profile>,
    waiting: Vec<Profile>,
    waiting_contexts: usize,
}

/// Properties of a profile besides its trees.
#[derive(Debug)]
struct Head {
    name: String,
    meta: BTreeMap<String, String>,
    notes: Vec<String>,
    damage: Vec<String>,
    /// Whether it counts objects; see [`counts_objects`].
    counts_objects: Option<bool>,
    /// The profile's columns; see [`columns_counted`].
    columns: Option<String>,
    /// Whether it distinguishes call sites; see [`distinguishes_call_sites`].
    has_call_sites: Option<bool>,
}

impl Merger {
    /// Creates an empty sum.
    pub fn new(options: MergeOptions) -> Merger {
        Merger { options, heads: Vec::new(), sum: None, waiting: Vec::new(), waiting_contexts: 0 }
    }

    /// Adds a profile.
    ///
    /// # Errors
    /// Fails if counts overflow, or if this profile counts other things than those before it.
    pub fn add(&mut self, name: &str, mut profile: Profile) -> Result<(), MergeError> {
        let meta = std::mem::take(&mut profile.meta);
        let head = Head {
            name: name.to_owned(),
            counts_objects: counts_objects(&profile, &meta),
            columns: columns_counted(&profile, &meta),
            has_call_sites: distinguishes_call_sites(&profile, &meta),
            meta,
            notes: std::mem::take(&mut profile.notes),
            damage: profile.damage.drain(..).map(|damage| damage.to_string()).collect(),
        };
        self.check(&head)?;
        self.heads.push(head);
        self.waiting_contexts += profile.contexts();
        self.waiting.push(profile);
        let is_sum_of_several = self.sum.is_some() || self.waiting.len() > 1;
        let sum_contexts = self.sum.as_ref().map_or(0, Profile::contexts);
        if is_sum_of_several && self.waiting_contexts >= BATCH.max(sum_contexts) {
            self.add_waiting()?;
        }
        Ok(())
    }

    /// Fails if the numbers of a profile have a different meaning from those of the profiles before
    /// it.
    fn check(&self, new: &Head) -> Result<(), MergeError> {
        for key in DECISIVE {
            let Some(value) = new.meta.get(key) else { continue };
            let other = self.heads.iter().find(|head| head.meta.get(key).is_some_and(|other| other != value));
            if let Some(other) = other {
                let (first, second) = (&other.meta[key], value);
                return Err(MergeError::Incompatible {
                    key,
                    first: format!("{first} in {}", other.name),
                    second: format!("{second} in {}", new.name),
                });
            }
        }
        if let Some(counts) = new.counts_objects
            && let Some(other) =
                self.heads.iter().find(|head| head.counts_objects.is_some_and(|other| other != counts))
        {
            let [first, second] = if counts { ["no", "yes"] } else { ["yes", "no"] };
            return Err(MergeError::Incompatible {
                key: ALLOCATIONS,
                first: format!("{first} in {}", other.name),
                second: format!("{second} in {}", new.name),
            });
        }
        if let Some(columns) = &new.columns
            && let Some(other) =
                self.heads.iter().find(|head| head.columns.as_ref().is_some_and(|other| other != columns))
        {
            let named = |columns: &str, name: &str| match columns {
                "" => format!("none in {name}"),
                columns => format!("{columns} in {name}"),
            };
            let first = named(other.columns.as_deref().unwrap_or_default(), &other.name);
            return Err(different_columns(first, named(columns, &new.name)));
        }
        Ok(())
    }

    /// Whether the profiles so far distinguish call sites. A mixed sum stays mixed.
    fn sites(&self) -> Sites {
        Sites::of(self.heads.iter().filter_map(|head| head.has_call_sites))
    }

    fn add_waiting(&mut self) -> Result<(), MergeError> {
        let all: Vec<&Profile> = self.sum.iter().chain(&self.waiting).collect();
        let sum = summed(&all, self.options, self.sites())?;
        self.sum = Some(sum);
        self.waiting.clear();
        self.waiting_contexts = 0;
        Ok(())
    }

    /// The sum, in canonical order. Metadata that differ are joined with `" | "` (provenance: by
    /// lines; `exact` is `no` if it is `no` for any). A note that does not hold for all profiles
    /// says for which it holds; damage becomes a note, too.
    ///
    /// # Errors
    /// Fails if counts overflow.
    pub fn finish(mut self) -> Result<Profile, MergeError> {
        if !self.waiting.is_empty() || self.sum.is_none() {
            self.add_waiting()?;
        }
        let meta = self.meta()?;
        let notes = self.notes();
        // `add_waiting` has created one.
        let sum = self.sum.unwrap_or_default();
        Ok(Profile { meta, notes, ..sum })
    }

    fn meta(&self) -> Result<BTreeMap<String, String>, MergeError> {
        let mut meta = merged_meta(self.heads.iter().map(|head| &head.meta))?;
        let before = meta.get(MERGED).map_or("", |names| names).to_owned();
        let names = self.heads.iter().filter(|head| !head.meta.contains_key(MERGED)).map(|head| &*head.name);
        let names: BTreeSet<&str> = before.lines().chain(names).collect();
        meta.insert(MERGED.to_owned(), names.into_iter().collect::<Vec<_>>().join("\n"));
        self.sites().into_meta(&mut meta);
        meta.insert(RUNS.to_owned(), self.heads.iter().map(Head::runs).sum::<u128>().to_string());
        Ok(meta)
    }

    fn notes(&self) -> Vec<String> {
        let mut said: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        let mut by_all: BTreeMap<&str, usize> = BTreeMap::new();
        for head in &self.heads {
            let notes: BTreeSet<&str> = head.notes.iter().map(|note| &**note).collect();
            for note in notes {
                *by_all.entry(note).or_default() += 1;
                said.entry(note.to_owned()).or_default().insert(&head.name);
            }
        }
        said.retain(|note, _| by_all.get(&**note) != Some(&self.heads.len()));
        for head in &self.heads {
            for damage in &head.damage {
                said.entry(damage.clone()).or_default().insert(&head.name);
            }
        }
        if self.sites() == Sites::Mixed {
            for head in self.heads.iter().filter(|head| head.has_call_sites == Some(true)) {
                said.entry(SITES_LOST.to_owned()).or_default().insert(&head.name);
            }
        }
        for key in REPORTED_KEYS {
            let values: BTreeSet<Option<&String>> =
                self.heads.iter().map(|head| head.meta.get(key)).collect();
            if values.len() < 2 {
                continue;
            }
            for head in &self.heads {
                let otherwise = match key {
                    SELECTION => "everything",
                    LIBRARY => "not collapsed",
                    _ => "not known",
                };
                let value = head.meta.get(key).map_or(otherwise, |value| value);
                if value == "yes" {
                    continue;
                }
                said.entry(format!("{key} is {value}")).or_default().insert(&head.name);
            }
        }
        let of_all = by_all.into_iter().filter(|&(_, count)| count == self.heads.len());
        let mut notes: Vec<String> = of_all.map(|(note, _)| note.to_owned()).collect();
        notes.extend(said.into_iter().map(|(note, names)| format!("{}: {note}", listed(&names))));
        notes.sort();
        notes
    }
}

impl Head {
    /// Number of runs that it is the sum of.
    fn runs(&self) -> u128 {
        self.meta.get(RUNS).and_then(|runs| runs.parse().ok()).unwrap_or(1)
    }
}

/// The first names, and the number of the others.
fn listed(names: &BTreeSet<&str>) -> String {
    let first: Vec<&str> = names.iter().copied().take(NAMED).collect();
    match names.len().saturating_sub(NAMED) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::{Threads, merge};
    use crate::testing::{deep, method, profile, random, thread, tree};
    use crate::united_methods::Bodies;
    use crate::{Damage, MissingPart};

    fn merged(profiles: &[(&str, &Profile)], options: MergeOptions) -> Profile {
        let mut merger = Merger::new(options);
        for &(name, profile) in profiles {
            merger.add(name, profile.clone()).expect("compatible");
        }
        merger.finish().expect("small")
    }

    #[test]
    fn the_order_does_not_matter() {
        arbtest::arbtest(|u| {
            let mut some = [random(u)?, random(u)?, random(u)?];
            for (p, exact) in some.iter_mut().zip(["yes", "no", "yes"]) {
                p.meta.insert("exact".to_owned(), exact.to_owned());
            }
            let [a, b, c] = &some;
            for bodies in [Bodies::Apart, Bodies::Together] {
                for threads in [Threads::ByName, Threads::All] {
                    let options = MergeOptions { threads, bodies };
                    let abc = merged(&[("a", a), ("b", b), ("c", c)], options);
                    assert_eq!(abc, merged(&[("c", c), ("a", a), ("b", b)], options));
                    let plain = merge(&[a, b, c], options).expect("small");
                    assert_eq!((&abc.methods, &abc.threads), (&plain.methods, &plain.threads));
                    abc.to_bytes().expect("canonical");
                    // A merged profile counts as the sum that it is.
                    let ab = merged(&[("a", a), ("b", b)], options);
                    let nested = merged(&[("ab", &ab), ("c", c)], options);
                    assert_eq!((&abc.methods, &abc.threads), (&nested.methods, &nested.threads));
                    assert_eq!(abc.meta, nested.meta);
                }
            }
            Ok(())
        });
    }

    #[test]
    fn totals_are_preserved() {
        let p = profile(vec![method("A", "f", "()V")], vec![thread("main", tree(&[(1, 0, 3, 10)]))]);
        let many: Vec<(String, Profile)> = (0..20).map(|i| (format!("{i:02}"), p.clone())).collect();
        let many: Vec<(&str, &Profile)> = many.iter().map(|(name, p)| (&**name, p)).collect();
        let sum = merged(&many, MergeOptions::default());
        assert_eq!((sum.threads[0].tree.nodes()[1].calls, sum.threads[0].threads), (60, 20));
        assert_eq!((&*sum.meta[RUNS], sum.meta[MERGED].lines().count()), ("20", 20));
        let none = Merger::new(MergeOptions::default()).finish().expect("empty");
        assert_eq!((none.threads.len(), &*none.meta[RUNS]), (0, "0"));
    }

    #[test]
    fn large_profiles_do_not_wait() {
        let large = deep(BATCH / 2 + 1);
        let mut merger = Merger::new(MergeOptions::default());
        let mut contexts = Vec::new();
        for name in ["a", "b", "c"] {
            merger.add(name, large.clone()).expect("small");
            contexts.push((merger.sum.as_ref().map_or(0, Profile::contexts), merger.waiting_contexts));
        }
        let one = BATCH / 2 + 1;
        assert_eq!(contexts, [(0, one), (one, 0), (one, one)]);
        assert_eq!(merger.finish().expect("small").threads[0].tree.nodes()[1].calls, 3);
    }

    #[test]
    fn a_value_that_not_all_have_names_its_profiles() {
        let with = |pairs: &[(&str, &str)], notes: &[&str]| {
            let mut p = profile(Vec::new(), Vec::new());
            p.meta = pairs.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
            p.notes = notes.iter().map(|&note| note.to_owned()).collect();
            p
        };
        let a = with(&[("exact", "yes"), ("java.version", "17"), ("provenance", "x\ny")], &["both"]);
        let mut b =
            with(&[("exact", "no"), ("java.version", "21"), ("provenance", "y\nz")], &["both", "only b"]);
        b.damage.push(Damage::Truncated { length: 7, missing: MissingPart::Names });
        let sum = merged(&[("a", &a), ("b", &b)], MergeOptions::default());
        let meta = |key: &str| &*sum.meta[key];
        assert_eq!((meta("exact"), meta("java.version")), ("no", "17 | 21"));
        assert_eq!((meta("provenance"), meta(MERGED)), ("x\ny\nz", "a\nb"));
        assert_eq!(
            sum.notes,
            [
                "b: exact is no",
                "b: only b",
                "b: the profile is truncated after 7 bytes: the method names and all trees are missing",
                "both",
            ]
        );
        assert!(sum.damage.is_empty());
        let noted = with(&[], &["n"]);
        let many = [("1", &noted), ("2", &noted), ("3", &noted), ("4", &noted), ("5", &noted), ("6", &a)];
        let sum = merged(&many, MergeOptions::default());
        assert!(sum.notes.contains(&"1, 2, 3 and 2 more: n".to_owned()), "{:?}", sum.notes);
    }

    #[test]
    fn profiles_that_count_other_things_are_refused_by_name() {
        let with = |blocks: &str| {
            let mut p = deep(1);
            p.meta.insert("blocks".to_owned(), blocks.to_owned());
            p
        };
        let mut merger = Merger::new(MergeOptions::default());
        merger.add("a.cct", with("default")).expect("the first");
        merger.add("b.cct", deep(1)).expect("says nothing");
        let error = merger.add("c.cct", with("precise")).expect_err("other blocks").to_string();
        assert!(error.contains("(default in a.cct and precise in c.cct)"), "{error}");
    }
}
