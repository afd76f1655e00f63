use super::*;
use crate::fold::without;
use crate::merge::{MergeOptions, Threads, merge};
use crate::names::NameStyle;
use crate::report::write_header;
use crate::section::{MAGIC, section, string};
use crate::testing::{method, profile, random, thread, tree};
use crate::tree_sum::joined;
use crate::{Exactness, Metric, Pattern, Problem, ReadError, Selection, Summary, ThreadTree};

fn unit(name: &str) -> Unit {
    Unit::of(name).expect("a word")
}

/// Cells as a JVM writes them: `f` enters 3 monitors, and calls `g`, which enters 4 and is
/// synchronized, and calls `h`, which enters none.
fn cells() -> Profile {
    let methods = vec![
        row_of_column("monitors"),
        method("P", "f", "()V"),
        Method { flags: Method::SYNCHRONIZED, ..method("P", "g", "()V") },
        method("P", "h", "()V"),
    ];
    let main = tree(&[(1, 1, 1, 10), (2, 0, 3, 0), (2, 2, 2, 20), (3, 0, 4, 0), (3, 3, 7, 70)]);
    let mut p = profile(methods, vec![thread("main", main)]);
    p.meta.insert("metrics".into(), "calls+bytecodes".into());
    p.meta.insert(COLUMNS.into(), "monitors".into());
    p.meta.insert("exact".into(), "yes".into());
    p
}

fn example() -> Profile {
    cells().with_columns().expect("small")
}

/// Values of all contexts, in preorder.
fn values(tree: &Tree) -> Vec<&[u64]> {
    (1..tree.nodes().len() as u32).map(|node| tree.values(node)).collect()
}

/// A random profile whose trees have some columns, sorted by name.
fn random_with(
    u: &mut arbtest::arbitrary::Unstructured<'_>,
    columns: &[&str],
) -> arbtest::arbitrary::Result<Profile> {
    let mut p = random(u)?;
    for thread in &mut p.threads {
        let (nodes, mut open) = (thread.tree.nodes(), Vec::new());
        let mut builder = TreeBuilder::new().with_columns(columns.len());
        for (index, node) in (0u32..).zip(nodes).skip(1) {
            while open.pop_if(|end| *end <= index).is_some() {
                builder.leave();
            }
            builder.enter(node.method, node.calls, node.bytecodes).expect("small");
            for value in builder.numbers() {
                *value = u.int_in_range(0..=2)? * 1000;
            }
            open.push(thread.tree.subtree(index).end);
        }
        thread.tree = builder.finish();
    }
    if !columns.is_empty() {
        p.meta.insert(COLUMNS.into(), columns.join(" "));
    }
    Ok(p)
}

#[test]
fn cells_and_calls_of_synchronized_methods_become_a_column() {
    let p = example();
    assert_eq!(p.columns(), [unit("monitors")]);
    assert_eq!(
        p.methods.iter().map(|m| (&*m.name, m.flags)).collect::<Vec<_>>(),
        [("f", 0), ("g", 0), ("h", 0)]
    );
    let contexts = &p.threads[0].tree;
    assert_eq!(values(contexts), [[3], [6], [0]]);
    assert_eq!(p.column_totals(), [(unit("monitors"), 9)]);
    let (mut plain, mut without) = (contexts.clone(), tree(&[(1, 0, 1, 10), (2, 1, 2, 20), (3, 2, 7, 70)]));
    plain.without_columns();
    without.without_columns();
    assert_eq!(plain, without, "contexts, calls and bytecodes are what they are without");
    assert_eq!(p.clone().with_columns().expect("small"), p, "and again");
}

#[test]
fn files_with_columns_are_of_version_7() {
    let p = example();
    let bytes = p.to_bytes().expect("in order");
    assert_eq!(bytes[8..12], [0, 0, 0, 7]);
    assert_eq!(Profile::read(&bytes).expect("sound"), p);
    // As written by a JVM.
    let mut cells = cells();
    let of_jvm = {
        cells.meta.remove(COLUMNS);
        let mut bytes = cells.to_bytes().expect("in order");
        assert_eq!(bytes[8..12], [0, 0, 0, 1]);
        bytes[11] = 7;
        bytes
    };
    assert_eq!(Profile::read(&of_jvm).expect("sound"), p);
    for version in [1, 2, 4] {
        let old = [&of_jvm[..11], &[version], &of_jvm[12..]].concat();
        let problem = Profile::read(&old).expect_err("no column in an old version");
        assert!(
            matches!(problem, ReadError::Section { problem: Problem::ColumnInOldVersion, .. }),
            "{version}"
        );
    }
    assert!(p.without_columns().to_bytes().expect("in order")[11] == 1, "without columns nothing is new");
}

