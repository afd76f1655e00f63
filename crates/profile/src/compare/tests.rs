use super::*;
use crate::contexts::{ContextsOptions, write_contexts};
use crate::metric::Counts;
use crate::pair::Side;
use crate::testing::{method, profile, random, thread, tree};
use crate::{Damage, MergeError, Method, MissingPart, Pattern, Profile};
use std::collections::BTreeMap;

fn list(lines: &[&str]) -> Input {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    Input::read_from(text.as_bytes()).expect("a list")
}

fn found(a: Input, b: Input, options: &CompareOptions) -> Comparison {
    compare(a, b, options).expect("comparable")
}

fn with(set: impl FnOnce(&mut CompareOptions)) -> CompareOptions {
    let mut options = CompareOptions::default();
    set(&mut options);
    options
}

/// `calls bytecodes path` of A, then of B.
fn shown(comparison: &Comparison, listed: &[ListEntry]) -> Vec<String> {
    let path = |path: &[u32]| {
        let frames: Vec<&str> = path.iter().map(|&f| comparison.frames[f as usize].exact.as_str()).collect();
        frames.join(";")
    };
    let counts = |c: Counts| format!("{} {}", c.calls, c.bytecodes);
    listed.iter().map(|l| format!("{} / {} {}", counts(l.a), counts(l.b), path(&l.path))).collect()
}

fn texts(comparison: &Comparison) -> Vec<String> {
    comparison.remarks.iter().map(|r| format!("{} {:?} {r}", r.kind(), r.side())).collect()
}

#[test]
fn the_example_of_the_manual() {
    let a = list(&["1 100 x.M.main()V", "10 300 x.M.main()V;x.M.f()V", "9 100 x.M.main()V;x.M.g()V"]);
    let b = list(&[
        "1 100 x.M.main()V",
        "10 200 x.M.main()V;x.M.f()V",
        "5 60 x.M.main()V;x.M.g()V",
        "4 40 x.M.main()V;x.M.h()V",
    ]);
    let c = found(a, b, &CompareOptions::default());
    assert_eq!((c.contexts_a, c.contexts_b, c.common), (3, 4, 3));
    assert_eq!((c.only_a.contexts, c.only_b.contexts, c.only_b.calls, c.only_b.bytecodes), (0, 1, 4, 40));
    assert_eq!(shown(&c, &c.only_b.largest), ["0 0 / 4 40 x.M.main()V;x.M.h()V"]);
    assert!(!c.is_equal() && !c.is_incomplete());

    // Both have 20 calls: (1 + 10 + 5) / 20.
    assert_eq!(c.calls.overlap.percent(), 80.0);
    assert_eq!((c.calls.relative_error(), c.calls.error_over_contexts()), (0.0, 0.4));
    assert_eq!((c.calls.different, c.calls.different_absolute, c.calls.largest_error), (1, 4, 0.8));
    assert_eq!(shown(&c, &c.calls.by_difference), ["9 100 / 5 60 x.M.main()V;x.M.g()V"]);

    let bytecodes = c.bytecodes.as_ref().expect("counted");
    // Of 500: 1/5, 3/5, 1/5, 0; of 400: 1/4, 1/2, 3/20, 1/10. The smaller ones: 0.2 + 0.5 + 0.15.
    assert!((bytecodes.overlap.percent() - 85.0).abs() < 1e-12);
    // (500 - 400) / 400; (100 + 40 + 40) / 400; 100 of 200 is less than 40 of 60.
    assert_eq!((bytecodes.relative_error(), bytecodes.error_over_contexts()), (0.25, 0.45));
    assert_eq!((bytecodes.different, bytecodes.different_absolute), (2, 140));
    assert!((bytecodes.largest_error - 2.0 / 3.0).abs() < 1e-12);
    let (f, g) = ("10 300 / 10 200 x.M.main()V;x.M.f()V", "9 100 / 5 60 x.M.main()V;x.M.g()V");
    assert_eq!(shown(&c, &bytecodes.by_difference), [f, g]);
    assert_eq!(shown(&c, &bytecodes.by_ratio), [g, f]);
    assert_eq!(texts(&c).len(), 2, "{:?}", c.remarks);
}

