//! Whether the numbers of a profile are exact: the one definition, as docs/reference/exactness.md
//! states it.
//!
//! A profile says it in three places: `exact` in `META` (JVM options), `limits` in `META` (limits
//! of its kind) and its notes (events of this run). This module combines them into one verdict,
//! which all outputs show.

use crate::Metric;
use crate::summary::Summary;
use std::collections::BTreeMap;
use std::fmt;

/// `META` key: whether the JVM had the options that exact numbers need.
pub const EXACT: &str = "exact";

/// `META` key: the limits of all profiles that were recorded in the same way.
pub const LIMITS: &str = "limits";

/// Whether each number is the one that single-stepping the same run would count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Exactness {
    /// All are exact.
    #[default]
    Yes,
    /// All but those that these texts name, with their number where it is known.
    Except(Vec<String>),
    /// Any number may be inexact, for these reasons.
    No(Vec<String>),
}

/// Parts of notes that make any number possibly inexact.
const SPOILING: [&str; 3] = [
    "not exact without ",
    "the JVM options that exact numbers need could not be looked up",
    "defects in the load-time library",
];

/// Parts of notes that name counts which are missing or are elsewhere in the tree. The other notes
/// are about names, markers, selections and the program's behaviour.
const EXCEPTING: [&str; 18] = [
    "missing from the tree",
    "class files that cannot be read stayed",
    "classes stayed as they are because of",
    "methods too large for this rule of basic blocks, counted by default blocks",
    "methods too large to count their bytecodes",
    "methods too large to be instrumented",
    "code that the JVM calls by itself may hang below another call site of its caller",
    "objects that merged contexts made are not counted",
    "columns of merged contexts are not counted",
    "entries of new threads were not recorded",
    "regions of threads were not recorded",
    "contexts that came up later were merged",
    "this was recovered from its memory",
    "a snapshot of a JVM that went on",
    "call sites are kept separate, but not in other profiles",
    "what agents change is not rewritten",
    "classes that agents were shown in their rewritten form",
    "came from elsewhere than the profiled JDK",
];

/// Parts of notes of earlier versions, with the meaning of [`EXCEPTING`].
const EARLIER: [&str; 1] = ["call sites are told apart, and in other profiles not"];

/// Beginnings of limits and notes, each with a short form that names what is not exact.
const SHORT: [(&str, &str); 5] = [
    (
        "virtual calls of Object.clone are not counted, nor super calls of Object.clone and \
         Object.hashCode",
        "some uncounted calls of Object.clone and Object.hashCode",
    ),
    (
        "calls of intrinsics by reflection, method handles and classes that were not rewritten are \
         not counted",
        "some uncounted calls of intrinsics and String.equals",
    ),
    (
        "objects that the JVM or native code allocates are not counted",
        "uncounted objects of the JVM and of native code",
    ),
    (
        "methods that the JVM calls are below the last stored context",
        "methods that the JVM calls are in wrong places",
    ),
    ("natives have no contexts, and their callbacks", "natives have no contexts"),
];

/// `META` key: the rule by which bytecodes are counted.
const BLOCKS: &str = "blocks";

