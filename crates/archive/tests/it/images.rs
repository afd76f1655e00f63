//! Images, sound and damaged.

use std::collections::BTreeMap;

use cct_archive::{
    Action, ArchivePath, ArchiveProblem, EntryProblem, Error, Failure, InputKind, Layout, Location, Method,
    NewEntry, RewriteOptions, Rewriter,
};

use crate::image_builder::Builder;
use crate::support::*;

/// Offsets of fields of the header.
const VERSION: usize = 4;
const FLAGS: usize = 8;
const RESOURCES: usize = 12;
const SLOTS: usize = 16;
const LOCATIONS: usize = 20;
const STRINGS: usize = 24;
const HEADER: usize = 28;

fn sample() -> Builder {
    let resources = vec![
        ("/java.base/java/lang/Object.class", b"object".to_vec()),
        ("/java.base/module-info.class", b"info".to_vec()),
        ("/java.sql/java/sql/Driver.class", b"driver".to_vec()),
        ("/java.base/empty", Vec::new()),
    ];
    Builder { big: false, minor_version: 0, resources }
}

fn entries(bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let input = Bench::with(bytes);
    let input = input.open().unwrap();
    assert_eq!((input.kind(), input.layout()), (InputKind::Image, Layout::Modules));
    let read = |index: usize| input.read(index).unwrap().unwrap().into_owned();
    let named = input.entries().iter().enumerate();
    named.map(|(index, entry)| (entry.name.to_string(), read(index))).collect()
}

#[test]
fn images_of_either_byte_order_and_version_are_read_and_written() {
    for (big, minor_version) in [(false, 0), (true, 0), (false, 1), (true, 1)] {
        let built = Builder { big, minor_version, ..sample() }.build();
        let found = entries(&built.bytes);
        assert_eq!(found["java.base/java/lang/Object.class"], b"object");
        assert_eq!(found["java.base/empty"], b"");
        assert_eq!(found.len(), 4);
        let bench = Bench::with(&built.bytes);
        bench.rewrite(&keep).unwrap();
        assert_eq!(bench.written()[..8], built.bytes[..8]);
        assert_eq!(entries(&bench.written()), found);
        // Once it has listings of its folders, it stays unchanged.
        let again = Bench::with(&bench.written());
        again.rewrite(&keep).unwrap();
        assert_eq!(again.written(), bench.written());
    }
}

#[test]
fn entries_are_in_the_order_of_their_contents() {
    let bench = Bench::with(&sample().build().bytes);
    let input = bench.open().unwrap();
    let names: Vec<&str> = input.entries().iter().map(|entry| &*entry.name).collect();
    let expected = [
        "java.base/java/lang/Object.class",
        "java.base/module-info.class",
        "java.sql/java/sql/Driver.class",
        "java.base/empty",
    ];
    assert_eq!(names, expected);
}

/// Drops the driver, doubles Object, and adds a class and a resource of a name not in ASCII.
struct ChangingRewriter;

impl Rewriter for ChangingRewriter {
    type Record = ();
    type Error = std::convert::Infallible;

    fn rewrite(&self, at: &Location<'_>, bytes: &[u8]) -> Result<(Action, Option<()>), Self::Error> {
        Ok((
            match &*at.entry.name {
                "java.sql/java/sql/Driver.class" => Action::Drop,
                "java.base/java/lang/Object.class" => Action::Replace([bytes, bytes].concat()),
                _ => Action::Keep,
            },
            None,
        ))
    }

    fn leading(&self, archive: &ArchivePath<'_>) -> Result<Vec<NewEntry>, Self::Error> {
        let name = archive.layout().name("new/p/X.class");
        Ok(vec![NewEntry { name, bytes: b"new".to_vec(), method: Method::Deflated }])
    }