#[test]
fn methods_are_matched_by_name_not_by_mid() {
    let side = |mid, order: [&str; 2], nodes: &[(usize, u32, u64, u64)]| {
        let methods = order.map(|name| Method { mid, ..method("A", name, "()V") }).to_vec();
        Input::from(profile(methods, vec![thread("main", tree(nodes))]))
    };
    let a = side(7, ["f", "g"], &[(1, 0, 1, 2), (2, 1, 3, 4)]);
    let b = side(9, ["g", "f"], &[(1, 1, 1, 2), (2, 0, 3, 4)]);
    assert!(found(a.clone(), b, &CompareOptions::default()).is_equal());
    let other = side(9, ["g", "f"], &[(1, 1, 1, 2), (2, 0, 3, 5)]);
    assert!(!found(a.clone(), other.clone(), &CompareOptions::default()).is_equal());
    let calls = found(a, other, &with(|o| o.calls_only = true));
    assert!(calls.is_equal() && calls.bytecodes.is_none());
}

/// Both sides as maps of paths, compared naively.
#[test]
fn comparing_is_comparing_sorted_lists() {
    arbtest::arbtest(|u| {
        let (p, q) = (random(u)?, random(u)?);
        for per_thread in [false, true] {
            let map = |p: &Profile| {
                let mut out = Vec::new();
                let options = ContextsOptions { per_thread, names: NameStyle::Raw };
                write_contexts(p, options, &mut out).expect("memory");
                let mut map: BTreeMap<String, (u64, u64)> = BTreeMap::new();
                for line in String::from_utf8(out).expect("UTF-8").split('\n') {
                    let mut columns = line.splitn(3, ' ');
                    let mut next = || columns.next().unwrap_or_default().to_owned();
                    let (calls, bytecodes, path) = (next(), next(), next());
                    if let (Ok(calls), Ok(bytecodes)) = (calls.parse(), bytecodes.parse()) {
                        map.insert(path, (calls, bytecodes));
                    }
                }
                map
            };
            let (a, b) = (map(&p), map(&q));
            let options = with(|o| {
                o.per_thread = per_thread;
                o.limit = 1000;
            });
            let c = found(p.clone().into(), q.clone().into(), &options);
            assert_eq!(c.is_equal(), a == b);
            assert_eq!((c.contexts_a, c.contexts_b), (a.len() as u64, b.len() as u64));
            assert_eq!(c.common, a.keys().filter(|path| b.contains_key(*path)).count() as u64);
            let mut only: Vec<String> = a
                .iter()
                .filter(|(path, _)| !b.contains_key(*path))
                .map(|(path, (x, y))| format!("{x} {y} / 0 0 {path}"))
                .collect();
            let mut listed = shown(&c, &c.only_a.largest);
            only.sort();
            listed.sort();
            assert_eq!(only, listed);
            let mut different: Vec<String> = a
                .iter()
                .filter_map(|(path, x)| Some((path, x, b.get(path)?)))
                .filter(|(_, x, y)| x.0 != y.0)
                .map(|(path, x, y)| format!("{} {} / {} {} {path}", x.0, x.1, y.0, y.1))
                .collect();
            different.sort();
            for list in [&c.calls.by_difference, &c.calls.by_ratio] {
                let mut listed = shown(&c, list);
                listed.sort();
                assert_eq!(different, listed);
            }
            let total = |map: &BTreeMap<String, (u64, u64)>| map.values().map(|c| c.0).sum::<u64>() as f64;
            let shares = a.iter().filter_map(|(path, x)| {
                Some((x.0 as f64 / total(&a)).min(b.get(path)?.0 as f64 / total(&b)))
            });
            if total(&a) > 0.0 && total(&b) > 0.0 {
                assert!((shares.sum::<f64>() * 100.0 - c.calls.overlap.percent()).abs() < 1e-9);
            }
            let itself = found(p.clone().into(), p.clone().into(), &options);
            assert!(itself.is_equal() && itself.calls.overlap.is_complete());
        }
        Ok(())
    });
}

