use super::*;
use crate::labels::{By, Labels};
use crate::names::NameStyle;
use crate::origin::Origins;
use crate::testing::{deep, method, profile, random, thread, tree};
use crate::{Damage, Metric, MissingPart, Profile, Summary, ThreadTree};

fn shown(write: impl FnOnce(&mut Vec<u8>) -> Result<(), ReportError>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("memory");
    String::from_utf8(out).expect("UTF-8")
}

fn header(p: &Profile) -> String {
    shown(|out| write_header(&Summary::of(p), &[], out))
}

/// Options for showing trees.
#[derive(Clone, Copy)]
struct TreeOptions {
    each: bool,
    recursion: bool,
    by: By,
    order: Order,
    min_percent: f64,
    depth: Option<usize>,
    lines: Option<usize>,
    layout: Layout,
}

impl Default for TreeOptions {
    fn default() -> TreeOptions {
        let (by, order) = (By::Method, Order::Inclusive);
        TreeOptions {
            each: false,
            recursion: false,
            by,
            order,
            min_percent: 0.5,
            depth: None,
            lines: None,
            layout: Layout::default(),
        }
    }
}

fn tree_text(p: &Profile, options: TreeOptions) -> String {
    let labels = Labels::new(&p.methods, options.by, NameStyle::Normalised, &Origins::default());
    let names = labels.readable();
    let rows = RowsOptions {
        metric: Metric::of_profile(p),
        order: options.order,
        min_percent: options.min_percent,
        depth: options.depth,
    };
    shown(|out| {
        let mut one = |title: &str, threads: &[ThreadTree]| {
            let tree = labels.tree(threads, options.recursion)?;
            let rows = Rows::new(&tree, rows)?;
            let rows = match options.lines {
                Some(lines) => rows.limited(lines),
                None => rows,
            };
            write_tree(title, &rows, &names, options.layout, out)
        };
        if !options.each {
            return one("All threads", &p.threads);
        }
        p.threads.iter().try_for_each(|thread| one(&thread_title(thread), std::slice::from_ref(thread)))
    })
}

fn table(p: &Profile, by: By, order: Order) -> (Table, Labels<'_>) {
    let labels = Labels::new(&p.methods, by, NameStyle::Normalised, &Origins::default());
    let trees: Vec<_> = p.threads.iter().map(|t| (&t.tree, labels.of_method())).collect();
    (Table::of(&trees, labels.len(), Metric::of_profile(p), order).expect("small"), labels)
}

fn top_text(p: &Profile, order: Order, limit: usize) -> String {
    let (table, labels) = table(p, By::Method, order);
    shown(|out| write_table(&table, &labels, &table_options(limit), out))
}

fn table_options(limit: usize) -> TableOptions<'static> {
    TableOptions { title: "Methods", limit, layout: Layout::default() }
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
All threads
calls      own  inclusive       %  context
    1    1,000    100,000   50.00  Main.main(String[])
2,000   98,997     98,997   49.50    java.util.HashMap.put(Object, Object)
   10  100,000    100,000   50.00  java.util.HashMap.put(Object, Object)
Not shown, but counted: 2 contexts, 0.00 % (below 0.5 %). Show more: --min-percent 0

"
    );
}

#[test]
fn the_tree_of_each_thread() {
    let layout = Layout { width: Some(57), colour: false };
    let options = TreeOptions { each: true, min_percent: 0.0, layout, ..TreeOptions::default() };
    assert_eq!(
        tree_text(&example(), options),
        "\
Thread 'main'
calls     own  inclusive       %  context
    1   1,000    100,000  100.00  Main.main(String[])
2,000  98,997     98,997   99.00  [2] java…HashMap.put(…)
    1       2          3    0.00  [2] Main.rare()
    1       1          1    0.00  [3] java…HashMap.put(…)

Thread 'pool' (3 threads, daemon, not ended)
calls      own  inclusive       %  context
   10  100,000    100,000  100.00  java…HashMap.put(…)

"
    );
}

