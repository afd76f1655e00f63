//! Programs behave as before.

use crate::support::{ALL_BLOCKS, Blocks, Jdk, Library, assert_same_lines, plain_programs};

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

/// Reflection hides them (`Semantics` prints all members); a lookup by the extended type must not find them either.
#[test]
fn method_handles_do_not_find_added_members() {
    let Some(jdk) = Jdk::find() else { return };
    let expected = jdk.java("hidden-plain").class_path([plain_programs()]).succeed("HiddenMembers", &[]);
    let run = Library::whole(jdk, Blocks::Default).java("hidden").succeed("HiddenMembers", &[]);
    assert_eq!(run.out, expected.out);
}
