use super::*;
use crate::compare::{CompareOptions, compare};
use crate::contexts::{ContextsOptions, write_contexts};
use crate::diff::{DiffOptions, Difference, diff};
use crate::labels::{By, Labels};
use crate::merge::{MergeOptions, Threads, merge};
use crate::merger::Merger;
use crate::names::NameStyle;
use crate::origin::Origins;
use crate::pair::{Input, Side};
use crate::sums::sums;
use crate::tables::{NativeShare, Shape};
use crate::testing::{method, profile, random_split, thread, tree};
use crate::{Metric, Pattern, Selection, Summary, ThreadTree};

fn at(name: &str, bci: u16, line: u32) -> Method {
    Method { site: Some(Site { bci, line }), ..method("A", name, "()V") }
}

/// `main` calls `f` from two places, which calls `g`, and native code that calls `f`.
fn split() -> Profile {
    let methods = vec![
        method("A", "f", "()V"),
        at("f", 2, 10),
        at("f", 7, 10),
        at("g", 4, 20),
        method("A", "main", "()V"),
        Method { flags: Method::NATIVE, ..at("n", 9, 11) },
    ];
    let main = tree(&[
        (1, 4, 1, 100),
        (2, 1, 5, 50),
        (3, 3, 6, 60),
        (2, 2, 7, 70),
        (3, 3, 8, 80),
        (2, 5, 1, 0),
        (3, 0, 3, 30),
    ]);
    let mut p = profile(methods, vec![thread("main", main)]);
    p.meta.insert(CALL_SITES.to_owned(), "yes".to_owned());
    p
}

/// The profile without call sites.
fn unsplit() -> Profile {
    let native = Method { flags: Method::NATIVE, ..method("A", "n", "()V") };
    let methods = vec![method("A", "f", "()V"), method("A", "g", "()V"), method("A", "main", "()V"), native];
    let main = tree(&[(1, 2, 1, 100), (2, 0, 12, 120), (3, 1, 14, 140), (2, 3, 1, 0), (3, 0, 3, 30)]);
    profile(methods, vec![thread("main", main)])
}

fn listed(p: &Profile) -> String {
    let mut out = Vec::new();
    let options = ContextsOptions { per_thread: false, names: NameStyle::Raw };
    write_contexts(p, options, &mut out).expect("memory");
    String::from_utf8(out).expect("names are UTF-8")
}

#[test]
fn without_its_call_sites_a_profile_is_what_it_would_have_been() {
    let merged = split().without_call_sites().expect("small");
    assert_eq!(merged, unsplit());
    assert_eq!(merged.to_bytes().expect("canonical"), unsplit().to_bytes().expect("canonical"));
    assert!(split().tells_call_sites() && !merged.tells_call_sites());
    // Even if the header was lost, and if there is nothing but the header.
    let bare = Profile { meta: Default::default(), ..split() };
    assert!(bare.tells_call_sites());
    assert_eq!(bare.without_call_sites().expect("small"), unsplit());
    let said = Profile { meta: split().meta, ..unsplit() };
    assert!(said.tells_call_sites());
    assert_eq!(said.without_call_sites().expect("small"), unsplit());
    arbtest::arbtest(|u| {
        let (split, unsplit) = random_split(u)?;
        let read = Profile::read(&split.to_bytes().expect("canonical")).expect("sound");
        assert_eq!(read, split);
        let merged = read.without_call_sites().expect("small");
        assert_eq!(merged.to_bytes().expect("canonical"), unsplit.to_bytes().expect("canonical"));
        Ok(())
    });
}

#[test]
fn contexts_end_with_the_index_in_their_callers() {
    let lines: Vec<String> =
        listed(&split()).lines().filter(|l| !l.starts_with('#')).map(str::to_owned).collect();
    assert_eq!(
        lines,
        [
            "1 100 A.main()V",
            "5 50 A.main()V;A.f()V@2",
            "6 60 A.main()V;A.f()V@2;A.g()V@4",
            "7 70 A.main()V;A.f()V@7",
            "8 80 A.main()V;A.f()V@7;A.g()V@4",
            "1 0 A.main()V;A.n()V@9",
            "3 30 A.main()V;A.n()V@9;A.f()V@-1",
        ]
    );
    assert!(!listed(&unsplit()).contains('@'));
}

