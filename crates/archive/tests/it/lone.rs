//! Single class files.

use std::convert::Infallible;
use std::fs;

use cct_archive::{Action, Entry, EntryKind, Input, InputKind, Layout, Limits, Location, RewriteOptions};

use crate::support::*;

/// This crate looks only at the start of a class file.
const CLASS: &[u8] = b"\xCA\xFE\xBA\xBE and more";

/// A folder with the file `name`, opened.
fn opened(name: &str) -> (tempfile::TempDir, Input) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, CLASS).unwrap();
    let input = Input::open(&path, &Limits::default()).unwrap();
    (folder, input)
}

#[test]
fn a_class_file_is_an_input_of_one_class_whatever_its_name() {
    for name in ["B.class", "b.bin", "lib.jar"] {
        let (folder, input) = opened(name);
        assert_eq!((input.kind(), input.layout()), (InputKind::Class, Layout::Plain));
        let entry = Entry { name: name.into(), kind: EntryKind::Class, size: CLASS.len() as u64 };
        assert_eq!(input.entries(), [entry]);
        assert_eq!((input.bytes(), &*input.read(0).unwrap().unwrap()), (Some(CLASS), CLASS));
        let survey = input.survey(|at, bytes| Ok::<_, ()>((at.to_string(), bytes.to_vec()))).unwrap();
        let path = folder.path().join(name).display().to_string();
        assert_eq!(survey.classes, [(path, CLASS.to_vec())]);
    }
}

#[test]
fn its_output_is_a_class_file_without_other_entries() {
    let (folder, input) = opened("B.class");
    let out = folder.path().join("out.class");
    let account = rewrite_to(&input, &out, &RewriteOptions::default(), &AddingRewriter(double)).unwrap();
    assert_eq!(fs::read(&out).unwrap(), CLASS.repeat(2));
    assert_eq!((account.tally.replaced, account.tally.added), (1, 0));
    assert_eq!(account.records, ["B.class"]);
    rewrite_to(&input, &out, &RewriteOptions::default(), &keep).unwrap();
    assert_eq!(fs::read(&out).unwrap(), CLASS);
    assert_eq!(list(folder.path()), ["B.class", "out.class"]);
}

#[test]
fn what_cannot_be_is_refused_and_leaves_nothing() {
    let (folder, input) = opened("B.class");
    let drop = |_: &Location<'_>, _: &[u8]| Ok::<_, Infallible>(Action::Drop);
    let out = folder.path().join("out.class");
    let refused = rewrite_to(&input, &out, &RewriteOptions::default(), &drop).unwrap_err().to_string();
    assert!(refused.contains("B.class: is the only entry, but is omitted"), "{refused}");
    let itself = rewrite_to(&input, input.path(), &RewriteOptions::default(), &keep).unwrap_err().to_string();
    assert!(itself.contains("is the input"), "{itself}");
    assert_eq!(list(folder.path()), ["B.class"]);

    let limits = Limits { max_entry_bytes: 5, ..Limits::default() };
    let tight = Input::open(input.path(), &limits).unwrap();
    assert!(tight.read(0).unwrap().is_err());
}
