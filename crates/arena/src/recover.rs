//! Recovery of the profile from the memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cct_index::positions::PackedPositions;
use cct_profile::{MergeError, Method, Profile, ThreadTree};
use rustc_hash::FxHashMap;

use crate::contents::{Contents, InJar};
use crate::forest::{Budget, Fault, Record, TreeCopy, records};
use crate::layout::{header, node, record};
use crate::log::{Entry, entries};
use crate::memory::Memory;
use crate::rows::{Callees, Rows};
use crate::troubles::Troubles;

/// State of the JVM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// The JVM runs.
    Running,
    /// The JVM ended without writing its profile.
    Killed,
}

/// A profile recovered from the memory.
#[derive(Debug)]
pub struct Recovery {
    /// The profile. Its notes say what a reader must know.
    pub profile: Profile,
    /// Problems of the recovery, such as unreadable parts of the memory. They are also among the
    /// notes.
    pub problems: Vec<String>,
    /// Whether the JVM has written its profile itself. That profile is at least as good as this
    /// one.
    pub ended: bool,
}

/// Maximum number of attempts to copy a thread whose recording is switched during the copy.
const TRIES: usize = 5;

/// Copy of the tree of a thread or of one of its regions, taken before the log is read.
struct Copy {
    /// The word of the text that names the thread, or the group of threads that the tree served.
    name: u64,
    /// The word of the region's name. `None` if all that the thread executed is recorded.
    region: Option<u64>,
    serial: u64,
    threads: u64,
    flags: u64,
    tree: TreeCopy,
    /// The reasons for merged contexts ([`record::LACK`]); 0 if there are none.
    lack: u64,
}

/// A copy with its name in the profile: the thread's, followed by the region's in brackets.
struct Row {
    name: Arc<str>,
    copy: Copy,
}

/// A problem. If it concerns one thread, it has the word of the thread's name.
enum Trouble {
    Fault(u64, Fault),
    Switching(u64),
    NoMemory(u64),
    Records,
}

/// Builds a profile from the memory. `in_jar` finds the index in a jar of the class library; the
/// index has the names of the jar's methods.
///
/// The trees are copied first and the log is read afterwards. The log only grows, so every name in
/// the trees is in it.
///
/// # Errors
/// Fails if a tree has more contexts than a profile can hold.
pub fn recover(memory: &Memory, state: State, in_jar: InJar<'_>) -> Result<Recovery, MergeError> {
    let all = memory.header(header::ALL);
    let switches = memory.header(header::SWITCHES);
    let selective = switches > 0 || all == 0;
    let (copies, troubles) = copies(memory, all, selective);

    let (log, is_whole) = memory.log();
    let contents = Contents::of(&log, in_jar);
    let mut problems = contents.problems.clone();
    if !is_whole {
        problems.insert("the log was full: names of methods and threads may be missing".to_owned());
    }
    if contents.meta("tool").is_none() {
        problems.insert("the JVM had not reached its program, so its options are unknown".to_owned());
    }
    let mut notes = contents.notes(memory.header(header::GENERATED));
    notes.extend(Troubles::of(contents.troubles()).lines());
    notes.extend(counted_notes(memory, selective));
    problems.extend(troubles.into_iter().map(|trouble| trouble.words(&contents)));
    let mut rows = named(copies, &contents, &mut problems);
    rows.sort_by(|a, b| (&a.name, a.copy.serial).cmp(&(&b.name, b.copy.serial)));

    let table = table(&rows, &contents, &mut notes);
    let mut meta = contents.description(memory.header(header::GENERATED));
    describe(&mut meta, selective, state);
    notes.insert(note_of(state).to_owned());
    notes.extend(problems.iter().cloned());
    let mut threads = Vec::new();
    for Row { name, copy } in rows {
        let tree = copy.tree.tree(&table)?;
        threads.push(ThreadTree { name, threads: copy.threads, flags: copy.flags, tree });
    }
    let profile = Profile {
        meta,
        notes: notes.into_iter().collect(),
        methods: table.methods,
        threads,
        damage: Vec::new(),
    };
    Ok(Recovery {
        profile: profile.with_columns()?,
        problems: problems.into_iter().collect(),
        ended: memory.header(header::ENDED) != 0,
    })
}

/// The name of the program: its main class or jar, as in the profile. `None` if the JVM has not
/// reached it.
pub fn program(memory: &Memory) -> Option<String> {
    let (log, _) = memory.log();
    let name = |(_, entry)| match entry {
        Some(Entry::Meta("main", name)) => Some(name.to_owned()),
        _ => None,
    };
    entries(&log).filter_map(name).last()
}

