//! Kept, replaced and added entries of jars.

use std::convert::Infallible;
use std::io::Cursor;

use cct_archive::{Action, EntryKind, EntryProblem, Error, Failure, Input, Limits, RewriteOptions, Tally};

use crate::builder::{Archive, Descriptor, Item, deflated, jar, stored};
use crate::support::*;

/// Compressible text, different at each length.
pub fn text(len: usize) -> Vec<u8> {
    (0..len).map(|i| b"calling context tree "[(i + len / 7) % 21] ^ (i / 64 % 3) as u8).collect()
}

fn odd_jar() -> Archive {
    let item = |name, len| Item { stamp: 0x2F8A_1234 + len as u32, ..deflated(name, &text(len)) };
    Archive {
        items: vec![
            Item {
                local_extra: vec![0xFE, 0xCA, 0, 0],
                central_extra: vec![0xFE, 0xCA, 0, 0],
                ..stored("META-INF/", b"")
            },
            deflated("META-INF/MANIFEST.MF", b"Manifest-Version: 1.0\r\n\r\n"),
            stored("a/", b""),
            Item {
                comment: b"an entry comment".into(),
                attributes: 0o100_644 << 16,
                ..item("a/A.class", 5000)
            },
            Item { local_extra: vec![7, 7, 2, 0, 1, 2], ..stored("a/B.class", &text(300)) },
            Item { descriptor: Descriptor::Signed, ..item("a/C.class", 4000) },
            Item { descriptor: Descriptor::Plain, ..item("a/D.class", 4001) },
            Item { descriptor: Descriptor::SignedZip64, ..item("a/E.class", 4002) },
            Item { zip64: true, central_extra: vec![9, 9, 1, 0, 5], ..item("a/F.class", 4003) },
            Item { flags: 0x800, ..stored("ä/ö.txt", b"umlauts") },
            deflated("empty.class", b""),
            stored("last.txt", &text(100)),
        ],
        comment: b"a jar's comment".into(),
        ..Archive::default()
    }
}

#[test]
fn an_unchanged_jar_comes_out_byte_for_byte() {
    for (prefix, shifted) in [(&b""[..], false), (b"#!/bin/sh\nexec java\n", false), (b"JM\x01\x00", true)] {
        for zip64_end in [false, true] {
            let bytes = Archive { prefix: prefix.into(), shifted, zip64_end, ..odd_jar() }.build();
            let bench = Bench::with(&bytes);
            let account = bench.rewrite(&keep).unwrap();
            assert_eq!(bench.written(), bytes, "prefix {prefix:?}, zip64 {zip64_end}");
            assert_eq!(account.tally, Tally { kept: 12, ..Tally::default() });
        }
    }
}

/// The largest 32-bit size refers to a zip64 field or, without one, is a size; and such a field may
/// contain more than is referred to.
#[test]
fn an_entry_listed_in_an_odd_way_stays_listed_so() {
    let huge = Item { claimed_size: Some(u32::MAX), ..stored("a/huge.bin", b"not so huge") };
    let field = [&[1, 0, 28, 0][..], &[0; 28]].concat();
    let both = [huge, Item { central_extra: field, ..stored("b.txt", b"b") }];
    let bytes = jar(both.to_vec());
    let bench = Bench::with(&bytes);
    bench.rewrite(&keep).unwrap();
    assert_eq!(bench.written(), bytes);
}

#[test]
fn entries_are_listed_in_order_with_kinds_and_sizes() {
    let bench = Bench::with(&odd_jar().build());
    let input = bench.open().unwrap();
    let listed: Vec<_> = input.entries().iter().map(|entry| (&*entry.name, entry.kind, entry.size)).collect();
    assert_eq!(listed[0], ("META-INF/", EntryKind::Directory, 0));
    assert_eq!(listed[1], ("META-INF/MANIFEST.MF", EntryKind::Manifest, 25));
    assert_eq!(listed[8], ("a/F.class", EntryKind::Class, 4003));
    assert_eq!(listed[9], ("ä/ö.txt", EntryKind::Resource, 7));
    assert_eq!(&*input.read(9).unwrap().unwrap(), b"umlauts");
    assert!(input.read(12).is_none());
}

