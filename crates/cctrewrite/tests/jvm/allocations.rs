//! Objects by type and context (CCCP 5.1): a program that allocates them in all possible ways, with
//! a different number for each way.

use std::collections::BTreeMap;
use std::fs;

use cct_profile::{Method, Profile, ROOT};

use crate::support::golden::GoldenTree;
use crate::support::{Blocks, Jdk, Library, Run, fixture, jdks, profiled};

/// The program's class.
const PROGRAM: &str = "Allocations";

fn run(jdk: &'static Jdk, blocks: Blocks) -> Run {
    let mut java = profiled(jdk, blocks, "allocations");
    java.class_path([fixture("allocations/classes")]).succeed(PROGRAM, &[])
}

/// The lines of the expectation, those about a method itself and those about all that it calls.
fn expected() -> (Vec<String>, Vec<String>) {
    let text = fs::read_to_string(fixture("allocations/expected.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned);
    let (mut totals, mut own): (Vec<_>, Vec<_>) = lines.partition(|line| line.starts_with("total "));
    own.sort();
    totals.sort();
    (own, totals)
}

/// Calls `of` for each type's node, with the path of methods that leads to it and its objects.
fn for_each_type(profile: &Profile, mut of: impl FnMut(&[&Method], &Method, u64)) {
    for thread in &profile.threads {
        let mut open: Vec<(u32, &Method)> = Vec::new();
        for (index, node) in (0u32..).zip(thread.tree.nodes()) {
            while open.pop_if(|(end, _)| *end <= index).is_some() {}
            if node.method == ROOT {
                continue;
            }
            let method = &profile.methods[node.method as usize];
            if method.flags & Method::TYPE != 0 {
                let path: Vec<&Method> = open.iter().map(|(_, method)| *method).collect();
                of(&path, method, node.calls);
                assert_eq!(thread.tree.subtree(index).len(), 1, "a type calls nothing");
                assert_eq!((node.bytecodes, &*method.descriptor), (0, ""));
            }
            open.push((thread.tree.subtree(index).end, method));
        }
    }
}

/// The objects that methods of the program allocate themselves, for callers that are also the
/// program's.
fn made(profile: &Profile) -> Vec<String> {
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    for_each_type(profile, |path, of, count| {
        let Some(main) = path.iter().position(|m| (&*m.class, &*m.name) == (PROGRAM, "main")) else { return };
        let below = &path[main + 1..];
        // Those that do not depend on the JDK.
        let is_known = matches!(below.first(), Some(m) if matches!(&*m.name, "objects" | "arrays" | "nested" | "failing" | "copies" | "reflective"));
        if !is_known || below.iter().any(|m| !m.class.starts_with(PROGRAM)) {
            return;
        }
        let names: Vec<String> = below
            .iter()
            .map(
                |m| if &*m.class == PROGRAM { m.name.to_string() } else { format!("{}.{}", m.class, m.name) },
            )
            .collect();
        *lines.entry(format!("{} {}", names.join(";"), of.class)).or_default() += count;
    });
    let mut lines: Vec<String> = lines.into_iter().map(|(what, count)| format!("{count} {what}")).collect();
    lines.sort();
    lines
}

/// The objects of some types that methods of the program and all their callees allocate.
fn totals(profile: &Profile, expected: &[String]) -> Vec<String> {
    let mut sums: BTreeMap<(String, String), u64> = BTreeMap::new();
    for_each_type(profile, |path, of, count| {
        // The innermost call may be one of several of a method.
        let mut methods: Vec<&str> = path.iter().filter(|m| &*m.class == PROGRAM).map(|m| &*m.name).collect();
        methods.dedup();
        for method in methods {
            *sums.entry((method.to_owned(), of.class.to_string())).or_default() += count;
        }
    });
    let lines = expected.iter().map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let sum = sums.get(&(words[1].to_owned(), words[2].to_owned())).copied().unwrap_or_default();
        format!("total {} {} {sum}", words[1], words[2])
    });
    lines.collect()
}

