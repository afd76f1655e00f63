use super::*;
use crate::contexts::{ContextsOptions, write_contexts};
use crate::names::NameStyle;
use crate::sums::{Sums, sums};
use crate::testing::{deep, method, profile, random, random_split, thread, tree};
use crate::{Metric, Node, Site, TreeBuilder};

fn is_java(method: &Method) -> bool {
    method.class.starts_with("java/")
}

fn collapse(profile: &Profile) -> Profile {
    profile.clone().with_library_collapsed(is_java, "java").expect("small")
}

fn line() -> Method {
    Method { flags: Method::MARKER, mid: 0, ..method(LIBRARY_LINE, "", "") }
}

#[test]
fn the_library_becomes_one_line_and_callbacks_hang_below_their_frame() {
    // The example of this module's documentation.
    let methods = vec![
        method("Report", "compare", "()I"),
        method("Report", "main", "()V"),
        method("java/lang/String", "length", "()I"),
        method("java/util/List", "sort", "()V"),
        method("java/util/TimSort", "sort", "()V"),
    ];
    let whole = tree(&[(1, 1, 1, 10), (2, 3, 1, 20), (3, 4, 1, 50), (4, 0, 7, 5), (5, 2, 14, 3)]);
    let found = collapse(&profile(methods.clone(), vec![thread("main", whole)]));
    assert_eq!(found.methods, [line(), methods[0].clone(), methods[1].clone()]);
    let expected = tree(&[(1, 2, 1, 10), (2, 0, 2, 70), (2, 1, 7, 5), (3, 0, 14, 3)]);
    assert_eq!(found.threads[0].tree, expected);
    assert_eq!(found.meta[LIBRARY], "java");
}

#[test]
fn the_library_above_the_first_frame_of_the_program_collapses_too() {
    let methods = vec![method("app/Task", "run", "()V"), method("java/lang/Thread", "run", "()V")];
    // Thread.run, which a context without counts leads to, calls the task and works after it.
    let pool = tree(&[(1, 1, 1, 4), (2, 1, 0, 0), (3, 0, 1, 100), (2, 1, 2, 6)]);
    let found = collapse(&profile(methods, vec![thread("pool", pool)]));
    assert_eq!(found.threads[0].tree, tree(&[(1, 0, 3, 10), (1, 1, 1, 100)]));
    let none = collapse(&profile(vec![method("a/A", "f", "()V")], vec![]));
    assert_eq!(none.methods.len(), 1, "no line without a library");
}

#[test]
fn a_collapsed_profile_can_be_collapsed_again_and_read_again() {
    let methods =
        vec![method("app/A", "f", "()V"), method("lib/L", "g", "()V"), method("java/J", "h", "()V")];
    let mut whole = profile(methods, vec![thread("m", tree(&[(1, 0, 1, 1), (2, 1, 1, 2), (3, 2, 1, 4)]))]);
    whole.methods.sort_by(|a, b| a.key().cmp(&b.key()));
    // Sorted: app, java, lib.
    whole.threads[0].tree = tree(&[(1, 0, 1, 1), (2, 2, 1, 2), (3, 1, 1, 4)]);
    let once = collapse(&whole);
    let twice = once.with_library_collapsed(|method| method.class.starts_with("lib/"), "lib").expect("small");
    assert_eq!(twice.threads[0].tree, tree(&[(1, 1, 1, 1), (2, 0, 2, 6)]));
    assert_eq!(twice.meta[LIBRARY], "java; lib");
    let again = Profile::read(&twice.to_bytes().expect("canonical")).expect("sound");
    assert_eq!(again, twice);
    assert!(!crate::Summary::of(&again).is_incomplete(), "a line of the library is no missing context");
}

#[test]
fn objects_stay_below_what_allocated_them() {
    let new = |class: &str| Method { flags: Method::TYPE, ..method(class, "<new>", "") };
    let methods = vec![method("app/A", "f", "()V"), method("java/J", "h", "()V"), new("java/lang/String")];
    // The program allocates 3 strings, the library 5.
    let whole = tree(&[(1, 0, 1, 1), (2, 1, 1, 2), (3, 2, 5, 0), (2, 2, 3, 0)]);
    let found = collapse(&profile(methods, vec![thread("m", whole)]));
    // The line of the library comes first.
    assert_eq!(found.threads[0].tree, tree(&[(1, 1, 1, 1), (2, 0, 1, 2), (3, 2, 5, 0), (2, 2, 3, 0)]));
    assert_eq!(found.makers().expect("small").threads[0].tree, tree(&[(1, 1, 3, 0), (2, 0, 5, 0)]));
}