/// The note that every recovered profile has.
fn note_of(state: State) -> &'static str {
    match state {
        State::Killed => {
            "the JVM has not written its profile: this was recovered from its memory, as it was \
             when it was killed or ended. Threads have their first names, and it is unknown which \
             had ended. Up to 65,536 bytecodes of a thread's innermost method, since its last \
             call, may be missing"
        }
        State::Running => {
            "a snapshot of a JVM that went on: threads ran meanwhile, so callees may have been \
             counted before or after their callers. Threads have their first names, and it is \
             unknown which had ended"
        }
    }
}

/// Notes about the counters on the runtime's board, in the words that the runtime uses.
fn counted_notes(memory: &Memory, selective: bool) -> Vec<String> {
    let mut notes = Vec::new();
    let switches = memory.header(header::SWITCHES);
    if selective && switches > 0 {
        let times = if switches == 1 { "time" } else { "times" };
        notes.push(format!(
            "recording was switched {switches} {times}: what was executed while it was off is not in the profile"
        ));
    }
    for (word, why) in [
        (header::UNATTACHED, "stack or Java heap was too short to begin recording: N entries of new threads"),
        (header::FAILURES, "memory for the trees ran out: N entries of new threads"),
        (header::REGION_FAILURES, "memory for the trees ran out: N regions of threads"),
    ] {
        let count = memory.header(word);
        if count > 0 {
            notes.push(format!("{} were not recorded", why.replace('N', &count.to_string())));
        }
    }
    notes
}

/// Sets the parts of the description that depend on the moment of recovery.
fn describe(meta: &mut BTreeMap<String, String>, selective: bool, state: State) {
    let word = match state {
        State::Running => "running",
        State::Killed => "killed",
    };
    let is_known = meta.contains_key("tool");
    meta.insert("recovered".to_owned(), word.to_owned());
    // A JVM checks only at its end whether a run was reproducible.
    if meta.get("reproducible").is_some_and(|value| value == "yes") {
        meta.insert("reproducible".to_owned(), "partly".to_owned());
    }
    let selection = meta.entry("selection".to_owned()).or_default();
    if selective && is_known && !selection.contains("from ") {
        let separator = if selection.is_empty() { "" } else { "; " };
        selection.push_str(separator);
        selection.push_str("regions");
    }
    if selection.is_empty() {
        meta.remove("selection");
    }
}

/// Copies all trees.
fn copies(memory: &Memory, all: u64, selective: bool) -> (Vec<Copy>, Vec<Trouble>) {
    let (records, fault) = records(memory);
    let mut troubles: Vec<Trouble> = fault.map(|_| Trouble::Records).into_iter().collect();
    let mut copies = Vec::new();
    let mut budget = Budget::default();
    for of in records {
        let served = of.get(record::THREADS).unwrap_or(0);
        let name = of.get(if served > 1 { record::GROUP } else { record::NAME }).unwrap_or(0);
        let mut faults = Vec::new();
        if selective {
            match regions(of, name, all, &mut budget, &mut faults) {
                Some((more, trouble)) => {
                    copies.extend(more.into_iter().filter(|copy| !copy.tree.is_empty()));
                    troubles.extend(trouble);
                }
                None => troubles.push(Trouble::Switching(name)),
            }
        } else {
            let (tree, fault) = TreeCopy::of(of, &mut budget);
            faults.extend(fault);
            copies.push(copy(of, name, None, of.get(record::LACK).unwrap_or(0), tree));
        }
        troubles.extend(faults.into_iter().map(|fault| Trouble::Fault(name, fault)));
    }
    (copies, troubles)
}

fn copy(of: Record<'_>, name: u64, region: Option<u64>, lack: u64, tree: TreeCopy) -> Copy {
    Copy {
        name,
        region,
        serial: of.get(record::SERIAL).unwrap_or(0),
        threads: of.get(record::THREADS).unwrap_or(0),
        flags: if of.get(record::DAEMON) == Some(1) { ThreadTree::DAEMON } else { 0 },
        tree,
        lack,
    }
}

