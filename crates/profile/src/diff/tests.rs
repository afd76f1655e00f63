use super::*;
use crate::testing::{method, profile, random, thread, tree};
use crate::{Pattern, Profile};

fn list(lines: &[&str]) -> Input {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    Input::read_from(text.as_bytes()).expect("a list")
}

fn found(base: Input, new: Input, options: &DiffOptions) -> Difference {
    diff(base, new, options, &Origins::default()).expect("comparable")
}

fn with(set: impl FnOnce(&mut DiffOptions)) -> DiffOptions {
    let mut options = DiffOptions::default();
    set(&mut options);
    options
}

/// `name own inclusive calls`, each from base to new.
fn methods(d: &Difference) -> Vec<String> {
    let shown = |c: Change| format!("{}>{}", c.base, c.new);
    let row = |m: &ChangedMethod| {
        let name = &d.names[m.name as usize].exact;
        format!("{name} {} {} {}", shown(m.own), shown(m.inclusive), shown(m.calls))
    };
    d.methods.iter().map(row).collect()
}

fn contexts(d: &Difference) -> Vec<String> {
    let row = |c: &ChangedContext| {
        let path: Vec<&str> = c.path.iter().map(|&name| &*d.names[name as usize].exact).collect();
        format!("{} {}>{}", path.join(";"), c.own.base, c.own.new)
    };
    d.largest_contexts.iter().map(row).collect()
}

/// A loop that calls `g` a hundred times, and `h` once. In the new version a line of the loop is
/// longer by two bytecodes, and `h` is gone.
fn versions() -> [Input; 2] {
    let base = ["1 1000 x.M.main()V", "1 500 x.M.main()V;x.M.f()V", "100 700 x.M.main()V;x.M.f()V;x.M.g()V"];
    let h = "1 40 x.M.main()V;y.N.h()V";
    let new = ["1 1000 x.M.main()V", "1 700 x.M.main()V;x.M.f()V", "100 700 x.M.main()V;x.M.f()V;x.M.g()V"];
    [list(&[&base[..], &[h]].concat()), list(&new)]
}

#[test]
fn a_changed_line_shows_as_method_and_context() {
    let [base, new] = versions();
    let d = found(base, new, &DiffOptions::default());
    assert_eq!(
        methods(&d),
        ["x.M.f()V 500>700 1200>1400 1>1", "y.N.h()V 40>0 40>0 1>0", "x.M.main()V 1000>1000 2240>2400 1>1",]
    );
    assert_eq!(contexts(&d), ["x.M.main()V;x.M.f()V 500>700", "x.M.main()V;y.N.h()V 40>0"]);
    assert_eq!((d.contexts, d.calls), (Change { base: 4, new: 3 }, Change { base: 103, new: 102 }));
    assert_eq!(d.bytecodes, Some(Change { base: 2240, new: 2400 }));
    assert_eq!((d.changed_contexts, d.unlisted_contexts, d.changed_methods), (2, 0, 3));
    assert!(!d.is_identical() && !d.is_incomplete());
}

#[test]
fn rows_are_sorted_and_limited_as_asked() {
    let first = |order, limit| {
        let [base, new] = versions();
        let d = found(base, new, &with(|o| (o.order, o.limit) = (order, limit)));
        let row =
            |rows: Vec<String>| rows.first().map(|row| row.split(' ').next().expect("a name").to_owned());
        (row(methods(&d)).expect("a method"), row(contexts(&d)))
    };
    let (f, h) = ("x.M.main()V;x.M.f()V".to_owned(), "x.M.main()V;y.N.h()V".to_owned());
    assert_eq!(first(DiffOrder::Own, 1), ("x.M.f()V".to_owned(), Some(f.clone())));
    assert_eq!(first(DiffOrder::Inclusive, 1).0, "x.M.f()V");
    assert_eq!(first(DiffOrder::Calls, 1), ("y.N.h()V".to_owned(), Some(h.clone())));
    // 40 of 40 is more than 200 of 500.
    assert_eq!(first(DiffOrder::Relative, 1), ("y.N.h()V".to_owned(), Some(h)));
    assert_eq!(first(DiffOrder::Own, 0).1, None);

    // 40 of 2240 are 1.8 %: h is too small for 2 %.
    let [base, new] = versions();
    let d = found(base, new, &with(|o| o.least = Some("2".parse().expect("a percentage"))));
    assert_eq!((methods(&d).len(), contexts(&d)), (2, vec![format!("{f} 500>700")]));
    assert_eq!((d.changed_methods, d.changed_contexts, d.unlisted_contexts), (3, 2, 1));
}

#[test]
fn growth_above_a_limit_is_too_much() {
    let [base, new] = versions();
    let d = found(base, new, &DiffOptions::default());
    let limits = |total: Option<&str>, method: Option<&str>| {
        let limit = |text: &str| text.parse().expect("a percentage");
        let limits = Limits { total: total.map(limit), method: method.map(limit) };
        let what = |e: Excess<'_>| e.method.map_or("total".to_owned(), |name| name.readable.clone());
        d.excesses(limits).into_iter().map(what).collect::<Vec<String>>()
    };
    // 160 of 2240 are 7.14 %, 200 of 500 are 40 %.
    assert_eq!(limits(Some("7.2"), Some("40")), Vec::<String>::new());
    assert_eq!(limits(Some("7.1"), Some("39.9")), ["total", "x.M.f()"]);
    assert_eq!(limits(None, None), Vec::<String>::new());
}