#[test]
fn a_profile_is_equal_to_its_list() {
    let methods = vec![method("A", "f", "(La/B;)V"), method("A$$Lambda$3/17", "g", "()V")];
    let threads = vec![
        thread("main", tree(&[(1, 0, 1, 2), (2, 1, 3, 4)])),
        thread("w;1", tree(&[(1, 0, 5, 6), (1, 1, 0, 0)])),
    ];
    let p = Profile { notes: vec!["a\nb".to_owned()], ..profile(methods, threads) };
    for (per_thread, names) in
        [(false, NameStyle::Raw), (true, NameStyle::Raw), (true, NameStyle::Normalised)]
    {
        let mut out = Vec::new();
        write_contexts(&p, ContextsOptions { per_thread, names }, &mut out).expect("memory");
        let list = || Input::read_from(&*out).expect("a list");
        for per_thread in if per_thread { &[false, true][..] } else { &[false] } {
            let options = with(|o| {
                o.per_thread = *per_thread;
                o.names = names;
            });
            let c = found(p.clone().into(), list(), &options);
            assert!(c.is_equal(), "{c:?}");
            assert!(texts(&c).contains(&"note None a b".to_owned()), "{:?}", c.remarks);
        }
    }
}

#[test]
fn threads_are_added_up_or_kept_apart() {
    let a = || list(&["1 1 [main];x.A.f()V", "2 2 [w];x.A.f()V"]);
    let b = || list(&["2 2 [main];x.A.f()V", "1 1 [w];x.A.f()V"]);
    assert!(found(a(), b(), &CompareOptions::default()).is_equal());
    let each = found(a(), b(), &with(|o| o.per_thread = true));
    assert_eq!((each.common, each.calls.different), (2, 2));
    assert_eq!(shown(&each, &each.calls.by_ratio)[0], "2 2 / 1 1 [w];x.A.f()V");
    // One thread of each.
    let one = found(a(), b(), &with(|o| o.selection.thread = Some(Pattern::of_thread("w"))));
    assert_eq!((one.calls.a, one.calls.b), (2, 1));
    let missing = found(
        a(),
        list(&["1 1 [main];x.A.f()V"]),
        &with(|o| o.selection.thread = Some(Pattern::of_thread("w"))),
    );
    assert!(texts(&missing).contains(&"thread-missing Some(B) B has no thread 'w'".to_owned()));
    assert!(!missing.is_equal());
    let none = with(|o| o.selection.thread = Some(Pattern::of_thread("x")));
    assert_eq!(compare(a(), b(), &none), Err(PairError::NoSuchThread("x".to_owned())));
    let merged = || list(&["3 3 x.A.f()V"]);
    assert!(found(a(), merged(), &CompareOptions::default()).is_equal());
    let each = with(|o| o.per_thread = true);
    assert_eq!(compare(a(), merged(), &each), Err(PairError::NoThreads(Side::B)));
}

