//! `--help`, `--version`, and invalid command lines.

use super::support::{run, scratch, snapshot};

#[test]
fn help_is_as_it_was_written() {
    let folder = scratch();
    for command in [
        "",
        "instrument",
        "flags",
        "jdk",
        "cache",
        "run",
        "report",
        "view",
        "info",
        "merge",
        "diff",
        "bench",
        "bench history",
        "compare",
        "export",
        "typestate",
        "explain",
        "verify",
        "api",
        "config",
        "doctor",
        "completions",
        "man",
    ] {
        let arguments: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let help = run(folder.path(), &arguments).succeeds();
        assert_eq!(help.stderr, "");
        assert!(!help.stdout.contains('\u{1b}'), "colours in a pipe");
        let name = if command.is_empty() {
            "help.txt".to_owned()
        } else {
            format!("help-{}.txt", command.replace(' ', "-"))
        };
        snapshot(&name, &help.stdout);
    }
}

/// `-h` of the first command for most users fits a screen; the rest has headings.
#[test]
fn the_short_help_of_run_is_short() {
    let folder = scratch();
    let short = run(folder.path(), &["run", "-h"]).succeeds().stdout;
    let options = short.lines().filter(|line| line.trim_start().starts_with('-')).count();
    assert!((10..=15).contains(&options), "{options} options:\n{short}");
    let long = run(folder.path(), &["run", "--help"]).succeeds().stdout;
    let headings: Vec<&str> =
        long.lines().filter(|line| !line.starts_with(' ') && line.ends_with(':')).collect();
    for heading in [
        "Output:",
        "My code:",
        "Recorded contexts:",
        "Counting:",
        "Image:",
        "Traces:",
        "Values:",
        "Markers:",
        "Typestate:",
    ] {
        assert!(headings.contains(&heading), "{heading} is missing: {headings:?}");
    }
    let bench = run(folder.path(), &["bench", "--help"]).succeeds().stdout;
    for option in ["--tool", "--markers", "--typestate", "--pcc-at", "--activation-counters", "--library"] {
        assert!(!bench.contains(option), "bench offers {option}");
    }
}

/// `-h` of the commands for profiles fits a screen, too, and `--help` has all options by headings.
#[test]
fn the_short_help_of_commands_for_profiles_is_short() {
    let folder = scratch();
    for (command, common) in [
        ("report", &["--root", "--callers", "--hot-path", "--top", "--depth", "--html", "--mine"][..]),
        ("diff", &["--root", "--fail-above", "--sort", "--limit", "--mine"]),
        ("export", &["--output", "--format", "--all", "--min-percent", "--mine"]),
    ] {
        let short = run(folder.path(), &[command, "-h"]).succeeds().stdout;
        let options = short.lines().filter(|line| line.trim_start().starts_with('-')).count();
        assert!((10..=16).contains(&options) && short.lines().count() <= 60, "{options} options:\n{short}");
        for option in common {
            assert!(short.contains(&format!("{option} ")), "{command} -h lacks {option}:\n{short}");
        }
        let long = run(folder.path(), &[command, "--help"]).succeeds().stdout;
        let (_, by_default) = long.split_once("\nOptions:\n").expect(&long);
        let unheaded = by_default.lines().take_while(|line| line.is_empty() || line.starts_with(' '));
        let unheaded: Vec<&str> = unheaded.filter(|line| line.trim_start().starts_with("-")).collect();
        assert_eq!(unheaded, ["  -h, --help"], "{command}");
        for heading in ["\nOutput:\n", "\nSelection:\n", "\nMy code:\n", "\nContents:\n"] {
            assert!(long.contains(heading), "{command} lacks {heading}");
        }
        assert!(long.contains("--raw-names\n") && long.contains("--merge-sites\n"), "{command}");
    }
}