#[test]
fn depth_limits_say_what_they_hide() {
    let options = TreeOptions { depth: Some(2), ..TreeOptions::default() };
    let text = tree_text(&deep(10_000), options);
    assert!(text.contains("     19,996   99.98      ... 9,998 more\n"), "{text}");
    let end = "\nNot shown, but counted: 9,998 contexts, 99.98 % (below 0.5 % or deeper than --depth 2). Show more: --min-percent 0, a larger --depth\n\n";
    assert!(text.ends_with(end), "{text}");
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
        let lines = u.arbitrary::<bool>()?.then_some(u.int_in_range(1..=9)?);
        let text = tree_text(&p, TreeOptions { min_percent, depth, lines, ..TreeOptions::default() });
        let rows = || text.lines().filter(|line| !line.is_empty()).skip(2);
        let counted = |row: &str, before: &str, after: &str| {
            let count = row.rsplit_once(before)?.1.split_once(after)?.0;
            count.parse::<usize>().ok()
        };
        let end = rows().filter_map(|row| counted(row, "Not shown, but counted: ", " context")).last();
        let hidden: Vec<usize> = rows().filter_map(|row| counted(row, "... ", " more")).collect();
        let listed = rows().count() - usize::from(end.is_some());
        assert!(lines.is_none_or(|lines| listed <= lines), "{text}");
        let (shown, hidden, end) = (listed - hidden.len(), hidden.iter().sum::<usize>(), end.unwrap_or(0));
        assert!(hidden <= end, "{text}");
        let labels = Labels::new(&p.methods, By::Method, NameStyle::Normalised, &Origins::default());
        assert_eq!(shown + end, labels.tree(&p.threads, false).expect("small").contexts());
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
    let top = top_text(&p, Order::Calls, 30);
    assert!(
        top.starts_with("Methods\ncalls  inclusive      %  method\n2,011      2,011  99.90  java.util"),
        "{top}"
    );
    assert!(!header(&p).contains("Bytecodes"));
}

#[test]
fn the_top_methods() {
    assert_eq!(
        top_text(&example(), Order::Own, 2),
        "\
Methods
calls      own      %  inclusive      %  method
2,011  198,998  99.50    198,998  99.50  java.util.HashMap.put(Object, Object)
    1    1,000   0.50    100,000  50.00  Main.main(String[])
... 1 more method, own 0.00 %

"
    );
    let top = top_text(&example(), Order::Inclusive, 30);
    assert!(top.lines().nth(4).is_some_and(|line| line.ends_with("Main.rare()")), "{top}");
}

#[test]
fn recursion_counts_once() {
    let methods = vec![method("A", "f", "()V"), method("A", "g", "()V")];
    // f (1) -> g (2) -> f (4) -> g (8), then another f (16) next to the first.
    let t = tree(&[(1, 0, 1, 1), (2, 1, 1, 2), (3, 0, 1, 4), (4, 1, 1, 8), (1, 0, 1, 16)]);
    let top = top_text(&profile(methods, vec![thread("main", t)]), Order::Own, 30);
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
    assert!(tree_text(&p, TreeOptions::default()).contains("\n    1    2          2  100.00  A.f()\n"));
    assert!(top_text(&p, Order::Own, 30).contains("    1    2  100.00          2  100.00  A.f()\n"));
    assert!(header(&p).contains("Calls       1\nBytecodes   2\n"));
    Ok(())
}

