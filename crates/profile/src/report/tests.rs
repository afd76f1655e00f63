use super::*;
use crate::names::FrameTable;
use crate::testing::{deep, method, profile, random, thread, tree};
use crate::{Damage, Missing, ThreadTree};

fn shown(write: impl FnOnce(&mut Vec<u8>) -> Result<(), ReportError>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("memory");
    String::from_utf8(out).expect("UTF-8")
}

fn tree_text(p: &Profile, options: TreeOptions) -> String {
    shown(|out| write_tree(p, options, out))
}

fn top_text(p: &Profile, options: TopOptions) -> String {
    shown(|out| write_top(p, options, out))
}

fn example() -> Profile {
    let methods = vec![
        method("Main", "main", "([Ljava/lang/String;)V"),
        method("Main", "rare", "()V"),
        method("java/util/HashMap", "put", "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;"),
    ];
    let main = tree(&[(1, 0, 1, 1_000), (2, 1, 1, 2), (3, 2, 1, 1), (2, 2, 2_000, 98_997)]);
    let pool =
        ThreadTree { threads: 3, flags: ThreadTree::DAEMON, ..thread("pool", tree(&[(1, 2, 10, 100_000)])) };
    let mut p = profile(methods, vec![thread("main", main), pool]);
    for (key, value) in [
        ("main", "Main"),
        ("java.vm.name", "Some VM"),
        ("java.vm.version", "25+1"),
        ("java.version", "25"),
        ("blocks", "precise"),
        ("tool", "cctrewrite 0.1.0"),
    ] {
        p.meta.insert(key.into(), value.into());
    }
    p
}

#[test]
fn the_merged_tree() {
    assert_eq!(
        tree_text(&example(), TreeOptions::default()),
        "\
All threads (2 trees)
calls  bytecodes  inclusive       %  context
    1      1,000    100,000   50.00  Main.main(String[])
2,000     98,997     98,997   49.50    java.util.HashMap.put(Object, Object)
                                       ... 2 more contexts, 0.00 %
   10    100,000    100,000   50.00  java.util.HashMap.put(Object, Object)

"
    );
}