/// A typing error is answered with the option that is meant, and with nothing else.
#[test]
fn a_mistyped_option_is_suggested() {
    let folder = scratch();
    let tips = |arguments: &[&str]| {
        let run = run(folder.path(), arguments);
        assert_eq!(run.code, Some(2));
        let tips = run.stderr.lines().filter_map(|line| line.trim().strip_prefix("tip: ").map(str::to_owned));
        tips.collect::<Vec<_>>()
    };
    assert_eq!(
        tips(&["run", "--reproducable", "--", "java"]),
        ["a similar argument exists: '--reproducible'"]
    );
    assert_eq!(tips(&["run", "--zzz", "--", "java"]), ["to pass '--zzz' as a value, use '-- --zzz'"]);
}

#[test]
fn the_version_is_that_of_the_package() {
    let short = run(scratch().path(), &["-V"]).succeeds().stdout;
    assert_eq!(short, concat!("cctrewrite ", env!("CARGO_PKG_VERSION"), "\n"));
    // And the compiler, which determines the bytes of the runtime.
    let long = run(scratch().path(), &["--version"]).succeeds().stdout;
    let compiler = long.strip_prefix(&format!("{short}runtime compiled by javac ")).expect(&long);
    assert!(compiler.starts_with(|c: char| c.is_ascii_digit()) && compiler.lines().count() == 1, "{long}");
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
        &["jdk", "home", "--repair", "-o", "image"],
        &["jdk", "--check", "image", "-o", "image"],
        &["jdk", "--check", "image", "--blocks", "default"],
        &["cache"],
        &["cache", "prune", "--max-size", "big"],
        &["jdk", "home", "-o", "image", "--stack-depth", "-2"],
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
        &["verify", "a.jar"],
        &["verify", "a.jar", "b.jar", "--blocks", "long"],
        &["frobnicate"],
    ] {
        let run = run(folder.path(), arguments);
        assert_eq!((run.code, &*run.stdout), (Some(2), ""), "{arguments:?}");
        assert!(!run.stderr.is_empty());
    }
}

#[test]
fn a_shell_takes_its_completions() {
    let folder = scratch();
    let path = folder.path().join("completions");
    for (shell, completes) in [
        ("bash", "report)"),
        ("zsh", "'--fold-recursion["),
        ("fish", "-l fold-recursion"),
        ("elvish", "--by"),
    ] {
        let script = run(folder.path(), &["completions", shell]).succeeds().stdout;
        assert!(script.contains(completes), "{shell}: {script}");
    }
    let script = run(folder.path(), &["completions", "bash"]).succeeds().stdout;
    std::fs::write(&path, script).unwrap();
    // The shell's completions of `cctrewrite report --fo`.
    let asks = ". ./completions; COMP_WORDS=(cctrewrite report --fo); COMP_CWORD=2; _cctrewrite cctrewrite --fo report; echo ${COMPREPLY[@]}";
    let bash = std::process::Command::new("bash").current_dir(folder.path()).args(["-c", asks]).output();
    assert_eq!(String::from_utf8(bash.unwrap().stdout).unwrap(), "--format --focus --fold-recursion\n");
}

#[test]
fn there_is_a_manual_page_for_each_command() {
    let folder = scratch();
    run(folder.path(), &["man", "-o", "."]).succeeds();
    let mut pages: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    pages.sort();
    assert!(pages.contains(&"cctrewrite.1".to_owned()) && pages.len() > 12, "{pages:?}");
    let whole = run(folder.path(), &["man"]).succeeds().stdout;
    for name in pages.iter().filter_map(|page| page.strip_suffix(".1")).filter(|name| *name != "cctrewrite") {
        assert!(whole.contains(&format!("{}(1)", name.replace('-', "\\-"))), "{name} is not in {whole}");
    }
    let page = run(folder.path(), &["man", "run"]).succeeds().stdout;
    assert_eq!(page, std::fs::read_to_string(folder.path().join("cctrewrite-run.1")).unwrap());
    assert!(page.contains(".SH NAME\ncctrewrite\\-run \\- "), "{page}");
    run(folder.path(), &["man", "walk"]).fails_saying(&["there is no command walk"]);
}
