//! `cctrewrite bench history`: the trend as text and as a page, and files that are none.

use std::fs;

use super::support::{put, run, scratch};

/// A line as `bench --history` writes it.
fn line(revision: &str, status: &str, value: u64) -> String {
    format!(
        "{{\"cctrewrite bench history\":1,\"entry\":\"app.A.b\",\"revision\":\"{revision}\",\"status\":\"{status}\",\
         \"metric\":\"bytecodes\",\"value\":{value},\"calls\":1,\"program\":[{value},1],\"java\":\"17.0.1\",\
         \"jdk\":\"00ff\",\"settings\":\"blocks=exact\",\"warm_up\":1}}\n"
    )
}

fn three_runs() -> String {
    line("a1", "stored", 1000) + &line("b2", "passes", 1000) + &line("c3", "exceeds", 1200)
}

#[test]
fn the_trend_is_a_text_or_a_page() {
    let folder = scratch();
    put(folder.path(), "history.jsonl", three_runs().as_bytes());
    let text = run(folder.path(), &["bench", "history", "history.jsonl"]).succeeds();
    assert_eq!(
        text.stdout,
        "count     metric  change         %  runs  trend  entry\n\
         1,200  bytecodes    +200  +20.00 %     3    ▁▁█  app.A.b\n    \
             +200 in c3: 1,000 to 1,200, exceeds\n\
         \n1 entry: 1 failed in the last run\n"
    );
    let last = run(folder.path(), &["bench", "history", "history.jsonl", "--last", "1"]).succeeds().stdout;
    assert!(last.contains("1,200  bytecodes       0        1      ▁  app.A.b\n"), "{last}");
    let arguments = ["bench", "history", "history.jsonl", "--html", "trend.html"];
    assert_eq!(run(folder.path(), &arguments).succeeds().stdout, "");
    let page = fs::read_to_string(folder.path().join("trend.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">") && page.ends_with("</html>\n"), "{page}");
    assert!(page.contains("regression: exceeds the limit"), "{page}");
    let printed = run(folder.path(), &["bench", "history", "history.jsonl", "--html", "-"]).succeeds().stdout;
    assert!(printed == page, "standard output has another page");
}

/// Options of the table `[bench]` are not options of its subcommand.
#[test]
fn a_configuration_of_bench_does_not_disturb_its_history() {
    let folder = scratch();
    put(folder.path(), "history.jsonl", three_runs().as_bytes());
    put(folder.path(), "cctrewrite.toml", b"[bench]\nwarm-up = 3\n");
    run(folder.path(), &["bench", "history", "history.jsonl"]).succeeds();
    put(folder.path(), "cctrewrite.toml", b"[bench]\nhistory = \"x\"\n");
    let refused = run(folder.path(), &["bench"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("names an output"), "{}", refused.stderr);
}

#[test]
fn what_is_no_history_is_refused() {
    let folder = scratch();
    put(folder.path(), "empty.jsonl", b"\n");
    put(folder.path(), "cut.jsonl", &three_runs().as_bytes()[..600]);
    put(folder.path(), "good.jsonl", three_runs().as_bytes());
    for (arguments, what) in [
        (&["none.jsonl"][..], "cannot read none.jsonl"),
        (&["empty.jsonl"], "empty.jsonl: no runs"),
        (&["cut.jsonl"], "cut.jsonl, line 3: no line of a history"),
        (&["good.jsonl", "--html", "good.jsonl"], "would replace the input good.jsonl"),
        (&["good.jsonl", "--html", "no/page.html"], "cannot write no/page.html"),
        (&["good.jsonl", "--last", "0"], "at least 1 run is needed"),
    ] {
        let run = run(folder.path(), &[&["bench", "history"], arguments].concat());
        assert_eq!((run.code, &*run.stdout), (Some(2), ""), "{arguments:?}");
        assert!(run.stderr.contains(what), "{arguments:?}: {}", run.stderr);
    }
    assert_eq!(fs::read(folder.path().join("good.jsonl")).unwrap(), three_runs().as_bytes());
    for arguments in [&["bench", "--revision", "a"][..], &["bench", "A.b", "history", "x"]] {
        assert_eq!(run(folder.path(), arguments).code, Some(2), "{arguments:?}");
    }
}
