//! `cctrewrite report` as text: what it shows by default, and how it fits a terminal.

use std::path::Path;
use std::process::Command;

use cct_profile::merge::{MergeOptions, merge};
use cct_profile::{Method, Profile, ThreadTree, TreeBuilder};

use super::profiles::usual;
use super::support::{put, run, scratch};

fn method(class: &str, name: &str) -> Method {
    Method {
        class: class.into(),
        name: name.into(),
        descriptor: "(Ljava/lang/Object;)V".into(),
        site: None,
        mid: (class.len() * 100 + name.len()) as u64,
        flags: 0,
    }
}

/// `main` calls `down`, which calls itself to a depth of 3,000 with one bytecode each, and in every
/// context `HashMap.get` with two.
fn recursive() -> Vec<u8> {
    let methods = vec![
        method("com/acme/shop/orders/Recursive", "main"),
        method("com/acme/shop/orders/Recursive", "down"),
        method("java/util/HashMap", "get"),
    ];
    let mut tree = TreeBuilder::new();
    tree.enter(0, 1, 10).unwrap();
    for _ in 0..3000 {
        tree.enter(1, 1, 1).unwrap();
        tree.enter(2, 1, 2).unwrap();
        tree.leave();
    }
    let thread =
        ThreadTree { name: "main".into(), threads: 1, flags: ThreadTree::ENDED, tree: tree.finish() };
    let meta = [("blocks", "exact"), ("exact", "yes"), ("main", "Recursive"), ("metrics", "calls+bytecodes")];
    let meta = meta.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    sorted(&Profile { meta, methods, threads: vec![thread], ..Profile::default() })
}

/// The profile's file, with its methods in order.
fn sorted(profile: &Profile) -> Vec<u8> {
    merge(&[profile], MergeOptions::default()).unwrap().to_bytes().unwrap()
}

fn stored(profile: &[u8]) -> tempfile::TempDir {
    let folder = scratch();
    put(folder.path(), "run.cct", profile);
    folder
}

fn report(folder: &Path, options: &[&str]) -> String {
    run(folder, &[&["report", "run.cct"], options].concat()).succeeds().stdout
}

/// The lines of the tree, after its title and head.
fn tree(text: &str) -> Vec<&str> {
    let lines = text.lines().skip_while(|line| !line.contains(": contexts, in "));
    lines.skip(2).take_while(|line| !line.is_empty()).collect()
}

#[test]
fn recursion_is_folded_where_the_tree_would_be_long() {
    let folder = stored(&recursive());
    let by_default = report(folder.path(), &[]);
    assert_eq!(
        by_default,
        "\
Recursive: 6,001 calls, 9,010 bytecodes, 6,001 contexts
Exact: yes

Methods outside the JDK (own 33.41 % of all), by inclusive bytecodes
calls    own      %  inclusive       %  method
    1     10   0.11      9,010  100.00  com.acme.shop.orders.Recursive.main(Object)
3,000  3,000  33.30      9,000   99.89  com.acme.shop.orders.Recursive.down(Object)

All threads: contexts, in bytecodes; recursion folded (--lines 0 unfolds it)
calls    own  inclusive       %  context
    1     10      9,010  100.00  com.acme.shop.orders.Recursive.main(Object)
3,000  3,000      9,000   99.89    com.acme.shop.orders.Recursive.down(Object)
3,000  6,000      6,000   66.59      java.util.HashMap.get(Object)

"
    );
    // An explicit choice is obeyed, without recursion folded.
    let all = report(folder.path(), &["--min-percent", "0"]);
    assert_eq!((tree(&all).len(), all.contains("folded")), (6001, false));
    let heavy = report(folder.path(), &["--lines", "0"]);
    assert_eq!((tree(&heavy).len(), heavy.contains("folded")), (2988, false));
    assert!(heavy.contains(
        "\nNot shown, but counted: 3,015 contexts, 66.76 % (below 0.5 %). Show more: --min-percent 0\n"
    ));
    let limited = report(folder.path(), &["--min-percent", "0", "--lines", "20"]);
    // 19 contexts, those below the last of them, and how much is left out.
    assert_eq!(tree(&limited).len(), 21, "{limited}");
    assert!(tree(&limited)[19].ends_with("... 5,965 more"), "{limited}");
    assert!(limited.contains(" (beyond 20 lines). Show more: --lines 0\n"), "{limited}");
    let deep = report(folder.path(), &["--depth", "3"]);
    assert!(tree(&deep).last().unwrap().contains("deeper than --depth 3"), "{deep}");
    assert!(!report(folder.path(), &["--depth", "0"]).contains("context\n"));
    assert!(report(folder.path(), &["--fold-recursion"]).contains("; recursion folded\n"));
}

