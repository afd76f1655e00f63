//! Recursion that is folded while the program runs (`-Dcctrewrite.recursion`): the tree equals the
//! folded whole tree.

use std::collections::BTreeMap;

use crate::support::{Blocks, Jdk, Run, fixture, jdks, profiled};

/// Calls and bytecodes by path.
type Tree = BTreeMap<Vec<String>, (u64, u64)>;

/// Programs that recurse, are called by natives and the JVM, and load classes meanwhile.
const PROGRAMS: [&str; 5] = ["recursion", "causes", "lambdas", "natives", "folds"];

fn run(jdk: &'static Jdk, blocks: Blocks, name: &str, recursion: &str) -> Run {
    let mut java = profiled(jdk, blocks, name);
    java.option(format!("-Dcctrewrite.recursion={recursion}"));
    let main = format!("{}{}", name[..1].to_uppercase(), &name[1..]);
    java.class_path([fixture(name).join("classes")]).succeed(&main, &[])
}

/// The contexts of the program's main thread, with folded paths: each method occurs at most `times`
/// times, if there is a bound.
fn tree(run: &Run, times: Option<usize>) -> Tree {
    let mut tree = Tree::new();
    for line in run.contexts(false) {
        let mut words = line.splitn(3, ' ');
        let mut number = || words.next().unwrap().parse::<u64>().unwrap();
        let (calls, bytecodes) = (number(), number());
        let mut path: Vec<String> = Vec::new();
        for frame in words.next().unwrap().split(';') {
            let places: Vec<usize> = (0..path.len()).filter(|&at| path[at] == frame).collect();
            match places.last() {
                Some(&last) if times.is_some_and(|times| places.len() >= times) => path.truncate(last + 1),
                _ => path.push(frame.to_owned()),
            }
        }
        let sum = tree.entry(path).or_default();
        *sum = (sum.0 + calls, sum.1 + bytecodes);
    }
    tree
}

/// The part below the program's own entry, without classes generated for reflection and lambdas,
/// whose names and positions vary between runs.
fn own(tree: Tree, name: &str) -> Tree {
    let main = format!("{}{}.main(", name[..1].to_uppercase(), &name[1..]);
    let is_own = |path: &Vec<String>| {
        path[0].starts_with(&main)
            && path.iter().all(|frame| !frame.contains("$$") && !frame.starts_with("java."))
    };
    tree.into_iter().filter(|(path, _)| is_own(path)).collect()
}

fn trees_are_folded(jdk: &'static Jdk) {
    for blocks in [Blocks::Exact, Blocks::Thread] {
        for name in PROGRAMS {
            let whole = run(jdk, blocks, name, "unbounded");
            assert!(!whole.profile().meta.contains_key("recursion"));
            for (recursion, times) in [("fold", 1), ("2", 2), ("3", 3)] {
                let folded = run(jdk, blocks, name, recursion);
                let what = format!("{name} on JDK {}, {blocks:?}, {recursion}", jdk.version);
                assert_eq!(folded.out, whole.out, "{what}");
                assert_eq!(folded.profile().meta["recursion"], times.to_string());
                let (expected, found) =
                    (own(tree(&whole, Some(times)), name), own(tree(&folded, None), name));
                assert!(!found.is_empty(), "{what}");
                assert_eq!(found, expected, "{what}");
                for path in found.keys() {
                    let most = path.iter().map(|frame| path.iter().filter(|f| *f == frame).count()).max();
                    assert!(most <= Some(times), "{what}: {path:?}");
                }
            }
        }
    }
}

jdks!(folded, trees_are_folded, [25], all [8, 17]);

/// A recursion of 100,000 calls is a few contexts, and the JVM rejects an invalid bound.
#[test]
fn invalid_bounds_are_refused() {
    let Some(jdk) = Jdk::find() else { return };
    for wrong in ["0", "-1", "folded", ""] {
        let mut java = profiled(jdk, Blocks::Exact, "no-bound");
        java.option(format!("-Dcctrewrite.recursion={wrong}"));
        let run = java.run("Calls", &[]);
        run.assert_code(70);
        assert!(
            run.err.contains("choose unbounded, fold, or how often a method may be on a path"),
            "{}",
            run.err
        );
    }
}
