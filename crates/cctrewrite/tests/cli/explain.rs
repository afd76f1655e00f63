//! `cctrewrite explain`.

use super::support::{jar, put, run, sample, scratch, snapshot};

fn explain(arguments: &[&str]) -> super::support::Run {
    let folder = scratch();
    put(folder.path(), "app.jar", &jar(&[("Sample.class", &sample())]));
    let arguments: Vec<&str> = ["explain", "app.jar"].iter().chain(arguments).copied().collect();
    run(folder.path(), &arguments)
}

#[test]
fn what_is_planned_for_a_class() {
    let plan = explain(&["Sample", "--no-code"]).succeeds().stdout;
    // The size of the rewritten class changes with every improvement.
    let size = plan.lines().find(|line| line.contains(", rewritten ")).unwrap();
    snapshot("explain-plan.txt", &plan.replace(size, size.split(", rewritten ").next().unwrap()));
}

#[test]
fn code_is_listed_with_its_constants_frames_and_handlers() {
    // The code before rewriting: other tests check the rewritten code in JVMs.
    let all = explain(&["Sample"]).succeeds().stdout;
    let mut listing = String::new();
    let mut inside = false;
    for line in all.lines().filter(|line| line.starts_with("  ")) {
        if !line.starts_with("    ") {
            inside = line == "  before";
        } else if inside {
            listing += line;
            listing += "\n";
        }
    }
    snapshot("explain-listing.txt", &listing);
}

#[test]
fn the_rewritten_code_is_listed_too() {
    let one = explain(&["Sample", "weight"]).succeeds().stdout;
    let (before, after) = one.split_once("  after\n").unwrap();
    let (wrapper, body) = after.split_once("  added\n").unwrap();
    assert!(before.contains("weight(I)D") && !before.contains("cct$"), "{before}");
    assert!(wrapper.contains("Sample.weight:(IJ[[[[J)D"), "{wrapper}");
    assert!(body.contains("static synthetic weight(IJ[[[[J)D") && body.contains("cct$enter"), "{body}");
    assert!(!one.contains("compute"));
}

#[test]
fn names_are_taken_as_people_write_them() {
    let folder = scratch();
    put(folder.path(), "classes/a/b/C.class", &super::support::plain("a/b/C"));
    let dots = run(folder.path(), &["explain", "classes", "a.b.C"]).succeeds().stdout;
    assert_eq!(dots, run(folder.path(), &["explain", "classes", "a/b/C"]).succeeds().stdout);
    run(folder.path(), &["explain", "classes", "x.C"]).fails_saying(&["no class x/C", "did you mean a/b/C?"]);
    explain(&["Sample", "gone"]).fails_saying(&["no method gone", "compute"]);
    explain(&["Sample", "weight(J)D"]).fails_saying(&["no method weight(J)D"]);
    explain(&["Sample", "weight(I)D"]).succeeds();
}

#[test]
fn choices_are_honoured() {
    let excluded = explain(&["Sample", "weight", "--exclude", "Sam*"]).succeeds().stdout;
    assert!(excluded.contains("recorded    no"), "{excluded}");
    assert!(!excluded.contains("cct$enter"), "{excluded}");
    let calls = explain(&["Sample", "weight", "--metrics", "calls"]).succeeds().stdout;
    assert!(calls.contains("cct$enter") && !calls.contains("cct$count"), "{calls}");
}
