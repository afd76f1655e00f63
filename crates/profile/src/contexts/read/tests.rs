use super::*;
use crate::Site;
use crate::compare::{CompareOptions, compare};
use crate::contexts::{ContextsOptions, write_contexts};
use crate::names::{FrameTable, NameStyle};
use crate::testing::{deep, method, profile, random, random_split, thread, tree};
use crate::tree_sum::joined;

fn read(text: &str) -> ContextList {
    read_contexts(text.as_bytes()).expect("a list")
}

fn listed(p: &Profile, per_thread: bool) -> Vec<u8> {
    let mut out = Vec::new();
    write_contexts(p, ContextsOptions { per_thread, names: NameStyle::Raw }, &mut out).expect("memory");
    out
}

#[test]
fn written_lists_read_back() {
    arbtest::arbtest(|u| {
        let p = if u.arbitrary()? { random(u)? } else { random_split(u)?.0 };
        for per_thread in [false, true] {
            let list = listed(&p, per_thread);
            // Names without any character cannot be distinguished from nothing.
            let Ok(read) = read_contexts(&*list) else {
                assert!(p.methods.iter().any(|m| (&*m.class, &*m.name, &*m.descriptor) == ("", "", "")));
                continue;
            };
            let again = listed(&read.profile, read.per_thread);
            let lines = |list: &[u8]| -> Vec<Vec<u8>> {
                list.split(|&b| b == b'\n').filter(|l| !l.starts_with(b"#")).map(<[u8]>::to_vec).collect()
            };
            assert_eq!(lines(&list), lines(&again));
            assert_eq!(read.incomplete, Vec::<String>::new());
        }
        Ok(())
    });
}

/// A carriage return is written as `?`. It made a frame no method's; when read again the frame
/// became a method's, which native code might have called.
#[test]
fn a_frame_with_a_carriage_return_is_read_as_it_is_written() {
    let first = listed(&read("3 0 ];a.\rV\n1 0 j.f@3\n").profile, false);
    let second = listed(&read_contexts(&*first).expect("a list").profile, false);
    assert_eq!(String::from_utf8(second), String::from_utf8(first.clone()));
    assert!(first.ends_with(b"\n3 0 ];a.?V@-1\n1 0 j.f@3\n"), "{}", String::from_utf8_lossy(&first));
}

/// Found by fuzzing: exports looked for numbers of columns that a list had only promised.
#[test]
fn a_list_has_no_columns() {
    let text = "# cctrewrite contexts 1\n# format: calls bytecodes frame;frame;...\n# columns=monitors\n1 2 a.B.c()V\n";
    assert_eq!(read(text).profile.columns(), []);
}

/// A frame of a class without a method and a marker with that text used to be two entries in the
/// list. They became one when call sites were added up.
#[test]
fn a_frame_of_a_class_without_a_method_is_a_marker() {
    let list = read("1 0 java;d.@3;j;java.\n").profile;
    assert!(list.methods.iter().all(|method| method.flags == Method::MARKER), "{:?}", list.methods);
    let merged = list.clone().without_call_sites().expect("small");
    let same = compare(list.into(), merged.into(), &CompareOptions::default()).expect("small");
    assert!(same.is_equal(), "{same:?}");
}

/// After writing and reading, the list had become one of threads, with a different thread.
#[test]
fn a_list_without_contexts_does_not_say_whether_roots_are_threads() {
    let list = read("1 0 [;e\n0 0 )\n");
    assert!(list.per_thread);
    let first = listed(&list.profile, list.per_thread);
    let again = read_contexts(&*first).expect("a list");
    assert_eq!(listed(&again.profile, again.per_thread), first);
}

#[test]
fn threads_keep_the_brackets_of_their_names() {
    for name in ["pool [1]", "[own]", "[", "a]"] {
        let p = profile(vec![method("A", "f", "()V")], vec![thread(name, tree(&[(1, 0, 1, 2)]))]);
        let list = read_contexts(&*listed(&p, true)).expect("a list");
        let names: Vec<&str> = list.profile.threads.iter().map(|thread| &*thread.name).collect();
        assert_eq!(names, [name]);
    }
}