#[test]
fn the_root_is_the_outermost_of_its_kind_on_every_stack() {
    // r is reached below p and below q, and once more below itself.
    let a = || {
        list(&[
            "1 1 x.P.p()V",
            "2 10 x.P.p()V;x.R.r()V",
            "3 20 x.P.p()V;x.R.r()V;x.R.r()V",
            "4 30 x.P.q()V;x.R.r()V",
            "5 40 x.P.q()V;x.R.r()V;x.S.s()V",
            "6 50 x.S.s()V",
        ])
    };
    let b = || list(&["6 40 x.R.r()V", "3 20 x.R.r()V;x.R.r()V", "5 40 x.R.r()V;x.S.s()V"]);
    let root = |name: &str| with(|o| o.selection.root = Some(Pattern::new(name)));
    let c = found(a(), b(), &root("x.R.r"));
    assert!(c.is_equal(), "{c:?}");
    assert_eq!((c.contexts_a, c.calls.a), (3, 14));
    assert_eq!(
        compare(a(), b(), &root("x.R.z")).expect_err("nowhere").to_string(),
        "no context of either side has the method 'x.R.z'; did you mean x.R.r?"
    );
    let one = found(a(), b(), &root("x.P.p"));
    assert_eq!((one.contexts_a, one.contexts_b, one.calls.a), (3, 0, 6));
    assert!(
        texts(&one).contains(&"method-missing Some(B) B has no context with the method 'x.P.p'".to_owned())
    );
    // Threads stay above the root.
    let each = with(|o| {
        o.selection.root = Some(Pattern::new("x.R.r()V"));
        o.per_thread = true;
    });
    let a = list(&["1 1 [m];x.P.p()V;x.R.r()V", "9 9 [m];x.P.p()V", "2 2 [n];x.R.r()V;x.S.s()V"]);
    let b = list(&["1 1 [m];x.R.r()V", "2 2 [n];x.P.p()V;x.R.r()V;x.S.s()V", "8 8 [o];x.S.s()V"]);
    let c = found(a, b, &each);
    assert!(c.is_equal() && c.contexts_a == 2, "{c:?}");
    let a = list(&["3 1 [m];x.R.r()V", "2 1 [n];x.R.r()V"]);
    let b = list(&["2 1 [m];x.P.p()V;x.R.r()V", "3 1 [n];x.R.r()V"]);
    let c = found(a, b, &each);
    let lines = ["3 1 / 2 1 [m];x.R.r()V", "2 1 / 3 1 [n];x.R.r()V"];
    assert_eq!(shown(&c, &c.calls.by_difference), lines);
}

#[test]
fn dropped_methods_go_with_all_below_them() {
    let a = || {
        list(&[
            "1 1 x.A.f()V",
            "2 2 x.A.f()V;y.B.g()V",
            "3 3 x.A.f()V;y.B.g()V;x.A.h()V",
            "4 4 x.A.f()V;x.A.h()V",
            "5 5 y.B.g()V;x.A.f()V",
        ])
    };
    let b = || list(&["1 1 x.A.f()V", "4 4 x.A.f()V;x.A.h()V", "7 7 x.A.f()V;x.A.wait(J)V"]);
    let ignoring = |patterns: &[&str]| {
        let ignore: Vec<Pattern> = patterns.iter().map(|pattern| Pattern::new(pattern)).collect();
        found(a(), b(), &with(|o| o.selection.drop = ignore))
    };
    let c = ignoring(&["y.*", "x.A.wait"]);
    assert!(c.is_equal() && c.contexts_a == 2, "{c:?}");
    let c = ignoring(&["y.*", "nowhere"]);
    assert_eq!((c.only_a.contexts, c.only_b.contexts), (0, 1));
    assert!(
        texts(&c)
            .contains(&"ignores-nothing None no method of either side matches --drop 'nowhere'".to_owned())
    );
    // What is ignored is no root either.
    let c = found(
        a(),
        b(),
        &with(|o| {
            o.selection.drop = vec![Pattern::new("y.*")];
            o.selection.root = Some(Pattern::new("x.A.f"));
        }),
    );
    assert_eq!(c.calls.a, 5);
}

#[test]
fn names_of_generated_classes_are_made_equal_on_demand() {
    let a = || {
        list(&[
            "1 1 x.A$$Lambda$1.f()V",
            "2 2 x.A$$Lambda$2.1804.f()V",
            "4 4 sun.reflect.GeneratedMethodAccessor7.invoke()V",
            "5 5 x.$Proxy3.f()V",
            "6 6 jdk.proxy1.$Proxy4.f()V",
        ])
    };
    let b = || {
        list(&[
            "3 3 x.A$$Lambda$9.f()V",
            "4 4 sun.reflect.GeneratedMethodAccessor1.invoke()V",
            "5 5 x.$Proxy8.f()V",
            "6 6 jdk.proxy2.$Proxy11.f()V",
        ])
    };
    let raw = found(a(), b(), &CompareOptions::default());
    assert_eq!((raw.only_a.contexts, raw.only_b.contexts), (5, 4));
    assert!(texts(&raw).iter().any(|text| text.starts_with("generated-names None")));
    let normalised = found(a(), b(), &with(|o| o.names = NameStyle::Normalised));
    assert!(normalised.is_equal() && normalised.contexts_a == 4, "{normalised:?}");
}

