//! The view in which the work of the library is added to the frames that call it.

use std::path::Path;

use cct_profile::{Metric, Profile};

use super::profiles::usual;
use super::support::{put, run, scratch, snapshot};

fn stored() -> tempfile::TempDir {
    let folder = scratch();
    put(folder.path(), "run.cct", &usual());
    folder
}

fn ends(folder: &Path, arguments: &[&str]) -> String {
    let run = run(folder, arguments).succeeds();
    assert_eq!(run.stderr, "");
    run.stdout
}

/// `java.lang.String.charAt`, `Arrays.sort` and `Object.hashCode` become lines of their callers.
#[test]
fn reports_show_the_library_as_one_line() {
    let folder = stored();
    let home = folder.path();
    let list = ends(home, &["report", "run.cct", "--collapse-library", "--format", "contexts"]);
    snapshot("library-contexts.txt", &list);
    let tree = ends(home, &["report", "run.cct", "--mine", "app.*", "--min-percent", "0"]);
    assert!(tree.contains("\nLibrary: all but app.*: added to the frame that calls it"), "{tree}");
    // As a library with app.tree.Node: 170 bytecodes of `walk` and 400 of `sort`.
    assert!(tree.lines().any(|line| line.contains(" 570 ") && line.ends_with("    (library)")), "{tree}");
    let csv = ends(home, &["report", "run.cct", "--collapse-library", "--format", "csv"]);
    assert_eq!(csv.lines().filter(|line| line.contains("(library)")).count(), 1, "{csv}");
    let json = ends(home, &["report", "run.cct", "--collapse-library", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["meta"]["library"], "the JDK");
}

#[test]
fn exports_and_pages_have_the_line_too() {
    let folder = stored();
    let home = folder.path();
    let collapsed = ["export", "run.cct", "--format", "collapsed", "-o", "-", "--mine", "app.*"];
    let stacks = ends(home, &collapsed);
    assert!(stacks.lines().any(|line| line.ends_with(";(library) 570")), "{stacks}");
    let sum = |text: &str| -> u64 {
        text.lines().map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
    };
    assert_eq!(sum(&stacks), sum(&ends(home, &collapsed[..6])), "no count is lost");
    let page = ends(home, &["report", "run.cct", "--mine", "app.*", "--html", "-"]);
    let whole = ends(home, &["report", "run.cct", "--html", "-"]);
    assert_ne!(page, whole);
}

#[test]
fn a_merged_file_says_that_the_library_is_gone() {
    let folder = stored();
    let home = folder.path();
    ends(home, &["merge", "run.cct", "-o", "mine.cct", "--collapse-library"]);
    let read = |name: &str| Profile::read(&std::fs::read(home.join(name)).unwrap()).unwrap();
    let (whole, mine) = (read("run.cct"), read("mine.cct"));
    let note = "the library (the JDK) is collapsed in this file, and its methods are not in it";
    assert_eq!((&*mine.meta["library"], &*mine.notes), ("the JDK", &[note.to_owned()][..]));
    let total = |profile: &Profile| -> u64 {
        let nodes = profile.threads.iter().flat_map(|thread| thread.tree.nodes());
        nodes.map(|node| Metric::Bytecodes.of_node(node)).sum()
    };
    assert_eq!(total(&whole), total(&mine));
    // It is the same as the view, up to the note, and no context is missing from it.
    let list = |arguments: &[&str]| {
        let text = ends(home, &[arguments, &["--format", "contexts"]].concat());
        text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(list(&["report", "mine.cct"]), list(&["report", "run.cct", "--collapse-library"]));
    assert!(!ends(home, &["info", "mine.cct"]).contains("INCOMPLETE"));
    // The file and the view are the same for `diff`.
    let same = ends(home, &["diff", "run.cct", "mine.cct", "--collapse-library", "--fail-above", "0"]);
    assert!(same.ends_with("BASE and NEW are identical; within the limits.\n"), "{same}");
}

#[test]
fn reports_keep_classes_by_name() {
    let folder = stored();
    let text = ends(folder.path(), &["report", "run.cct", "--only", "app.Main*", "--min-percent", "0"]);
    assert!(text.contains("classes were dropped (only app.Main*)"), "{text}");
    assert!(!text.contains("java.") && text.contains("app.Main.step"), "{text}");
    let rest = ends(folder.path(), &["report", "run.cct", "--except", "java.**", "--min-percent", "0"]);
    assert!(!rest.contains("java.lang.String.charAt") && rest.contains("app.tree.Node.walk"), "{rest}");
}

/// Classes of a folder and of a jar are mine; a class generated for one of them is, too.
#[test]
fn mine_are_the_classes_of_jars_and_folders() {
    let folder = stored();
    let home = folder.path();
    // Classes are looked up by their places, so that their contents do not matter.
    std::fs::create_dir_all(home.join("classes/app")).unwrap();
    for class in ["Main", "Main$Task"] {
        put_class(&home.join(format!("classes/app/{class}.class")));
    }
    let list = |options: &[&str]| {
        let text = ends(home, &[&["report", "run.cct", "--format", "contexts"], options].concat());
        text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>()
    };
    let by_name = list(&["--mine", "app.Main", "--mine", "app.Main$*"]);
    assert_eq!(list(&["--mine-from", "classes"]), by_name);
    assert_ne!(by_name, list(&["--mine", "app.**"]), "app.tree.Node is of the library");
    let both = list(&["--mine-from", "classes", "--mine", "app.tree.**"]);
    assert_eq!(both, list(&["--mine", "app.Main", "--mine", "app.Main$*", "--mine", "app.tree.**"]));
    let header = ends(home, &["report", "run.cct", "--mine-from", "classes"]);
    assert!(header.contains("\nLibrary: all but classes: added to the frame"), "{header}");

    std::fs::create_dir(home.join("nothing")).unwrap();
    let refused = run(home, &["report", "run.cct", "--mine-from", "nothing"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("nothing: no class is there"), "{}", refused.stderr);
    assert_eq!(run(home, &["report", "run.cct", "--mine-from", "missing.jar"]).code, Some(1));
}

fn put_class(path: &Path) {
    let class = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/Sample.class");
    std::fs::copy(class, path).unwrap();
}

/// A method that is collapsed is there, and the message must not deny it.
#[test]
fn a_method_of_the_collapsed_library_is_named_as_such() {
    let folder = stored();
    let home = folder.path();
    let mine = ["--mine", "app.**"];
    for select in [["--callers", "String.charAt"], ["--root", "String.charAt"], ["--focus", "String.charAt"]]
    {
        let report = |options: &[&str]| run(home, &[&["report", "run.cct"], &select[..], options].concat());
        report(&mine)
            .fails_saying(&["'String.charAt' is in the library, which --mine=app.** collapses; leave that"]);
        report(&["--collapse-library"]).fails_saying(&["which --collapse-library collapses"]);
        report(&[]).succeeds();
    }
    // A method of both kinds of classes is shown where it is, and one that is nowhere is not there.
    run(home, &["report", "run.cct", "--callers", "*.walk", "--mine", "app.**"]).succeeds();
    run(home, &["report", "run.cct", "--callers", "*.*", "--mine", "app.**"]).succeeds();
    run(home, &["report", "run.cct", "--callers", "String.nothing", "--mine", "app.**"])
        .fails_saying(&["no context has a method 'String.nothing'"]);
    for command in [&["export", "--format", "collapsed", "-o", "-"][..], &["diff", "run.cct"]] {
        let refused = run(home, &[command, &["run.cct", "--root", "String.charAt"], &mine].concat());
        assert!(refused.stderr.contains("which --mine=app.** collapses"), "{}", refused.stderr);
    }
    // In a file that was written so, it is gone.
    ends(home, &["merge", "run.cct", "-o", "mine.cct", "--collapse-library"]);
    run(home, &["report", "mine.cct", "--callers", "String.charAt"])
        .fails_saying(&["'String.charAt'", "; the file lacks the methods of the library: the JDK"]);
}

/// With --mine a class of the JDK may be the user's, and one outside it may not.
#[test]
fn tables_of_ones_own_code_have_its_name() {
    let folder = stored();
    let home = folder.path();
    let text = ends(home, &["report", "run.cct", "--mine", "app.Main*"]);
    assert!(text.contains("\nMethods in your code (own "), "{text}");
    assert!(!text.contains("outside the JDK"), "{text}");
    let of_jdk = ends(home, &["report", "run.cct", "--mine", "java.util.**", "--by", "class"]);
    let table = of_jdk.split("\n\n").nth(1).unwrap();
    assert!(table.starts_with("Classes in your code (own 3.64 % of all)"), "{of_jdk}");
    assert!(table.ends_with(" java.util.Arrays") && table.lines().count() == 3, "{table}");
    let jdk = ends(home, &["report", "run.cct", "--collapse-library"]);
    assert!(jdk.contains("\nMethods outside the JDK (own "), "{jdk}");
}

/// A wrong pattern made one row of everything, and nothing was said.
#[test]
fn a_pattern_that_matches_no_class_is_named() {
    let folder = stored();
    let home = folder.path();
    let wrong = run(home, &["report", "run.cct", "--mine", "App.**"]).succeeds();
    assert!(wrong.stderr.contains("no class of the profile matches --mine=App.**"), "{}", wrong.stderr);
    assert_eq!(run(home, &["report", "run.cct", "--mine", "app.**"]).succeeds().stderr, "");
}

#[test]
fn a_report_without_a_profile_says_how_to_make_one() {
    let folder = scratch();
    run(folder.path(), &["report"])
        .fails_saying(&["there is no cctrewrite.cct in this folder", "cctrewrite run -- java"]);
}