#[test]
fn callbacks_have_the_call_site_of_the_library_in_the_program() {
    let at = |bci| Some(Site { bci, line: 0 });
    let methods = vec![
        Method { site: at(7), ..method("app/A", "callback", "()V") },
        method("app/A", "main", "()V"),
        Method { site: at(3), ..method("java/J", "each", "()V") },
    ];
    let whole = tree(&[(1, 1, 1, 1), (2, 2, 1, 2), (3, 0, 9, 4)]);
    let found = collapse(&profile(methods, vec![thread("m", whole)]));
    let sites: Vec<Option<Site>> = found.methods.iter().map(|method| method.site).collect();
    assert_eq!(sites, [None, at(3), None]);
    assert_eq!(found.threads[0].tree, tree(&[(1, 2, 1, 1), (2, 0, 1, 2), (2, 1, 9, 4)]));
}

/// The sums of each method, by its row; call sites and bodies are separate.
fn by_row(profile: &Profile, metric: Metric) -> Vec<(Method, Sums)> {
    let rows: Vec<u32> = (0..profile.methods.len() as u32).collect();
    let trees: Vec<(&Tree, &[u32])> = profile.threads.iter().map(|t| (&t.tree, &*rows)).collect();
    let sums = sums(&trees, rows.len(), metric).expect("small");
    profile.methods.iter().cloned().zip(sums).collect()
}

/// What library contexts of a thread execute themselves.
fn of_library(profile: &Profile, metric: Metric) -> u128 {
    let is_library = |node: &&Node| {
        let method = &profile.methods[node.method as usize];
        is_library_line(method) || is_random_library(method)
    };
    let nodes = profile.threads.iter().flat_map(|thread| &thread.tree.nodes()[1..]);
    nodes.filter(is_library).map(|node| u128::from(metric.of_node(node))).sum()
}

fn is_random_library(method: &Method) -> bool {
    method.flags & Method::NATIVE != 0
}

#[test]
fn sums_of_the_program_are_those_of_the_whole_tree() {
    arbtest::arbtest(|u| {
        let whole = random(u)?;
        let found = whole.clone().with_library_collapsed(is_random_library, "some").expect("small");
        for metric in [Metric::Calls, Metric::Bytecodes] {
            let before: Vec<_> =
                by_row(&whole, metric).into_iter().filter(|(m, _)| !is_random_library(m)).collect();
            let after: Vec<_> =
                by_row(&found, metric).into_iter().filter(|(m, _)| !is_library_line(m)).collect();
            assert_eq!(after, before);
            assert_eq!(of_library(&found, metric), of_library(&whole, metric));
        }
        for (thread, before) in found.threads.iter().zip(&whole.threads) {
            let total = |tree: &Tree, metric: Metric| -> u128 {
                tree.nodes().iter().map(|node| u128::from(metric.of_node(node))).sum()
            };
            for metric in [Metric::Calls, Metric::Bytecodes] {
                assert_eq!(total(&thread.tree, metric), total(&before.tree, metric));
            }
            for (index, node) in (0u32..).zip(thread.tree.nodes()).skip(1) {
                let is_line = is_library_line(&found.methods[node.method as usize]);
                assert!(!is_line || thread.tree.subtree(index).len() == 1, "the library is a leaf");
            }
        }
        found.to_bytes().expect("canonical");
        let twice = found.clone().with_library_collapsed(is_random_library, "some").expect("small");
        assert_eq!(twice, found);
        Ok(())
    });
}

#[test]
fn call_sites_lose_no_count() {
    arbtest::arbtest(|u| {
        let (split, whole) = random_split(u)?;
        let collapse = |p: Profile| p.with_library_collapsed(is_random_library, "some").expect("small");
        let found = collapse(split);
        found.to_bytes().expect("canonical");
        let listed = |profile: &Profile| {
            let mut list = Vec::new();
            let options = ContextsOptions { per_thread: true, names: NameStyle::Raw };
            write_contexts(profile, options, &mut list).expect("memory");
            let lines = String::from_utf8(list).expect("text");
            lines.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(listed(&found.without_call_sites().expect("small")), listed(&collapse(whole)));
        Ok(())
    });
}

#[test]
fn columns_follow_their_contexts() {
    let mut builder = TreeBuilder::new().with_columns(1);
    builder.numbers()[0] = 1;
    builder.enter(0, 1, 0).expect("small");
    builder.numbers()[0] = 10;
    builder.enter(1, 0, 0).expect("small");
    builder.numbers()[0] = 100;
    let methods = vec![method("app/A", "f", "()V"), method("java/J", "h", "()V")];
    let found = collapse(&profile(methods, vec![thread("m", builder.finish())]));
    let tree = &found.threads[0].tree;
    let values: Vec<u64> = (0..3).map(|node| tree.values(node)[0]).collect();
    assert_eq!(values, [1, 10, 100]);
}

#[test]
fn deep_stacks_collapse() {
    let found = deep(100_000).with_library_collapsed(|method| &*method.name == "g", "g").expect("small");
    assert_eq!(found.contexts(), 100_000, "f and one line below each");
    let all = deep(100_000).with_library_collapsed(|_| true, "all").expect("small");
    assert_eq!(all.threads[0].tree, tree(&[(1, 0, 100_000, 200_000)]));
}
