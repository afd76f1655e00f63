//! The exit codes in each command's help are those of the table of docs/reference/command.md.

use super::profiles::usual;
use super::support::{put, run, scratch};

/// The codes in the help of a command.
fn codes_in_help(command: &str) -> Vec<String> {
    let help = run(scratch().path(), &[command, "--help"]).succeeds().stdout;
    let (_, list) = help.split_once("Exit codes:\n").unwrap_or_else(|| panic!("{command}: {help}"));
    let lines = list.lines().take_while(|line| line.starts_with("  "));
    lines.filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect()
}

#[test]
fn commands_end_as_their_help_says() {
    let folder = scratch();
    put(folder.path(), "good.cct", &usual());
    let mut other = usual();
    other.truncate(other.len() - 10);
    put(folder.path(), "cut.cct", &other);
    put(folder.path(), "not-a-profile", b"x");
    for (arguments, code) in [
        (&["instrument", "no.jar", "-o", "out.jar"][..], 1),
        (&["flags", "no.jar"], 1),
        (&["jdk", "no", "-o", "image"], 1),
        (&["run", "--jdk", "no", "--", "true"], 125),
        (&["snapshot", "4194305", "-o", "out.cct"], 1),
        (&["recover", "no.arena", "-o", "out.cct"], 1),
        (&["explain", "no.jar", "A.b"], 1),
        (&["verify", "no.jar", "no.jar"], 2),
        (&["report", "no.cct"], 1),
        (&["report", "not-a-profile"], 1),
        (&["report", "cut.cct"], 3),
        (&["report", "good.cct"], 0),
        (&["info", "no.cct"], 1),
        (&["info", "cut.cct"], 3),
        (&["merge", "no.cct", "-o", "out.cct"], 1),
        (&["merge", "cut.cct", "good.cct", "-o", "out.cct"], 3),
        (&["bench", "-c", ".", "A.b"], 2),
        (&["bench", "history", "no.jsonl"], 2),
        (&["diff", "no.cct", "good.cct"], 2),
        (&["diff", "not-a-profile", "good.cct"], 2),
        (&["diff", "cut.cct", "good.cct"], 3),
        (&["diff", "good.cct", "good.cct", "--fail-above", "0"], 0),
        (&["compare", "no.cct", "good.cct"], 2),
        (&["compare", "cut.cct", "good.cct"], 3),
        (&["compare", "good.cct", "good.cct"], 0),
        (&["export", "no.cct", "--format", "svg", "-o", "out.svg"], 1),
        (&["trace", "info", "no.trace"], 1),
        (&["pcc", "dump", "no.pcc"], 1),
        (&["markers", "check", "no.toml"], 1),
        (&["typestate", "report", "no.typestate"], 2),
        (&["man", "no"], 1),
    ] {
        let run = run(folder.path(), arguments);
        assert_eq!(run.code, Some(code), "{arguments:?}: {}", run.stderr);
        let listed = codes_in_help(arguments[0]);
        assert!(listed.contains(&code.to_string()), "{arguments:?}: {code} is not among {listed:?}");
    }
}
