//! Profiles for the tests of pages, derived by hand.

use std::fs;
use std::path::Path;

use cct_profile::merge::{MergeOptions, Threads, merge};
use cct_profile::{Method, Profile, Site, ThreadTree, Tree, TreeBuilder};

/// One context: depth (1 below the thread), method, calls, bytecodes.
pub type Node = (usize, u32, u64, u64);

/// A name that would be markup if it were not escaped. (A dot would end a class's name: the suffix
/// of hidden classes follows it.)
pub const EVIL: &str = "</script><img src=x onerror=\"harmed=3\">&lt;'";

/// A file with a name that would be markup.
pub const HARD: &str = "<img src=x onerror=\"harmed=4\">.cct";

const METHODS: [(&str, &str); 5] =
    [("hash", "()V"), ("main", "()V"), ("sort", "()V"), ("step", "()V"), ("walk", "(I)V")];

/// Contexts of `main`, with 340 bytecodes; `hash` has calls only.
const MAIN: [Node; 7] = [
    (1, 1, 1, 10),
    (2, 3, 10, 180),
    (2, 2, 2, 50),
    (2, 4, 1, 30),
    (3, 4, 2, 40),
    (4, 4, 4, 30),
    (5, 0, 500, 0),
];

/// Contexts of `main` before: `step` had less, `sort` more, and `main` called `hash`, which had
/// bytecodes.
pub const CHANGED: [Node; 8] = [
    (1, 1, 1, 10),
    (2, 3, 10, 130),
    (2, 2, 2, 80),
    (2, 4, 1, 30),
    (3, 4, 2, 40),
    (4, 4, 4, 30),
    (5, 0, 500, 0),
    (2, 0, 3, 20),
];

const WORKER: [Node; 2] = [(1, 3, 3, 45), (2, 2, 1, 15)];

pub fn tree(nodes: &[Node]) -> Tree {
    let mut tree = TreeBuilder::new();
    let mut current = 0;
    for &(depth, method, calls, bytecodes) in nodes {
        (depth..=current).for_each(|_| tree.leave());
        tree.enter(method, calls, bytecodes).unwrap();
        current = depth;
    }
    tree.finish()
}

fn method(class: &str, name: &str, descriptor: &str) -> Method {
    Method {
        class: class.into(),
        name: name.into(),
        descriptor: descriptor.into(),
        site: None,
        mid: 1,
        flags: 0,
    }
}

fn thread(name: &str, tree: Tree) -> ThreadTree {
    ThreadTree { name: name.into(), threads: 1, flags: ThreadTree::ENDED, tree }
}

/// Two threads, recursion of a method, a native method.
pub fn plain() -> Profile {
    Profile {
        methods: METHODS.iter().map(|(name, descriptor)| method("app/Main", name, descriptor)).collect(),
        threads: vec![thread("main", tree(&MAIN)), thread("worker", tree(&WORKER))],
        ..Profile::default()
    }
}

/// `main` calls `step` from two places; it calls `walk`, which calls itself; call sites are
/// distinguished.
pub fn split() -> Profile {
    let at =
        |name: &str, bci, line| Method { site: Some(Site { bci, line }), ..method("app/Main", name, "()V") };
    let methods = vec![
        method("app/Main", "main", "()V"),
        at("step", 4, 10),
        at("step", 9, 12),
        at("walk", 2, 20),
        at("walk", 7, 30),
        at("walk", 8, 30),
    ];
    let main = [
        (1, 0, 1, 10),
        (2, 1, 2, 20),
        (3, 3, 3, 30),
        (4, 4, 4, 40),
        (4, 5, 5, 50),
        (2, 2, 6, 60),
        (3, 3, 7, 70),
    ];
    let threads = vec![thread("main", tree(&main))];
    let meta = [("call-sites".to_owned(), "yes".to_owned())].into();
    Profile { meta, methods, threads, ..Profile::default() }
}

/// `main` sorts by a library that calls `compare` from two call sites, and a worker runs below the
/// library. The library's own counts are multiples of `factor`.
pub fn with_library(factor: u64) -> Profile {
    let at = |class: &str, name: &str, bci| Method {
        site: Some(Site { bci, line: bci as u32 + 10 }),
        ..method(class, name, "()V")
    };
    let methods = vec![
        at("app/Main", "compare", 3),
        at("app/Main", "compare", 9),
        method("app/Main", "main", "()V"),
        at("app/Main", "work", 5),
        at("java/lang/String", "length", 1),
        at("java/util/List", "sort", 4),
        method("java/lang/Thread", "run", "()V"),
        at("java/util/TimSort", "sort", 2),
    ];
    let main = [
        (1, 2, 1, 10),
        (2, 5, 1, 20 * factor),
        (3, 7, 1, 50 * factor),
        (4, 0, 7, 5),
        (5, 4, 14, 3 * factor),
        (4, 1, 2, 4),
    ];
    let worker = [(1, 6, 1, 0), (2, 3, 2, 6), (3, 0, 1, 100)];
    let threads = vec![thread("main", tree(&main)), thread("worker", tree(&worker))];
    let meta = [("call-sites".to_owned(), "yes".to_owned())].into();
    Profile { meta, methods, threads, ..Profile::default() }
}

/// Two threads with numbers of 15 digits, and a method that has grown from 1.
pub fn large(grown: u64) -> Profile {
    let most = 123_456_789_012_345;
    let main = [(1, 1, most / 3, most), (2, 3, most / 7, most * 2), (2, 2, 1, grown)];
    Profile { threads: vec![thread("main", tree(&main))], ..plain() }
}

/// Names that would be markup, in all places with names.
pub fn hostile() -> Profile {
    let names = [(EVIL, EVIL), ("<script>harmed=5</script>", "javascript:harmed=6")];
    let mut profile = Profile {
        methods: names.iter().map(|(class, name)| method(class, name, "()V")).collect(),
        threads: vec![thread(EVIL, tree(&[(1, 0, 1, 900), (2, 1, 2, 100)]))],
        notes: vec![EVIL.to_owned()],
        ..Profile::default()
    };
    for key in ["main", "java.vm.name", "tool", "limits", "provenance"] {
        profile.meta.insert(key.to_owned(), EVIL.to_owned());
    }
    profile
}

/// Two methods that call each other to this depth; the innermost has as many bytecodes.
pub fn deep(frames: usize) -> Profile {
    let bytecodes = |depth| if depth == frames { frames as u64 } else { 0 };
    let nodes: Vec<Node> =
        (1..=frames).map(|depth| (depth, (depth % 2) as u32, 1, bytecodes(depth))).collect();
    Profile {
        methods: vec![method("a/A", "f", "()V"), method("a/A", "g", "()V")],
        threads: vec![thread("main", tree(&nodes))],
        ..Profile::default()
    }
}

/// Writes the profile into a file, in canonical order.
pub fn write(path: &Path, profile: &Profile) {
    let options = MergeOptions { threads: Threads::Apart, ..MergeOptions::default() };
    let mut bytes = Vec::new();
    merge(&[profile], options).unwrap().write(&mut bytes).unwrap();
    fs::write(path, bytes).unwrap();
}