/// Copies the trees of a thread's regions. The counts of the thread's own tree belong to the region
/// that is being recorded, so both are copied between two checks. If recording is switched
/// meanwhile, the copy is made again. `None` after [`TRIES`] failed attempts.
fn regions<'m>(
    of: Record<'m>,
    name: u64,
    all: u64,
    budget: &mut Budget,
    faults: &mut Vec<Fault>,
) -> Option<(Vec<Copy>, Option<Trouble>)> {
    let look = || (of.get(record::OPEN), of.memory().header(header::SWITCHES));
    for _ in 0..TRIES {
        let before = look();
        let open = before.0.unwrap_or(record::NOTHING);
        if open == record::SWITCHING {
            std::thread::yield_now();
            continue;
        }
        // Each attempt copies all nodes again, so each begins with the same budget.
        let mut copied = budget.clone();
        let mut found = Vec::new();
        let (live, fault) = TreeCopy::of(of, &mut copied);
        found.extend(fault);
        let (records, fault) = of.regions();
        found.extend(fault);
        let lack = of.get(record::LACK).unwrap_or(0);
        let mut copies = Vec::new();
        let mut trouble = None;
        if open == 0 && records.is_empty() {
            // Either everything was recorded from the start, under one name, or nothing was.
            if all != 0 {
                copies.push(copy(of, name, Some(all), lack, live));
            }
        } else {
            for region in records {
                let (mut tree, fault) = TreeCopy::of(region, &mut copied);
                found.extend(fault);
                let mut why = region.get(record::LACK).unwrap_or(0);
                if open == region.address {
                    if why & record::OUT_OF_MEMORY != 0 {
                        trouble = Some(Trouble::NoMemory(name));
                    }
                    why |= lack;
                    tree.add(&live);
                }
                found.extend(tree.prune());
                copies.push(copy(of, name, Some(region.get(record::NAME).unwrap_or(0)), why, tree));
            }
        }
        if look() == before {
            *budget = copied;
            faults.extend(found);
            return Some((copies, trouble));
        }
    }
    None
}

impl Trouble {
    fn words(&self, contents: &Contents) -> String {
        let thread = |word: &u64| contents.text(*word).unwrap_or_else(|| "?".into());
        match self {
            Trouble::Records => "the list of trees is damaged: older threads are missing".to_owned(),
            Trouble::Switching(name) => {
                format!("recording was being switched in thread '{}': its regions are missing", thread(name))
            }
            Trouble::NoMemory(name) => format!(
                "memory ran out in a recorded region of thread '{}': its counts may be too high",
                thread(name)
            ),
            Trouble::Fault(name, fault) => {
                let what = match fault {
                    Fault::Astray => "points outside the memory: contexts are missing",
                    Fault::Tangled => "has a wrong pointer: contexts are missing",
                    Fault::Negative => "has impossible counts, which are ignored",
                };
                format!("the tree of thread '{}' {what}", thread(name))
            }
        }
    }
}

/// Gives each copy its name in the profile.
fn named(copies: Vec<Copy>, contents: &Contents, problems: &mut BTreeSet<String>) -> Vec<Row> {
    let mut text = |word: u64| {
        if word != 0 && contents.text(word).is_none() {
            problems.insert("names of threads or regions are missing".to_owned());
        }
        contents.text(word).unwrap_or_else(|| "?".into())
    };
    let mut rows = Vec::new();
    for copy in copies {
        let thread = text(copy.name);
        let region = copy.region.map_or_else(|| "".into(), &mut text);
        let name = if region.is_empty() { thread } else { format!("{thread} [{region}]").into() };
        rows.push(Row { name, copy });
    }
    rows
}

/// The table of the methods of all trees.
fn table(rows: &[Row], contents: &Contents, notes: &mut BTreeSet<String>) -> Rows {
    let mut callees = Callees::default();
    for row in rows {
        row.copy.tree.callees(&mut callees);
    }
    let marker = merged(rows, contents, notes);
    let mut unnamed = 0;
    let of_no_class = |class: &str, name: String, mid, flags| Method {
        class: class.into(),
        name: name.into(),
        descriptor: "".into(),
        mid,
        flags,
        site: None,
    };
    let method = |mid| {
        if mid == node::MERGED_MID {
            return of_no_class(&marker, String::new(), mid, Method::MARKER);
        }
        contents.method(mid).unwrap_or_else(|| {
            unnamed += 1;
            of_no_class("?", format!("{mid:x}"), mid, Method::UNKNOWN)
        })
    };
    let positions: FxHashMap<u64, PackedPositions> = callees
        .callers()
        .into_iter()
        .filter_map(|caller| Some((caller, contents.positions(caller)?)))
        .collect();
    let table = callees.rows(method, |caller| positions.get(&caller).map(|packed| &**packed));
    if unnamed > 0 {
        notes.insert(format!(
            "{unnamed} methods have no name: no index and no class seen by the runtime accounts for their ids"
        ));
    }
    table
}

/// Returns the text of the marker for merged contexts, and adds notes with the reasons. Both are in
/// the words of the runtime (`MergedContexts`).
fn merged(rows: &[Row], contents: &Contents, notes: &mut BTreeSet<String>) -> String {
    let lacks: Vec<u64> =
        rows.iter().filter(|row| row.copy.tree.has_merged()).map(|row| row.copy.lack).collect();
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
    if memory + bound > 0 && contents.meta("columns").is_some() {
        notes.insert("columns of merged contexts are not counted".to_owned());
    }
    if memory + bound > 0 && contents.meta("allocations") == Some("yes") {
        notes.insert("objects that merged contexts made are not counted".to_owned());
    }
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
