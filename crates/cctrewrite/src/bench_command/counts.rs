//! The counts of an entry, taken from its profile.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use cct_profile::labels::{By, Labels};
use cct_profile::names::NameStyle;
use cct_profile::origin::{Origins, is_jdk_by_name};
use cct_profile::sums::sums;
use cct_profile::{Metric, Pattern, Profile, Selection, Tree};

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
    /// The counts of classes that do not belong to the JDK, judged by their names.
    pub program: Count,
    /// What each method executes itself. Names of generated classes are without their numbers.
    pub methods: BTreeMap<String, Count>,
}

/// What the harness's thread executed below an entry. Also returns the bytecodes (or calls) that
/// other threads of the program executed meanwhile.
pub fn of(profile: &Profile, entry: &str) -> Result<(Counts, u128)> {
    let selection = Selection {
        thread: Some(Pattern::of_thread(&format!("main [{entry}]"))),
        root: Some(Pattern::new(entry)),
        ..Selection::default()
    };
    let metric = Metric::of_profile(profile);
    let Ok(selected) = selection.of_profile(profile.clone(), NameStyle::Normalised) else {
        bail!("the profile of {entry} has no context of this entry");
    };
    let profile_of_entry = &selected.profile;
    let labels =
        Labels::new(&profile_of_entry.methods, By::Method, NameStyle::Normalised, &Origins::default());
    let trees: Vec<(&Tree, &[u32])> =
        profile_of_entry.threads.iter().map(|t| (&t.tree, labels.of_method())).collect();
    let mut is_program = vec![false; labels.len()];
    for (method, &label) in profile_of_entry.methods.iter().zip(labels.of_method()) {
        is_program[label as usize] = !is_jdk_by_name(&method.class);
    }
    let mut counts = Counts::default();
    for (label, sums) in (0u32..).zip(sums(&trees, labels.len(), metric)?) {
        let bytecodes = if metric != Metric::Calls { sums.own } else { 0 };
        let count = Count { calls: sums.calls, bytecodes };
        if count == Count::default() {
            continue;
        }
        counts.all.add(count);
        if is_program[label as usize] {
            counts.program.add(count);
        }
        // Lists of contexts have commas in descriptors, since semicolons separate frames. Restores
        // the semicolons.
        let name = labels.exact(label).replace(',', ";");
        counts.methods.entry(name).or_default().add(count);
    }
    Ok((counts, elsewhere(profile, entry, metric)))
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
fn elsewhere(profile: &Profile, entry: &str, metric: Metric) -> u128 {
    let region = format!(" [{entry}]");
    let others = profile.threads.iter().filter(|thread| {
        let name = thread.name.strip_suffix(&region);
        name.is_some_and(|name| name != "main" && !OF_THE_JVM.contains(&name))
    });
    others.flat_map(|thread| thread.tree.nodes()).map(|node| u128::from(metric.of_node(node))).sum()
}
