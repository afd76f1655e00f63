//! The summary of a profile, which `info` shows and every report has in its header.

use crate::allocations::ObjectTotals;
use crate::library::is_library_line;
use crate::{Damage, Method, Metric, Profile, ThreadTree, Tree, Unit};
use std::collections::BTreeMap;

/// The summary of a profile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// How the numbers were recorded (`META`, keys in `docs/reference/formats/profile.md`).
    pub meta: BTreeMap<String, String>,
    /// Notes for the reader of the numbers.
    pub notes: Vec<String>,
    /// The missing parts of the file.
    pub damage: Vec<Damage>,
    /// Whether bytecodes were counted.
    pub counts_bytecodes: bool,
    /// Whether objects are the only counts: they replace the calls.
    pub is_of_objects: bool,
    /// Objects, where they were counted besides calls.
    pub objects: Option<ObjectTotals>,
    /// The columns besides calls and bytecodes, each with its sum.
    pub columns: Vec<(Unit, u128)>,
    /// Whether call sites are distinguished.
    pub call_sites: bool,
    /// Number of methods, each counted once, for all of its call sites.
    pub methods: u64,
    /// Number of native methods among them.
    pub native_methods: u64,
    /// Number of methods with unknown names among them.
    pub unknown_methods: u64,
    /// The trees.
    pub trees: Vec<TreeSummary>,
    /// The total over all trees; the depth is the maximum.
    pub all: Extent,
    /// Calls of markers, that is, of contexts that are missing from the trees, by the marker's
    /// text.
    pub markers: BTreeMap<String, u128>,
}

/// The summary of a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeSummary {
    /// The thread's name.
    pub name: String,
    /// Number of threads that it has served.
    pub threads: u64,
    /// Whether all of its threads have ended.
    pub ended: bool,
    /// Whether its threads are daemons.
    pub daemon: bool,
    /// The tree's size.
    pub extent: Extent,
}

/// The size of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Number of contexts.
    pub contexts: u128,
    /// Sum of all calls.
    pub calls: u128,
    /// Sum of all bytecodes.
    pub bytecodes: u128,
    /// Number of frames of the longest path.
    pub depth: u64,
    /// Sum of the depths of all contexts.
    pub depths: u128,
    /// Number of contexts without callees.
    pub leaves: u128,
}

impl Extent {
    /// The size of a tree. The outermost frame has depth 1.
    pub fn of(tree: &Tree) -> Extent {
        let mut extent = Extent::default();
        let mut open: Vec<u32> = Vec::new();
        for (index, node) in (0u32..).zip(tree.nodes()).skip(1) {
            while open.pop_if(|end| *end <= index).is_some() {}
            let end = tree.subtree(index).end;
            open.push(end);
            extent.contexts += 1;
            extent.calls += u128::from(node.calls);
            extent.bytecodes += u128::from(node.bytecodes);
            extent.depth = extent.depth.max(open.len() as u64);
            extent.depths += open.len() as u128;
            extent.leaves += u128::from(end == index + 1);
        }
        extent
    }

    /// The sum of two sizes; its depth is the larger one.
    #[must_use]
    pub fn and(self, other: Extent) -> Extent {
        Extent {
            contexts: self.contexts + other.contexts,
            calls: self.calls + other.calls,
            bytecodes: self.bytecodes + other.bytecodes,
            depth: self.depth.max(other.depth),
            depths: self.depths + other.depths,
            leaves: self.leaves + other.leaves,
        }
    }

    /// The total of a metric.
    pub fn total(&self, metric: Metric) -> u128 {
        match metric {
            Metric::Calls | Metric::Allocations => self.calls,
            Metric::Bytecodes | Metric::Cost(_) | Metric::Column(_) => self.bytecodes,
        }
    }

    /// The average depth of contexts; 0 without contexts.
    pub fn average_depth(&self) -> f64 {
        if self.contexts == 0 { 0.0 } else { self.depths as f64 / self.contexts as f64 }
    }
}

