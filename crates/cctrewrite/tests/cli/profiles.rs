//! Profiles for tests, as the runtime writes them.

use cct_profile::merge::{MergeOptions, Threads, merge};
use cct_profile::{Method, Profile, ThreadTree, TreeBuilder};

/// One context: depth (1 below the thread), position in [`METHODS`], calls, bytecodes.
pub type Node = (usize, u32, u64, u64);

pub const MAIN: u32 = 0;
pub const STEP: u32 = 1;
pub const LAMBDA: u32 = 2;
pub const CHAR_AT: u32 = 3;
pub const SORT: u32 = 4;
pub const HASH: u32 = 5;
pub const WALK: u32 = 6;

const METHODS: [(&str, &str, &str, u64); 7] = [
    ("app/Main", "main", "([Ljava/lang/String;)V", 0),
    ("app/Main", "step", "(I)J", 0),
    ("app/Main$$Lambda$7", "run", "()V", 0),
    ("java/lang/String", "charAt", "(I)C", 0),
    ("java/util/Arrays", "sort", "([Ljava/lang/Object;)V", 0),
    ("java/lang/Object", "hashCode", "()I", Method::NATIVE),
    ("app/tree/Node", "walk", "(Lapp/tree/Node;)V", 0),
];

/// `main` with a recursive `walk`, and `worker`.
pub const RUN: [Node; 8] = [
    (1, MAIN, 1, 120),
    (2, STEP, 1000, 9000),
    (3, CHAR_AT, 250, 1234),
    (2, WALK, 1, 30),
    (3, WALK, 2, 60),
    (4, WALK, 4, 80),
    (5, HASH, 4, 0),
    (2, SORT, 1, 400),
];
pub const WORKER: [Node; 3] = [(1, LAMBDA, 3, 33), (2, STEP, 3, 27), (3, HASH, 3, 0)];

fn tree(nodes: &[Node]) -> cct_profile::Tree {
    let mut tree = TreeBuilder::new();
    let mut current = 0;
    for &(depth, method, calls, bytecodes) in nodes {
        (depth..=current).for_each(|_| tree.leave());
        tree.enter(method, calls, bytecodes).unwrap();
        current = depth;
    }
    tree.finish()
}

/// A profile with these pairs of `META` besides the usual ones, and these threads.
pub fn profile(meta: &[(&str, &str)], threads: &[(&str, &[Node])]) -> Vec<u8> {
    let usual = [
        ("blocks", "default"),
        ("exact", "yes"),
        ("java.version", "25.0.1"),
        ("main", "app.Main"),
        ("metrics", "calls+bytecodes"),
    ];
    let thread = |&(name, nodes): &(&str, &[Node])| ThreadTree {
        name: name.into(),
        threads: 1,
        flags: if name == "main" { ThreadTree::ENDED } else { ThreadTree::DAEMON },
        tree: tree(nodes),
    };
    let profile = Profile {
        meta: usual.iter().chain(meta).map(|&(key, value)| (key.to_owned(), value.to_owned())).collect(),
        notes: Vec::new(),
        methods: (1..)
            .zip(METHODS)
            .map(|(mid, (class, name, descriptor, flags))| Method {
                class: class.into(),
                name: name.into(),
                descriptor: descriptor.into(),
                site: None,
                mid: mid << 7,
                flags,
            })
            .collect(),
        threads: threads.iter().map(thread).collect(),
        damage: Vec::new(),
    };
    let canonical = MergeOptions { threads: Threads::Apart, ..MergeOptions::default() };
    merge(&[&profile], canonical).unwrap().to_bytes().unwrap()
}

/// The usual profile.
pub fn usual() -> Vec<u8> {
    profile(&[], &[("main", &RUN), ("worker", &WORKER)])
}

/// The commands for profiles read the output of `run`, unless another file is named.
#[test]
fn the_profile_of_run_need_not_be_named() {
    let folder = super::support::scratch();
    let home = folder.path();
    super::support::put(home, "cctrewrite.cct", &usual());
    super::support::put(home, "base.cct", &usual());
    for (named, unnamed) in [
        (&["report", "cctrewrite.cct"][..], &["report"][..]),
        (&["info", "cctrewrite.cct"], &["info"]),
        (
            &["export", "cctrewrite.cct", "--format", "collapsed", "-o", "-"],
            &["export", "--format", "collapsed", "-o", "-"],
        ),
        (&["diff", "base.cct", "cctrewrite.cct"], &["diff", "base.cct"]),
    ] {
        let [named, unnamed] =
            [named, unnamed].map(|arguments| super::support::run(home, arguments).succeeds());
        assert_eq!(named.stdout, unnamed.stdout);
        assert!(!named.stdout.is_empty());
    }
}
