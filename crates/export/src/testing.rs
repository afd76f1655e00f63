//! Profiles for tests, derived by hand, and random ones.

use crate::{ExportError, Options, Source};
use arbtest::arbitrary::{Result, Unstructured};
use cct_profile::merge::{MergeOptions, Threads, merge};
use cct_profile::{Method, Profile, Site, ThreadTree, Tree, TreeBuilder};
use std::io::Write;

pub fn method(class: &str, name: &str, descriptor: &str) -> Method {
    Method {
        class: class.into(),
        name: name.into(),
        descriptor: descriptor.into(),
        site: None,
        mid: 0x80,
        flags: 0,
    }
}

/// A tree from `(depth, method, calls, bytecodes)` in preorder, depth 1 being below the root.
pub fn tree(nodes: &[(usize, u32, u64, u64)]) -> Tree {
    let mut builder = TreeBuilder::new();
    let mut current = 0;
    for &(depth, method, calls, bytecodes) in nodes {
        assert!((1..=current + 1).contains(&depth), "depth {depth} below {current}");
        (depth..=current).for_each(|_| builder.leave());
        builder.enter(method, calls, bytecodes).expect("small");
        current = depth;
    }
    builder.finish()
}

pub fn thread(name: &str, tree: Tree) -> ThreadTree {
    ThreadTree { name: name.into(), threads: 1, flags: ThreadTree::ENDED, tree }
}

/// The profile in canonical order.
pub fn profile(meta: &[(&str, &str)], methods: Vec<Method>, threads: Vec<ThreadTree>) -> Profile {
    let meta = meta.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    let profile = Profile { meta, methods, threads, ..Profile::default() };
    merge(&[&profile], MergeOptions { threads: Threads::Apart, ..MergeOptions::default() }).expect("small")
}

/// `main` with direct recursion of `f` and indirect recursion of `f` and `g`; without its second
/// thread.
pub fn single() -> Profile {
    let mut profile = recursion();
    profile.threads.pop();
    profile
}

/// ```text
/// main:        main(1, 100)            calls and bytecodes of the context itself
///                f(2, 20)
///                  f(3, 7)
///                    g(1, 5)
///                g(2, 4)
///                  f(1, 30)
/// work;er:     g(6, 11)
///                n(9, 0)               a native method
/// ```
pub fn recursion() -> Profile {
    let methods = vec![
        method("a/A", "f", "(I)V"),
        method("a/A", "g", "(Lx/B;)I"),
        method("a/A", "main", "([Ljava/lang/String;)V"),
        method("a/A", "n", "()V"),
    ];
    let main = [(1, 2, 1, 100), (2, 0, 2, 20), (3, 0, 3, 7), (4, 1, 1, 5), (2, 1, 2, 4), (3, 0, 1, 30)];
    let worker = [(1, 1, 6, 11), (2, 3, 9, 0)];
    let threads = vec![thread("main", tree(&main)), thread("work;er", tree(&worker))];
    profile(&[("main", "a.A"), ("metrics", "calls+bytecodes")], methods, threads)
}

/// `main` calls `f` from two places of line 10 and from line 12, and a native method, which calls
/// `f`; `f` calls itself.
/// ```text
/// main(1, 100)
///   f(2, 20)     from 3, line 10
///     f(3, 30)   from 8, line 20
///   f(4, 40)     from 9, line 10
///   f(5, 50)     from 15, line 12
///   n(6, 0)      from 20, no line is known
///     f(7, 70)
/// ```
pub fn split() -> Profile {
    let at = |bci, line| Method { site: Some(Site { bci, line }), ..method("a/A", "f", "(I)V") };
    let native = Method { flags: Method::NATIVE, ..method("a/A", "n", "()V") };
    let methods = vec![
        method("a/A", "f", "(I)V"),
        at(3, 10),
        at(8, 20),
        at(9, 10),
        at(15, 12),
        method("a/A", "main", "([Ljava/lang/String;)V"),
        Method { site: Some(Site { bci: 20, line: 0 }), ..native },
    ];
    let main = [
        (1, 5, 1, 100),
        (2, 1, 2, 20),
        (3, 2, 3, 30),
        (2, 3, 4, 40),
        (2, 4, 5, 50),
        (2, 6, 6, 0),
        (3, 0, 7, 70),
    ];
    let meta = [("call-sites", "yes"), ("main", "a.A"), ("metrics", "calls+bytecodes")];
    profile(&meta, methods, vec![thread("main", tree(&main))])
}

pub fn source(profile: Profile, options: &Options) -> Source {
    Source::new(profile, options).expect("small")
}

pub fn exported(
    source: &Source,
    write: impl FnOnce(&Source, &mut dyn Write) -> std::result::Result<(), ExportError>,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(source, &mut bytes).expect("memory takes all");
    bytes
}

/// Characters that separate, quote or end something in one of the formats, and typical parts of
/// names.
const PIECES: [&str; 20] = [
    "a",
    "b",
    "$",
    "/",
    ".",
    ";",
    ":",
    "<",
    "&",
    "\"",
    "(",
    ")",
    " ",
    "1",
    "$$Lambda$",
    "\n",
    "é",
    "\u{FFFF}",
    "# ",
    "_[k]",
];

fn text(u: &mut Unstructured<'_>) -> Result<String> {
    (0..u.int_in_range(0..=4)?).map(|_| Ok(*u.choose(&PIECES)?)).collect()
}

/// A profile with names that are hard to write.
pub fn random(u: &mut Unstructured<'_>) -> Result<Profile> {
    let metrics = if u.ratio(1, 5)? { "calls" } else { "calls+bytecodes" };
    let program = text(u)?;
    let mut methods = Vec::new();
    for _ in 0..u.int_in_range(1..=8)? {
        let (class, name, descriptor) = (text(u)?, text(u)?, text(u)?);
        let flags = if u.ratio(1, 8)? { Method::MARKER } else { 0 };
        methods.push(Method { mid: u.int_in_range(0..=3)?, flags, ..method(&class, &name, &descriptor) });
    }
    methods.sort();
    methods.dedup_by(|a, b| {
        (&a.class, &a.name, &a.descriptor, a.mid) == (&b.class, &b.name, &b.descriptor, b.mid)
    });
    let mut threads = Vec::new();
    for _ in 0..u.int_in_range(0..=3)? {
        let mut builder = TreeBuilder::new();
        for _ in 0..u.int_in_range(0..=40)? {
            if u.ratio(2, 5)? {
                builder.leave();
            } else {
                let method = u.choose_index(methods.len())? as u32;
                let bytecodes = if metrics == "calls" { 0 } else { u.int_in_range(0..=300)? };
                builder.enter(method, u.int_in_range(0..=3)?, bytecodes).expect("small");
            }
        }
        threads.push(thread(&text(u)?, builder.finish()));
    }
    Ok(profile(&[("main", &program), ("metrics", metrics)], methods, threads))
}
