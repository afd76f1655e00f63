use super::*;
use crate::contexts::{ContextsOptions, write_contexts};
use crate::testing::{deep, method, profile, random, thread, tree};

/// f -> g -> f -> h, f -> h, and h by itself, in thread `main`; g -> h in thread `w`.
fn example() -> Profile {
    let methods = vec![method("A", "f", "()V"), method("A", "g", "()V"), method("B", "h", "(I)V")];
    let main = tree(&[(1, 0, 1, 1), (2, 1, 1, 2), (3, 0, 1, 4), (4, 2, 1, 8), (2, 2, 1, 16), (1, 2, 1, 32)]);
    profile(methods, vec![thread("main", main), thread("w", tree(&[(1, 1, 1, 64), (2, 2, 1, 128)]))])
}

fn selection(root: Option<&str>, focus: &[&str], drop: &[&str]) -> Selection {
    let patterns = |given: &[&str]| given.iter().map(|given| Pattern::new(given)).collect();
    let root = root.map(Pattern::new);
    Selection { root, focus: patterns(focus), drop: patterns(drop), ..Selection::default() }
}

/// The contexts with counts: bytecodes and path.
fn lines(p: &Profile) -> Vec<String> {
    let mut out = Vec::new();
    write_contexts(p, ContextsOptions::default(), &mut out).expect("memory");
    let text = String::from_utf8(out).expect("UTF-8");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| line.split_once(' ').expect("columns").1.replace("()V", "").replace("(I)V", ""))
        .collect()
}

fn selected(selection: &Selection) -> Vec<String> {
    lines(&selection.of_profile(example(), NameStyle::Raw).expect("something is selected").profile)
}

#[test]
fn everything_is_everything() {
    assert!(Selection::default().is_everything());
    let all = Selection::default().of_profile(example(), NameStyle::Raw).expect("all").profile;
    assert_eq!(lines(&all), lines(&example()));
    assert_eq!(all, example());
}

#[test]
fn a_root_is_where_stacks_begin() {
    // The inner f is below the outer one.
    assert_eq!(
        selected(&selection(Some("A.f"), &[], &[])),
        ["1 A.f", "2 A.f;A.g", "4 A.f;A.g;A.f", "8 A.f;A.g;A.f;B.h", "16 A.f;B.h"]
    );
    // g of both threads: 2 + 64, and below it h of one.
    assert_eq!(
        selected(&selection(Some("A.g"), &[], &[])),
        ["66 A.g", "4 A.g;A.f", "8 A.g;A.f;B.h", "128 A.g;B.h"]
    );
}

#[test]
fn focus_keeps_callers_without_counts() {
    assert_eq!(
        selected(&selection(None, &["B.*"], &[])),
        ["8 A.f;A.g;A.f;B.h", "16 A.f;B.h", "128 A.g;B.h", "32 B.h"]
    );
    assert_eq!(
        selected(&selection(None, &["A.g"], &[])),
        ["2 A.f;A.g", "4 A.f;A.g;A.f", "8 A.f;A.g;A.f;B.h", "64 A.g", "128 A.g;B.h"]
    );
    // The focus is applied after the root: the f above g does not count.
    assert_eq!(selected(&selection(Some("A.g"), &["A.f"], &[])), ["4 A.g;A.f", "8 A.g;A.f;B.h"]);
    assert_eq!(selected(&selection(None, &["A.g", "B.h"], &["A.f"])), ["64 A.g", "128 A.g;B.h", "32 B.h"]);
}

#[test]
fn drop_removes_callees() {
    assert_eq!(selected(&selection(None, &[], &["A.g"])), ["1 A.f", "16 A.f;B.h", "32 B.h"]);
    let unmatched =
        selection(None, &[], &["A.x", "A.f"]).of_profile(example(), NameStyle::Raw).expect("some").unmatched;
    assert_eq!(unmatched, ["A.x"]);
}

#[test]
fn threads_are_chosen_by_name() {
    let one = Selection { thread: Some(Pattern::of_thread("w*")), ..Selection::default() };
    assert_eq!(selected(&one), ["64 A.g", "128 A.g;B.h"]);
    let none = Selection { thread: Some(Pattern::of_thread("x")), ..Selection::default() };
    let error = none.of_profile(example(), NameStyle::Raw).expect_err("no thread");
    assert_eq!(error, SelectionError::Thread { given: "x".to_owned(), similar: Suggestions::default() });
}

