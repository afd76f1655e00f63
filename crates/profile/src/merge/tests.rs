use super::*;
use crate::Method;
use crate::testing::{deep, method, profile, random, thread, tree};
use std::collections::BTreeMap;

/// Counts by thread and path, computed naively: with recursion on strings.
fn paths(p: &Profile, with_mid: bool) -> BTreeMap<Vec<String>, (u64, u64)> {
    let mut sums = BTreeMap::new();
    for thread in &p.threads {
        let mut path = vec![(0, thread.name.to_string())];
        for (index, node) in (0u32..).zip(thread.tree.nodes()).skip(1) {
            while path.last().is_some_and(|&(end, _)| end != 0 && end <= index) {
                path.pop();
            }
            let m = &p.methods[node.method as usize];
            let mid = if with_mid { m.mid } else { 0 };
            path.push((
                thread.tree.subtree(index).end,
                format!("{}|{}|{}|{mid}", m.class, m.name, m.descriptor),
            ));
            let sum: &mut (u64, u64) = sums.entry(path.iter().map(|(_, s)| s.clone()).collect()).or_default();
            sum.0 += node.calls;
            sum.1 += node.bytecodes;
        }
    }
    sums
}

fn added(profiles: &[&Profile], with_mid: bool) -> BTreeMap<Vec<String>, (u64, u64)> {
    let mut all: BTreeMap<Vec<String>, (u64, u64)> = BTreeMap::new();
    for (path, (calls, bytecodes)) in profiles.iter().flat_map(|p| paths(p, with_mid)) {
        let sum = all.entry(path).or_default();
        sum.0 += calls;
        sum.1 += bytecodes;
    }
    all
}

#[test]
fn merging_is_adding_up_paths() {
    arbtest::arbtest(|u| {
        let (mut a, mut b) = (random(u)?, random(u)?);
        a.meta.clear();
        b.meta.clear();
        for bodies in [Bodies::Apart, Bodies::Together] {
            let options = MergeOptions { threads: Threads::ByName, bodies };
            let merged = merge(&[&a, &b], options).expect("small counts");
            let with_mid = bodies == Bodies::Apart;
            let sums = added(&[&a, &b], with_mid);
            assert_eq!(paths(&merged, with_mid), sums);
            assert_eq!(merged.contexts(), sums.len(), "every path once");
            assert_eq!(merge(&[&b, &a], options).expect("small counts"), merged, "in any order");
            merged.to_bytes().expect("canonical");
        }
        Ok(())
    });
}

#[test]
fn threads_are_added_up_as_asked() {
    let methods = || vec![method("A", "f", "()V")];
    let count = |calls| tree(&[(1, 0, calls, 10)]);
    let a = profile(
        methods(),
        vec![thread("main", count(1)), thread("pool", count(2)), thread("pool", count(3))],
    );
    let calls = |threads| -> Vec<(String, u64, u64)> {
        let merged = merge(&[&a, &a], MergeOptions { threads, ..MergeOptions::default() }).expect("small");
        let of = |t: &ThreadTree| (t.name.to_string(), t.threads, t.tree.nodes()[1].calls);
        merged.threads.iter().map(of).collect()
    };
    assert_eq!(calls(Threads::All), [(ALL_THREADS.to_owned(), 6, 12)]);
    assert_eq!(calls(Threads::ByName), [("main".to_owned(), 2, 2), ("pool".to_owned(), 4, 10)]);
    assert_eq!(calls(Threads::Apart).len(), 6);
    assert_eq!(calls(Threads::Apart)[3].2, 3, "trees of one name stay in their order");
    assert!(
        merge(&[], MergeOptions { threads: Threads::All, ..MergeOptions::default() })
            .expect("empty")
            .threads
            .is_empty()
    );
}

#[test]
fn flags_of_threads_hold_for_all() {
    let one = |flags| {
        let tree = ThreadTree { flags, ..thread("t", tree(&[])) };
        profile(Vec::new(), vec![tree])
    };
    let (ended, daemon) = (one(ThreadTree::ENDED | ThreadTree::DAEMON), one(ThreadTree::DAEMON));
    let merged = merge(&[&ended, &daemon], MergeOptions::default()).expect("small");
    assert_eq!(merged.threads[0].flags, ThreadTree::DAEMON);
}