#[test]
fn native_callers_are_said_once() {
    let complete = split().with_native_callers();
    assert!(split().lacks_native_callers() && !complete.lacks_native_callers());
    assert_eq!(complete.methods.last().and_then(|m| m.site), Some(Site::NATIVE));
    assert_eq!(complete.clone().with_native_callers(), complete);
    assert_eq!(listed(&complete), listed(&split()));
    assert!(matches!(
        complete.to_bytes(),
        Err(crate::WriteError::Order(_) | crate::WriteError::NativeSite(_))
    ));
    // In the order of files they are gone again.
    assert_eq!(merge(&[&complete], MergeOptions::default()).expect("small"), split());
    assert_eq!(complete.without_call_sites().expect("small"), unsplit());
    assert_eq!(unsplit().with_native_callers(), unsplit());
}

#[test]
fn lists_are_compared_with_their_sites() {
    let input = |p: &Profile| Input::from(p.clone());
    let list = |p: &Profile| Input::read_from(listed(p).as_bytes()).expect("a list");
    let compared = |a, b| compare(a, b, &CompareOptions::default()).expect("comparable");
    for (a, b) in [
        (input(&split()), list(&split())),
        (list(&split()), input(&split())),
        (list(&split()), list(&split())),
    ] {
        let same = compared(a, b);
        assert!(same.is_equal() && same.remarks.is_empty(), "{:?}", same.remarks);
        assert_eq!(same.common, 7);
    }
    // Only one side distinguishes them.
    for make in [input, list] {
        let same = compared(make(&split()), make(&unsplit()));
        assert!(same.is_equal());
        let kinds = same.remarks.iter().map(|r| (r.kind(), r.side()));
        let kinds: Vec<_> = kinds.filter(|(kind, _)| *kind != "no-header").collect();
        assert_eq!(kinds, [("call-sites-merged", Some(Side::A))]);
        assert_eq!(same.common, 5);
    }
    // Different sites make different contexts.
    let mut moved = split();
    moved.methods[1].site = Some(Site { bci: 3, line: 10 });
    let different = compared(input(&split()), list(&moved));
    assert_eq!((different.only_a.contexts, different.only_b.contexts), (2, 2));
    let merged = |input: Input| input.without_call_sites().expect("small");
    assert!(compared(merged(input(&split())), merged(list(&moved))).is_equal());
    arbtest::arbtest(|u| {
        let (split, unsplit) = random_split(u)?;
        assert!(compared(input(&split), input(&unsplit)).is_equal());
        // Names without any character are no frames of a list.
        let Ok(list) = Input::read_from(listed(&split).as_bytes()) else { return Ok(()) };
        assert!(list.call_sites);
        let same = compared(input(&split), list);
        assert!(same.is_equal(), "{same:?}");
        Ok(())
    });
}

#[test]
fn the_sum_has_call_sites_if_all_profiles_have_them() {
    let options = MergeOptions::default();
    let both = merge(&[&split(), &split()], options).expect("small");
    assert_eq!((both.methods.clone(), &*both.meta[CALL_SITES]), (split().methods, "yes"));
    let mixed = merge(&[&split(), &unsplit()], options).expect("small");
    let plain = merge(&[&unsplit(), &unsplit()], options).expect("small");
    assert_eq!((&mixed.methods, &mixed.threads, &mixed.meta), (&plain.methods, &plain.threads, &plain.meta));
    assert!(mixed.notes[0].starts_with("only some of the profiles keep call sites separate"));
    // An empty profile does not matter.
    let with_nothing = merge(&[&split(), &Profile::default()], options).expect("small");
    assert_eq!(with_nothing.methods, split().methods);

    let mut orders = Vec::new();
    for order in [["s", "t", "u"], ["u", "t", "s"], ["t", "u", "s"]] {
        let mut merger = Merger::new(options);
        for name in order {
            merger.add(name, if name == "u" { unsplit() } else { split() }).expect("small");
        }
        orders.push(merger.finish().expect("small"));
    }
    assert!(orders.iter().all(|sum| *sum == orders[0]) && !orders[0].tells_call_sites());
    assert!(orders[0].notes[0].starts_with("s, t: call sites are kept separate, but not in other profiles"));
    let mut merger = Merger::new(options);
    for name in ["s", "t"] {
        merger.add(name, split()).expect("small");
    }
    let sum = merger.finish().expect("small");
    assert_eq!((sum.methods, &*sum.meta[CALL_SITES], sum.notes.len()), (split().methods, "yes", 0));
}