#[test]
fn cells_that_are_none_are_refused() {
    let file = |row: &Method, bytecodes: u8, children: u8| {
        let mut strings = vec![3];
        ["", "f", "monitors"].into_iter().for_each(|s| string(&mut strings, s));
        let name = u8::from(&*row.name == "monitors") + 1;
        let class = if row.class.is_empty() { 0 } else { 1 };
        let flags = u8::try_from(row.flags).expect("small");
        let methods = [&[2, class, name, 0, flags][..], &[0; 8], &[1, 1, 0, 0], &[0; 8]].concat();
        let thread = [1, 1, 1];
        let nodes = [[0, 0, 0, 1], [2, 1, 1, 1], [1, 1, bytecodes, children], [2, 1, 1, 0]];
        let nodes = &nodes[..if children > 0 { 4 } else { 3 }];
        let mut bytes = [&MAGIC[..], &[0, 0, 0, 7]].concat();
        for (tag, payload) in [
            (b"META", &[][..]),
            (b"STRS", &strings),
            (b"METH", &methods),
            (b"THRD", &thread),
            (b"NODE", &nodes.concat()),
            (b"DONE", &[]),
        ] {
            section(&mut bytes, *tag, payload).expect("memory");
        }
        match Profile::read(&bytes) {
            Err(ReadError::Section { problem, .. }) => Err(problem),
            other => Ok(other.expect("nothing else")),
        }
    };
    let row = row_of_column("monitors");
    assert_eq!(file(&row, 0, 0).map(|p| p.column_totals()), Ok(vec![(unit("monitors"), 1)]));
    assert_eq!(file(&row, 1, 0), Err(Problem::BadCell));
    assert_eq!(file(&row, 0, 1), Err(Problem::BadCell));
    assert_eq!(file(&Method { class: "f".into(), ..row.clone() }, 0, 0), Err(Problem::BadColumn));
    assert_eq!(file(&Method { flags: 0, ..row }, 0, 0), Err(Problem::BadColumn), "a method without a class");
    for name in ["", "calls", "bytecodes", "allocations", "Monitors", "a b", "averyveryverylongwordforaunit"]
    {
        assert!(!is_column(&row_of_column(name)), "{name}");
    }
}

#[test]
fn several_columns_are_read_as_they_were_written() {
    arbtest::arbtest(|u| {
        let names = [&["cycles", "monitors", "nanojoules"][..], &["monitors"], &[]];
        let names = u.choose(&names)?;
        let p = random_with(u, names)?;
        // Hand-made profiles may have methods without a class, which files with columns cannot.
        if p.methods.iter().any(|m| m.class.is_empty()) {
            return Ok(());
        }
        let bytes = p.to_bytes().expect("in order");
        let again = Profile::read(&bytes).expect("sound");
        assert_eq!(again.columns(), p.columns());
        let all = |p: &Profile| -> Vec<Vec<u64>> {
            p.threads.iter().flat_map(|t| values(&t.tree)).map(<[u64]>::to_vec).collect()
        };
        assert_eq!(all(&again), all(&p));
        assert_eq!(again.to_bytes().expect("in order"), bytes);
        Ok(())
    });
}

/// Several cost models: each is a column, and a metric of its own.
#[test]
fn a_profile_may_have_several_costs() {
    let mut tree_of_two = TreeBuilder::new().with_columns(2);
    tree_of_two.enter(0, 1, 10).expect("small");
    tree_of_two.numbers().copy_from_slice(&[40, 7]);
    let mut p = profile(vec![method("A", "f", "()V")], vec![thread("main", tree_of_two.finish())]);
    p.meta.insert(COLUMNS.into(), "cycles nanojoules".into());
    for (name, sum) in [("cycles", 40), ("nanojoules", 7)] {
        let by = p.clone().by_column(unit(name)).expect("a column");
        let metric = Metric::of_profile(&by);
        assert_eq!((metric.name(), Summary::of(&by).all.total(metric)), (name, sum));
    }
}

#[test]
fn a_column_takes_the_place_of_bytecodes() {
    let p = example().by_column(unit("monitors")).expect("a column");
    assert_eq!(p.threads[0].tree, tree(&[(1, 0, 1, 3), (2, 1, 2, 6), (3, 2, 7, 0)]));
    let summary = Summary::of(&p);
    assert_eq!((summary.metric(), summary.counts_bytecodes), (Metric::Column(unit("monitors")), true));
    let mut text = Vec::new();
    write_header(&summary, &[], &mut text).expect("memory");
    let text = String::from_utf8(text).expect("UTF-8");
    assert!(
        text.contains("Counted     calls and monitors (entries into monitors: executed monitorenter"),
        "{text}"
    );
    assert!(text.contains("\nmonitors    9\n"), "{text}");
    let mut text = Vec::new();
    write_header(&Summary::of(&example()), &[], &mut text).expect("memory");
    let text = String::from_utf8(text).expect("UTF-8");
    assert!(text.contains("\nmonitors    9 (--metric monitors shows them)\n"), "{text}");
    assert!(example().by_column(unit("others")).is_none());
}

