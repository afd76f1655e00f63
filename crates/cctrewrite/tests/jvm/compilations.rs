//! The JVM's compilers reject no method of a profiled program that they compile in the plain one.

use std::collections::BTreeMap;

use crate::support::{Blocks, Java, Jdk, fixture, jdks, profiled};

/// Methods that a compiler rejected, with the reasons.
fn refused(java: &mut Java) -> (BTreeMap<String, String>, String) {
    java.option("-XX:+PrintCompilation").class_path([fixture("compilations/classes")]);
    let run = java.succeed("Locks", &[]);
    let mut refused = BTreeMap::new();
    let mut last = "";
    for line in run.out.lines() {
        // The reason may be on a line of its own, after that of the method.
        match line.split_once("COMPILE SKIPPED: ") {
            Some((before, reason)) => {
                let method = if before.contains("::") { before } else { last };
                let name = method.split_whitespace().find(|word| word.contains("::")).unwrap_or(method);
                refused.insert(name.to_owned(), reason.to_owned());
            }
            None => last = line,
        }
    }
    let mut printed =
        run.out.lines().filter(|line| !line.contains("::") && !line.contains("COMPILE SKIPPED"));
    (refused, printed.next_back().unwrap_or_default().to_owned())
}

fn nothing_more_is_refused(jdk: &'static Jdk) {
    let (plain, said) = refused(&mut jdk.java("compilations-plain"));
    let (profiled, says) = refused(&mut profiled(jdk, Blocks::Exact, "compilations"));
    assert_eq!(said, says);
    let more: Vec<_> = profiled.iter().filter(|(method, _)| !plain.contains_key(*method)).collect();
    assert!(more.is_empty(), "{more:#?}");
}

jdks!(compilers, nothing_more_is_refused, [8, 17, 25]);