/// For each method its name and sums.
fn summed(p: &Profile) -> Vec<(String, crate::sums::Sums)> {
    let labels = Labels::new(&p.methods, By::Method, NameStyle::Raw, &Origins::default());
    let trees: Vec<_> = p.threads.iter().map(|t| (&t.tree, labels.of_method())).collect();
    let sums = sums(&trees, labels.len(), Metric::Bytecodes).expect("sound");
    (0..).map(|label| labels.exact(label)).zip(sums).collect()
}

#[test]
fn methods_count_once_from_wherever_they_are_called() {
    let count = |p: &Profile| {
        let summary = Summary::of(p);
        (summary.methods, summary.native_methods, summary.all.calls)
    };
    assert_eq!(count(&split()), (4, 1, 31));
    assert!(Summary::of(&split()).call_sites);
    arbtest::arbtest(|u| {
        let (split, unsplit) = random_split(u)?;
        let shown = split.clone().with_native_callers();
        for p in [&split, &shown] {
            assert_eq!(summed(p), summed(&unsplit));
            assert_eq!(count(p), count(&unsplit));
            let shape = |p: &Profile| Shape::of(p, NameStyle::Normalised).expect("small");
            assert_eq!(shape(p).methods, shape(&unsplit).methods);
            let natives = |p: &Profile| NativeShare::of(p, NameStyle::Raw).expect("small").native_calls;
            assert_eq!(natives(p), natives(&unsplit));
        }
        Ok(())
    });
}

#[test]
fn recursion_is_that_of_methods() {
    // f calls itself from two places.
    let methods = vec![method("A", "f", "()V"), at("f", 2, 0), at("f", 7, 0), at("g", 4, 0)];
    let main = tree(&[(1, 0, 1, 1), (2, 1, 2, 2), (3, 2, 3, 4), (4, 3, 4, 8), (2, 3, 5, 16)]);
    let p = profile(methods, vec![thread("main", main)]);
    let labels = Labels::of_contexts(&p.methods, By::Method, NameStyle::Raw, &Origins::default());
    let folded = labels.tree(&p.threads, true).expect("small");
    assert_eq!(folded, tree(&[(1, 0, 6, 7), (2, 3, 9, 24)]));
    arbtest::arbtest(|u| {
        let (split, unsplit) = random_split(u)?;
        let label = |p| Labels::of_contexts(p, By::Method, NameStyle::Raw, &Origins::default());
        let (with, without) = (label(&split.methods), label(&unsplit.methods));
        let folded = with.tree(&split.threads, true).expect("small");
        let merged = joined(&[(&folded, &with.methods().0)]).expect("small");
        assert_eq!(merged, without.tree(&unsplit.threads, true).expect("small"));
        Ok(())
    });
}

#[test]
fn patterns_mean_methods_unless_they_name_a_site() {
    let selected = |p: Profile, selection: &Selection| {
        let canonical = MergeOptions { threads: Threads::Apart, ..MergeOptions::default() };
        let selected =
            selection.of_profile(p, NameStyle::Raw).ok()?.profile.without_call_sites().expect("small");
        Some(merge(&[&selected], canonical).expect("small").threads)
    };
    let of = |pattern: &str| Selection { focus: vec![Pattern::new(pattern)], ..Selection::default() };
    let calls = |threads: Option<Vec<ThreadTree>>| -> Option<u64> {
        Some(threads?.iter().flat_map(|t| &t.tree.nodes()[1..]).map(|node| node.calls).sum())
    };
    for (pattern, expected) in [
        ("A.f", 29),
        ("A.f()V", 29),
        ("*f()V", 29),
        ("A.f()V@2", 11),
        ("A.f*@7", 15),
        ("*@-1", 3),
        ("*@4", 14),
    ] {
        let found = calls(selected(split().with_native_callers(), &of(pattern)));
        assert_eq!(found, Some(expected), "{pattern}");
    }
    // A digit at the end is not part of a site.
    assert_eq!(calls(selected(split(), &of("*2"))), None);
    arbtest::arbtest(|u| {
        let (split, unsplit) = random_split(u)?;
        let m = &unsplit.methods[0];
        let pattern = Pattern::new(&format!("{}.{}*", m.class, m.name));
        for selection in [
            Selection { root: Some(pattern.clone()), ..Selection::default() },
            Selection { focus: vec![pattern.clone()], ..Selection::default() },
            Selection { drop: vec![pattern], ..Selection::default() },
        ] {
            assert_eq!(selected(split.clone(), &selection), selected(unsplit.clone(), &selection));
        }
        Ok(())
    });
}