/// The limits of a column are reported, and the rule of blocks does not matter to it.
#[test]
fn a_column_is_exact_by_its_own_limits() {
    let mut p = example().by_column(unit("monitors")).expect("a column");
    p.meta.insert("blocks".into(), "default".into());
    let verdict = Exactness::of_summary(&Summary::of(&p)).expect("says how it was made");
    assert_eq!(verdict.reasons(), [cct_columns::Column::Monitors.limits()]);
    assert_eq!(verdict.verdict(), "yes-except");
}

#[test]
fn sums_have_the_columns_of_all() {
    let p = example();
    let twice = merge(&[&p, &p], MergeOptions::default()).expect("small");
    assert_eq!(values(&twice.threads[0].tree), [[6], [12], [0]]);
    assert_eq!(twice.columns(), p.columns());
    let error = merge(&[&p, &p.clone().without_columns()], MergeOptions::default());
    assert!(matches!(error, Err(MergeError::Incompatible { key: COLUMNS, .. })), "{error:?}");
    let mut merger = crate::merger::Merger::new(MergeOptions::default());
    merger.add("a.cct", p.clone()).expect("the first");
    merger.add("b.cct", p.clone()).expect("the same columns");
    let error = merger.add("c.cct", p.clone().without_columns()).expect_err("none").to_string();
    assert!(error.contains("'columns' (monitors in a.cct and none in c.cct)"), "{error}");
    assert_eq!(merger.finish().expect("small").column_totals(), [(unit("monitors"), 18)]);
}

#[test]
fn columns_stay_with_their_contexts_whatever_is_done() {
    arbtest::arbtest(|u| {
        let p = random_with(u, &["cycles", "monitors"])?;
        let total = p.column_totals();
        let sum = |p: &Profile| p.column_totals();
        let options = MergeOptions { threads: Threads::All, ..MergeOptions::default() };
        assert_eq!(sum(&merge(&[&p], options).expect("small")), total);
        assert_eq!(sum(&p.clone().without_call_sites().expect("small")), total);
        assert_eq!(sum(&p.clone().without_allocations().expect("small")), total);
        let all = Selection::default().of_profile(p.clone(), NameStyle::Raw).expect("all").profile;
        assert_eq!(sum(&all), total);
        let none: Vec<Option<u32>> = vec![None; p.methods.len()];
        for ThreadTree { tree, .. } in &p.threads {
            let (kept, _) =
                without(tree, &(0..p.methods.len() as u32).map(Some).collect::<Vec<_>>()).expect("small");
            let labels: Vec<u32> = (0..p.methods.len() as u32).collect();
            assert_eq!(values(&kept), values(&joined(&[(tree, &labels)]).expect("small")));
            assert_eq!(without(tree, &none).expect("small").0.contexts(), 0);
        }
        Ok(())
    });
}

#[test]
fn a_selection_keeps_what_is_selected() {
    let selection = Selection { focus: vec![Pattern::new("P.g")], ..Selection::default() };
    let p = selection.of_profile(example(), NameStyle::Raw).expect("there").profile;
    assert_eq!(values(&p.threads[0].tree), [[0], [6], [0]]);
    let p = example().wanted(|m| &*m.name != "f", "without f").expect("sound");
    assert_eq!(values(&p.threads[0].tree), [[6], [0]]);
}

/// Found by fuzzing: names that are none, or out of order, stayed in a profile without methods, and
/// what was written of it was read as something else.
#[test]
fn a_profile_that_is_cut_names_its_columns_in_one_way() {
    for (names, expected) in [
        ("jo\0les monitors", Some("monitors")),
        ("monitors cycles monitors", Some("cycles monitors")),
        ("bytecodes", None),
        ("", None),
    ] {
        let mut file = MAGIC.to_vec();
        file.extend(crate::section::COLUMNS_SINCE.to_be_bytes());
        let mut payload = Vec::new();
        string(&mut payload, COLUMNS);
        string(&mut payload, names);
        section(&mut file, *b"META", &payload).expect("memory");
        let read = Profile::read(&file).expect("a profile that is cut");
        assert!(!read.damage.is_empty());
        assert_eq!(read.meta.get(COLUMNS).map(String::as_str), expected, "{names:?}");
        let written = read.to_bytes().expect("in order");
        let again = Profile::read(&written).expect("as written");
        assert_eq!(again.to_bytes().expect("in order"), written, "{names:?}");
    }
}