#[test]
fn headers_notes_and_damages_are_kept() {
    let list = read(
        "# cctrewrite contexts 1  format: calls bytecodes frame;frame;...\n\
         # bytecodes=5 calls=3 contexts=2\n# blocks=precise\n# provenance=a.jar\n# provenance=b.jar x=y\n\
         # note: one\n# incomplete: all is lost\n1 2 a.B.f()V\n2 3 a.B.f()V;a.B.g(I[La/C,)V\n",
    );
    let meta: Vec<(&str, &str)> = list.profile.meta.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    assert_eq!(meta, [("blocks", "precise"), ("provenance", "a.jar\nb.jar x=y")]);
    assert_eq!(
        (list.profile.notes, list.incomplete),
        (vec!["one".to_owned()], vec!["all is lost".to_owned()])
    );
    let names: Vec<_> = list.profile.methods.iter().map(|m| (&*m.class, &*m.name, &*m.descriptor)).collect();
    assert_eq!(names, [("a/B", "f", "()V"), ("a/B", "g", "(I[La/C;)V")]);
    assert!(!list.per_thread && !list.call_sites);
    assert_eq!(list.profile.threads[0].tree, tree(&[(1, 0, 1, 2), (2, 1, 2, 3)]));
}

#[test]
fn a_list_that_was_cut_off_says_so() {
    let p = profile(
        vec![method("A", "f", "()V"), method("A", "g", "()V")],
        vec![thread("main", tree(&[(1, 0, 1, 2), (2, 1, 2, 3), (1, 1, 4, 0)]))],
    );
    let whole = listed(&p, false);
    assert_eq!(read_contexts(&*whole).expect("whole").incomplete, Vec::<String>::new());
    let first_line_of_contexts = whole.windows(2).position(|w| w == b"\n1").expect("there") + 1;
    for length in first_line_of_contexts..whole.len() {
        // A cut inside the numbers is an error; any other is detected.
        if let Ok(list) = read_contexts(&whole[..length]) {
            assert!(!list.incomplete.is_empty(), "{length}");
        }
    }
    // Lists of other tools have no sums, but their lines end too.
    assert_eq!(read("1 2 a.B.f()V\n").incomplete.len(), 0);
    assert_eq!(read("1 2 a.B.f()V").incomplete.len(), 1);
}

#[test]
fn lists_of_other_tools_are_read() {
    let list = read(
        "# calls=9 another tool\n\n3 - [main];x.A.f()V\r\n4 - [main];x.A.f()V;x.B.<init>(J)V@12\n5 - [w-1];x.A.f()V@-1\n",
    );
    assert!(list.per_thread && list.call_sites && !list.profile.counts_bytecodes());
    let names: Vec<&str> = list.profile.threads.iter().map(|t| &*t.name).collect();
    assert_eq!(names, ["main", "w-1"]);
    let descriptors: Vec<&str> = list.profile.methods.iter().map(|m| &*m.descriptor).collect();
    assert_eq!(descriptors, ["", "()V", "(J)V", "", "()V"]);
    let sites: Vec<Option<Site>> = list.profile.methods.iter().map(|m| m.site).collect();
    assert_eq!(sites, [None, None, Some(Site { bci: 12, line: 0 }), None, Some(Site::NATIVE)]);
    assert_eq!(list.profile.threads[0].tree, tree(&[(1, 1, 3, 0), (2, 2, 4, 0)]));
    // Without descriptors; and a marker is no thread.
    let list = read("1 2 x.A.f@7\n3 0 [contexts merged: x]\n");
    assert!(!list.per_thread && list.call_sites);
    assert_eq!((&*list.profile.methods[0].class, &*list.profile.methods[0].name), ("x/A", "f"));
    assert_eq!(list.profile.methods[1].flags, Method::MARKER);
    assert!(!read("3 0 [contexts merged: x]\n").per_thread);
}