fn each_object_is_counted_once(jdk: &'static Jdk) {
    for blocks in [Blocks::Objects, Blocks::ObjectsAndSites] {
        let profile = run(jdk, blocks).profile();
        assert_eq!(profile.meta["allocations"], "yes");
        let (own, of_all) = expected();
        assert_eq!(made(&profile), own, "{blocks:?}");
        assert_eq!(totals(&profile, &of_all), of_all, "{blocks:?}");
    }
}

jdks!(counted, each_object_is_counted_once, feature);

/// Where call sites are distinguished, a type has the index of the instruction, and its line (for
/// classes that are rewritten at load time).
fn objects_have_the_lines_that_make_them(jdk: &'static Jdk) {
    let profile = run(jdk, Blocks::ObjectsAndSites).profile();
    let source = fs::read_to_string(fixture("allocations/Allocations.java")).unwrap();
    let line = |text: &str| source.lines().position(|line| line.trim() == text).unwrap() as u32 + 1;
    let mut lines: BTreeMap<(String, u32), u64> = BTreeMap::new();
    for_each_type(&profile, |path, of, count| {
        if path.last().is_some_and(|m| (&*m.class, &*m.name) == (PROGRAM, "nested")) {
            *lines.entry((of.class.to_string(), of.site.unwrap().line)).or_default() += count;
        }
    });
    let of = |class: &str, text: &str| lines.get(&(class.to_owned(), line(text))).copied();
    assert_eq!(of("[J", "long[][][] three = new long[2][3][4];"), Some(6));
    assert_eq!(of("[[B", "byte[][][] empty = new byte[2][0][9];"), Some(2));
    assert_eq!(of("[C", "char[][] one = new char[i][1];"), Some(10));
}

jdks!(lines, objects_have_the_lines_that_make_them, [17, 25]);

/// Without objects the profile equals that of a run without counted objects.
fn contexts_stay_what_they_are(jdk: &'static Jdk) {
    let mut java = profiled(jdk, Blocks::Objects, "calls-and-objects");
    java.class_path([fixture("calls/classes")]);
    let profile = java.succeed("Calls", &[]).profile().without_allocations().unwrap();
    let mut text = Vec::new();
    cct_profile::contexts::write_contexts(&profile, Default::default(), &mut text).unwrap();
    GoldenTree::read(&fixture("calls/expected.txt")).assert_lines(&String::from_utf8(text).unwrap());
}

jdks!(contexts, contexts_stay_what_they_are, [8]);

/// Two runs of a deterministic part agree in all types. When a `ConcurrentHashMap` grows, it copies
/// some of its nodes and not others, depending on addresses: these are ignored.
fn runs_agree(jdk: &'static Jdk) {
    let sums = || {
        let profile = run(jdk, Blocks::Objects).profile();
        let mut sums: BTreeMap<String, u64> = BTreeMap::new();
        for_each_type(&profile, |path, of, count| {
            let is_growth =
                |m: &&Method| &*m.class == "java/util/concurrent/ConcurrentHashMap" && &*m.name == "transfer";
            if path.iter().any(|m| (&*m.class, &*m.name) == (PROGRAM, "main")) && !path.iter().any(is_growth)
            {
                *sums.entry(of.class.to_string()).or_default() += count;
            }
        });
        sums
    };
    let (first, second) = (sums(), sums());
    assert!(first.len() > 50 && first.values().sum::<u64>() > 2000, "{first:?}");
    assert_eq!(first, second);
}

jdks!(agreement, runs_agree, feature);

/// Types in the code itself are also counted without the load-time library, in classes that were
/// rewritten beforehand; a note lists the others.
#[test]
fn without_the_load_time_library() {
    let Some(jdk) = Jdk::find() else { return };
    let run =
        Library::whole(jdk, Blocks::Objects).java_without_load_time("objects-alone").succeed(PROGRAM, &[]);
    let profile = run.profile();
    assert!(
        profile.meta["limits"].contains("allocate (without the load-time library)"),
        "{:?}",
        profile.meta
    );
    let (own, _) = expected();
    let is_by_itself = |line: &&String| !line.contains("copies") && !line.contains("clinit");
    let made = made(&profile);
    for line in own.iter().filter(is_by_itself) {
        assert!(made.contains(line), "{line} of {made:#?}");
    }
}
