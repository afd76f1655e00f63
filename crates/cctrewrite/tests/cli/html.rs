//! `cctrewrite report --html`: files, messages, invalid combinations. `crates/export` tests the
//! contents of pages, `tests/browser` their display.

use std::fs;
use std::path::Path;

use super::profiles::{RUN, WORKER, profile, usual};
use super::support::{Run, put, run, scratch};

fn stored() -> tempfile::TempDir {
    let folder = scratch();
    put(folder.path(), "run.cct", &usual());
    put(
        folder.path(),
        "other.cct",
        &profile(&[("blocks", "precise")], &[("main", &RUN), ("worker", &WORKER)]),
    );
    folder
}

fn report(folder: &Path, arguments: &[&str]) -> Run {
    let arguments: Vec<&str> = ["report"].iter().chain(arguments).copied().collect();
    run(folder, &arguments)
}

#[test]
fn a_page_is_a_file_or_standard_output_and_the_same_each_time() {
    let folder = stored();
    let said = report(folder.path(), &["run.cct", "--html", "run.html"]).succeeds();
    assert_eq!((&*said.stdout, &*said.stderr), ("", ""));
    let page = fs::read_to_string(folder.path().join("run.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert!(page.contains("<title>app.Main - profile - cctrewrite</title>"));
    let printed = report(folder.path(), &["run.cct", "--html", "-"]).succeeds().stdout;
    assert!(printed == page, "standard output has another page");
}

#[test]
fn a_page_is_whole_or_what_stood_there_stays() {
    let folder = stored();
    put(folder.path(), "run.html", b"before");
    report(folder.path(), &["run.cct", "--html", "run.html", "--root", "no.where"])
        .fails_saying(&["run.cct", "no context has the method 'no.where'"]);
    report(folder.path(), &["absent.cct", "--html", "run.html"]).fails_saying(&["absent.cct"]);
    assert_eq!(fs::read(folder.path().join("run.html")).unwrap(), b"before");
    report(folder.path(), &["run.cct", "--html", "no/run.html"]).fails_saying(&["no/run.html"]);
    report(folder.path(), &["run.cct", "--html", "run.cct"])
        .fails_saying(&["would replace the input run.cct"]);
    report(folder.path(), &["run.cct", "--html", "other.cct", "--diff", "other.cct"])
        .fails_saying(&["would replace the input other.cct"]);
    assert_eq!(fs::read(folder.path().join("run.cct")).unwrap(), usual());
    let names = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(names, 3, "something is left over");
}

#[test]
fn pruning_and_differences_are_reported() {
    let folder = stored();
    let said = report(folder.path(), &["run.cct", "--html", "run.html", "--max-contexts", "5"]).succeeds();
    assert_eq!(
        said.stderr,
        "cctrewrite: 6 contexts (54.55 %) with 200 bytecodes (1.82 %) and 19 calls (1.49 %) of \
         their own are pruned: the page has the 5 heaviest (--max-contexts), and adds up the \
         others at their callers\n"
    );
    let said = report(folder.path(), &["run.cct", "--html", "run.html", "--diff", "other.cct"]).succeeds();
    assert_eq!(
        said.stderr,
        "cctrewrite: warning: The profiles were recorded with different 'blocks' (precise in BASE, \
         default in NEW), so their numbers are not comparable.\n"
    );
    let said = report(folder.path(), &["run.cct", "--html", "run.html", "--drop", "no.where"]).succeeds();
    assert_eq!(said.stderr, "cctrewrite: no method matches --drop 'no.where'\n");
}

#[test]
fn a_page_of_a_damaged_profile_is_written_and_the_exit_code_says_it() {
    let folder = stored();
    let whole = usual();
    put(folder.path(), "cut.cct", &whole[..whole.len() - 20]);
    for arguments in
        [&["cut.cct", "--html", "a.html"][..], &["run.cct", "--diff", "cut.cct", "--html", "b.html"]]
    {
        let said = report(folder.path(), arguments);
        assert_eq!(said.code, Some(3), "{}", said.stderr);
        assert!(said.stderr.contains("truncated"), "{}", said.stderr);
        assert!(folder.path().join(arguments[arguments.len() - 1]).exists());
    }
}

#[test]
fn nonsensical_options_are_refused() {
    let folder = stored();
    report(folder.path(), &["run.cct", "--html", "a.html", "--by", "thread"])
        .fails_saying(&["shows threads separately"]);
    report(folder.path(), &["-", "--html", "a.html", "--diff", "-"]).fails_saying(&["standard input"]);
    for arguments in [
        &["run.cct", "--diff", "other.cct"][..],
        &["run.cct", "--max-contexts", "5"],
        &["run.cct", "--html", "a.html", "--format", "json"],
        &["run.cct", "--html", "a.html", "--depth", "5"],
        &["run.cct", "--html", "a.html", "--table", "shape"],
        &["run.cct", "--html", "a.html", "--max-contexts", "-1"],
    ] {
        assert_eq!(report(folder.path(), arguments).code, Some(2), "{arguments:?}");
    }
    assert!(!folder.path().join("a.html").exists());
}

/// A browser that records its arguments.
#[cfg(unix)]
#[test]
fn a_page_is_opened_in_the_browser() {
    let folder = stored();
    let home = folder.path();
    fs::create_dir(home.join("bin")).unwrap();
    let browser = "echo \"$1\" > given.tmp && mv given.tmp given";
    cct_test_classes::executable::script(&home.join("bin/xdg-open"), browser).unwrap();
    let path = format!("{}:{}", home.join("bin").display(), std::env::var("PATH").unwrap());
    for (arguments, page) in [
        (&["report", "run.cct", "--open"][..], "run.html"),
        (&["report", "run.cct", "--open", "--html", "a.html"], "a.html"),
    ] {
        let output =
            super::support::command().current_dir(home).env("PATH", &path).args(arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(&format!("{page}: opened")), "{output:?}");
        let given = home.join("given");
        let started = std::time::Instant::now();
        while !given.is_file() && started.elapsed().as_secs() < 30 {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let opened = fs::canonicalize(home.join(page)).unwrap();
        assert_eq!(fs::read_to_string(&given).unwrap().trim(), opened.to_str().unwrap());
        fs::remove_file(given).unwrap();
    }
    report(home, &["run.cct", "--open", "--html", "-"]).fails_saying(&["--open needs a file"]);
}
