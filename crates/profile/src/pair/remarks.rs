//! Remarks for the reader of a comparison, besides the counts.

use super::mismatch::is_bare;
use super::{Input, Share};
use crate::escape::terminal;
use crate::exactness::{EXACT, Exactness, LIMITS};
use crate::meta_keys::{CALL_SITES, LIBRARY, SELECTION};
use crate::names::normalised_class;
use crate::{ContextId, Method, Metric, Tree};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// One of the two inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The first input.
    A,
    /// The second input.
    B,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::A => "A",
            Side::B => "B",
        })
    }
}

/// The default names of the two inputs.
pub const SIDES: [&str; 2] = ["A", "B"];

/// A remark for the reader. The text is safe for terminals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// Part of the input is missing, and so contexts and counts may be.
    Incomplete(Side, String),
    /// Lines of the headers differ, which say how the numbers were recorded.
    Header {
        /// The key.
        key: String,
        /// The value that only A has; `None` if it does not have the key.
        a: Option<String>,
        /// The value that only B has.
        b: Option<String>,
    },
    /// A list without a header, so it is unknown how its numbers were recorded.
    NoHeader(Side),
    /// A note of one profile, or of both (`None`).
    Note(Option<Side>, String),
    /// Not all numbers of one profile, or of both (`None`), are exact; or one says so where those
    /// of the other are not.
    Exactness(Option<Side>, Exactness),
    /// The tree contains a marker for contexts that are missing.
    Marker {
        /// The side.
        side: Side,
        /// The marker's text.
        marker: String,
        /// The marker's calls: those of the missing contexts.
        calls: u64,
    },
    /// Call sites of this side were added up, since the other does not distinguish them.
    CallSitesMerged(Side),
    /// This side does not have the selected thread.
    ThreadMissing(Side, String),
    /// This side does not have the selected method.
    MethodMissing(Side, String),
    /// This side does not have the selected context.
    ContextMissing(Side, ContextId),
    /// No method matches this pattern of methods to ignore.
    IgnoresNothing(String),
    /// Classes with numbers in their names may be the same under different names.
    GeneratedNames,
    /// The selection keeps these parts of A and of B.
    Selected {
        /// Of A, and of B.
        shares: [Share; 2],
        /// What is counted.
        metric: &'static str,
    },
}

impl Remark {
    /// The kind of remark, in one word.
    pub fn kind(&self) -> &'static str {
        match self {
            Remark::Incomplete(..) => "incomplete",
            Remark::Header { .. } => "header",
            Remark::NoHeader(_) => "no-header",
            Remark::Note(..) => "note",
            Remark::Exactness(..) => "exactness",
            Remark::Marker { .. } => "marker",
            Remark::CallSitesMerged(_) => "call-sites-merged",
            Remark::ThreadMissing(..) => "thread-missing",
            Remark::MethodMissing(..) => "method-missing",
            Remark::ContextMissing(..) => "context-missing",
            Remark::IgnoresNothing(_) => "ignores-nothing",
            Remark::GeneratedNames => "generated-names",
            Remark::Selected { .. } => "selected",
        }
    }

    /// The side that it concerns; `None` for both.
    pub fn side(&self) -> Option<Side> {
        match self {
            Remark::Incomplete(side, _)
            | Remark::NoHeader(side)
            | Remark::Marker { side, .. }
            | Remark::CallSitesMerged(side)
            | Remark::ThreadMissing(side, _)
            | Remark::MethodMissing(side, _)
            | Remark::ContextMissing(side, _) => Some(*side),
            Remark::Note(side, _) | Remark::Exactness(side, _) => *side,
            Remark::Header { .. }
            | Remark::IgnoresNothing(_)
            | Remark::GeneratedNames
            | Remark::Selected { .. } => None,
        }
    }
}

impl Side {
    /// The name of the side, given the names of both.
    pub fn called(self, sides: [&str; 2]) -> &str {
        let [a, b] = sides;
        match self {
            Side::A => a,
            Side::B => b,
        }
    }
}