#[test]
fn the_header_is_short_unless_the_user_wants_it_full() {
    let folder = stored(&usual());
    let short = report(folder.path(), &[]);
    let header: Vec<&str> = short.lines().take_while(|line| !line.is_empty()).collect();
    assert_eq!(
        header,
        [
            "app.Main on Java 25.0.1: 1,272 calls, 10,984 bytecodes, 11 contexts",
            "Exact: no: default blocks: a block that an exception leaves counts as a whole",
        ]
    );
    let full = report(folder.path(), &["--header", "full", "--thread", "main"]);
    assert!(full.starts_with("Program     app.Main\nJVM "), "{full}");
    assert!(full.contains("\nSelected    threads 'main': "), "{full}");
    assert!(full.contains("\nBytecodes   10,984\n"), "{full}");
}

#[test]
fn tables_of_the_program_come_first() {
    let folder = stored(&usual());
    let text = report(folder.path(), &[]);
    let (before, tree) = text.split_once("All threads: contexts").unwrap();
    assert!(
        before.contains("\nMethods outside the JDK (own 85.12 % of all), by inclusive bytecodes\n"),
        "{text}"
    );
    assert!(!before.contains("java.lang.String") && tree.contains("java.lang.String"), "{text}");
    let top = report(folder.path(), &["--top", "1", "--sort", "calls", "--depth", "0"]);
    let table = top.split_once("\n\n").unwrap().1;
    assert!(table.starts_with("Methods, by calls\n"), "{top}");
    assert!(
        table.contains(
            "\n1,003  9,027  82.18     10,261  93.42  app.Main.step(int)\n... 6 more methods, own 17.82 %\n"
        ),
        "{top}"
    );
    let by_class = report(folder.path(), &["--by", "class", "--top", "0"]);
    assert!(by_class.split_once("\n\n").unwrap().1.starts_with("All threads"), "{by_class}");
    // Of more methods than fit, two tables.
    let methods: Vec<Method> = (0..9).map(|at| method("app/Main", &"f".repeat(at + 1))).collect();
    let mut tree = TreeBuilder::new();
    (0..9).for_each(|at| tree.enter(at, 1, u64::from(at + 1)).unwrap());
    let thread = ThreadTree { name: "main".into(), threads: 1, flags: 1, tree: tree.finish() };
    let many = sorted(&Profile { methods, threads: vec![thread], ..Profile::default() });
    let folder = stored(&many);
    let text = report(folder.path(), &[]);
    assert!(
        text.starts_with("(unknown program): 9 calls, 45 bytecodes, 9 contexts\nExact: unknown: "),
        "{text}"
    );
    let own = "Methods outside the JDK (own 100.00 % of all), by own bytecodes\ncalls  own      %  inclusive      %  method\n    1    9  20.00          9  20.00  app.Main.fffffffff(Object)\n";
    let inclusive = ", by inclusive bytecodes\ncalls  own      %  inclusive       %  method\n    1    1   2.22         45  100.00  app.Main.f(Object)\n";
    assert!(text.contains(own) && text.contains(inclusive), "{text}");
}

#[test]
fn the_hot_path_is_one_line_a_step() {
    let folder = stored(&recursive());
    let path = |options: &[&str]| report(folder.path(), &[&["--hot-path"], options].concat());
    let folded = path(&[]);
    let shown = folded.split_once("\n\n").unwrap().1;
    assert_eq!(
        shown,
        "\
All threads: hot path, in bytecodes; recursion folded (--lines 0 unfolds it)
calls    own  inclusive       %  % of caller  depth  context
    1     10      9,010  100.00       100.00      1  com.acme.shop.orders.Recursive.main(Object)
3,000  3,000      9,000   99.89        99.89      2  com.acme.shop.orders.Recursive.down(Object)
3,000  6,000      6,000   66.59        66.67      3  java.util.HashMap.get(Object)

"
    );
    // A last line says that it goes on.
    assert_eq!(path(&["--lines", "0"]).lines().count(), 3 + 2 + 2986 + 2);
    let explicit = path(&["--lines", "10", "--min-percent", "1"]);
    assert!(explicit.contains("\n... 2,961 more steps (--lines 0 shows all)\n"), "{explicit}");
    run(folder.path(), &["report", "run.cct", "--hot-path", "--format", "csv"])
        .fails_saying(&["--hot-path is for text"]);
}

