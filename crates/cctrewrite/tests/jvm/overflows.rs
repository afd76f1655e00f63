//! Stacks that overflow, also in the profiler's own code: the records before and afterwards are
//! unaffected.

use cct_profile::Profile;

use crate::support::golden::parse;
use crate::support::{Blocks, Jdk, Run, jdks, plain_programs, profiled};

/// Enough for `Overflow` to warm up.
const STACK: &str = "-Xss256k";

/// `way` is `overflow` or `calm`.
fn run(jdk: &'static Jdk, with_loadtime: bool, rounds: u32, way: &str) -> Run {
    let mut java = profiled(jdk, Blocks::Exact, way);
    java.option(STACK).option("-XX:MaxJavaStackTraceDepth=16");
    if !with_loadtime {
        java.forget("-Dcctrewrite.loadtime=");
    }
    java.succeed("Overflow", &[&rounds.to_string(), way])
}

/// All contexts below the work after each overflow, including frames of the class library: paths
/// from there on, with their counts. (The size of a list of all contexts would be their number
/// times their depth.)
fn afterwards(profile: &Profile) -> Vec<(String, (u64, u64))> {
    let mut found = Vec::new();
    for thread in &profile.threads {
        let nodes = thread.tree.nodes();
        let is_start =
            |method: u32| profile.methods.get(method as usize).is_some_and(|m| &*m.name == "knownAfter");
        let starts = (1..nodes.len() as u32).filter(|&i| is_start(nodes[i as usize].method));
        let mut work: Vec<(u32, String)> = starts.map(|i| (i, String::new())).collect();
        while let Some((i, above)) = work.pop() {
            let node = &nodes[i as usize];
            let method = &profile.methods[node.method as usize];
            let path = format!("{above};{}.{}{}", method.class, method.name, method.descriptor);
            work.extend(thread.tree.children(i).map(|child| (child, path.clone())));
            found.push((path, (node.calls, node.bytecodes)));
        }
    }
    found.sort();
    found
}

/// In a tree of `Overflow`, every callee was called by someone, and nobody is counted partly.
fn assert_consistent(profile: &Profile) {
    let name = |method: u32| profile.methods.get(method as usize).map_or("", |m| &*m.name);
    let own =
        |method: u32| profile.methods.get(method as usize).is_some_and(|m| m.class.starts_with("Overflow"));
    let mut steps = 0;
    for thread in &profile.threads {
        let tree = &thread.tree;
        for (i, node) in tree.nodes().iter().enumerate().skip(1) {
            let ways = ["plain", "locked", "lockedToo", "hashCode", "equals", "step"];
            if !own(node.method) || !ways.contains(&name(node.method)) {
                continue;
            }
            assert!(node.calls > 0, "{} was made and not entered", name(node.method));
            let children = tree.children(i as u32).map(|child| &tree.nodes()[child as usize]);
            let called: u64 =
                children.filter(|c| own(c.method) && ways.contains(&name(c.method))).map(|c| c.calls).sum();
            assert!(called <= node.calls, "{}: {called} calls of {}", name(node.method), node.calls);
            if name(node.method) == "plain" {
                // iload_0 invokestatic, and return if it is reached.
                let counts = (node.calls, node.bytecodes);
                assert!(2 * counts.0 <= counts.1 && counts.1 <= 3 * counts.0, "plain: {counts:?}");
                steps += 1;
            }
        }
    }
    // The depth of the stack in the interpreter; compiled frames, which appear after some time, are
    // smaller.
    assert!(steps > 1000, "{steps} contexts of plain()");
}

fn check(jdk: &'static Jdk, with_loadtime: bool, rounds: u32) {
    let overflowing = run(jdk, with_loadtime, rounds, "overflow");
    assert!(
        !overflowing.out.contains("no overflow") && !overflowing.out.contains("hangs"),
        "{}",
        overflowing.out
    );
    // Other threads still get trees, and memory for them.
    assert_eq!(overflowing.out.matches("ended").count(), 8, "{}", overflowing.out);
    let tops: Vec<(u32, &str)> = overflowing
        .out
        .lines()
        .filter_map(|line| line.split_once(" StackOverflowError in "))
        .map(|(n, top)| (n.parse().unwrap(), top))
        .collect();
    let sum = |of: &dyn Fn(&str) -> bool| tops.iter().filter(|(_, top)| of(top)).map(|(n, _)| n).sum::<u32>();
    assert_eq!(sum(&|_| true), rounds, "{}", overflowing.out);
    // Some overflows hit the profiler itself.
    let in_runtime = sum(&|top| top.starts_with("java.lang.Cct") || top.starts_with("cctrewrite."));
    assert!(in_runtime > rounds / 100, "{}", overflowing.out);
    eprintln!("{}", overflowing.out);

    let calm = run(jdk, with_loadtime, rounds, "calm");
    let profile = overflowing.profile();
    let (expected, found) = (afterwards(&calm.profile()), afterwards(&profile));
    assert_eq!(expected, found);
    let work = |n: u64| (u64::from(rounds), u64::from(rounds) * (9 + 10 * n));
    let counts =
        |path: &str| found.iter().find(|(p, _)| p.ends_with(&format!("{path};Overflow.work(I)I"))).unwrap().1;
    assert_eq!(counts("Overflow.knownAfter()V;Overflow.known()V"), work(10));
    assert_eq!(counts("Overflow$Worker.hashCode()I"), work(5));
    assert_eq!(counts("Overflow$Worker.toString()Ljava/lang/String;"), work(4));
    assert_eq!(counts("Overflow$Worker.run()Ljava/lang/Object;"), work(3));
    assert!(!profile.notes.iter().any(|n| n.contains("memory")), "{:?}", profile.notes);
    assert_consistent(&profile);
}