#[test]
fn the_tree_of_each_thread() {
    let options = TreeOptions {
        threads: ThreadView::Each,
        min_percent: 0.0,
        width: Some(40),
        ..TreeOptions::default()
    };
    assert_eq!(
        tree_text(&example(), options),
        "\
Thread 'main'
calls  bytecodes  inclusive       %  co…
    1      1,000    100,000  100.00  Ma…
2,000     98,997     98,997   99.00    …
    1          2          3    0.00    …
    1          1          1    0.00    …

Thread 'pool' (3 threads, daemon, not e…
calls  bytecodes  inclusive       %  co…
   10    100,000    100,000  100.00  ja…

"
    );
}

#[test]
fn depth_limits_say_what_they_hide() {
    let options = TreeOptions { depth: Some(2), ..TreeOptions::default() };
    let text = tree_text(&deep(10_000), options);
    assert!(text.ends_with("    ... 9,998 more contexts, 99.98 %\n\n"), "{text}");
    assert_eq!(text.lines().filter(|line| line.contains("A.")).count(), 2);
}

#[test]
fn deep_contexts_carry_their_depth() {
    let text = tree_text(&deep(10_000), TreeOptions { min_percent: 0.0, ..TreeOptions::default() });
    assert_eq!(text.lines().count(), 10_003);
    assert!(text.contains("[9999] A.f()"), "{text}");
    assert!(text.lines().all(|line| line.len() < 200));
}

#[test]
fn nothing_is_hidden_in_silence() {
    arbtest::arbtest(|u| {
        let p = random(u)?;
        let min_percent = f64::from(u.int_in_range(0..=30u8)?);
        let depth = u.arbitrary::<bool>()?.then_some(2);
        let text = tree_text(&p, TreeOptions { min_percent, depth, ..TreeOptions::default() });
        // Lines about hidden contexts have no numbers in the columns; names may hold anything.
        let rows = || text.lines().map(str::trim_start).filter(|line| !line.is_empty()).skip(2);
        let hidden = rows().filter_map(|row| row.strip_prefix("... ")?.split_once(" more context"));
        let hidden: usize = hidden.map(|(count, _)| count.parse::<usize>().expect("a number")).sum();
        let shown = rows().filter(|row| !row.starts_with("... ")).count();
        let table = FrameTable::new(&p.methods, crate::names::NameStyle::Normalised);
        let trees: Vec<_> = p.threads.iter().map(|t| (&t.tree, table.of_method())).collect();
        assert_eq!(shown + hidden, crate::merge::joined(&trees).expect("small").contexts());
        Ok(())
    });
}

#[test]
fn calls_alone() {
    let mut p = example();
    p.meta.insert("metrics".into(), "calls".into());
    let text = tree_text(&p, TreeOptions::default());
    assert!(
        text.contains("\ncalls  inclusive       %  context\n    1      2,003   99.50  Main.main(String[])\n"),
        "{text}"
    );
    let top = top_text(&p, TopOptions { order: Order::Calls, ..TopOptions::default() });
    assert!(top.starts_with("calls  inclusive      %  method\n2,011      2,011  99.90  java.util"), "{top}");
    assert!(!shown(|out| write_header(&p, out)).contains("Bytecodes"));
}

#[test]
fn the_top_methods() {
    assert_eq!(
        top_text(&example(), TopOptions { limit: 2, ..TopOptions::default() }),
        "\
calls     self      %  inclusive      %  method
2,011  198,998  99.50    198,998  99.50  java.util.HashMap.put(Object, Object)
    1    1,000   0.50    100,000  50.00  Main.main(String[])
... 1 more method, 0.00 %

"
    );
    let top = top_text(&example(), TopOptions { order: Order::Inclusive, ..TopOptions::default() });
    assert!(top.lines().nth(3).is_some_and(|line| line.ends_with("Main.rare()")), "{top}");
}

#[test]
fn recursion_counts_once() {
    let methods = vec![method("A", "f", "()V"), method("A", "g", "()V")];
    // f (1) -> g (2) -> f (4) -> g (8), then another f (16) beside the first.
    let t = tree(&[(1, 0, 1, 1), (2, 1, 1, 2), (3, 0, 1, 4), (4, 1, 1, 8), (1, 0, 1, 16)]);
    let top = top_text(&profile(methods, vec![thread("main", t)]), TopOptions::default());
    let row = |name: &str| {
        top.lines().find(|l| l.ends_with(name)).map(|l| l.split_whitespace().collect::<Vec<_>>())
    };
    assert_eq!(row("A.f()").expect("a row")[..4], ["3", "21", "67.74", "31"]);
    assert_eq!(row("A.g()").expect("a row")[..4], ["2", "10", "32.26", "14"]);
}

#[test]
fn counts_of_roots_mean_nothing() -> Result<(), crate::TreeTooLarge> {
    let mut builder = crate::TreeBuilder::with_root(70, 800);
    builder.enter(0, 1, 2)?;
    let p = profile(vec![method("A", "f", "()V")], vec![thread("main", builder.finish())]);
    assert!(tree_text(&p, TreeOptions::default()).contains("1          2          2  100.00  A.f()\n"));
    assert!(top_text(&p, TopOptions::default()).contains("    1     2  100.00          2  100.00  A.f()\n"));
    assert!(shown(|out| write_header(&p, out)).contains("Calls       1\nBytecodes   2\n"));
    Ok(())
}

#[test]
fn the_header_says_what_is_missing() {
    let mut p = example();
    p.meta.insert("exact".into(), "no".into());
    p.notes.push("started without -XX:-OmitStackTraceInFastThrow\u{1b}[2J".into());
    p.damage.push(Damage::Truncated { length: 77, missing: Missing::LaterTrees });
    assert_eq!(
        shown(|out| write_header(&p, out)),
        "\
Program     Main
JVM         Some VM 25+1 (Java 25)
Counted     calls and bytecodes (precise blocks)
Exact       no (see the notes)
Tool        cctrewrite 0.1.0
Threads     4 in 2 trees, 1 not ended
Contexts    5 of 3 methods
Calls       2,013
Bytecodes   200,000
INCOMPLETE  the profile is truncated after 77 bytes: threads behind those shown may be missing
Note        started without -XX:-OmitStackTraceInFastThrow\\u{1b}[2J

"
    );
}
