//! Profiles for tests: hand-written and random ones.

use crate::merge::{MergeOptions, Threads, merge};
use crate::meta_keys::CALL_SITES;
use crate::{Method, Profile, Site, ThreadTree, Tree, TreeBuilder};
use arbtest::arbitrary::{Result, Unstructured};

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

pub fn profile(methods: Vec<Method>, threads: Vec<ThreadTree>) -> Profile {
    Profile { methods, threads, ..Profile::default() }
}

/// A chain of `depth` contexts that alternate between two methods.
pub fn deep(depth: usize) -> Profile {
    let mut builder = TreeBuilder::new();
    for level in 0..depth {
        builder.enter((level % 2) as u32, 1, 2).expect("small");
    }
    profile(vec![method("A", "f", "()V"), method("A", "g", "()V")], vec![thread("main", builder.finish())])
}

/// Characters around `;` (0x3B), where paths and frames sort differently, and typical parts of
/// names.
const PIECES: [&str; 16] =
    ["a", "b", "$", "/", ".", ";", ":", "<", "(", ")", " ", "1", "$$Lambda$", "\n", "é", "/LambdaForm$MH"];

fn name(u: &mut Unstructured<'_>) -> Result<String> {
    (0..u.int_in_range(0..=4)?).map(|_| Ok(*u.choose(&PIECES)?)).collect()
}

/// A profile in canonical order, with names that are hard to sort.
pub fn random(u: &mut Unstructured<'_>) -> Result<Profile> {
    let mut p = Profile::default();
    for _ in 0..u.int_in_range(0..=2)? {
        p.meta.insert(name(u)?, name(u)?);
    }
    for _ in 0..u.int_in_range(0..=2)? {
        p.notes.push(name(u)?);
    }
    for _ in 0..u.int_in_range(1..=8)? {
        let (class, name, descriptor) = (name(u)?, name(u)?, name(u)?);
        let (mid, flags) = (u.int_in_range(0..=3)?, u.int_in_range(0..=1)?);
        p.methods.push(Method { mid, flags, ..method(&class, &name, &descriptor) });
    }
    for _ in 0..u.int_in_range(0..=3)? {
        let mut builder = TreeBuilder::with_root(u.int_in_range(0..=3)?, 0);
        for _ in 0..u.int_in_range(0..=40)? {
            if u.ratio(2, 5)? {
                builder.leave();
            } else {
                let method = u.choose_index(p.methods.len())? as u32;
                builder.enter(method, u.int_in_range(0..=300)?, u.int_in_range(0..=2)?).expect("small");
            }
        }
        let threads = u.int_in_range(0..=2)?;
        let flags = u.int_in_range(0..=3)?;
        p.threads.push(ThreadTree { name: name(u)?.into(), threads, flags, tree: builder.finish() });
    }
    let canonical = MergeOptions { threads: Threads::Apart, ..MergeOptions::default() };
    Ok(merge(&[&p], canonical).expect("small counts"))
}

/// The call sites of methods of [`random_split`]: none, two of one line, two of one index, one of
/// no known line.
const SITES: [Option<Site>; 6] = [
    None,
    Some(Site { bci: 3, line: 10 }),
    Some(Site { bci: 9, line: 10 }),
    Some(Site { bci: 9, line: 11 }),
    Some(Site { bci: 0, line: 0 }),
    Some(Site { bci: Site::LAST, line: u32::MAX }),
];

/// Two profiles of the same run, in canonical order: with and without call sites.
pub fn random_split(u: &mut Unstructured<'_>) -> Result<(Profile, Profile)> {
    let names = random(u)?;
    let at = |m: &Method| SITES.map(|site| Method { site, ..m.clone() });
    let mut split = Profile {
        methods: names.methods.iter().flat_map(at).collect(),
        threads: Vec::new(),
        ..names.clone()
    };
    let mut unsplit = Profile { threads: Vec::new(), ..names.clone() };
    for _ in 0..u.int_in_range(0..=3)? {
        let (mut with, mut without) = (TreeBuilder::new(), TreeBuilder::new());
        let mut depth = 0usize;
        for _ in 0..u.int_in_range(0..=40)? {
            if u.ratio(2, 5)? {
                with.leave();
                without.leave();
                depth = depth.saturating_sub(1);
                continue;
            }
            let method = u.choose_index(names.methods.len())?;
            let site = if depth == 0 { 0 } else { u.choose_index(SITES.len())? };
            let (calls, bytecodes) = (u.int_in_range(0..=300)?, u.int_in_range(0..=2)?);
            with.enter((method * SITES.len() + site) as u32, calls, bytecodes).expect("small");
            without.enter(method as u32, calls, bytecodes).expect("small");
            depth += 1;
        }
        let name = name(u)?;
        split.threads.push(thread(&name, with.finish()));
        unsplit.threads.push(thread(&name, without.finish()));
    }
    split.meta.insert(CALL_SITES.to_owned(), "yes".to_owned());
    let canonical = MergeOptions { threads: Threads::Apart, ..MergeOptions::default() };
    let canonical = |p: &Profile| merge(&[p], canonical).expect("small counts");
    Ok((canonical(&split), canonical(&unsplit)))
}
