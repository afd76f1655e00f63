//! `cctrewrite.toml` and `--config`.

use super::profiles::usual;
use super::support::{put, run, scratch};

fn folder(configuration: &str) -> tempfile::TempDir {
    let folder = scratch();
    put(folder.path(), "cctrewrite.cct", &usual());
    put(folder.path(), "cctrewrite.toml", configuration.as_bytes());
    folder
}

#[test]
fn a_file_stands_for_options() {
    let with = folder("[report]\nformat = \"contexts\"\n\n[info]\nformat = \"json\"\n");
    let without = folder("");
    let report = run(with.path(), &["report"]).succeeds().stdout;
    assert_eq!(report, run(without.path(), &["report", "--format", "contexts"]).succeeds().stdout);
    // The command line takes precedence.
    let json = run(with.path(), &["report", "--format", "json"]).succeeds().stdout;
    assert_eq!(json, run(without.path(), &["report", "--format", "json"]).succeeds().stdout);
    let shown = run(with.path(), &["config"]).succeeds().stdout;
    assert_eq!(
        shown,
        "cctrewrite.toml:\n  cctrewrite info --format=json\n  cctrewrite report --format=contexts\n"
    );
    assert!(run(scratch().path(), &["config"]).succeeds().stdout.contains("no configuration"));
}

#[test]
fn lists_and_switches() {
    let with =
        folder("[report]\nignore = [\"A.f\", \"A.g\"]\nper-thread = true\nraw-names = false\ntop = 3\n");
    let without = folder("");
    let words = ["report", "--drop=A.f", "--drop", "A.g", "--per-thread", "--top", "3"];
    assert_eq!(run(with.path(), &["report"]).stdout, run(without.path(), &words).stdout);
}

#[test]
fn meaningless_options_are_refused() {
    for (text, part) in [
        ("[reports]\n", "[reports] is not a command"),
        ("[report]\ntopp = 3\n", "has no option --topp"),
        ("[report]\ntop = true\n", "expected a text, a number or a list of these"),
        ("[report]\nper-thread = 1\n", "expected true or false"),
        ("[report]\nhtml = \"page.html\"\n", "--config cctrewrite.toml"),
        (
            "[run]\nclient-path = \"evil.jar\"\n",
            "client-path is ignored in a configuration file \
                                                 that was not named",
        ),
        ("[report\n", "cctrewrite.toml"),
    ] {
        let folder = folder(text);
        let refused = run(folder.path(), &["report"]);
        assert_eq!((refused.code, &*refused.stdout), (Some(2), ""), "{text}: {}", refused.stderr);
        assert!(refused.stderr.contains(part), "{text}: {}", refused.stderr);
        assert!(!folder.path().join("page.html").exists());
    }
}

/// A user who names a file trusts it.
#[test]
fn a_named_file_may_say_where_to_write() {
    let folder = folder("[report]\nhtml = \"page.html\"\n");
    run(folder.path(), &["--config", "cctrewrite.toml", "report"]).succeeds();
    assert!(folder.path().join("page.html").is_file());
    let gone = run(folder.path(), &["--config=gone.toml", "report"]);
    assert_eq!(gone.code, Some(2));
    assert!(gone.stderr.contains("gone.toml"), "{}", gone.stderr);
}
