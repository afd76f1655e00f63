//! Programs behave as before.

use crate::support::{ALL_BLOCKS, Jdk, Library, assert_same_lines, plain_programs};

/// Reflection, annotations, proxies, serialization, caller-sensitive methods, method handles, exceptions, threads, class initialisers, class
/// loaders and much of the class library: what the program prints of them.
#[test]
fn a_program_that_looks_at_itself_sees_what_it_saw_before() {
    let Some(jdk) = Jdk::find() else { return };
    let expected = jdk.java("semantics-plain").class_path([plain_programs()]).succeed("Semantics", &[]);
    assert!(expected.out.lines().count() > 900, "{}", expected.out);
    for blocks in ALL_BLOCKS {
        for record in ["on", "off"] {
            let mut java = Library::whole(jdk, blocks).java("semantics");
            let run = java.option(format!("-Dcctrewrite.record={record}")).succeed("Semantics", &[]);
            let [before, now] = [&expected, &run].map(|run| run.out.lines().collect::<Vec<_>>());
            assert_same_lines(&before, &now, &format!("{blocks:?}, record={record}"));
            assert_eq!(run.err, expected.err);
        }
    }
}