#[test]
fn replaced_entries_keep_everything_but_their_contents() {
    let source = odd_jar().build();
    for (prefix, shifted) in [(&b""[..], false), (b"#!/bin/sh\n", true), (b"#!/bin/sh\n", false)] {
        let bytes = Archive { prefix: prefix.into(), shifted, ..odd_jar() }.build();
        let bench = Bench::with(&bytes);
        let account = bench.rewrite(&double).unwrap();
        assert_eq!(account.tally, Tally { kept: 5, replaced: 7, ..Tally::default() });
        let written = bench.written();
        assert!(written.starts_with(prefix));
        for ((name, new), (old_name, old)) in contents(&written).into_iter().zip(contents(&source)) {
            assert_eq!(name, old_name);
            let times = if name.ends_with(".class") { 2 } else { 1 };
            assert_eq!(new, old.repeat(times), "{name}");
        }
        let mut before = zip::ZipArchive::new(Cursor::new(&source)).unwrap();
        let mut after = zip::ZipArchive::new(Cursor::new(&written)).unwrap();
        assert_eq!(after.comment(), before.comment());
        for index in 0..before.len() {
            let (old, new) = (before.by_index_raw(index).unwrap(), after.by_index_raw(index).unwrap());
            assert_eq!(new.compression(), old.compression(), "{}", old.name().unwrap());
            assert_eq!(new.last_modified(), old.last_modified(), "{}", old.name().unwrap());
            assert_eq!(new.comment(), old.comment(), "{}", old.name().unwrap());
            assert_eq!(new.unix_mode(), old.unix_mode(), "{}", old.name().unwrap());
        }
        // Opened by this crate, which checks local headers against the directory.
        assert_eq!(Input::open(&bench.output(), &Limits::default()).unwrap().entries().len(), 12);
        // Sizes are known now: neither the directory nor the local header (24 bytes before its
        // name) announces a data descriptor.
        let name = written.windows(9).position(|window| window == b"a/C.class").unwrap();
        assert_eq!(written[name - 24..name - 22], [0, 0]);
        // The extra fields of replaced entries, in local header and directory.
        let find = |part: &[u8]| written.windows(part.len()).any(|window| window == part);
        assert!(find(b"a/B.class\x07\x07\x02\x00\x01\x02") && find(b"a/F.class\x09\x09\x01\x00\x05"));
    }
}

#[test]
fn dropped_entries_are_gone() {
    let bench = Bench::with(&odd_jar().build());
    let dropping = |at: &cct_archive::Location<'_>, _: &[u8]| {
        Ok::<_, ()>(if &*at.entry.name == "a/C.class" { Action::Drop } else { Action::Keep })
    };
    let account = bench.rewrite(&dropping).unwrap();
    assert_eq!((account.tally.kept, account.tally.dropped), (11, 1));
    let mut expected = names(&odd_jar().build());
    expected.retain(|name| name != "a/C.class");
    assert_eq!(names(&bench.written()), expected);
}

#[test]
fn a_missing_descriptor_is_not_copied() {
    let bytes = jar(vec![
        Item { descriptor: Descriptor::Missing, ..deflated("a/A.class", &text(900)) },
        stored("b.txt", b"b"),
    ]);
    let bench = Bench::with(&bytes);
    bench.rewrite(&keep).unwrap();
    assert_eq!(contents(&bench.written()), contents(&bytes));
    assert!(!bench.written().contains(&0xEE));
}