#[test]
fn callers_are_limited_too() {
    // Each of 200 methods of its own calls `get`, the first once, the next twice ...
    let mut methods = vec![method("app/Main", "main"), method("java/util/HashMap", "get")];
    let mut tree = TreeBuilder::new();
    tree.enter(0, 1, 0).unwrap();
    for at in 1..=200 {
        methods.push(method("app/Main", &format!("caller{at}")));
        tree.enter(at + 1, 1, 0).unwrap();
        tree.enter(1, at.into(), 10 * u64::from(at)).unwrap();
        tree.leave();
        tree.leave();
    }
    let thread = ThreadTree { name: "main".into(), threads: 1, flags: 1, tree: tree.finish() };
    let profile = Profile { methods, threads: vec![thread], ..Profile::default() };
    let folder = stored(&sorted(&profile));
    let callers = |options: &[&str]| {
        let text = report(folder.path(), &[&["--callers", "HashMap.get"], options].concat());
        text.split_once("\n\n").unwrap().1.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let by_default = callers(&[]);
    assert!(by_default.len() <= 60 + 3, "{by_default:#?}");
    assert!(by_default[3].ends_with(" 2,000    1.00    app.Main.caller200(Object)"), "{by_default:#?}");
    let end = by_default.last().unwrap();
    assert!(end.starts_with("Not shown, but counted: 1") && end.contains(" callers, "), "{end}");
    assert!(
        end.ends_with(
            " % (below 0.5 % of the method or beyond 60 lines). Show more: --min-percent 0, --lines 0"
        ),
        "{end}"
    );
    assert_eq!(callers(&["--lines", "0", "--min-percent", "0"]).len(), 2 + 1 + 400);
    // 100 of them have at least half a percent.
    assert_eq!(callers(&["--min-percent", "0.5"]).len(), 2 + 1 + 200 + 2);
}

#[test]
fn colours_are_for_terminals_or_on_request() {
    let folder = stored(&usual());
    let plain = report(folder.path(), &[]);
    assert!(!plain.contains('\u{1b}'));
    let coloured = report(folder.path(), &["--color", "always"]);
    assert!(coloured.contains("\u{1b}[1m\u{1b}[31m"), "{coloured:?}");
    assert_eq!(without_colours(&coloured), plain);
}

/// The text without escape sequences of colours.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |all, part| all + part.split_once('m').unwrap().1)
}

/// The output on a terminal of this many columns; `None` without util-linux's `script`.
fn on_terminal(folder: &Path, columns: u32, environment: &str, options: &str) -> Option<String> {
    let program = env!("CARGO_BIN_EXE_cctrewrite");
    let line = format!("stty rows 50 cols {columns}; {environment} '{program}' report run.cct {options}");
    let output = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(folder)
        .env_remove("NO_COLOR")
        .env("TERM", "xterm")
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: no `script`, which makes a terminal");
        return None;
    };
    assert!(output.status.success());
    Some(String::from_utf8(output.stdout).unwrap().replace('\r', ""))
}

#[test]
fn a_terminal_has_the_same_lines_in_its_width() {
    let folder = stored(&recursive());
    let Some(wide) = on_terminal(folder.path(), 60, "", "--wide --color never") else { return };
    assert_eq!(wide, report(folder.path(), &[]));
    let narrow = on_terminal(folder.path(), 60, "", "").unwrap();
    assert!(narrow.contains("\u{1b}[1mAll threads: contexts, "), "{narrow:?}");
    let narrow = without_colours(&narrow);
    assert!(narrow.lines().all(|line| line.chars().count() <= 60), "{narrow}");
    assert!(narrow.contains("com…Recursive.down(…)"), "{narrow}");
    assert_eq!(narrow, report(folder.path(), &["--width", "60"]));
    let without = on_terminal(folder.path(), 60, "NO_COLOR=1", "").unwrap();
    assert_eq!(without, narrow);
}