#[test]
fn call_sites_are_added_up_when_one_side_has_none() {
    let a = || list(&["1 1 x.A.f()V", "2 2 x.A.f()V;x.A.g()V@3", "3 3 x.A.f()V;x.A.g()V@7"]);
    let c = found(a(), list(&["1 1 x.A.f()V", "5 5 x.A.f()V;x.A.g()V"]), &CompareOptions::default());
    assert!(c.is_equal());
    assert!(texts(&c).iter().any(|text| text.starts_with("call-sites-merged Some(A)")));
    let c = found(a(), list(&["1 1 x.A.f()V", "5 5 x.A.f()V;x.A.g()V@3"]), &CompareOptions::default());
    assert_eq!((c.common, c.only_a.contexts), (2, 1));
}

#[test]
fn counts_of_different_kinds_are_not_compared_in_silence() {
    let calls = || list(&["1 - x.A.f()V"]);
    let both = || list(&["1 5 x.A.f()V"]);
    assert_eq!(compare(calls(), both(), &CompareOptions::default()), Err(PairError::NoBytecodes(Side::A)));
    assert_eq!(compare(both(), calls(), &CompareOptions::default()), Err(PairError::NoBytecodes(Side::B)));
    assert!(found(both(), calls(), &with(|o| o.calls_only = true)).is_equal());
    assert!(found(calls(), calls(), &CompareOptions::default()).bytecodes.is_none());
}

#[test]
fn different_choices_for_intrinsics_are_different_in_kind() {
    let side = |choice: &str| {
        let mut p = profile(vec![method("A", "f", "()V")], vec![thread("main", tree(&[(1, 0, 1, 2)]))]);
        p.meta.insert("intrinsics".to_owned(), choice.to_owned());
        p
    };
    let [bytecode, native] = ["bytecode", "native"].map(|choice| move || side(choice));
    let refused = compare(bytecode().into(), native().into(), &CompareOptions::default());
    assert_eq!(refused, Err(PairError::Intrinsics { a: "bytecode".to_owned(), b: "native".to_owned() }));
    let calls = found(bytecode().into(), native().into(), &with(|o| o.calls_only = true));
    assert!(calls.is_equal() && calls.bytecodes.is_none());
    assert!(calls.remarks.iter().any(|r| r.kind() == "header" && r.to_string().starts_with("intrinsics: ")));
    assert!(found(native().into(), native().into(), &CompareOptions::default()).is_equal());
}

#[test]
fn costs_by_different_models_are_different_in_kind() {
    let side = |model: Option<&str>| {
        let mut p = profile(vec![method("A", "f", "()V")], vec![thread("main", tree(&[(1, 0, 1, 2)]))]);
        if let Some(model) = model {
            p.meta.insert("cost-model".to_owned(), model.to_owned());
            p.meta.insert("metrics".to_owned(), "calls+cycles".to_owned());
        }
        p
    };
    for (a, b) in [(Some("x@1"), Some("x@2")), (Some("x@1"), None), (None, Some("x@1"))] {
        let refused = compare(side(a).into(), side(b).into(), &CompareOptions::default());
        assert!(matches!(refused, Err(PairError::CostModels { .. })), "{a:?} {b:?}: {refused:?}");
        assert!(found(side(a).into(), side(b).into(), &with(|o| o.calls_only = true)).is_equal());
    }
    let same = found(side(Some("x@1")).into(), side(Some("x@1")).into(), &CompareOptions::default());
    assert_eq!(same.bytecodes.map(|bytecodes| bytecodes.metric.name()), Some("cycles"));
}