impl Remark {
    /// A line for people: a heading of at least `width` columns, and the remark.
    pub fn line(&self, sides: [&str; 2], width: usize) -> String {
        let of = |heading: &str| match self.side() {
            Some(side) => format!("{heading} {}", side.called(sides)),
            None => heading.to_owned(),
        };
        let heading = match self {
            Remark::Incomplete(..) | Remark::Marker { .. } => of("INCOMPLETE"),
            Remark::Header { .. } => "Differs".to_owned(),
            Remark::Note(None, _) => format!("Note {}", sides.join(" ")),
            Remark::Exactness(None, _) => format!("Exact {}", sides.join(" ")),
            Remark::Exactness(..) => of("Exact"),
            Remark::Note(..) | Remark::NoHeader(_) => of("Note"),
            Remark::Selected { .. } => "Selected".to_owned(),
            _ => "Remark".to_owned(),
        };
        let text = match self {
            Remark::Exactness(_, exactness) => terminal(&exactness.to_string()),
            _ => self.worded(sides),
        };
        format!("{:<width$}{text}", format!("{heading} "))
    }

    /// The remark in words, given the names of both inputs.
    pub fn worded(&self, sides: [&str; 2]) -> String {
        let [a_is, b_is] = sides;
        let name = |side: &Side| side.called(sides);
        match self {
            Remark::Incomplete(_, what) | Remark::Note(_, what) => terminal(what),
            Remark::Exactness(_, exactness) => terminal(&format!("exact: {exactness}")),
            Remark::Header { key, a, b } => {
                let value = |value: &Option<String>| match value {
                    Some(value) => terminal(value),
                    None => "(nothing)".to_owned(),
                };
                let meaning = MEANING.iter().find(|(known, _)| known == key);
                let meaning = meaning.map_or(String::new(), |(_, meaning)| format!("; {meaning}"));
                format!("{}: {a_is} has {}, {b_is} has {}{meaning}", terminal(key), value(a), value(b))
            }
            Remark::NoHeader(_) => {
                "no header: its rules for counting and its completeness are unknown".to_owned()
            }
            Remark::Marker { marker, calls, .. } => {
                format!("contexts are missing: the marker {} has their {calls} calls", terminal(marker))
            }
            Remark::CallSitesMerged(side) => format!(
                "call sites of {} are added up, as the other side does not distinguish them",
                name(side)
            ),
            Remark::ThreadMissing(side, thread) => {
                format!("{} has no thread '{}'", name(side), terminal(thread))
            }
            Remark::MethodMissing(side, method) => {
                format!("{} has no context with the method '{}'", name(side), terminal(method))
            }
            Remark::ContextMissing(side, id) => format!("{} has no context with the id {id}", name(side)),
            Remark::IgnoresNothing(pattern) => {
                format!("no method of either side matches --drop '{}'", terminal(pattern))
            }
            Remark::GeneratedNames => {
                "names of generated classes have numbers, which may make contexts differ; \
                 --normalize-generated drops these numbers"
                    .to_owned()
            }
            Remark::Selected { shares: [a, b], metric } => {
                format!("{a} of the {metric} of {a_is}, {b} of those of {b_is}")
            }
        }
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.worded(SIDES))
    }
}

/// The consequence for the counts if values of these keys differ.
const MEANING: [(&str, &str); 7] = [
    ("blocks", "rules differ in the bytecodes of blocks that an exception leaves"),
    ("intrinsics", "a side with native does not count their bodies"),
    ("java.version", "the class libraries may differ"),
    (LIBRARY, "the lines (library) stand for different classes"),
    ("provenance", "the rewritten classes are not the same"),
    ("reproducible", "without yes, the program's work may differ from run to run"),
    (SELECTION, "the two sides recorded different parts of the program"),
];