impl Exactness {
    /// The exactness of a profile; `None` if it does not say how it was recorded, as in lists of
    /// other tools.
    pub fn of(
        meta: &BTreeMap<String, String>,
        notes: &[String],
        is_damaged: bool,
        metric: Metric,
    ) -> Option<Exactness> {
        let has_options = meta.get(EXACT)?;
        let with = |parts: &'static [&str]| {
            let names = move |note: &&String| parts.iter().any(|part| note.contains(part));
            notes.iter().filter(names).map(|note| summarised(note))
        };
        let mut reasons: Vec<String> = with(&SPOILING).collect();
        if has_options != "yes" && reasons.is_empty() {
            reasons.push("a JVM option that exact numbers need is missing".to_owned());
        }
        if is_damaged {
            reasons.push("a part of the profile is missing".to_owned());
        }
        if matches!(metric, Metric::Bytecodes | Metric::Cost(_)) {
            reasons.extend(meta.get(BLOCKS).and_then(|rule| counts_too_much(rule)));
        }
        if !reasons.is_empty() {
            return Some(Exactness::No(reasons));
        }
        let column = match metric {
            Metric::Column(unit) => cct_columns::Column::named(unit.name()),
            _ => None,
        };
        let limits = meta.get(LIMITS).map_or("", |limits| limits);
        let limits = limits.split(" | ").flat_map(|all| all.split("; "));
        let mut exceptions: Vec<String> =
            limits.map(str::trim).filter(|limit| !limit.is_empty()).map(str::to_owned).collect();
        exceptions.extend(column.map(|column| column.limits().to_owned()));
        exceptions.extend(with(&EXCEPTING));
        exceptions.extend(with(&EARLIER));
        exceptions.dedup();
        Some(if exceptions.is_empty() { Exactness::Yes } else { Exactness::Except(exceptions) })
    }

    /// The exactness of the profile of a summary.
    pub fn of_summary(summary: &Summary) -> Option<Exactness> {
        Exactness::of(&summary.meta, &summary.notes, !summary.damage.is_empty(), summary.metric())
    }

    /// The combined exactness: the worse verdict, with the reasons of each once.
    #[must_use]
    pub fn and(self, other: Exactness) -> Exactness {
        let joined = |mut reasons: Vec<String>, more: Vec<String>| {
            for reason in more {
                if !reasons.contains(&reason) {
                    reasons.push(reason);
                }
            }
            reasons
        };
        match (self, other) {
            (Exactness::No(a), Exactness::No(b)) => Exactness::No(joined(a, b)),
            (Exactness::No(a), _) | (_, Exactness::No(a)) => Exactness::No(a),
            (Exactness::Except(a), Exactness::Except(b)) => Exactness::Except(joined(a, b)),
            (Exactness::Except(a), Exactness::Yes) | (Exactness::Yes, Exactness::Except(a)) => {
                Exactness::Except(a)
            }
            (Exactness::Yes, Exactness::Yes) => Exactness::Yes,
        }
    }

    /// The verdict without its reasons, for programs: `yes`, `yes-except` or `no`.
    pub fn verdict(&self) -> &'static str {
        match self {
            Exactness::Yes => "yes",
            Exactness::Except(_) => "yes-except",
            Exactness::No(_) => "no",
        }
    }

    /// The verdict in one short line: every exception and reason is there, those that many profiles
    /// have in few words.
    pub fn short(&self) -> String {
        let reasons = self.reasons().iter().map(|reason| {
            let known = SHORT.iter().find(|(begin, _)| reason.starts_with(begin));
            known.map_or(&**reason, |(_, short)| short)
        });
        self.with_reasons(&reasons.collect::<Vec<_>>())
    }

    /// Whether the verdict says what a note says.
    pub fn names(&self, note: &str) -> bool {
        self.reasons().contains(&summarised(note))
    }

    fn with_reasons(&self, reasons: &[&str]) -> String {
        let begin = match self {
            Exactness::Yes => return "yes".to_owned(),
            Exactness::Except(_) => "yes, except: ",
            Exactness::No(_) => "no: ",
        };
        format!("{begin}{}", reasons.join("; "))
    }

    /// The exceptions or the reasons.
    pub fn reasons(&self) -> &[String] {
        match self {
            Exactness::Yes => &[],
            Exactness::Except(reasons) | Exactness::No(reasons) => reasons,
        }
    }
}

impl fmt::Display for Exactness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reasons: Vec<&str> = self.reasons().iter().map(String::as_str).collect();
        f.write_str(&self.with_reasons(&reasons))
    }
}

/// Why bytecodes counted by this rule are not exact; `None` where they are.
fn counts_too_much(rule: &str) -> Option<String> {
    match rule {
        "exact" | "precise" | "none" => None,
        "default" => Some("default blocks: a block that an exception leaves counts as a whole".to_owned()),
        table => Some(format!("blocks by the table {table}: a block counts as a whole")),
    }
}

