//! Folders as inputs and outputs.

use std::fs;
use std::path::Path;

use cct_archive::{
    Action, ArchivePath, EntryProblem, Error, Failure, Input, InputKind, Limits, Location, Method, NewEntry,
    RewriteOptions, Rewriter,
};

use crate::builder::{deflated, jar};
use crate::support::*;

fn classes() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("classes");
    for (name, bytes) in [
        ("b/B.class", &b"class b"[..]),
        ("a/Z.class", b"class z"),
        ("a/x/X.class", b"class x"),
        ("a-b/C.class", b"class c"),
        ("top.txt", b"text"),
        ("lib/in.jar", &jar(vec![deflated("in/I.class", b"class i")])),
    ] {
        fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        fs::write(root.join(name), bytes).unwrap();
    }
    fs::create_dir(root.join("empty")).unwrap();
    folder
}

fn open(folder: &tempfile::TempDir) -> Result<Input, Error> {
    Input::open(&folder.path().join("classes"), &Limits::default())
}

fn rewrite<R: Rewriter>(folder: &tempfile::TempDir, rewriter: &R) -> Result<(), Failure<R::Error>> {
    let options = RewriteOptions::default();
    rewrite_to(&open(folder)?, &folder.path().join("out"), &options, rewriter).map(drop)
}

/// All files below, with their contents, and folders.
fn tree(root: &Path) -> Vec<(String, Option<Vec<u8>>)> {
    let input = Input::open(root, &Limits::default()).unwrap();
    let read = |(index, entry): (usize, &cct_archive::Entry)| {
        let bytes = (!entry.name.ends_with('/')).then(|| input.read(index).unwrap().unwrap().into_owned());
        (entry.name.to_string(), bytes)
    };
    input.entries().iter().enumerate().map(read).collect()
}

#[test]
fn entries_are_sorted_and_classes_in_jars_are_found() {
    let folder = classes();
    let input = open(&folder).unwrap();
    assert_eq!(input.kind(), InputKind::Folder);
    let names: Vec<_> = input.entries().iter().map(|entry| &*entry.name).collect();
    let expected =
        "a/ a/Z.class a/x/ a/x/X.class a-b/ a-b/C.class b/ b/B.class empty/ lib/ lib/in.jar top.txt";
    assert_eq!(names, expected.split(' ').collect::<Vec<_>>());
    let survey = input.survey(|at, _| Ok::<_, ()>(at.to_string())).unwrap();
    let root = folder.path().join("classes").display().to_string();
    assert_eq!(survey.classes[4], format!("{root}/lib/in.jar!/in/I.class"));
}

#[test]
fn the_output_mirrors_the_input() {
    let folder = classes();
    let root = folder.path().join("classes");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(root.join("top.txt"), fs::Permissions::from_mode(0o750)).unwrap();
        fs::set_permissions(root.join("a/Z.class"), fs::Permissions::from_mode(0o600)).unwrap();
        fs::set_permissions(root.join("a/x"), fs::Permissions::from_mode(0o500)).unwrap();
    }
    rewrite(&folder, &AddingRewriter(double)).unwrap();
    let out = folder.path().join("out");
    let mut expected = tree(&root);
    for (name, bytes) in &mut expected {
        if name.ends_with(".class") {
            *bytes = bytes.take().map(|bytes| bytes.repeat(2));
        }
    }
    let written = tree(&out);
    for (name, bytes) in expected.iter().filter(|(name, _)| name != "lib/in.jar") {
        assert!(written.contains(&(name.clone(), bytes.clone())), "{name}");
    }
    let inner = contents(&fs::read(out.join("lib/in.jar")).unwrap());
    assert_eq!(inner[1].1, b"class iclass i");
    let index = fs::read_to_string(out.join(cct_archive::INDEX_NAME)).unwrap();
    assert_eq!(index.lines().count(), 5);
    assert_eq!(fs::read(out.join("added/First0.class")).unwrap(), [b'f'; 100]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |name: &str| fs::metadata(out.join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("top.txt"), mode("a/Z.class"), mode("a/x")), (0o750, 0o600, 0o500));
        let source = fs::metadata(&root).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(""), source);
        for folder in [&root, &out] {
            fs::set_permissions(folder.join("a/x"), fs::Permissions::from_mode(0o700)).unwrap();
        }
    }
    assert_eq!(list(folder.path()), ["classes", "out"]);
}