/// Remarks about the headers, notes and damages.
pub(crate) fn of_headers(a: &Input, b: &Input) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for (side, input) in [(Side::A, a), (Side::B, b)] {
        remarks.extend(input.incomplete.iter().map(|what| Remark::Incomplete(side, what.clone())));
    }
    for (side, input) in [(Side::A, a), (Side::B, b)] {
        remarks.extend(is_bare(input).then_some(Remark::NoHeader(side)));
    }
    if !is_bare(a) && !is_bare(b) {
        remarks.extend(different_values(&a.profile.meta, &b.profile.meta));
    }
    remarks.extend(exactness(a, b));
    let notes = |input: &Input| input.profile.notes.iter().map(|note| one_line(note)).collect();
    let (in_a, in_b): (BTreeSet<String>, BTreeSet<String>) = (notes(a), notes(b));
    for note in in_a.union(&in_b) {
        let side = match (in_a.contains(note), in_b.contains(note)) {
            (true, false) => Some(Side::A),
            (false, true) => Some(Side::B),
            _ => None,
        };
        remarks.push(Remark::Note(side, note.clone()));
    }
    remarks
}

/// The exactness of both; empty if all numbers are exact.
fn exactness(a: &Input, b: &Input) -> Vec<Remark> {
    let of = |input: &Input| {
        let profile = &input.profile;
        let metric = Metric::of_profile(profile);
        Exactness::of(&profile.meta, &profile.notes, !input.incomplete.is_empty(), metric)
    };
    let of_side = |side: Side, exactness: Option<Exactness>| {
        exactness.map(|exactness| Remark::Exactness(Some(side), exactness))
    };
    match (of(a), of(b)) {
        (a, b) if a == b => {
            let common = a.filter(|exactness| *exactness != Exactness::Yes);
            common.map(|exactness| Remark::Exactness(None, exactness)).into_iter().collect()
        }
        (a, b) => of_side(Side::A, a).into_iter().chain(of_side(Side::B, b)).collect(),
    }
}

/// The text on one line, as in a list of contexts.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

fn different_values(a: &BTreeMap<String, String>, b: &BTreeMap<String, String>) -> Vec<Remark> {
    let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let mut remarks = Vec::new();
    for key in keys {
        // Values of several lines (provenance) may differ in some of them.
        let lines = |meta: &BTreeMap<String, String>| -> Vec<String> {
            meta.get(key).map_or_else(Vec::new, |value| value.split('\n').map(one_line).collect())
        };
        let (in_a, in_b) = (lines(a), lines(b));
        // Separate remarks cover call sites and exactness.
        if in_a == in_b || [CALL_SITES, EXACT, LIMITS].contains(&key.as_str()) {
            continue;
        }
        let only = |these: &[String], others: &[String]| {
            let only: Vec<&str> =
                these.iter().filter(|line| !others.contains(line)).map(String::as_str).collect();
            (!only.is_empty()).then(|| only.join(" | "))
        };
        let (a, b) = (only(&in_a, &in_b), only(&in_b, &in_a));
        if a.is_some() || b.is_some() {
            remarks.push(Remark::Header { key: key.clone(), a, b });
        }
    }
    remarks
}

/// The markers in a tree. (A thread's name looks like a marker in a list, but has no calls.)
pub(crate) fn of_markers(side: Side, methods: &[Method], labels: &[u32], tree: &Tree) -> Vec<Remark> {
    let is_marker = |method: &Method| method.flags & Method::MARKER != 0 && method.class.starts_with('[');
    let mut markers: BTreeMap<u32, (&str, u64, bool)> = BTreeMap::new();
    for (method, &label) in methods.iter().zip(labels).filter(|(method, _)| is_marker(method)) {
        markers.insert(label, (&method.class, 0, false));
    }
    if markers.is_empty() {
        return Vec::new();
    }
    for node in &tree.nodes()[1..] {
        if let Some((_, calls, met)) = markers.get_mut(&node.method) {
            // The input may contain any number.
            *calls = calls.saturating_add(node.calls);
            // In a region there may be bytecodes alone.
            *met |= node.calls | node.bytecodes != 0;
        }
    }
    let met = markers.into_values().filter(|&(_, _, met)| met);
    met.map(|(marker, calls, _)| Remark::Marker { side, marker: marker.to_owned(), calls }).collect()
}

/// Whether a method's class was generated while the program ran, and has a number that may differ
/// between runs.
pub(crate) fn has_generated_names(methods: &[Method]) -> bool {
    methods.iter().any(|m| m.flags & Method::MARKER == 0 && normalised_class(&m.class) != &*m.class)
}