#[test]
fn groups_and_parts_are_compared() {
    let [base, new] = versions();
    let d = found(base, new, &with(|o| o.by = By::Package));
    assert_eq!(methods(&d), ["x 2200>2400 2240>2400 102>102", "y 40>0 40>0 1>0"]);
    assert_eq!(contexts(&d), ["x 2200>2400", "x;y 40>0"]);
    let [base, new] = versions();
    let d = found(base, new, &with(|o| o.selection.root = Some(Pattern::new("x.M.f"))));
    assert_eq!(contexts(&d), ["x.M.f()V 500>700"]);
    let [base, new] = versions();
    let d = found(base, new, &with(|o| o.selection.focus = vec![Pattern::new("x.M.g")]));
    assert!(d.is_identical());
    let [base, new] = versions();
    let d = found(base, new, &with(|o| o.calls_only = true));
    assert_eq!((d.bytecodes, contexts(&d)), (None, vec!["x.M.main()V;y.N.h()V 1>0".to_owned()]));
}

#[test]
fn recursion_and_threads() {
    let methods_ = || vec![method("A", "f", "()V"), method("A", "g", "()V")];
    let side = |own| {
        let t = tree(&[(1, 0, 1, 1), (2, 1, 1, 2), (3, 0, 1, own)]);
        Input::from(profile(methods_(), vec![thread("main", t), thread("w", tree(&[(1, 1, 1, 5)]))]))
    };
    let d = found(side(4), side(9), &with(|o| o.recursion = true));
    assert_eq!(contexts(&d), ["A.f()V 5>10"]);
    let d = found(side(4), side(9), &with(|o| o.per_thread = true));
    assert_eq!(contexts(&d), ["[main];A.f()V;A.g()V;A.f()V 4>9"]);
    assert_eq!(methods(&d), ["A.f()V 5>10 7>12 2>2", "A.g()V 7>7 11>16 2>2"], "no rows for threads");
    let by_class = with(|o| (o.per_thread, o.by) = (true, By::Class));
    assert_eq!(methods(&found(side(4), side(9), &by_class)), ["A 12>17 12>17 4>4"]);
}

#[test]
fn equal_profiles_are_identical() {
    arbtest::arbtest(|u| {
        let p = random(u)?;
        for (by, recursion) in [(By::Method, false), (By::Method, true), (By::Package, false)] {
            let options = with(|o| (o.by, o.recursion) = (by, recursion));
            let d = found(p.clone().into(), p.clone().into(), &options);
            assert!(d.is_identical() && d.methods.is_empty() && d.largest_contexts.is_empty(), "{d:?}");
            assert_eq!(d.contexts.base, d.contexts.new);
        }
        Ok(())
    });
}

/// The changes of all methods, and of all contexts, add up to that of the total; swapping the sides
/// reverses everything.
#[test]
fn changes_add_up() {
    arbtest::arbtest(|u| {
        let (p, q) = (random(u)?, random(u)?);
        let difference = |a: &Profile, b: &Profile, recursion| {
            let options = with(|o| (o.recursion, o.limit) = (recursion, 1000));
            found(a.clone().into(), b.clone().into(), &options)
        };
        let signed = |c: Change| c.new as i128 - c.base as i128;
        for recursion in [false, true] {
            let there = difference(&p, &q, recursion);
            let total = signed(there.total());
            assert_eq!(there.methods.iter().map(|m| signed(m.own)).sum::<i128>(), total);
            assert_eq!(there.largest_contexts.iter().map(|c| signed(c.own)).sum::<i128>(), total);
            assert_eq!(there.unlisted_contexts, 0);
            assert_eq!(there.changed_contexts, there.largest_contexts.len() as u64);
            let back = difference(&q, &p, recursion);
            assert_eq!(signed(back.total()), -total);
            assert_eq!(
                (back.changed_contexts, back.methods.len()),
                (there.changed_contexts, there.methods.len())
            );
            let mut names = [methods(&there), methods(&back)].map(|rows| {
                let name = |row: String| row.rsplitn(4, ' ').last().expect("a name").to_owned();
                rows.into_iter().map(name).collect::<Vec<_>>()
            });
            names.iter_mut().for_each(|names| names.sort());
            assert_eq!(names[0], names[1]);
        }
        Ok(())
    });
}

#[test]
fn deep_trees_are_compared() {
    let (base, new) = (crate::testing::deep(100_000), crate::testing::deep(100_001));
    let d = found(base.into(), new.into(), &DiffOptions::default());
    assert_eq!((d.changed_contexts, d.largest_contexts[0].path.len()), (1, 100_001));
}

#[test]
fn people_read_it() {
    let shown = |change: (u128, u128)| relative(Change { base: change.0, new: change.1 });
    let cases = [(10, 10), (0, 3), (3, 0), (1000, 1005), (1_000_000, 999_999), (2, 1), (0, 0)];
    assert_eq!(cases.map(shown), ["0 %", "new", "gone", "+0.50 %", "-1.0e-4 %", "-50.00 %", "0 %"]);
    let [base, new] = versions();
    let d = found(base, new, &DiffOptions::default());
    assert_eq!(verdict(&d, None), "BASE and NEW differ in 2 contexts: +160 bytecodes (+7.14 %) in all.");
    let limits = Limits { total: Some("1".parse().expect("a percentage")), method: None };
    let excesses = d.excesses(limits);
    assert!(verdict(&d, Some(&excesses)).ends_with("in all; limits are exceeded."));
    assert!(verdict(&d, Some(&[])).ends_with("in all; within the limits."));
    assert_eq!(excess_in_words(&excesses[0], &d), "TOO MUCH: the total: +160 bytecodes (+7.14 %), limit 1 %");
}
