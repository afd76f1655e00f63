//! Differences of two recordings that make their counts differ even if the program does the same.

use super::{Input, Kind};
use crate::meta_keys::{COST_MODEL, LIBRARY, PROVENANCE, SELECTION};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A difference of how two profiles were recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// What differs, in words.
    pub what: &'static str,
    /// The value of A.
    pub a: String,
    /// The value of B.
    pub b: String,
}

/// Keys of `META` whose values change counts, each in words and with its value if it is missing.
/// Together they are the options of the recording.
const SETTINGS: [(&str, &str, &str); 10] = [
    ("blocks", "--blocks", "unknown"),
    (COST_MODEL, "--cost-model", "none"),
    ("identity", "--identity", "name"),
    ("intrinsics", "--intrinsics", "unknown"),
    ("max-contexts", "--max-contexts", "no bound"),
    ("natives", "--natives", "default"),
    ("recursion", "folded recursion", "none"),
    ("reproducible", "--reproducible", "no"),
    ("system-threads", "threads of the JVM", "recorded"),
    (LIBRARY, "the collapsed library", "none"),
];

/// Settings that change bytecodes, and no calls.
const OF_BYTECODES: [&str; 3] = ["blocks", COST_MODEL, "intrinsics"];

impl Mismatch {
    /// Whether the class libraries differ.
    pub fn is_of_jdks(&self) -> bool {
        self.what == JDK || self.what == CLASS_LIBRARY
    }
}

const JDK: &str = "the JDK";
const CLASS_LIBRARY: &str = "the class library";

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} and {})", self.what, self.a, self.b)
    }
}

/// The change of a total, in percent, that recordings of one version may show by chance: measured
/// for a small program with two worker threads (docs/use/diff.md). 0 if the inputs do not say how
/// they were recorded.
pub(super) fn noise_percent(a: &Input, b: &Input) -> u8 {
    let noise = |input: &Input| match input.profile.meta.get("reproducible").map(String::as_str) {
        None => 0,
        Some("yes") => 3,
        Some(_) => 10,
    };
    noise(a).max(noise(b))
}

/// The mismatches of two inputs, those of JDKs first. A list without a header says nothing.
pub(super) fn mismatches(a: &Input, b: &Input, calls_only: bool) -> Vec<Mismatch> {
    if is_bare(a) || is_bare(b) {
        return Vec::new();
    }
    of_meta(&a.profile.meta, &b.profile.meta, calls_only)
}

/// Whether it is a list of another tool, which has only the key that was derived from its columns.
pub(super) fn is_bare(input: &Input) -> bool {
    input.kind == Kind::List && input.profile.meta.keys().all(|key| key == "metrics")
}

fn of_meta(a: &BTreeMap<String, String>, b: &BTreeMap<String, String>, calls_only: bool) -> Vec<Mismatch> {
    let mut found = Vec::new();
    let version = |meta: &BTreeMap<String, String>| meta.get("java.version").cloned();
    let (library_a, library_b) = (class_libraries(a), class_libraries(b));
    if let (Some(a), Some(b)) = (version(a), version(b))
        && a != b
    {
        found.push(Mismatch { what: JDK, a, b });
    } else if !library_a.is_empty() && !library_b.is_empty() && library_a != library_b {
        let [a, b] = [library_a, library_b].map(|all| all.into_iter().collect::<Vec<_>>().join(" "));
        found.push(Mismatch { what: CLASS_LIBRARY, a, b });
    }
    let either = |key: &str| a.contains_key(key) || b.contains_key(key);
    for (key, what, missing) in SETTINGS {
        let value = |meta: &BTreeMap<String, String>| meta.get(key).map_or(missing, |value| value).to_owned();
        let matters = !(calls_only && OF_BYTECODES.contains(&key));
        if matters && either(key) && value(a) != value(b) {
            found.push(Mismatch { what, a: value(a), b: value(b) });
        }
    }
    let part =
        |meta: &BTreeMap<String, String>| meta.get(SELECTION).map_or("everything", |part| part).to_owned();
    if part(a) != part(b) {
        found.push(Mismatch { what: "the recorded part", a: part(a), b: part(b) });
    }
    found
}

/// The hashes of the class libraries that took part.
fn class_libraries(meta: &BTreeMap<String, String>) -> BTreeSet<&str> {
    let words = meta.get(PROVENANCE).map_or("", |lines| lines).split_whitespace();
    words.filter_map(|word| word.strip_prefix("jdk=")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(a: &[(&str, &str)], b: &[(&str, &str)], calls_only: bool) -> Vec<String> {
        let meta = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect()
        };
        of_meta(&meta(a), &meta(b), calls_only).iter().map(Mismatch::to_string).collect()
    }

    #[test]
    fn jdks_are_compared_by_version_then_by_class_library() {
        let a = [("java.version", "17.0.1"), ("provenance", "rt.jar jdk=aa x=1\napp.jar jdk=aa")];
        let b = [("java.version", "25"), ("provenance", "rt.jar jdk=bb")];
        assert_eq!(shown(&a, &b, false), ["the JDK (17.0.1 and 25)"]);
        let patched = [("java.version", "17.0.1"), ("provenance", "rt.jar jdk=bb")];
        assert_eq!(shown(&a, &patched, true), ["the class library (aa and bb)"]);
        assert_eq!(shown(&a, &a, false), [""; 0]);
        assert_eq!(shown(&a, &[("java.version", "17.0.1")], false), [""; 0]);
    }

    #[test]
    fn settings_that_change_counts_are_compared() {
        let a = [("blocks", "exact"), ("reproducible", "yes"), ("main", "A")];
        let b = [("blocks", "default"), ("main", "B"), ("selection", "only x")];
        let expected = [
            "--blocks (exact and default)",
            "--reproducible (yes and no)",
            "the recorded part (everything and only x)",
        ];
        assert_eq!(shown(&a, &b, false), expected);
        assert_eq!(shown(&a, &b, true), expected[1..]);
    }
}