#[test]
fn a_failure_leaves_nothing() {
    let folder = classes();
    let failing = |at: &Location<'_>, _: &[u8]| {
        if at.entry.name.starts_with('b') { Err("no") } else { Ok(Action::Replace(vec![1])) }
    };
    let error = rewrite(&folder, &failing).unwrap_err();
    assert!(error.to_string().ends_with("classes/b/B.class: no"), "{error}");
    assert_eq!(list(folder.path()), ["classes"]);
}

#[test]
fn an_earlier_output_is_replaced_and_other_folders_are_not() {
    let folder = classes();
    let out = folder.path().join("out");
    fs::create_dir(&out).unwrap();
    rewrite(&folder, &AddingRewriter(keep)).unwrap();
    fs::write(out.join("stale.txt"), b"from an earlier run").unwrap();
    rewrite(&folder, &AddingRewriter(double)).unwrap();
    assert!(!out.join("stale.txt").exists());
    assert_eq!(fs::read(out.join("b/B.class")).unwrap(), b"class bclass b");
    assert_eq!(list(folder.path()), ["classes", "out"]);

    fs::remove_file(out.join(cct_archive::INDEX_NAME)).unwrap();
    let error = rewrite(&folder, &AddingRewriter(keep)).unwrap_err();
    assert!(error.to_string().contains("holds no earlier output"), "{error}");
    assert_eq!(fs::read(out.join("b/B.class")).unwrap(), b"class bclass b");
    assert_eq!(list(folder.path()), ["classes", "out"]);
}

struct ClimbingRewriter(&'static str);

impl Rewriter for ClimbingRewriter {
    type Record = ();
    type Error = ();

    fn rewrite(&self, _: &Location<'_>, _: &[u8]) -> Result<(Action, Option<()>), ()> {
        Ok((Action::Keep, None))
    }

    fn trailing(&self, _: &ArchivePath<'_>, _: &[()]) -> Result<Vec<NewEntry>, ()> {
        Ok(vec![NewEntry { name: self.0.into(), bytes: vec![], method: Method::Stored }])
    }
}

#[test]
fn added_names_do_not_leave_the_output() {
    for name in ["../out.txt", "/etc/x", "a/../../x", "", "a//b", "./a", "a/", "C:/x", "..\\x", "a\0"] {
        let folder = classes();
        let error = rewrite(&folder, &ClimbingRewriter(name)).unwrap_err();
        let bad = matches!(error, Failure::Archive(Error::Entry { problem: EntryProblem::BadName, .. }));
        assert!(bad, "{name:?}: {error:?}");
        assert_eq!(list(folder.path()), ["classes"]);
    }
    let folder = classes();
    let error = rewrite(&folder, &ClimbingRewriter("b/B.class")).unwrap_err();
    assert!(
        matches!(error, Failure::Archive(Error::Entry { problem: EntryProblem::NameTaken, .. })),
        "{error:?}"
    );
}

#[cfg(unix)]
mod links {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn inside_they_are_followed() {
        let folder = classes();
        let root = folder.path().join("classes");
        symlink("b/B.class", root.join("link.class")).unwrap();
        symlink("../b", root.join("a/linked")).unwrap();
        rewrite(&folder, &double).unwrap();
        let out = folder.path().join("out");
        for name in ["link.class", "a/linked/B.class", "b/B.class"] {
            assert_eq!(fs::read(out.join(name)).unwrap(), b"class bclass b", "{name}");
            assert!(!fs::symlink_metadata(out.join(name)).unwrap().is_symlink());
        }
    }

    fn problem(target: &str, at: &str) -> Error {
        let folder = classes();
        fs::write(folder.path().join("secret.txt"), b"").unwrap();
        symlink(target, folder.path().join("classes").join(at)).unwrap();
        open(&folder).unwrap_err()
    }

    #[test]
    fn outside_dangling_and_looping_ones_are_refused() {
        for target in ["../secret.txt", "/etc", "..", "../classes/../secret.txt"] {
            let error = problem(target, "link");
            assert!(
                matches!(&error, Error::Entry { problem: EntryProblem::LinkOutside { .. }, .. }),
                "{target}: {error}"
            );
            assert!(error.to_string().contains("classes/link: a symbolic link to"), "{error}");
        }
        assert!(matches!(problem("..", "a/loop"), Error::Entry { problem: EntryProblem::LinkLoop, .. }));
        assert!(matches!(problem("x/..", "a/loop"), Error::Entry { problem: EntryProblem::LinkLoop, .. }));
        assert!(matches!(problem("nowhere", "link"), Error::Io { .. }));
    }

    #[test]
    fn sockets_are_refused() {
        let folder = classes();
        let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("classes/socket")).unwrap();
        assert!(matches!(open(&folder), Err(Error::Entry { problem: EntryProblem::Special, .. })));
    }
}