/// A note without the names that it lists and without the verdict: `what: 3` for
/// `what: 3 (a, b, c)`.
fn summarised(note: &str) -> String {
    const MISSING: &str = " missing from the tree";
    if let Some(at) = note.find(MISSING) {
        return note[..at + MISSING.len()].to_owned();
    }
    let counted = note.match_indices(": ").find_map(|(at, colon)| {
        let (number, _) = note[at + colon.len()..].split_once(" (")?;
        number.parse::<u64>().ok()?;
        Some(&note[..at + colon.len() + number.len()])
    });
    let counted = counted.unwrap_or(note);
    counted.strip_prefix("not exact ").unwrap_or(counted).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exactness(meta: &[(&str, &str)], notes: &[&str]) -> String {
        let meta = meta.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
        let notes: Vec<String> = notes.iter().map(|&note| note.to_owned()).collect();
        let exactness = Exactness::of(&meta, &notes, false, Metric::Bytecodes);
        exactness.map_or("none".to_owned(), |exactness| exactness.to_string())
    }

    const YES: (&str, &str) = ("exact", "yes");

    #[test]
    fn the_verdict_agrees_with_rules_limits_and_notes() {
        assert_eq!(exactness(&[], &["anything"]), "none");
        assert_eq!(exactness(&[YES, ("blocks", "exact")], &["stack traces could be shorter"]), "yes");
        assert_eq!(
            exactness(&[YES, ("limits", "Object.clone is not counted; nor are natives")], &[]),
            "yes, except: Object.clone is not counted; nor are natives"
        );
        let notes = [
            "methods too large for this rule of basic blocks, counted by default blocks: 3 (a, b (c), ...)",
            "12 classes were not rewritten and are missing from the tree: a, b, ...",
            "memory for the trees ran out: 5 entries of new threads were not recorded",
        ];
        assert_eq!(
            exactness(&[YES, ("blocks", "exact")], &notes),
            "yes, except: methods too large for this rule of basic blocks, counted by default blocks: 3; \
             12 classes were not rewritten and are missing from the tree; \
             memory for the trees ran out: 5 entries of new threads were not recorded"
        );
        let note = "not exact without -XX:-EliminateAutoBox: C2 leaves out boxing";
        assert_eq!(
            exactness(&[("exact", "no"), ("limits", "x")], &[notes[1], note]),
            "no: without -XX:-EliminateAutoBox: C2 leaves out boxing"
        );
        let earlier = "a.cct: call sites are told apart, and in other profiles not: they are added up";
        assert_eq!(exactness(&[YES], &[earlier]), format!("yes, except: {earlier}"));
        assert_eq!(exactness(&[("exact", "no")], &[]), "no: a JVM option that exact numbers need is missing");
        let damaged = Exactness::of(
            &BTreeMap::from([YES].map(|(k, v)| (k.to_owned(), v.to_owned()))),
            &[],
            true,
            Metric::Calls,
        );
        assert_eq!(damaged.map(|damaged| damaged.verdict()), Some("no"));
    }

    #[test]
    fn rules_that_count_whole_blocks_are_not_exact_unless_only_calls_are_counted() {
        let default = "no: default blocks: a block that an exception leaves counts as a whole";
        assert_eq!(exactness(&[YES, ("blocks", "default")], &[]), default);
        assert!(exactness(&[YES, ("blocks", "mine@12")], &[]).starts_with("no: blocks by the table mine@12"));
        assert_eq!(exactness(&[YES, ("blocks", "precise")], &[]), "yes");
        let meta = [YES, ("blocks", "default")].map(|(key, value)| (key.to_owned(), value.to_owned()));
        let of_calls = Exactness::of(&BTreeMap::from(meta), &[], false, Metric::Calls);
        assert_eq!(of_calls, Some(Exactness::Yes));
    }

    #[test]
    fn the_short_verdict_names_everything() {
        let (clone, short) = SHORT[0];
        let limits = format!("{clone} in classes that are loaded before their superclasses; other");
        let meta = BTreeMap::from([("exact", "yes"), (LIMITS, &limits)].map(|(k, v)| (k.into(), v.into())));
        let notes = ["12 classes were not rewritten and are missing from the tree: a, b, ...".to_owned()];
        let exactness = Exactness::of(&meta, &notes, false, Metric::Calls).expect("a verdict");
        assert_eq!(
            exactness.short(),
            format!(
                "yes, except: {short}; other; 12 classes were not rewritten and are missing from the tree"
            )
        );
        assert!(exactness.names(&notes[0]));
        assert!(!exactness.names("stack traces could be shorter"));
        assert_eq!(Exactness::Yes.short(), "yes");
        assert_eq!(Exactness::No(vec!["a".to_owned()]).short(), "no: a");
    }

    /// Fails when a note is reworded and this table is not.
    #[test]
    fn the_notes_are_those_that_are_written() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let folders = ["jdk-wrap/java/cctrewrite/runtime", "crates/loadtime/src", "crates/arena/src"];
        let files = folders.iter().flat_map(|folder| std::fs::read_dir(root.join(folder)).expect("a folder"));
        let files = files.map(|file| file.expect("an entry").path()).filter(|path| path.is_file());
        let files = files.chain([root.join("crates/profile/src/merger.rs")]);
        let all: String = files.map(|path| std::fs::read_to_string(path).expect("text")).collect();
        // A text may continue on the next line.
        let all: String = all.split("\\\n").map(str::trim_start).collect();
        // Java joins a text over lines by `+`.
        let java: String = all.split('"').filter(|part| part.trim() != "+").collect();
        for (begin, _) in &SHORT {
            assert!(java.contains(begin), "nobody writes a limit that begins with `{begin}`");
        }
        for part in SPOILING.iter().chain(&EXCEPTING) {
            assert!(java.contains(part), "nobody writes a note with `{part}`");
        }
    }

    #[test]
    fn of_two_the_worse_one_counts() {
        let (a, b) = (vec!["a".to_owned()], vec!["a".to_owned(), "b".to_owned()]);
        let except = |reasons: &[String]| Exactness::Except(reasons.to_vec());
        assert_eq!(except(&a).and(Exactness::Yes), except(&a));
        assert_eq!(except(&a).and(except(&b)), except(&b));
        assert_eq!(except(&b).and(Exactness::No(a.clone())), Exactness::No(a));
    }
}
