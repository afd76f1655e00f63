//! The profile that the memory holds.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use cct_profile::{Method, Profile, ThreadTree, TreeTooLarge};

use crate::contents::{Contents, InJar};
use crate::forest::{Copied, Fault, Record, records};
use crate::layout::{header, node, record};
use crate::memory::Memory;
use crate::troubles::Troubles;

/// What has become of the JVM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It runs.
    Running,
    /// It is gone without having written its profile.
    Killed,
}

/// A profile out of the memory.
#[derive(Debug)]
pub struct Recovered {
    /// The profile. What must be known of it is in its notes.
    pub profile: Profile,
    /// What of the memory could not be read, in words; also among the notes.
    pub problems: Vec<String>,
    /// Whether the JVM has written its profile itself, which is then as good or better.
    pub ended: bool,
}

/// A tree of a thread or of a thread's region.
struct Row {
    name: Arc<str>,
    serial: u64,
    threads: u64,
    flags: u64,
    tree: Copied,
    /// [`record::LACK`], if there are merged contexts.
    lack: u64,
}

/// Makes a profile of the memory. `in_jar` finds the index in a jar of the class library, which has the names of its methods.
///
/// # Errors
/// When a tree has more contexts than a profile can hold.
pub fn recover(memory: &Memory, state: State, in_jar: InJar<'_>) -> Result<Recovered, TreeTooLarge> {
    let (log, is_whole) = memory.log();
    let contents = Contents::of(&log, in_jar);
    let mut problems = contents.problems.clone();
    if !is_whole {
        problems.insert(
            "there was no room for all of the log: names of methods and threads may be missing".to_owned(),
        );
    }
    let mut notes = contents.notes(memory.header(header::GENERATED));
    notes.extend(Troubles::of(contents.troubles()).lines());
    let mut rows = rows(memory, &contents, &mut problems);
    rows.sort_by(|a, b| (&a.name, a.serial).cmp(&(&b.name, b.serial)));

    let methods = methods(&rows, &contents, &mut notes);
    let places: FxHashMap<u64, u32> = methods.iter().map(|method| method.mid).zip(0..).collect();
    let mut meta = contents.description(memory.header(header::GENERATED));
    describe(&mut meta, memory, state);
    let unattached = memory.header(header::UNATTACHED);
    if unattached > 0 {
        notes.insert(format!(
            "stack or Java heap was too short to begin recording: {unattached} entries of new threads were not recorded"
        ));
    }
    let failures = memory.header(header::FAILURES);
    if failures > 0 {
        notes.insert(format!(
            "memory for the trees ran out: {failures} entries of new threads were not recorded"
        ));
    }
    notes.insert(
        match state {
            State::Killed => {
                "the JVM was killed: this was recovered from its memory, as it was then. Threads have the names with which they began, and which of \
                 them had ended is not known. What the innermost method of a thread had executed since it last called another, up to 65,536 bytecodes, \
                 may be missing"
            }
            State::Running => {
                "a snapshot of a JVM that went on: threads ran while it was taken, so that what a method has called may have been counted before \
                 its caller, or after. Threads have the names with which they began, and which of them had ended is not known"
            }
        }
        .to_owned(),
    );
    notes.extend(problems.iter().cloned());
    let mut threads = Vec::new();
    for row in rows {
        let tree = row.tree.tree(&places)?;
        threads.push(ThreadTree { name: row.name, threads: row.threads, flags: row.flags, tree });
    }
    Ok(Recovered {
        profile: Profile { meta, notes: notes.into_iter().collect(), methods, threads, damage: Vec::new() },
        problems: problems.into_iter().collect(),
        ended: memory.header(header::ENDED) != 0,
    })
}

/// What of the description depends on the moment.
fn describe(meta: &mut std::collections::BTreeMap<String, String>, memory: &Memory, state: State) {
    let word = match state {
        State::Running => "running",
        State::Killed => "killed",
    };
    meta.insert("recovered".to_owned(), word.to_owned());
    // What a run lacked to be the same as the next one is looked up at its end.
    if meta.get("reproducible").is_some_and(|value| value == "yes") {
        meta.insert("reproducible".to_owned(), "partly".to_owned());
    }
    let used = memory.header(header::SWITCHES) > 0 || memory.header(header::ALL) == 0;
    let selection = meta.entry("selection".to_owned()).or_default();
    if used && !selection.contains("from ") {
        let separator = if selection.is_empty() { "" } else { "; " };
        selection.push_str(separator);
        selection.push_str("regions");
    }
    if selection.is_empty() {
        meta.remove("selection");
    }
}