#[test]
fn bodies_of_one_name_are_joined_when_asked() {
    let one = |mid, flags| {
        profile(
            vec![Method { mid, flags, ..method("A", "f", "()V") }],
            vec![thread("main", tree(&[(1, 0, 1, 1)]))],
        )
    };
    let (a, b) = (one(0x80, 0), one(0x100, Method::NATIVE));
    let apart = merge(&[&a, &b], MergeOptions::default()).expect("small");
    assert_eq!(apart.methods.iter().map(|m| m.mid).collect::<Vec<_>>(), [0x80, 0x100]);
    let options = MergeOptions { bodies: Bodies::Together, ..MergeOptions::default() };
    let together = merge(&[&a, &b], options).expect("small");
    assert_eq!(together.methods, [Method { mid: 0, flags: Method::NATIVE, ..method("A", "f", "()V") }]);
    assert_eq!(together.threads[0].tree, tree(&[(1, 0, 2, 2)]));
    assert_eq!(merge(&[&a, &a], options).expect("small").methods[0].mid, 0x80);
}

#[test]
fn metadata_are_kept_or_refused() {
    let with = |pairs: &[(&str, &str)], note: &str| {
        let mut p = profile(Vec::new(), Vec::new());
        p.meta = pairs.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
        p.notes.push(note.to_owned());
        p
    };
    let a = with(&[("main", "A"), ("metrics", "calls"), ("tool", "x 1")], "b");
    let b = with(&[("main", "B"), ("metrics", "calls")], "a");
    let merged = merge(&[&a, &b, &a], MergeOptions::default()).expect("compatible");
    assert_eq!(
        merged,
        Profile {
            notes: vec!["a".into(), "b".into()],
            ..with(&[("main", "A | B"), ("metrics", "calls"), ("tool", "x 1")], "")
        }
    );
    let (a1, b1) = (
        with(&[("exact", "yes"), ("provenance", "x\ny")], ""),
        with(&[("exact", "no"), ("provenance", "w\ny")], ""),
    );
    let merged = merge(&[&a1, &b1], MergeOptions::default()).expect("compatible");
    assert_eq!((&*merged.meta["exact"], &*merged.meta["provenance"]), ("no", "w\nx\ny"));
    let c = with(&[("metrics", "calls+bytecodes")], "");
    let refused = merge(&[&a, &c], MergeOptions::default());
    assert!(matches!(refused, Err(MergeError::Incompatible { key: "metrics", .. })), "{refused:?}");
    let [x, y] = ["x@1", "x@2"].map(|model| with(&[("metrics", "calls+cycles"), ("cost-model", model)], ""));
    let refused = merge(&[&x, &y], MergeOptions::default());
    assert!(matches!(refused, Err(MergeError::Incompatible { key: "cost-model", .. })), "{refused:?}");
}

#[test]
fn damage_becomes_a_note() {
    let bytes = deep(3).to_bytes().expect("canonical");
    let cut = Profile::read(&bytes[..bytes.len() - 1]).expect("sound up to the cut");
    let merged = merge(&[&cut], MergeOptions::default()).expect("small");
    assert!(merged.damage.is_empty());
    assert!(merged.notes[0].contains("truncated"), "{:?}", merged.notes);
}

#[test]
fn sums_that_do_not_fit_are_errors() {
    let p = profile(vec![method("A", "f", "")], vec![thread("main", tree(&[(1, 0, u64::MAX, 0)]))]);
    assert_eq!(merge(&[&p, &p], MergeOptions::default()), Err(MergeError::Overflow));
    let p = profile(Vec::new(), vec![thread("main", tree(&[(1, 0, 1, 0)]))]);
    assert_eq!(merge(&[&p], MergeOptions::default()), Err(MergeError::NoSuchMethod { method: 0, count: 0 }));
}

#[test]
fn deep_trees_are_merged() {
    let p = deep(100_000);
    let merged = merge(&[&p, &p], MergeOptions::default()).expect("small");
    assert_eq!(merged.contexts(), 100_000);
    assert_eq!(merged.threads[0].tree.nodes()[100_000].bytecodes, 4);
}