#[test]
fn ten_thousand_leave_no_trace_in_what_follows() {
    let Some(jdk) = Jdk::find() else { return };
    check(jdk, false, 10_000);
}

fn the_stack_is_replayed_near_its_end_too(jdk: &'static Jdk) {
    check(jdk, true, 2000);
}

/// One call asks for up to 256 frames, a second one for deeper stacks. So exceptions that the JVM
/// throws are below the method that executes the bytecode, at any depth.
fn exceptions_of_the_jvm_are_found_at_any_depth(jdk: &'static Jdk) {
    const DEPTHS: std::ops::RangeInclusive<usize> = 240..=280;
    let mut java = profiled(jdk, Blocks::Exact, "depths");
    // Otherwise compiled code has them preallocated, and creates none.
    let run = java.option("-XX:-OmitStackTraceInFastThrow").succeed("Depths", &["240", "280"]);
    assert_eq!(run.out, "caught 41\n");
    let profile = run.profile();
    let is = |method: u32, class: &str, name: &str| {
        profile.methods.get(method as usize).is_some_and(|m| &*m.class == class && &*m.name == name)
    };
    let main = profile.threads.iter().find(|thread| &*thread.name == "main").unwrap();
    let nodes = main.tree.nodes();
    let child = |of: u32, class: &str, name: &str| {
        main.tree.children(of).find(|&child| is(nodes[child as usize].method, class, name))
    };
    let first = (1..nodes.len() as u32).find(|&i| is(nodes[i as usize].method, "Depths", "dive")).unwrap();
    let dives = std::iter::successors(Some(first), |&dive| child(dive, "Depths", "dive"));
    let mut found = Vec::new();
    for (depth, dive) in (1..).zip(dives) {
        let made = child(dive, "java/lang/ArrayIndexOutOfBoundsException", "<init>");
        found.extend(made.map(|made| (depth, nodes[made as usize].calls)));
    }
    assert_eq!(found, DEPTHS.map(|depth| (depth, 1)).collect::<Vec<_>>());
}

/// Native code rewrites classes with the rest of the stack.
fn classes_are_defined_near_the_end_of_the_stack(jdk: &'static Jdk) {
    let class = plain_programs().join("Overflow.class");
    for mode in [&["-Xmixed"][..], &["-Xint", STACK]] {
        let mut java = profiled(jdk, Blocks::Exact, "definitions");
        mode.iter().for_each(|option| {
            java.option(*option);
        });
        let run = java.succeed("Definitions", &[&class.display().to_string()]);
        let overflows: u32 =
            run.out.strip_prefix("overflows ").unwrap().split(' ').next().unwrap().parse().unwrap();
        assert!(overflows > 100 && run.out.ends_with(" defined 100\nuse 3\n"), "{}", run.out);
        // A list of all contexts has each stack of thousands of frames on a line of its own.
        let lines = run.contexts_from("Definitions.use");
        let work = lines.iter().map(|line| parse(line)).find(|(_, p)| p.ends_with("Overflow.work(I)I"));
        assert_eq!(work.unwrap().0, (1, 9 + 10 * 3));
        assert_eq!(run.err, "");
    }
}

// Its program inspects an exception by `sun.misc.Unsafe`, for JDK 8's layout: the top of an
// overflowing stack is the runtime's, which later JDKs cannot show.
jdks!(the_stack_is_replayed_near_its_end_too, the_stack_is_replayed_near_its_end_too, [8]);
jdks!(exceptions_at_any_depth, exceptions_of_the_jvm_are_found_at_any_depth, feature);
jdks!(
    classes_are_defined_near_the_end_of_the_stack,
    classes_are_defined_near_the_end_of_the_stack,
    [8, 25],
    all[17]
);
