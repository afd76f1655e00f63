//! Bodies with many counts: HotSpot's first compiler (C1) must still compile them. Otherwise they
//! are interpreted until the second one compiles them.

use crate::support::{Blocks, Image, Jdk, fixture, jdks};

/// C1 used to give up on methods in which it had inlined some hundred counts: "out of virtual
/// registers".
fn is_compiled(jdk: &'static Jdk) {
    let mut java = Image::of(jdk, Blocks::Exact).java("crowded");
    java.class_path([fixture("crowded").join("classes")]);
    let run = java.option("-XX:+PrintCompilation").succeed("Crowded", &[]);
    let of_it: Vec<&str> = run.out.lines().filter(|line| line.contains("Crowded::all")).collect();
    assert!(of_it.iter().any(|line| line.contains(" 3 ")), "not by C1 at its third level: {of_it:?}");
    assert!(!of_it.iter().any(|line| line.contains("SKIPPED")), "{of_it:?}");
    // 260 cases, each with two calls, 3000 times each.
    for callee in ["first(II)I", "second(I)I"] {
        let contexts = run.contexts_from("Crowded.all");
        let line = contexts.iter().find(|line| line.ends_with(callee)).unwrap();
        assert!(line.starts_with("780000 "), "{line}");
    }
}

jdks!(compiled, is_compiled, [8, 17, 25]);