#[test]
fn threads_without_anything_selected_are_left_out() {
    let f = selection(Some("A.f"), &[], &[]).of_profile(example(), NameStyle::Raw).expect("some").profile;
    assert_eq!(f.threads.iter().map(|thread| &*thread.name).collect::<Vec<_>>(), ["main"]);
}

#[test]
fn unmatched_pattern_is_an_error() {
    let error = |s: Selection| s.of_profile(example(), NameStyle::Raw).expect_err("nothing").to_string();
    assert_eq!(
        error(selection(Some("A.x"), &[], &[])),
        "no context has the method 'A.x'; did you mean A.f or A.g?"
    );
    assert_eq!(
        error(selection(None, &["A.x", "A.y"], &[])),
        "no context has a method 'A.x', 'A.y'; did you mean A.f or A.g?"
    );
    assert_eq!(error(selection(Some("B.h"), &["A.*"], &[])), "no context has a method 'A.*'");
}

/// A focus, and a drop of the same methods, add up to the whole.
#[test]
fn focus_and_drop_divide_a_profile() {
    arbtest::arbtest(|u| {
        let p = random(u)?;
        let frame = Frame::method(u.choose(&p.methods)?, NameStyle::Raw);
        let pattern = Pattern::new(&String::from_utf8_lossy(&frame.bytes().collect::<Vec<u8>>()));
        let total = |p: &Profile| {
            let nodes = p.threads.iter().flat_map(|thread| &thread.tree.nodes()[1..]);
            nodes.fold((0, 0), |(calls, bytecodes), n| (calls + n.calls, bytecodes + n.bytecodes))
        };
        let focus = Selection { focus: vec![pattern.clone()], ..Selection::default() };
        let focused = focus.of_profile(p.clone(), NameStyle::Raw);
        let drop = Selection { drop: vec![pattern], ..Selection::default() };
        let others = total(&drop.of_profile(p.clone(), NameStyle::Raw).expect("never an error").profile);
        let focused = focused.map_or((0, 0), |selected| total(&selected.profile));
        assert_eq!((focused.0 + others.0, focused.1 + others.1), total(&p));
        Ok(())
    });
}

#[test]
fn deep_trees_are_selected_from() {
    let s = selection(None, &["A.f"], &["B.*"]);
    let all = s.of_profile(deep(100_000), NameStyle::Raw).expect("all").profile;
    assert_eq!(all.contexts(), 100_000);
}

/// The id of a path of frames.
fn id(path: &[&str]) -> ContextId {
    path.iter().fold(ContextId::ROOT, |caller, frame| caller.callee(FrameId::of_text(frame)))
}

#[test]
fn a_context_is_selected_by_its_id_in_all_threads() {
    let of = |path: &[&str]| Selection { context: Some(id(path)), ..Selection::default() };
    assert_eq!(selected(&of(&["A.f()V", "A.g()V"])), ["2 A.f;A.g", "4 A.f;A.g;A.f", "8 A.f;A.g;A.f;B.h"]);
    assert_eq!(selected(&of(&["A.f()V", "B.h(I)V"])), ["16 A.f;B.h"]);
    assert_eq!(selected(&of(&["A.g()V"])), ["64 A.g", "128 A.g;B.h"]);
    let unknown = of(&["A.g()V", "A.g()V"]).of_profile(example(), NameStyle::Raw).expect_err("no such path");
    assert_eq!(unknown, SelectionError::Context(id(&["A.g()V", "A.g()V"])));
}

#[test]
fn the_path_of_an_id_begins_at_the_root() {
    let of = |root, focus: &[&str], path: &[&str]| Selection {
        context: Some(id(path)),
        ..selection(root, focus, &[])
    };
    assert_eq!(selected(&of(Some("A.g"), &[], &["A.g()V", "B.h(I)V"])), ["128 A.g;B.h"]);
    assert_eq!(
        selected(&of(None, &["A.g"], &["A.f()V"])),
        ["2 A.f;A.g", "4 A.f;A.g;A.f", "8 A.f;A.g;A.f;B.h"]
    );
}