#[test]
fn added_entries_have_their_places_and_a_fixed_date() {
    let bench = Bench::with(&odd_jar().build());
    let account = bench.rewrite(&AddingRewriter(keep)).unwrap();
    assert_eq!(account.tally.added, 2);
    assert_eq!(account.records.len(), 7);
    let written = contents(&bench.written());
    assert_eq!(written[1].0, "META-INF/MANIFEST.MF");
    assert_eq!(written[2], ("added/First0.class".to_owned(), vec![b'f'; 100]));
    let (last, index) = written.last().unwrap();
    assert_eq!(last, cct_archive::INDEX_NAME);
    assert_eq!(index, b"a/A.class\na/B.class\na/C.class\na/D.class\na/E.class\na/F.class\nempty.class");
    let mut archive = zip::ZipArchive::new(Cursor::new(bench.written())).unwrap();
    let first = archive.by_index(2).unwrap();
    assert_eq!(first.compression(), zip::CompressionMethod::Deflated);
    let date = first.last_modified().unwrap();
    assert_eq!((date.year(), date.month(), date.day(), date.hour()), (1980, 1, 1, 0));
}

#[test]
fn an_archive_without_entries_can_be_added_to() {
    for items in [vec![], vec![stored("META-INF/MANIFEST.MF", b"A: b\n\n")]] {
        let count = items.len();
        let bench = Bench::with(&jar(items));
        bench.rewrite(&AddingRewriter(keep)).unwrap();
        let names = names(&bench.written());
        assert_eq!(names.len(), count + 2);
        assert_eq!(names[count..], ["added/First0.class", cct_archive::INDEX_NAME]);
    }
}

#[test]
fn an_added_name_that_exists_is_refused() {
    let bench = Bench::with(&jar(vec![stored(cct_archive::INDEX_NAME, b"")]));
    let error = bench.rewrite(&AddingRewriter(keep)).unwrap_err();
    let Failure::Archive(Error::Entry { problem: EntryProblem::NameTaken, entry }) = &error else {
        panic!("{error}")
    };
    assert!(entry.ends_with("in.jar!/cctrewrite-output/index"), "{entry}");
    assert_eq!(bench.files(), ["in.jar"]);
}

#[test]
fn duplicate_names_are_all_kept_in_order() {
    let bytes =
        jar(vec![stored("A.class", b"one"), deflated("A.class", b"two"), stored("A.class", b"three")]);
    let bench = Bench::with(&bytes);
    let seen = bench.open().unwrap().survey(|_, bytes| Ok::<_, ()>(bytes.to_vec())).unwrap();
    assert_eq!(seen.classes, [&b"one"[..], b"two", b"three"]);
    bench.rewrite(&double).unwrap();
    let written = bench.written();
    let find = |part: &[u8]| written.windows(part.len()).position(|window| window == part);
    assert!(find(b"oneone").unwrap() < find(b"threethree").unwrap());
    let reopened = Input::open(&bench.output(), &Limits::default()).unwrap();
    assert_eq!(&*reopened.read(1).unwrap().unwrap(), b"twotwo");
}

#[test]
fn multi_release_classes_are_shown_like_others() {
    let names = ["a/B.class", "META-INF/versions/9/a/B.class", "META-INF/versions/17/module-info.class"];
    let bench = Bench::with(&jar(names.iter().map(|name| deflated(name, name.as_bytes())).collect()));
    let survey = bench.open().unwrap().survey(|at, _| Ok::<_, ()>(at.entry.name.to_string())).unwrap();
    assert_eq!(survey.classes, names);
}

/// To JVMs a symbolic link is an entry like others, whose contents are its bytes. It is not
/// followed, and stays a link for programs that extract it.
#[test]
fn a_symbolic_link_is_an_entry() {
    let link = |name: &str| Item { attributes: 0o120_777 << 16, ..stored(name, b"../../../../etc/passwd") };
    let bytes = jar(vec![link("a/Link.class"), link("link.txt"), link("lib/link.jar")]);
    let bench = Bench::with(&bytes);
    let seen = bench.open().unwrap().survey(|_, bytes| Ok::<_, Infallible>(bytes.to_vec())).unwrap();
    assert_eq!(seen.classes, [b"../../../../etc/passwd"]);
    bench.rewrite(&keep).unwrap();
    assert_eq!(bench.written(), bytes);
}