    fn trailing(&self, _: &ArchivePath<'_>, _: &[()]) -> Result<Vec<NewEntry>, Self::Error> {
        Ok(vec![NewEntry { name: "java.base/\u{e9}\u{1F600}".into(), bytes: vec![], method: Method::Stored }])
    }
}

#[test]
fn changes_arrive_and_are_the_same_whatever_the_number_of_threads() {
    let bytes = sample().build().bytes;
    let bench = Bench::with(&bytes);
    let account = pool(1).install(|| bench.rewrite(&ChangingRewriter)).unwrap();
    assert_eq!((account.tally.replaced, account.tally.dropped, account.tally.added), (1, 1, 2));
    let written = bench.written();
    let found = entries(&written);
    assert_eq!(found["java.base/java/lang/Object.class"], b"objectobject");
    assert_eq!(found["java.base/new/p/X.class"], b"new");
    assert!(!found.contains_key("java.sql/java/sql/Driver.class"));
    assert_eq!(found.len(), 5, "{:?}", found.keys());
    // A surrogate pair is shown as damage: names are modified UTF-8, and entries' names are not.
    assert!(found.keys().any(|name| name.starts_with("java.base/\u{e9}")));
    let contains = |text: &[u8]| written.windows(text.len()).any(|window| window == text);
    assert!(contains(b"\0new.p\0") && contains(b"\0java.base/new/p\0"));
    let small = RewriteOptions { window_bytes: 1, ..RewriteOptions::default() };
    pool(3)
        .install(|| rewrite_to(&bench.open().unwrap(), &bench.output(), &small, &ChangingRewriter))
        .unwrap();
    assert!(bench.written() == written);
    assert_eq!(bench.files(), ["in.jar", "out.jar"]);
}

