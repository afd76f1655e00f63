//! Outputs that would destroy something, rejected before anything is written.

use std::fs;
use std::path::Path;

use cct_archive::{Error, Input, Limits, RewriteOptions, Target, TargetProblem};

use crate::builder::{jar, stored};
use crate::support::*;

fn problem(path: &Path, inputs: &[&Input]) -> TargetProblem {
    match Target::new(path, inputs) {
        Err(Error::Target { problem, .. }) => problem,
        other => panic!("{other:?}"),
    }
}

fn bench() -> Bench {
    Bench::with(&jar(vec![stored("A.class", b"a")]))
}

#[test]
fn an_input_by_any_name() {
    let bench = bench();
    let input = bench.open().unwrap();
    let is_input = TargetProblem::IsInput(bench.input());
    assert_eq!(problem(&bench.input(), &[&input]), is_input);
    fs::create_dir(bench.folder.path().join("sub")).unwrap();
    assert_eq!(problem(&bench.folder.path().join("sub/../in.jar"), &[&input]), is_input);
    #[cfg(unix)]
    {
        let (soft, hard) = (bench.folder.path().join("soft.jar"), bench.folder.path().join("hard.jar"));
        std::os::unix::fs::symlink("in.jar", &soft).unwrap();
        fs::hard_link(bench.input(), &hard).unwrap();
        assert_eq!(problem(&soft, &[&input]), is_input);
        assert_eq!(problem(&hard, &[&input]), is_input);
    }
    // Any input of the run, not only the one that is written.
    let other = bench.folder.path().join("other.jar");
    fs::copy(bench.input(), &other).unwrap();
    let other_input = Input::open(&other, &Limits::default()).unwrap();
    assert_eq!(problem(&other, &[&input, &other_input]), TargetProblem::IsInput(other));
}

#[test]
fn inside_and_around_inputs() {
    let bench = bench();
    let folder = Input::open(bench.folder.path(), &Limits::default()).unwrap();
    let root = bench.folder.path().to_path_buf();
    assert_eq!(problem(&root.join("out"), &[&folder]), TargetProblem::InsideInput(root.clone()));
    assert_eq!(problem(&root, &[&folder]), TargetProblem::IsInput(root.clone()));
    let jar = bench.open().unwrap();
    assert_eq!(problem(&root, &[&jar]), TargetProblem::ContainsInput(bench.input()));
    assert_eq!(problem(Path::new(".."), &[&jar]), TargetProblem::NoName);
    assert!(matches!(Target::new(&root.join("no/such/out.jar"), &[&jar]), Err(Error::Io { .. })));
    // A neighbour with a similar name is neither.
    Target::new(&root.with_extension("out"), &[&folder]).unwrap();
    assert_eq!(bench.files(), ["in.jar"]);
}

#[test]
fn other_kinds_of_things() {
    let bench = bench();
    let out = bench.folder.path().join("out");
    fs::create_dir(&out).unwrap();
    let jar = bench.open().unwrap();
    let refused = |input: &Input, path: &Path| {
        let error = rewrite_to(input, path, &RewriteOptions::default(), &keep).unwrap_err();
        error.to_string()
    };
    assert!(refused(&jar, &out).ends_with("is a folder, but the input is a jar; name a file"));
    let classes = bench.folder.path().join("classes");
    fs::create_dir(&classes).unwrap();
    fs::write(bench.output(), b"").unwrap();
    let folder = Input::open(&classes, &Limits::default()).unwrap();
    assert!(
        refused(&folder, &bench.output()).ends_with("is a file, but the input is a folder; name a folder")
    );
    #[cfg(unix)]
    {
        let special = bench.folder.path().join("socket");
        let _socket = std::os::unix::net::UnixListener::bind(&special).unwrap();
        assert!(refused(&jar, &special).ends_with("is neither a file nor a folder"));
    }
}

#[test]
fn an_output_file_is_overwritten_and_an_uncommitted_one_is_not() {
    let bench = bench();
    fs::write(bench.output(), b"earlier").unwrap();
    let input = bench.open().unwrap();
    let target = Target::new(&bench.output(), &[&input]).unwrap();
    let staged = input.rewrite(&target, &RewriteOptions::default(), &double).unwrap();
    let files = bench.files();
    assert_eq!(files.len(), 3);
    assert!(files[0].starts_with(".cctrewrite-") && files[0].ends_with(".tmp"), "{files:?}");
    drop(staged);
    assert_eq!(bench.written(), b"earlier");
    assert_eq!(bench.files(), ["in.jar", "out.jar"]);

    input.rewrite(&target, &RewriteOptions::default(), &double).unwrap().commit().unwrap();
    assert_eq!(contents(&bench.written())[0].1, b"aa");
    assert_eq!(bench.files(), ["in.jar", "out.jar"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let plain = fs::metadata(bench.input()).unwrap().permissions().mode();
        assert_eq!(fs::metadata(bench.output()).unwrap().permissions().mode(), plain);
    }
}