#[test]
fn the_number_of_threads_does_not_show() {
    let items = (0..700)
        .map(|i| {
            let name = format!("p{}/C{i}.{}", i % 13, if i % 5 == 0 { "txt" } else { "class" });
            if i % 3 == 0 { stored(&name, &text(i * 11)) } else { deflated(&name, &text(i * 17)) }
        })
        .chain([deflated(
            "lib/in.jar",
            &jar((0..50).map(|i| deflated(&format!("I{i}.class"), &text(i))).collect()),
        )])
        .collect();
    let bench = Bench::with(&jar(items));
    let run = |threads: usize, window_bytes: u64, output: &str| {
        let output = bench.folder.path().join(output);
        let options = RewriteOptions { window_bytes, ..RewriteOptions::default() };
        let account = pool(threads)
            .install(|| rewrite_to(&bench.open().unwrap(), &output, &options, &AddingRewriter(double)))
            .unwrap();
        (account, std::fs::read(output).unwrap())
    };
    let first = run(1, 16 << 20, "1.jar");
    assert_eq!(first.0.records.len(), 560 + 50);
    assert_eq!(run(4, 16 << 20, "4.jar"), first);
    assert_eq!(run(4, 1000, "4small.jar"), first);
    let level = RewriteOptions { level: 1, ..RewriteOptions::default() };
    let other = bench.folder.path().join("fast.jar");
    rewrite_to(&bench.open().unwrap(), &other, &level, &AddingRewriter(double)).unwrap();
    assert_ne!(std::fs::read(&other).unwrap(), first.1);
    assert_eq!(contents(&first.1)[3], contents(&std::fs::read(other).unwrap())[3]);
}

#[test]
fn more_than_65535_entries_take_zip64() {
    let items: Vec<_> = (0..66_000).map(|i| stored(&format!("{i}.class"), b"x")).collect();
    // The builder lets the count wrap, as writers without zip64 do.
    let bench = Bench::with(&jar(items));
    let account = bench.rewrite(&double).unwrap();
    assert_eq!(account.tally.replaced, 66_000);
    let archive = zip::ZipArchive::new(Cursor::new(bench.written())).unwrap();
    assert_eq!(archive.len(), 66_000);
    assert_eq!(Input::open(&bench.output(), &Limits::default()).unwrap().entries().len(), 66_000);
}

#[test]
fn names_that_are_not_utf8_survive() {
    let bytes = jar(vec![Item { name: b"a/\xE4.class".into(), ..deflated("", b"latin 1") }]);
    let bench = Bench::with(&bytes);
    assert_eq!(&*bench.open().unwrap().entries()[0].name, "a/\u{FFFD}.class");
    bench.rewrite(&double).unwrap();
    assert_eq!(bench.written().windows(10).filter(|window| window == b"a/\xE4.class").count(), 0);
    assert_eq!(bench.written().windows(9).filter(|window| window == b"a/\xE4.class").count(), 2);
}

#[test]
fn a_failing_rewriter_leaves_nothing_and_is_named() {
    let items = (0..300).map(|i| deflated(&format!("C{i}.class"), &text(i))).collect();
    let bench = Bench::with(&jar(items));
    std::fs::write(bench.output(), b"an earlier output").unwrap();
    for _ in 0..5 {
        let failing = |at: &cct_archive::Location<'_>, bytes: &[u8]| {
            if at.index >= 100 { Err("no") } else { Ok(Action::Replace(bytes.to_vec())) }
        };
        let error = bench.rewrite(&failing).unwrap_err();
        assert!(error.to_string().ends_with("in.jar!/C100.class: no"), "{error}");
        let surveyed =
            bench.open().unwrap().survey(|at, _| if at.index > 7 { Err(at.index) } else { Ok(()) });
        assert!(matches!(surveyed, Err(Failure::Callback { cause: 8, .. })));
    }
    assert_eq!(bench.files(), ["in.jar", "out.jar"]);
    assert_eq!(bench.written(), b"an earlier output");
}