/// Adds an entry of this name.
struct AddsOne(&'static str);

impl Rewriter for AddsOne {
    type Record = ();
    type Error = std::convert::Infallible;

    fn rewrite(&self, _: &Location<'_>, _: &[u8]) -> Result<(Action, Option<()>), Self::Error> {
        Ok((Action::Keep, None))
    }

    fn trailing(&self, _: &ArchivePath<'_>, _: &[()]) -> Result<Vec<NewEntry>, Self::Error> {
        Ok(vec![NewEntry { name: self.0.into(), bytes: vec![], method: Method::Stored }])
    }
}

#[test]
fn names_outside_modules_and_taken_names_are_refused() {
    let bench = Bench::with(&sample().build().bytes);
    let problem = |name| match bench.rewrite(&AddsOne(name)) {
        Err(Failure::Archive(Error::Entry { problem, .. })) => problem,
        other => panic!("{name}: {other:?}"),
    };
    for name in ["X.class", "modules/a/X.class", "packages/a"] {
        assert!(matches!(problem(name), EntryProblem::NoModule), "{name}");
    }
    assert!(matches!(problem("/java.base/X.class"), EntryProblem::BadName));
    assert!(matches!(problem("java.base/empty"), EntryProblem::NameTaken));
    assert_eq!(bench.files(), ["in.jar"]);
}

fn problem_of(bytes: &[u8]) -> Option<ArchiveProblem> {
    match Bench::with(bytes).open() {
        Ok(_) => None,
        Err(Error::Archive { problem, .. }) => Some(problem),
        Err(other) => panic!("{other}"),
    }
}

fn what(bytes: &[u8]) -> &'static str {
    match problem_of(bytes) {
        Some(ArchiveProblem::Image { what, .. }) => what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_field_of_the_header_is_checked() {
    let built = sample().build();
    let with = |at: usize, value: u32| {
        let mut bytes = built.bytes.clone();
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        bytes
    };
    assert_eq!(problem_of(&with(0, 0xCAFE_BABE)), Some(ArchiveProblem::NotZip));
    let version = |major, minor| Some(ArchiveProblem::ImageVersion { major, minor });
    assert_eq!(problem_of(&with(VERSION, 0x1_0002)), version(1, 2));
    assert_eq!(problem_of(&with(VERSION, 0x2_0000)), version(2, 0));
    assert_eq!(what(&with(FLAGS, 1)), "unknown flags are set");
    for field in [RESOURCES, SLOTS, LOCATIONS, STRINGS] {
        let value = u32::from_le_bytes(*built.bytes[field..].first_chunk().unwrap());
        for wrong in [0, 1, value - 1, value + 1, value + 4, 1 << 31, u32::MAX] {
            assert!(wrong == value || problem_of(&with(field, wrong)).is_some(), "field {field} = {wrong}");
        }
    }
}

#[test]
fn images_cut_anywhere_are_refused() {
    let built = sample().build();
    for len in 4..built.bytes.len() {
        assert!(problem_of(&built.bytes[..len]).is_some(), "cut to {len} bytes");
    }
}

#[test]
fn tables_that_lead_astray_are_refused() {
    let built = sample().build();
    let redirect = |slot: usize| HEADER + 4 * slot;
    let offset = |slot: usize| HEADER + 4 * (built.slots + slot);
    let with = |at: usize, value: u32| {
        let mut bytes = built.bytes.clone();
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        bytes
    };
    assert_eq!(what(&with(offset(0), 1 << 30)), "it points outside the locations");
    let mut bytes = built.bytes.clone();
    bytes[HEADER + 8 * built.slots + 1] = 0xFF;
    assert_eq!(what(&bytes), "no sound location starts here");
    // Two slots with one location: a second resource of the same name.
    assert_eq!(what(&with(offset(1), 1)), "a resource cannot be found by its name");
    assert_eq!(what(&with(offset(1), 0)), "there are not as many resources as its header announces");
    let used = (0..built.slots).find(|&slot| built.bytes[redirect(slot)..][..4] != [0; 4]).unwrap();
    for value in [0, i32::MIN as u32, -100i32 as u32, 7] {
        assert_eq!(what(&with(redirect(used), value)), "a resource cannot be found by its name");
    }
}

#[test]
fn contents_must_be_there_and_their_own() {
    let built = sample().build();
    // A location: three attributes of five bytes and an end, the first after one byte.
    let attribute =
        |resource: usize, kind: usize| HEADER + 8 * built.slots + 1 + 16 * resource + 5 * kind + 1;
    let with = |at: usize, value: u32| {
        let mut bytes = built.bytes.clone();
        bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
        bytes
    };
    let beyond = "a resource extends beyond the end of the file";
    assert_eq!(what(&with(attribute(0, 1), 1 << 30)), beyond);
    assert_eq!(what(&with(attribute(2, 2), 7)), beyond);
    assert_eq!(what(&with(attribute(0, 2), 7)), "a resource shares bytes with another");
    assert_eq!(what(&with(attribute(1, 1), 0)), "a resource shares bytes with another");
    assert_eq!(what(&with(attribute(0, 0), 1 << 20)), "its name lies outside the strings, or is too long");
    assert!(built.contents < built.bytes.len());
}

#[test]
fn names_must_be_of_modules() {
    for name in ["no/slash", "/", "/module", "//java/lang/Object.class"] {
        let built = Builder { resources: vec![(name, vec![1])], ..sample() }.build();
        assert!(what(&built.bytes).starts_with("it"), "{name}");
    }
    // The image's own lists are no entries.
    let built =
        Builder { resources: vec![("/modules", vec![1]), ("/packages/x", vec![2])], ..sample() }.build();
    assert!(entries(&built.bytes).is_empty());
}

#[test]
fn no_damage_of_a_byte_is_more_than_an_error() {
    let bytes = sample().build().bytes;
    for at in 0..bytes.len() {
        for change in [1, 0x80, 0xFF] {
            let mut damaged = bytes.clone();
            damaged[at] ^= change;
            let bench = Bench::with(&damaged);
            if bench.open().is_ok() {
                let _ = bench.rewrite(&double);
            }
        }
    }
}