#[test]
fn lines_may_stand_in_any_order() {
    let sums = |text: &str| {
        let list = read(text);
        let table = FrameTable::new(&list.profile.methods, NameStyle::Raw);
        let tree = joined(&[(&list.profile.threads[0].tree, table.of_method())]).expect("small");
        let frames: Vec<Vec<u8>> = table.frames().iter().map(|f| f.bytes().collect()).collect();
        (frames, tree)
    };
    let sorted = sums("1 1 a.f\n2 2 a.f$x\n3 3 a.f;b.g\n4 4 a.f;b.g;c.h\n5 5 a.f;b.gg\n");
    assert_eq!(sorted, sums("4 4 a.f;b.g;c.h\n5 5 a.f;b.gg\n3 3 a.f;b.g\n1 1 a.f\n2 2 a.f$x\n"));
    assert_eq!(sorted, sums("4 4 a.f;b.g;c.h\n2 3 a.f;b.g\n1 0 a.f;b.g\n5 5 a.f;b.gg\n1 1 a.f\n2 2 a.f$x\n"));
    assert_eq!(sorted.1.contexts(), 5);
}

#[test]
fn lines_of_no_list_are_refused_with_their_numbers() {
    let error = |text: &str| read_contexts(text.as_bytes()).expect_err(text).to_string();
    assert_eq!(error(""), "the file is empty");
    for (text, line, problem) in [
        ("hello\n", 1, "expected 'calls bytecodes"),
        ("# x\n1 2\n", 2, "expected 'calls bytecodes"),
        ("1 2 \n", 1, "expected 'calls bytecodes"),
        ("1  a.f\n", 1, "expected 'calls bytecodes"),
        ("1 x a.f\n", 1, "'x' is not a count"),
        ("-1 1 a.f\n", 1, "'-1' is not a count"),
        ("18446744073709551616 1 a.f\n", 1, "is not a count"),
        ("1 1 a.f\n1 1 a.f;;b.g\n", 2, "empty"),
        ("1 1 a.f;\n", 1, "empty"),
        ("1 1 ;a.f\n", 1, "empty"),
        ("1 1 a.f\n1 - b.g\n", 2, "some lines have bytecodes"),
        ("# cctrewrite contexts 1 \n# calls=1 contexts=1\n# metrics=calls\n1 1 a.f\n", 4, "some lines have"),
        ("\x00\x01", 1, "expected 'calls"),
    ] {
        let error = error(text);
        assert!(error.starts_with(&format!("line {line}: ")) && error.contains(problem), "{text:?}: {error}");
    }
    assert!(error("# cctrewrite contexts 2  format: x\n").contains("format version 2"));
}

#[test]
fn random_bytes_do_no_harm() {
    arbtest::arbtest(|u| {
        let pieces =
            ["1", " ", ";", "\n", "a.f()V", "[main]", "@1", "-", "# ", "é", "(", ".", "18446744073709551615"];
        let mut text = String::new();
        for _ in 0..u.int_in_range(0..=60)? {
            text += u.choose(&pieces)?;
        }
        if let Ok(list) = read_contexts(text.as_bytes()) {
            assert!(list.profile.contexts() < 60);
        }
        Ok(())
    });
}

#[test]
fn deep_paths_are_read() {
    let p = deep(100_000);
    let mut paths = Paths::default();
    // The deepest path alone; a list of all would take gigabytes.
    let path = vec!["A.f()V"; 100_000].join(";");
    paths.add(path.as_bytes(), 1, 2, |_| Ok(0)).expect("a path");
    paths.add(&path.as_bytes()[..path.len() - 7], 1, 2, |_| Ok(0)).expect("a path");
    assert_eq!(paths.builder.finish().contexts(), p.contexts() + 1);
}

/// A header line about bytecodes after the first context: found by fuzzing.
#[test]
fn a_list_counts_bytecodes_or_says_that_it_does_not() {
    let own = "# cctrewrite contexts 1  format: calls bytecodes frame;frame;...\n# calls=0 contexts=1\n";
    for (text, line) in [
        (format!("{own}0 10 a.A.f()V\n# metrics=calls\n"), 4),
        (format!("{own}# metrics=calls\n0 10 a.A.f()V\n"), 4),
    ] {
        let error = read_contexts(text.as_bytes()).expect_err("mixed");
        let is_mixed =
            matches!(error, ListError::Line { line: at, problem: LineProblem::Mixed } if at == line);
        assert!(is_mixed, "{error}");
    }
    assert!(read_contexts(format!("{own}1 - a.A.f()V\n# metrics=calls\n").as_bytes()).is_ok());
}