#[test]
fn headers_that_differ_are_named() {
    let side = |blocks: &str, provenance: &str, notes: &[&str]| {
        let mut p = profile(vec![method("A", "f", "()V")], vec![thread("main", tree(&[(1, 0, 1, 2)]))]);
        p.meta.insert("blocks".to_owned(), blocks.to_owned());
        p.meta.insert("exact".to_owned(), "yes".to_owned());
        p.meta.insert("tool".to_owned(), "t".to_owned());
        p.meta.insert("provenance".to_owned(), provenance.to_owned());
        p.notes = notes.iter().map(|note| (*note).to_owned()).collect();
        p
    };
    let mut b = side("precise", "rt.jar 1\napp.jar 3", &["n1", "n3"]);
    b.meta.insert("limits".to_owned(), "x".to_owned());
    b.damage.push(Damage::Truncated { length: 9, missing: MissingPart::LaterTrees });
    let c = found(
        side("default", "rt.jar 1\napp.jar 2", &["n1", "n2"]).into(),
        b.into(),
        &CompareOptions::default(),
    );
    assert!(c.is_equal() && c.is_incomplete());
    assert_eq!(
        texts(&c),
        [
            "incomplete Some(B) the profile is truncated after 9 bytes: later threads may be missing",
            "header None blocks: A has default, B has precise; rules differ in the bytecodes of \
             blocks that an exception leaves",
            "header None provenance: A has app.jar 2, B has app.jar 3; the rewritten classes are not the same",
            "exactness Some(A) exact: no: default blocks: a block that an exception leaves counts as a whole",
            "exactness Some(B) exact: no: a part of the profile is missing",
            "note None n1",
            "note Some(A) n2",
            "note Some(B) n3",
        ]
    );
}

#[test]
fn markers_are_named_whatever_is_selected() {
    let marker = Method { flags: Method::MARKER, ..method("[contexts merged: out of memory]", "", "") };
    let p = profile(
        vec![method("A", "f", "()V"), marker],
        vec![thread("main", tree(&[(1, 0, 1, 2), (1, 1, 30, 0)]))],
    );
    let c = found(p.clone().into(), p.into(), &with(|o| o.selection.root = Some(Pattern::new("A.f"))));
    assert_eq!((c.is_equal(), c.is_incomplete(), c.contexts_a), (true, true, 1));
    assert_eq!(c.remarks.len(), 3);
    assert!(texts(&c)[1].contains("[contexts merged: out of memory] has their 30 calls"), "{:?}", c.remarks);
}

#[test]
fn lists_are_limited_and_deterministic() {
    let lines: Vec<String> = (0..100).map(|i| format!("{} 0 x.A.f{i:02}()V", 1 + i % 3)).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let c = found(list(&lines), list(&["# nothing"]), &with(|o| o.limit = 4));
    assert_eq!(c.only_a.contexts, 100);
    // Bytecodes are all 0, so the order is that of the frames.
    let first: Vec<String> = (0..4).map(|i| format!("{} 0 / 0 0 x.A.f{i:02}()V", 1 + i % 3)).collect();
    assert_eq!(shown(&c, &c.only_a.largest), first);
    let calls = found(
        list(&lines),
        list(&["# nothing"]),
        &with(|o| {
            o.limit = 2;
            o.calls_only = true;
        }),
    );
    assert_eq!(shown(&calls, &calls.only_a.largest), ["3 0 / 0 0 x.A.f02()V", "3 0 / 0 0 x.A.f05()V"]);
    assert_eq!((calls.calls.overlap.percent(), calls.calls.relative_error()), (0.0, f64::INFINITY));
}

#[test]
fn sums_that_do_not_fit_are_errors() {
    let most = format!("{} 0 x.A.f()V", u64::MAX);
    let error = compare(list(&["1 1 x.A.f()V"]), list(&[&most, "1 0 x.A.g()V"]), &CompareOptions::default());
    assert_eq!(error, Err(PairError::Merge(Side::B, MergeError::Overflow)));
    assert!(found(list(&[&most]), list(&[&most]), &CompareOptions::default()).is_equal());
}

#[test]
fn deep_trees_are_compared() {
    let (a, b) = (crate::testing::deep(100_000), crate::testing::deep(100_001));
    let c = found(a.into(), b.into(), &with(|o| o.selection.root = Some(Pattern::new("A.*"))));
    assert_eq!((c.common, c.only_b.contexts, c.only_b.largest[0].path.len()), (100_000, 1, 100_001));
}