#[test]
fn changes_of_methods_are_those_without_sites() {
    fn methods(d: &Difference) -> Vec<String> {
        let row = |m: &crate::diff::ChangedMethod| {
            format!("{} {:?} {:?} {:?}", d.names[m.name as usize].exact, m.own, m.inclusive, m.calls)
        };
        d.methods.iter().map(row).collect()
    }
    let found = |a: &Profile, b: &Profile, recursion| {
        let options = DiffOptions { recursion, names: NameStyle::Raw, ..DiffOptions::default() };
        diff(a.clone().into(), b.clone().into(), &options, &Origins::default()).expect("comparable")
    };
    let mut slower = split();
    slower.threads[0].tree =
        tree(&[(1, 4, 1, 100), (2, 1, 5, 50), (3, 3, 6, 60), (2, 2, 7, 75), (3, 3, 8, 80), (2, 5, 1, 0)]);
    let d = found(&split(), &slower, false);
    let names =
        |path: &[u32]| path.iter().map(|&n| &*d.names[n as usize].exact).collect::<Vec<_>>().join(";");
    let contexts: Vec<String> = d.largest_contexts.iter().map(|c| names(&c.path)).collect();
    assert_eq!(contexts, ["A.main()V;A.n()V@9;A.f()V@-1", "A.main()V;A.f()V@7"]);
    assert_eq!(d.methods.iter().map(|m| names(&[m.name])).collect::<Vec<_>>()[0], "A.f()V");
    assert!(methods(&d).iter().all(|row| !row.contains('@')));
    arbtest::arbtest(|u| {
        let ((a, a_without), (b, b_without)) = (random_split(u)?, random_split(u)?);
        if a.counts_bytecodes() != b.counts_bytecodes() {
            return Ok(());
        }
        for recursion in [false, true] {
            let (with, without) = (found(&a, &b, recursion), found(&a_without, &b_without, recursion));
            assert_eq!(methods(&with), methods(&without));
            // One side without sites: as if both were.
            let half = found(&a, &b_without, recursion);
            assert_eq!((methods(&half), half.contexts), (methods(&without), without.contexts));
        }
        Ok(())
    });
}

#[test]
fn sites_in_what_is_left_out_become_those_of_who_stays() {
    let b = |name: &str, bci| Method { class: "B".into(), ..at(name, bci, 0) };
    // main -> B.x -> B.y -> f; B.x -> f; B.x -> main; and B.x outermost in another thread.
    let methods = vec![
        at("f", 1, 30),
        at("f", 6, 31),
        method("A", "main", "()V"),
        Method { site: Some(Site { bci: 9, line: 0 }), ..method("A", "main", "()V") },
        method("B", "x", "()V"),
        b("x", 5),
        b("y", 8),
    ];
    let main =
        tree(&[(1, 2, 1, 1), (2, 5, 2, 2), (3, 0, 4, 4), (3, 3, 8, 8), (3, 6, 16, 16), (4, 1, 32, 32)]);
    let other = tree(&[(1, 4, 1, 1), (2, 0, 2, 2), (3, 6, 1, 1), (4, 1, 4, 4)]);
    let mut p = profile(methods, vec![thread("main", main), thread("other", other)]);
    p.meta.insert(CALL_SITES.to_owned(), "yes".to_owned());
    let only = p.wanted(|m| &*m.class == "A", "only A").expect("sound");
    assert!(Profile::read(&only.to_bytes().expect("canonical")).is_ok());
    let lines = listed(&only);
    let lines: Vec<&str> = lines.lines().filter(|l| !l.starts_with('#')).collect();
    assert_eq!(
        lines,
        [
            "2 2 A.f()V",
            "4 4 A.f()V;A.f()V@8",
            "1 1 A.main()V",
            "36 36 A.main()V;A.f()V@5",
            "8 8 A.main()V;A.main()V@5"
        ]
    );
}
