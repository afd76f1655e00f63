//! `--help`, `--version`, and a wrong command line.

use super::support::{run, scratch, snapshot};

#[test]
fn help_is_as_it_was_written() {
    let folder = scratch();
    for command in
        ["", "instrument", "flags", "jdk", "report", "info", "merge", "diff", "compare", "export", "explain"]
    {
        let arguments: Vec<&str> = [command, "--help"].into_iter().filter(|a| !a.is_empty()).collect();
        let help = run(folder.path(), &arguments).succeeds();
        assert_eq!(help.stderr, "");
        assert!(!help.stdout.contains('\u{1b}'), "colours in a pipe");
        let name = if command.is_empty() { "help.txt".to_owned() } else { format!("help-{command}.txt") };
        snapshot(&name, &help.stdout);
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    let version = run(scratch().path(), &["--version"]).succeeds().stdout;
    assert_eq!(version, concat!("cctrewrite ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn a_wrong_command_line_has_an_exit_code_of_its_own() {
    let folder = scratch();
    for arguments in [
        &[][..],
        &["instrument", "a.jar"],
        &["instrument", "a.jar", "-o", "b.jar", "--threads", "0"],
        &["instrument", "a.jar", "-o", "b.jar", "--level", "10"],
        &["jdk"],
        &["jdk", "home"],
        &["jdk", "home", "-o", "image", "--stack-depth", "-2"],
        &["report"],
        &["report", "a.cct", "--min-percent", "101"],
        &["report", "a.cct", "--min-percent", "NaN"],
        &["report", "a.cct", "--table", "natives", "--top", "3"],
        &["report", "a.cct", "--metric", "seconds"],
        &["compare", "a.cct"],
        &["compare", "a.cct", "b.cct", "--limit", "-1"],
        &["compare", "a.cct", "b.cct", "--thread", "main", "--format", "xml"],
        &["export", "a.cct", "-o", "b"],
        &["export", "a.cct", "--format", "svg"],
        &["export", "a.cct", "--format", "svg", "-o", "b", "--min-percent", "101"],
        &["explain", "a.jar"],
        &["frobnicate"],
    ] {
        let run = run(folder.path(), arguments);
        assert_eq!((run.code, &*run.stdout), (Some(2), ""), "{arguments:?}");
        assert!(!run.stderr.is_empty());
    }
}
