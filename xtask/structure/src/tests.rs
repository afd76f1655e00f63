//! Tests on made-up workspaces, and on this one.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::check;

/// A workspace of one package `a` with these sources; the expectations list its permitted circles.
fn workspace(sources: &[(&str, &str)], expectations: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n");
    put("crates/a/Cargo.toml", "[package]\nname = \"a\"\n");
    put("structure.toml", &format!("layers = [[\"a\"]]\n{expectations}"));
    for (name, text) in sources {
        put(&format!("crates/a/src/{name}"), text);
    }
    folder
}

fn findings(sources: &[(&str, &str)]) -> Vec<String> {
    check(workspace(sources, "").path()).unwrap()
}

const TWO: (&str, &str) = ("lib.rs", "mod one;\nmod two;\n");

#[test]
fn files_that_use_each_other_are_a_circle() {
    let found = findings(&[
        TWO,
        ("one.rs", "//! One.\n\nuse crate::two::Two;\n\npub struct One(Two);\n"),
        ("two.rs", "pub struct Two;\npub fn f() {\n    crate::one::g();\n}\n"),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
    for part in [
        "crates/a/src/one.rs:3 uses crate::two::Two (crates/a/src/two.rs)",
        "crates/a/src/two.rs:3 uses crate::one::g (crates/a/src/one.rs)",
    ] {
        assert!(found[0].contains(part), "{}", found[0]);
    }
}

/// Each way in which code can name an item of another file counts.
#[test]
fn each_way_to_name_something_counts() {
    for code in [
        "use crate::two::Two;",
        "use super::two::Two as Other;",
        "use crate::{two::{self, Two}};",
        "use crate::two::*;",
        "use crate::two; fn f(_: two::Two) {}",
        "fn f() { use crate::two; two::f(); }",
        "fn f() { println!(\"{:?}\", crate::two::Two); }",
        "fn f(_: super::two::Two) {}",
        "mod inner { fn f(_: super::super::two::Two) {} }",
        "impl crate::two::Trait for u8 {}",
        "fn f() { <u8 as crate::two::Trait>::g(); }",
        "use crate::Two;",
        "use crate::facade::Two;",
        "use crate::facade::all::Two;",
    ] {
        let root = "mod facade;\nmod one;\nmod two;\npub use two::Two;\n";
        let facade = "pub use crate::two::Two;\npub mod all { pub use super::super::two::*; }\n";
        let two = "use crate::one::One;\npub struct Two;\npub trait Trait {}\npub fn f(_: One) {}\n";
        let one = format!("pub struct One;\n{code}\n");
        let found = findings(&[("lib.rs", root), ("facade.rs", facade), ("one.rs", &one), ("two.rs", two)]);
        assert_eq!(found.len(), 1, "{code}: {found:?}");
        assert!(found[0].starts_with("2 files"), "{code}: {}", found[0]);
    }
}

#[test]
fn facades_tests_comments_and_other_crates_are_no_uses() {
    let one = "//! See [`crate::two::Two`].\n\nuse two::Other;\n\npub struct One;\n\n\
               #[cfg(test)]\nmod tests {\n    use crate::two::Two;\n}\n\n#[cfg(test)]\nuse crate::two::Two;\n";
    let root = "mod one;\nmod two;\n#[cfg(test)]\nmod missing;\npub use one::One;\npub use two::Two;\n";
    let two = "use crate::one::One;\npub struct Two(One, std::two::Two);\n";
    assert_eq!(findings(&[("lib.rs", root), ("one.rs", one), ("two.rs", two)]), [""; 0]);
}

/// Modules in folders, in either style, and their parents.
#[test]
fn a_parent_and_its_child_are_a_circle() {
    let child = "use super::Shared;\npub fn f(_: Shared) {}\n";
    let parent = "mod child;\npub struct Shared;\npub fn g() { child::f(Shared) }\n";
    for (file, inner) in
        [("two/mod.rs", "two/child.rs"), ("two.rs", "two/child.rs"), ("two.rs", "two/child/mod.rs")]
    {
        let found = findings(&[TWO, ("one.rs", ""), (file, parent), (inner, child)]);
        assert_eq!(found.len(), 1, "{file}: {found:?}");
        assert!(found[0].contains(&format!("crates/a/src/{inner}:1 uses super::Shared")), "{}", found[0]);
    }
}

/// A shortest cycle is shown, and all files are listed.
#[test]
fn a_large_circle_names_all_of_its_files() {
    let found = findings(&[
        ("lib.rs", "mod a;\nmod b;\nmod c;\nmod d;\n"),
        ("a.rs", "use crate::b::B;\npub struct A;\n"),
        ("b.rs", "use crate::c::C;\nuse crate::a::A;\npub struct B;\n"),
        ("c.rs", "use crate::a::A;\nuse crate::d::D;\npub struct C;\n"),
        ("d.rs", "pub struct D;\n"),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("3 files") && !found[0].contains("c.rs:"), "{}", found[0]);
    assert!(
        found[0].contains("all of them: crates/a/src/a.rs crates/a/src/b.rs crates/a/src/c.rs"),
        "{}",
        found[0]
    );
}

#[test]
fn a_circle_of_the_list_passes_as_it_is_and_with_a_reason() {
    let sources = [
        TWO,
        ("one.rs", "pub struct One(crate::two::Two);\n"),
        ("two.rs", "pub struct Two(Option<Box<crate::one::One>>);\n"),
    ];
    let entry = |files: &str, reason: &str| {
        let text = format!("[[circle]]\nfiles = [{files}]\nreason = \"{reason}\"\n");
        check(workspace(&sources, &text).path()).unwrap().len()
    };
    let both = "\"crates/a/src/one.rs\", \"crates/a/src/two.rs\"";
    assert_eq!(entry(both, "a tree is made of both"), 0);
    assert_eq!(entry(both, ""), 1);
    // Different files in each: the circle is not in the list, and the entry matches no circle.
    assert_eq!(entry("\"crates/a/src/one.rs\"", "a tree is made of both"), 2);
    assert_eq!(entry("\"crates/a/src/lib.rs\", \"crates/a/src/one.rs\", \"crates/a/src/two.rs\"", "r"), 2);
}

#[test]
fn packages_depend_on_lower_layers_only() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("Cargo.toml", "[workspace]\nmembers = [\"crates/*\", \"tool\"]\n");
    put("crates/low/Cargo.toml", "[package]\nname = \"low\"\n[dev-dependencies]\ntool.workspace = true\n");
    put(
        "crates/high/Cargo.toml",
        "[package]\nname = \"high\"\n[dependencies]\nlow.workspace = true\nserde = \"1\"\n",
    );
    put(
        "tool/Cargo.toml",
        "[package]\nname = \"tool\"\n[dependencies]\nhigh = { path = \"../crates/high\" }\n",
    );
    let with = |expectations: &str| {
        put("structure.toml", expectations);
        check(folder.path()).unwrap()
    };
    assert_eq!(with("layers = [[\"low\"], [\"high\"], [\"tool\"]]"), [""; 0]);
    assert_eq!(
        with("layers = [[\"low\"], [\"high\", \"tool\"]]"),
        ["package tool depends on high, which is not in a lower layer"]
    );
    assert_eq!(
        with("layers = [[\"low\"], [\"high\"]]"),
        ["package tool is in no layer; add it to structure.toml above all that it depends on"]
    );
    assert_eq!(with("layers = [[\"low\"], [\"high\"], [\"tool\"], [\"low\", \"gone\"]]").len(), 3);
    let apart = "layers = [[\"low\"], [\"high\"], [\"tool\"]]\n\
                 [[apart]]\npackage = \"tool\"\nfrom = [\"low\"]\nreason = \"it judges it\"\n";
    assert_eq!(with(apart), ["package tool must not depend on low: it judges it"]);
}

#[test]
fn what_cannot_be_read_is_named() {
    let error = |sources: &[(&str, &str)]| check(workspace(sources, "").path()).unwrap_err().to_string();
    assert!(error(&[("lib.rs", "mod one;\n")]).contains("crates/a/src/lib.rs: no file for `mod one;`"));
    assert!(error(&[("lib.rs", "\nfn f( {\n")]).contains("crates/a/src/lib.rs:"));
    assert!(check(Path::new("nowhere")).unwrap_err().to_string().contains("Cargo.toml"));
    let unknown = workspace(&[("lib.rs", "")], "other = 1\n");
    assert!(check(unknown.path()).unwrap_err().to_string().contains("structure.toml"));
}

/// The workspace itself. ARCHITECTURE.md says what to do about a finding.
#[test]
fn this_workspace_is_in_order() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let findings = check(root).unwrap();
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

/// Each file and folder that ARCHITECTURE.md names exists, under its whole path or its end; and it
/// names each crate.
#[test]
fn architecture_names_what_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let page = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let mut all = Vec::new();
    for folder in ["crates", "jdk-wrap", "xtask", "docs"] {
        let entries = walkdir::WalkDir::new(root.join(folder)).sort_by_file_name();
        all.extend(entries.into_iter().map(|entry| format!("{}/", entry.unwrap().path().display())));
    }
    let mut named = 0;
    for span in page.split('`').skip(1).step_by(2).filter(|span| span.contains('/') || span.ends_with(".rs"))
    {
        let end = format!("/{}/", span.trim_end_matches('/'));
        assert!(all.iter().any(|path| path.ends_with(&end)), "ARCHITECTURE.md names {span}");
        named += 1;
    }
    assert!(named > 30, "only {named} names found");
    for entry in fs::read_dir(root.join("crates")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(page.contains(&format!("`{name}`")), "ARCHITECTURE.md does not name crate {name}");
    }
}