/// All trees, in any order.
fn rows(memory: &Memory, contents: &Contents, problems: &mut BTreeSet<String>) -> Vec<Row> {
    let (records, fault) = records(memory);
    if fault.is_some() {
        problems.insert("the list of trees is damaged: older threads are missing".to_owned());
    }
    let all = contents.text(memory.header(header::ALL));
    let selective = memory.header(header::SWITCHES) > 0 || all.is_none();
    let mut rows: Vec<Row> = Vec::new();
    for of in records {
        let name = name(of, contents);
        let mut faults = Vec::new();
        let (live, fault) = Copied::of(of);
        faults.extend(fault);
        let open = of.get(record::OPEN).unwrap_or(record::NOTHING);
        let (regions, fault) = of.regions();
        faults.extend(fault);
        let row = |name: Arc<str>, region: Record<'_>, tree| Row {
            name,
            serial: of.get(record::SERIAL).unwrap_or(0),
            threads: of.get(record::THREADS).unwrap_or(0),
            flags: if of.get(record::DAEMON) == Some(1) { ThreadTree::DAEMON } else { 0 },
            tree,
            lack: region.get(record::LACK).unwrap_or(0),
        };
        if !selective {
            rows.push(row(name.clone(), of, live));
        } else if let Some(all) = all.as_ref().filter(|_| open == 0 && regions.is_empty()) {
            // Recorded from its beginning on, under one name.
            rows.push(row(labelled(&name, all), of, live));
        } else {
            for region in regions {
                let text = region.get(record::NAME).and_then(|word| contents.text(word));
                let label = labelled(&name, text.as_deref().unwrap_or("?"));
                if open == record::SWITCHING {
                    problems.insert(format!(
                        "recording was being switched in thread '{name}' at that moment: its regions are left out"
                    ));
                    continue;
                }
                let (mut tree, fault) = Copied::of(region);
                faults.extend(fault);
                if open == region.address {
                    tree.add(&live);
                }
                faults.extend(tree.prune());
                rows.push(row(label, region, tree));
            }
        }
        problems
            .extend(faults.into_iter().map(|fault| format!("the tree of thread '{name}' {}", words(fault))));
    }
    if selective {
        rows.retain(|row| !row.tree.is_empty());
    }
    rows
}

fn words(fault: Fault) -> &'static str {
    match fault {
        Fault::Astray => "leads out of the memory: contexts are missing",
        Fault::Cycle => "has a cycle: contexts are missing",
        Fault::Negative => "has counts that cannot be, which count for nothing",
    }
}

/// The name of a thread, or what several threads of a tree have in common.
fn name(of: Record<'_>, contents: &Contents) -> Arc<str> {
    let served = of.get(record::THREADS).unwrap_or(0);
    let word = of.get(if served > 1 { record::GROUP } else { record::NAME });
    word.and_then(|word| contents.text(word)).unwrap_or_else(|| "?".into())
}

/// The name of a thread's region.
fn labelled(thread: &Arc<str>, region: &str) -> Arc<str> {
    if region.is_empty() { thread.clone() } else { format!("{thread} [{region}]").into() }
}

/// The methods of all trees, in the profile's order.
fn methods(rows: &[Row], contents: &Contents, notes: &mut BTreeSet<String>) -> Vec<Method> {
    let mut mids = FxHashSet::default();
    for row in rows {
        row.tree.mids(&mut mids);
    }
    let marker = merged(rows, contents, notes);
    let mut unnamed = 0;
    let mut methods: Vec<Method> = mids
        .into_iter()
        .map(|mid| {
            if mid == node::MERGED_MID {
                return Method {
                    class: (*marker).into(),
                    name: "".into(),
                    descriptor: "".into(),
                    mid,
                    flags: Method::MARKER,
                };
            }
            contents.method(mid).unwrap_or_else(|| {
                unnamed += 1;
                Method {
                    class: "?".into(),
                    name: format!("{mid:x}").into(),
                    descriptor: "".into(),
                    mid,
                    flags: Method::UNKNOWN,
                }
            })
        })
        .collect();
    if unnamed > 0 {
        notes.insert(format!(
            "{unnamed} methods have no name: no index and no class seen by the runtime accounts for their ids"
        ));
    }
    methods.sort_unstable();
    methods
}

/// What stands for contexts that were merged, and notes of why, in the runtime's own words (`MergedContexts`).
fn merged(rows: &[Row], contents: &Contents, notes: &mut BTreeSet<String>) -> String {
    let lacks: Vec<u64> = rows.iter().filter(|row| row.tree.has_merged()).map(|row| row.lack).collect();
    let of = |why: u64| lacks.iter().filter(|&&lack| lack & why != 0).count();
    let (memory, bound) = (of(record::OUT_OF_MEMORY), of(record::BOUND_REACHED));
    let limit = contents.meta("max-contexts").unwrap_or("?");
    let marker = match (memory > 0, bound > 0) {
        (true, true) => format!("[contexts merged: out of memory, bound of {limit}]"),
        (_, true) => format!("[contexts merged: bound of {limit}]"),
        _ => "[contexts merged: out of memory]".to_owned(),
    };
    let trees = |some: usize| {
        format!(
            ": contexts that came up later were merged under {marker}, in {some} {} of {}",
            if some == 1 { "tree" } else { "trees" },
            rows.len()
        )
    };
    if memory > 0 {
        notes.insert(format!("memory for the trees ran out{}", trees(memory)));
    }
    if bound > 0 {
        notes.insert(format!(
            "the bound on contexts (-Dcctrewrite.max-contexts={limit}) was reached{}",
            trees(bound)
        ));
    }
    marker
}