impl Summary {
    /// Summarises a profile.
    pub fn of(profile: &Profile) -> Summary {
        let objects = profile.object_totals().filter(|_| !profile.is_of_objects());
        if objects.is_some()
            && let Ok(contexts) = profile.clone().without_allocations()
        {
            return Summary { objects, ..Summary::of(&contexts) };
        }
        let mut methods: Vec<(Key<'_>, u64)> = profile.methods.iter().map(|m| (key(m), m.flags)).collect();
        if profile.has_call_sites() {
            methods.sort_unstable();
            methods.dedup_by_key(|(key, _)| *key);
        }
        let with = |flag: u64| methods.iter().filter(|(_, flags)| flags & flag != 0).count() as u64;
        let trees: Vec<TreeSummary> = profile.threads.iter().map(tree_summary).collect();
        Summary {
            meta: profile.meta.clone(),
            notes: profile.notes.clone(),
            damage: profile.damage.clone(),
            counts_bytecodes: profile.counts_bytecodes(),
            is_of_objects: profile.is_of_objects(),
            objects: None,
            columns: profile.column_totals(),
            call_sites: profile.tells_call_sites(),
            methods: methods.len() as u64 - with(Method::MARKER) - with(Method::TYPE),
            native_methods: with(Method::NATIVE),
            unknown_methods: with(Method::UNKNOWN),
            all: trees.iter().fold(Extent::default(), |all, tree| all.and(tree.extent)),
            trees,
            markers: markers(profile),
        }
    }

    /// The default metric of the profile.
    pub fn metric(&self) -> Metric {
        Metric::of_meta(self.meta.get("metrics").map(String::as_str))
    }

    /// Whether contexts are missing: the file was truncated, memory for the trees ran out, or a
    /// bound on contexts was reached.
    pub fn is_incomplete(&self) -> bool {
        !self.damage.is_empty() || !self.markers.is_empty()
    }

    /// Number of threads that the trees have served.
    pub fn threads(&self) -> u128 {
        self.trees.iter().map(|tree| u128::from(tree.threads)).sum()
    }

    /// Number of trees of threads that had not all ended.
    pub fn not_ended(&self) -> usize {
        self.trees.iter().filter(|tree| !tree.ended).count()
    }
}

/// The identity of a method, without its call site.
type Key<'p> = (&'p str, &'p str, &'p str, u64);

fn key(method: &Method) -> Key<'_> {
    (&method.class, &method.name, &method.descriptor, method.mid)
}

fn tree_summary(thread: &ThreadTree) -> TreeSummary {
    TreeSummary {
        name: thread.name.to_string(),
        threads: thread.threads,
        ended: thread.flags & ThreadTree::ENDED != 0,
        daemon: thread.flags & ThreadTree::DAEMON != 0,
        extent: Extent::of(&thread.tree),
    }
}

fn markers(profile: &Profile) -> BTreeMap<String, u128> {
    let is_marker = |method: &Method| method.flags & Method::MARKER != 0 && !is_library_line(method);
    let is_marker: Vec<bool> = profile.methods.iter().map(is_marker).collect();
    let mut markers = BTreeMap::new();
    if !is_marker.contains(&true) {
        return markers;
    }
    for node in profile.threads.iter().flat_map(|thread| &thread.tree.nodes()[1..]) {
        if is_marker.get(node.method as usize) == Some(&true) && node.calls | node.bytecodes != 0 {
            let text = profile.methods[node.method as usize].class.to_string();
            *markers.entry(text).or_default() += u128::from(node.calls);
        }
    }
    markers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{deep, method, profile, thread, tree};

    #[test]
    fn a_profile_in_numbers() {
        let methods = vec![
            method("A", "f", "()V"),
            Method { flags: Method::NATIVE, ..method("A", "n", "()V") },
            Method { flags: Method::MARKER, ..method("[merged]", "", "") },
            Method { flags: Method::UNKNOWN, ..method("?", "12", "") },
        ];
        // Depths 1, 2, 3, 2, 1; three of these have no callees.
        let main = tree(&[(1, 0, 1, 10), (2, 0, 2, 20), (3, 1, 3, 0), (2, 3, 4, 40), (1, 2, 5, 0)]);
        let other =
            ThreadTree { flags: ThreadTree::DAEMON, threads: 3, ..thread("w", tree(&[(1, 0, 1, 1)])) };
        let summary = Summary::of(&profile(methods, vec![thread("main", main), other]));
        assert_eq!((summary.methods, summary.native_methods, summary.unknown_methods), (3, 1, 1));
        let of_main = Extent { contexts: 5, calls: 15, bytecodes: 70, depth: 3, depths: 9, leaves: 3 };
        assert_eq!(summary.trees[0].extent, of_main);
        assert!((summary.trees[0].extent.average_depth() - 1.8).abs() < 1e-12);
        let all = Extent { contexts: 6, calls: 16, bytecodes: 71, depth: 3, depths: 10, leaves: 4 };
        assert_eq!(summary.all, all);
        assert_eq!((summary.threads(), summary.not_ended()), (4, 1));
        assert_eq!(summary.markers, BTreeMap::from([("[merged]".to_owned(), 5)]));
        assert!(summary.is_incomplete() && !Summary::of(&deep(3)).is_incomplete());
    }

    #[test]
    fn deep_trees_have_their_depth() {
        let extent = Summary::of(&deep(100_000)).all;
        assert_eq!((extent.depth, extent.leaves, extent.depths), (100_000, 1, 5_000_050_000));
        assert_eq!(Extent::default().average_depth().to_bits(), 0f64.to_bits());
    }
}