#[test]
fn the_header_says_what_is_missing() {
    let mut p = example();
    p.meta.insert("exact".into(), "no".into());
    p.notes.push("started without -XX:-OmitStackTraceInFastThrow\u{1b}[2J".into());
    p.damage.push(Damage::Truncated { length: 77, missing: MissingPart::LaterTrees });
    assert_eq!(
        header(&p),
        "\
Program     Main
JVM         Some VM 25+1 (Java 25)
Counted     calls and bytecodes (precise blocks)
Exact       no: a JVM option that exact numbers need is missing; a part of the profile is missing
Tool        cctrewrite 0.1.0
Threads     4 in 2 trees, 1 not ended
Contexts    5 of 3 methods
Calls       2,013
Bytecodes   200,000
INCOMPLETE  the profile is truncated after 77 bytes: later threads may be missing
Note        started without -XX:-OmitStackTraceInFastThrow\\u{1b}[2J

"
    );
}

#[test]
fn the_short_header_says_what_is_missing_too() {
    let mut p = example();
    let lines = |p: &Profile, selected| headlines(&Summary::of(p), selected);
    let program = "Main on Java 25: 2,013 calls, 200,000 bytecodes, 5 contexts";
    assert_eq!(lines(&p, None), [program, "Exact: unknown: the profile does not say how it was recorded"]);
    p.meta.insert("exact".into(), "yes".into());
    assert_eq!(lines(&p, None), [program, "Exact: yes"]);
    p.meta.insert("exact".into(), "no".into());
    p.meta.insert("runs".into(), "3".into());
    p.meta.insert("selection".into(), "regions".into());
    p.notes.push("not exact without -XX:-OmitStackTraceInFastThrow\u{1b}[2J".into());
    p.notes.push("stack traces could be shorter".into());
    p.damage.push(Damage::Truncated { length: 77, missing: MissingPart::LaterTrees });
    p.methods[1].flags = crate::Method::MARKER;
    assert_eq!(
        lines(&p, Some("1.00 %: \u{1b}")),
        [
            program,
            "Exact: no: without -XX:-OmitStackTraceInFastThrow\\u{1b}[2J; a part of the profile is missing",
            "Recorded: sum of 3 runs; 1 note (--header full)",
            "Selection: regions (only between start() and stop() of the program)",
            "Selected: 1.00 %: \\u{1b}",
            "INCOMPLETE: the profile is truncated after 77 bytes: later threads may be missing",
            "INCOMPLETE: Main: 1 call of missing contexts",
        ]
    );
}

#[test]
fn trees_are_limited_to_their_heaviest_lines() {
    let methods = (0..9).map(|at| method("A", &format!("f{at}"), "()V")).collect();
    let mut contexts = vec![(1, 0, 1, 0)];
    (1..9u32).for_each(|at| contexts.push((2, at, 1, 10 * u64::from(at))));
    let p = profile(methods, vec![thread("main", tree(&contexts))]);
    let text = |lines| tree_text(&p, TreeOptions { lines: Some(lines), ..TreeOptions::default() });
    assert_eq!(
        text(4),
        "\
All threads
calls  own  inclusive       %  context
    1    0        360  100.00  A.f0()
    1   80         80   22.22    A.f8()
    1   70         70   19.44    A.f7()
                  210   58.33    ... 6 more
Not shown, but counted: 6 contexts, 58.33 % (below 0.5 % or beyond 4 lines). Show more: --min-percent 0, --lines 0

"
    );
    assert!(text(9).ends_with("  A.f1()\n\n"), "{}", text(9));
    assert!(text(0).contains("\nNot shown, but counted: 9 contexts, 100.00 %"), "{}", text(0));
}

#[test]
fn the_hot_path_follows_the_heaviest_child() {
    let methods = (0..4).map(|at| method("A", &format!("f{at}"), "()V")).collect();
    let t = tree(&[(1, 0, 1, 20), (2, 1, 2, 10), (2, 2, 3, 30), (3, 1, 4, 40), (3, 3, 4, 40), (1, 3, 5, 60)]);
    let p = profile(methods, vec![thread("main", t)]);
    let labels = Labels::new(&p.methods, By::Method, NameStyle::Normalised, &Origins::default());
    let tree = labels.tree(&p.threads, false).expect("small");
    let path = |options: RowsOptions, lines| {
        let rows = Rows::new(&tree, options).expect("small");
        shown(|out| write_hot_path("Hot path", &rows, &labels.readable(), lines, Layout::default(), out))
    };
    let all = RowsOptions::all(Metric::Bytecodes);
    assert_eq!(
        path(all, None),
        "\
Hot path
calls  own  inclusive      %  % of caller  depth  context
    1   20        140  70.00        70.00      1  A.f0()
    3   30        110  55.00        78.57      2  A.f2()
    4   40         40  20.00        36.36      3  A.f1()

"
    );
    let end = "A.f2()\nThe path goes on (below 21 %). Show more: --min-percent 0\n\n";
    assert!(path(RowsOptions { min_percent: 21.0, ..all }, None).ends_with(end));
    let end = "A.f0()\nThe path goes on (deeper than --depth 1). Show more: a larger --depth\n\n";
    assert!(path(RowsOptions { depth: Some(1), ..all }, None).ends_with(end));
    let short = path(all, Some(2));
    assert!(short.contains("A.f0()\n... 1 more step (--lines 0 shows all)\n    4"), "{short}");
}

#[test]
fn colours_are_only_for_large_shares() {
    let layout = Layout { width: None, colour: true };
    let text = tree_text(&example(), TreeOptions { layout, ..TreeOptions::default() });
    assert!(text.starts_with("\u{1b}[1mAll threads\u{1b}[0m\ncalls "), "{text:?}");
    let (hot, end) = ("\u{1b}[1m\u{1b}[31m", "\u{1b}[0m");
    let main = format!("\n    1    1,000  {hot}  100,000{end}  {hot} 50.00{end}  Main.main(String[])\n");
    assert!(text.contains(&main), "{text:?}");
}

#[test]
fn packages_call_each_other() {
    let mut p = example();
    let text = tree_text(&p, TreeOptions { by: By::Package, min_percent: 0.0, ..TreeOptions::default() });
    // Main and Main.rare are one context, and so is what both call.
    assert_eq!(
        text,
        "\
All threads
calls      own  inclusive       %  context
    2    1,002    100,000   50.00  (unnamed package)
2,001   98,998     98,998   49.50    java.util
   10  100,000    100,000   50.00  java.util

"
    );
    let (by_class, labels) = table(&p, By::Class, Order::Own);
    let names = labels.readable();
    let rows: Vec<_> = by_class.rows.iter().map(|r| (&*names[r.label as usize], r.sums.inclusive)).collect();
    assert_eq!(rows, [("java.util.HashMap", 198_998), ("Main", 100_000)]);
    let limited = shown(|out| write_table(&by_class, &labels, &table_options(1), out));
    assert!(limited.ends_with("\n... 1 more class, own 0.50 %\n\n"), "{limited}");
    p.meta.insert("metrics".into(), "calls".into());
    assert_eq!(table(&p, By::Class, Order::Own).0.total, 2_013);
}

#[test]
fn recursion_is_folded_when_asked() {
    let folded = TreeOptions { recursion: true, ..TreeOptions::default() };
    let text = tree_text(&deep(10_000), folded);
    assert_eq!(
        text,
        "\
All threads
calls     own  inclusive       %  context
5,000  10,000     20,000  100.00  A.f()
5,000  10,000     10,000   50.00    A.g()

"
    );
}

#[test]
fn siblings_are_sorted_as_asked() {
    let methods = vec![method("A", "f", "()V"), method("A", "g", "()V"), method("A", "h", "()V")];
    // f: own 1, inclusive 101, 3 calls. g: own 50, 2 calls. h: own 40, 9 calls.
    let t = tree(&[(1, 0, 3, 1), (2, 1, 1, 100), (1, 1, 2, 50), (1, 2, 9, 40)]);
    let p = profile(methods, vec![thread("main", t)]);
    let outermost = |order| -> String {
        let text = tree_text(&p, TreeOptions { order, depth: Some(1), ..TreeOptions::default() });
        text.lines().filter_map(|line| line.split_once("  A.")?.1.chars().next()).collect()
    };
    assert_eq!([Order::Own, Order::Inclusive, Order::Calls].map(outermost), ["ghf", "fgh", "hfg"]);
}

/// The sums of all rows equal the total, and so do those of the outermost rows.
#[test]
fn sums_are_the_total() {
    arbtest::arbtest(|u| {
        let p = random(u)?;
        let summary = Summary::of(&p).all;
        for (by, recursion) in
            [(By::Method, false), (By::Method, true), (By::Class, false), (By::Package, true)]
        {
            let labels = Labels::new(&p.methods, by, NameStyle::Normalised, &Origins::default());
            let tree = labels.tree(&p.threads, recursion).expect("small");
            for metric in [Metric::Calls, Metric::Bytecodes] {
                let rows = Rows::new(&tree, RowsOptions::all(metric)).expect("small");
                let (mut own, mut outermost, mut contexts) = (0, 0, 0);
                let all: Result<(), ()> = rows.for_each(|row| {
                    if let Row::Context { node, depth, inclusive } = row {
                        own += u128::from(metric.of_node(&tree.nodes()[node as usize]));
                        outermost += if depth == 1 { u128::from(inclusive) } else { 0 };
                        contexts += 1;
                    }
                    Ok(())
                });
                assert!(all.is_ok());
                assert_eq!((own, outermost), (summary.total(metric), summary.total(metric)));
                assert_eq!(contexts, tree.contexts());
                let table = Table::of(&[(&tree, &identity(labels.len()))], labels.len(), metric, Order::Own);
                assert_eq!(table.expect("small").total, summary.total(metric));
            }
        }
        Ok(())
    });
}

fn identity(labels: usize) -> Vec<u32> {
    (0..labels as u32).collect()
}
