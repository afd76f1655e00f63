//! The counts of an entry, taken from its profile.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use cct_profile::charges::Charges;
use cct_profile::diff::Change;
use cct_profile::labels::{By, Labels};
use cct_profile::library::LIBRARY_LINE;
use cct_profile::names::{NameStyle, normalised_class};
use cct_profile::origin::{Origins, is_jdk_by_name};
use cct_profile::sums::sums;
use cct_profile::{Metric, Pattern, Profile, Selection, Tree};

use super::entry::Entry;
use crate::args::Library;

/// Calls, and the number of the metric if it counts something else.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Calls.
    pub calls: u128,
    /// Bytecodes, their cost, or a column; 0 if only calls were counted.
    pub bytecodes: u128,
}

impl Count {
    fn add(&mut self, other: Count) {
        self.calls += other.calls;
        self.bytecodes += other.bytecodes;
    }

    /// The number that this metric compares.
    pub fn of(self, metric: Metric) -> u128 {
        match metric {
            Metric::Calls | Metric::Allocations => self.calls,
            Metric::Bytecodes | Metric::Cost(_) | Metric::Column(_) => self.bytecodes,
        }
    }
}

/// What an entry executes, including all that it calls in its thread.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// The counts of all classes.
    pub all: Count,
    /// The counts of the program's classes: those that do not belong to the JDK, judged by their
    /// names, or those that the user says.
    pub program: Count,
    /// What each method executes itself; with a collapsed library, each of the program's methods
    /// with the library's work below it. Names of generated classes are without their numbers.
    pub methods: BTreeMap<String, Count>,
}

impl Counts {
    /// The methods whose own numbers differ in `new`, the largest difference first.
    pub fn changes_to(&self, new: &Counts, metric: Metric) -> Vec<(String, Change)> {
        let mut changes: BTreeMap<&str, Change> = BTreeMap::new();
        for (name, count) in &self.methods {
            changes.entry(name).or_default().base = count.of(metric);
        }
        for (name, count) in &new.methods {
            changes.entry(name).or_default().new = count.of(metric);
        }
        let changes = changes.into_iter().filter(|(_, change)| change.size() > 0);
        let mut changes: Vec<(String, Change)> =
            changes.map(|(name, change)| (name.to_owned(), change)).collect();
        changes.sort_by_key(|(_, change)| std::cmp::Reverse(change.size()));
        changes
    }
}

/// What one JVM executed for an entry.
#[derive(Debug)]
pub struct EntryRun {
    /// The contexts of the harness's thread below the entry's method.
    pub profile: Profile,
    /// Their counts.
    pub counts: Counts,
    /// The bytecodes (or calls) that other threads of the program executed meanwhile.
    pub elsewhere: u128,
}

impl EntryRun {
    /// Takes the run of an entry from the profile that the harness left.
    ///
    /// # Errors
    /// Fails if the profile has no context of the entry.
    pub fn of(profile: Profile, entry: &Entry, library: Option<&Library>) -> Result<EntryRun> {
        // The harness names the region after the method, with the class that declares it. The
        // program may have regions of its own.
        let regions = profile.threads.iter().filter_map(|thread| thread.name.strip_prefix("main ["));
        let of_entry = |region: &str| {
            Some((
                region.to_owned(),
                region.strip_suffix(entry.method())?.strip_suffix('.')?.replace('.', "/"),
            ))
        };
        let Some((region, class)) = regions.filter_map(|name| name.strip_suffix(']')).find_map(of_entry)
        else {
            bail!("the profile of {entry} has no context of this entry");
        };
        let elsewhere = elsewhere(&profile, &region, Metric::of_profile(&profile));
        let selection = Selection {
            thread: Some(Pattern::of_thread(&format!("main [{region}]"))),
            root: Some(Pattern::new(&format!("{}.{}", normalised_class(&class), entry.method()))),
            ..Selection::default()
        };
        let Ok(selected) = selection.of_profile(profile, NameStyle::Normalised) else {
            bail!("the profile of {entry} has no context of {region}");
        };
        let counts = counts(&selected.profile, library)?;
        Ok(EntryRun { profile: selected.profile, counts, elsewhere })
    }
}

fn counts(profile_of_entry: &Profile, library: Option<&Library>) -> Result<Counts> {
    let metric = Metric::of_profile(profile_of_entry);
    let labels =
        Labels::new(&profile_of_entry.methods, By::Method, NameStyle::Normalised, &Origins::default());
    let trees: Vec<(&Tree, &[u32])> =
        profile_of_entry.threads.iter().map(|t| (&t.tree, labels.of_method())).collect();
    let mut is_library = vec![true; labels.len()];
    for (method, &label) in profile_of_entry.methods.iter().zip(labels.of_method()) {
        is_library[label as usize] =
            library.map_or_else(|| is_jdk_by_name(&method.class), |library| library.has(method));
    }
    let mut counts = Counts::default();
    let has_bytecodes = metric != Metric::Calls;
    let sums = sums(&trees, labels.len(), metric)?;
    for (sums, is_library) in sums.iter().zip(&is_library) {
        let count = Count { calls: sums.calls, bytecodes: if has_bytecodes { sums.own } else { 0 } };
        counts.all.add(count);
        if !is_library {
            counts.program.add(count);
        }
    }
    let numbers = |calls: &[u128], own: &[u128]| -> Vec<Count> {
        let of = |(&calls, &own)| Count { calls, bytecodes: if has_bytecodes { own } else { 0 } };
        calls.iter().zip(own).map(of).collect()
    };
    let by_label = if library.is_some() {
        let calls = Charges::of(&trees, &is_library, Metric::Calls)?;
        let own = Charges::of(&trees, &is_library, metric)?;
        let alone = numbers(&[calls.library_alone], &[own.library_alone]);
        if let [alone] = alone[..]
            && alone != Count::default()
        {
            counts.methods.insert(LIBRARY_LINE.to_owned(), alone);
        }
        numbers(&calls.charged, &own.charged)
    } else {
        let (calls, own): (Vec<u128>, Vec<u128>) = sums.iter().map(|sums| (sums.calls, sums.own)).unzip();
        numbers(&calls, &own)
    };
    for (label, count) in (0u32..).zip(by_label).filter(|(_, count)| *count != Count::default()) {
        // Lists of contexts have commas in descriptors, since semicolons separate frames. Restores
        // the semicolons.
        let name = labels.exact(label).replace(',', ";");
        counts.methods.entry(name).or_default().add(count);
    }
    Ok(counts)
}

/// The JVM's own threads. They work whatever the program does.
const OF_THE_JVM: &[&str] = &[
    "Attach Listener",
    "Common-Cleaner",
    "DestroyJavaVM",
    "Finalizer",
    "Notification Thread",
    "Reference Handler",
    "Signal Dispatcher",
    "process reaper",
];

/// What threads other than the harness's and the JVM's executed while the entry ran.
fn elsewhere(profile: &Profile, region: &str, metric: Metric) -> u128 {
    let region = format!(" [{region}]");
    let others = profile.threads.iter().filter(|thread| {
        let name = thread.name.strip_suffix(&region);
        name.is_some_and(|name| name != "main" && !OF_THE_JVM.contains(&name))
    });
    others.flat_map(|thread| thread.tree.nodes()).map(|node| u128::from(metric.of_node(node))).sum()
}
