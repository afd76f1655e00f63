//! Target for profiles: read, written, and converted to every format.

use cct_export::html::{Page, PageLibrary, PageOptions};
use cct_export::{Difference, FORMATS, NameForm, Options, Source, Threshold, flame};
use cct_profile::compare::{CompareOptions, compare};
use cct_profile::contexts::{ContextsOptions, read_contexts, write_contexts};
use cct_profile::diff::{DiffOptions, diff};
use cct_profile::labels::{By, Labels};
use cct_profile::merge::{MergeOptions, Threads, merge};
use cct_profile::names::NameStyle;
use cct_profile::origin::{Origins, is_jdk_by_name};
use cct_profile::pair::TextOptions;
use cct_profile::report::{
    Layout, Order, Rows, RowsOptions, Table, TableOptions, write_header, write_headlines, write_hot_path,
    write_table, write_tree,
};
use cct_profile::tables::{LibraryCalls, NativeShare, Owner, Shape};
use cct_profile::united_methods::Bodies;
use cct_profile::{
    Method, Metric, Pattern, Profile, Selection, Summary, compare as comparison, diff as difference, labels,
};

use crate::Dice;

/// Reads a profile. If it is accepted, it is written and read back as the same. Then it is
/// converted to every format, or refused with a reason.
pub fn profile(bytes: &[u8]) {
    let Ok(profile) = Profile::read(bytes) else { return };
    let written = profile.to_bytes().unwrap();
    let again = Profile::read(&written).unwrap();
    assert!(again.damage.is_empty());
    assert!(again.to_bytes().unwrap() == written, "what was written is read as something else");
    downstream(&profile, &mut super::dice(bytes));
}

/// Creates reports, tables and exports of a profile, one of each kind: all of them for one input
/// would take the time of many inputs.
pub(super) fn downstream(profile: &Profile, dice: &mut Dice) {
    if profile.contexts() > 20_000 {
        return;
    }
    let selections = selections(profile);
    match dice.below(5) {
        0 => report(profile, dice),
        1 => lists(profile, dice),
        2 => pairs(profile, dice.pick(&selections)),
        3 => export(profile, dice.pick(&selections), dice),
        _ => call_sites(profile, dice.pick(&selections)),
    }
}

/// A profile without its call sites has none, and the same counts. Merged with the original
/// profile, it still has none.
fn call_sites(profile: &Profile, selection: &Selection) {
    if !profile.tells_call_sites() {
        return;
    }
    let Ok(merged) = profile.clone().without_call_sites() else { return };
    assert!(!merged.tells_call_sites());
    let sums = |profile: &Profile| {
        let all = Summary::of(profile).all;
        (all.calls, all.bytecodes, all.depth)
    };
    assert_eq!(sums(&merged), sums(profile));
    assert_eq!(sums(&profile.clone().with_native_callers()), sums(profile));
    if let Ok(both) = merge(&[profile, &merged], MergeOptions::default()) {
        // A profile without methods has no influence.
        assert!(!both.tells_call_sites() || merged.methods.is_empty());
        let _ = both.to_bytes().unwrap();
    }
    if let Ok(same) = compare(profile.clone().into(), merged.clone().into(), &CompareOptions::default()) {
        assert!(same.is_equal(), "call sites that were added up are missing");
    }
    let options = DiffOptions { selection: selection.clone(), recursion: true, ..DiffOptions::default() };
    let _ = diff(profile.clone().into(), profile.clone().into(), &options, &Origins::default());
    let _ = profile.clone().wanted(|method| method.class.len() % 2 == 0, "even").map(|wanted| {
        let _ = wanted.to_bytes();
    });
}

fn report(profile: &Profile, dice: &mut Dice) {
    let mut out = Vec::new();
    let (summary, origins) = (Summary::of(profile), Origins::default());
    write_header(&summary, &[], &mut out).unwrap();
    let layout = Layout { width: Some(60), colour: false };
    write_headlines(&summary, None, layout, &mut out).unwrap();
    let by = *dice.pick(&[By::Method, By::Class, By::Package]);
    let names = *dice.pick(&[NameStyle::Raw, NameStyle::Normalised]);
    let metric = *dice.pick(&[Metric::Calls, Metric::Bytecodes]);
    let labels = Labels::of_contexts(&profile.methods, by, names, &origins);
    let readable = labels.readable();
    if let Ok(tree) = labels.tree(&profile.threads, dice.once_in(2)) {
        let options = RowsOptions { metric, order: Order::Own, min_percent: 0.5, depth: Some(100) };
        if let Ok(rows) = Rows::new(&tree, options) {
            write_hot_path("hot", &rows, &readable, Some(5), layout, &mut out).unwrap();
            write_tree("all", &rows.limited(20), &readable, layout, &mut out).unwrap();
        }
        let trees: Vec<_> = profile.threads.iter().map(|thread| (&thread.tree, labels.of_method())).collect();
        if let Ok(table) = Table::of(&trees, labels.len(), metric, Order::Inclusive) {
            let options = TableOptions { title: "methods", limit: 10, layout };
            write_table(&table, &labels, &options, &mut out).unwrap();
        }
    }
    let _ = labels::threads(&profile.threads);
    let _ = NativeShare::of(profile, names);
    let _ = LibraryCalls::of(
        profile,
        |method| if method.flags & 1 == 0 { Owner::Jdk } else { Owner::Application },
    );
    let _ = Shape::of(profile, names);
    for byte in String::from_utf8(out).unwrap().chars() {
        // Names are of unknown origin, and terminals obey control characters.
        assert!(byte == '\n' || !byte.is_control(), "{byte:?} in a report");
    }
}

fn lists(profile: &Profile, dice: &mut Dice) {
    let mut out = Vec::new();
    let options = ContextsOptions { per_thread: dice.once_in(2), names: NameStyle::Raw };
    if write_contexts(profile, options, &mut out).is_ok() {
        let _ = read_contexts(&out[..]).unwrap();
    }
    let (threads, bodies) = *dice.pick(&[
        (Threads::ByName, Bodies::Together),
        (Threads::All, Bodies::Apart),
        (Threads::Apart, Bodies::Apart),
    ]);
    if let Ok(merged) = merge(&[profile, profile], MergeOptions { threads, bodies }) {
        let _ = merged.to_bytes().unwrap();
    }
}

/// Selections by some of the first names in the profile, and the empty selection.
fn selections(profile: &Profile) -> Vec<Selection> {
    let mut selections = vec![Selection::default()];
    if let Some(method) = profile.methods.first() {
        let pattern = Pattern::new(&format!("{}.{}*", method.class, method.name));
        selections.push(Selection { root: Some(pattern.clone()), ..Selection::default() });
        selections.push(Selection {
            drop: vec![pattern.clone()],
            focus: vec![Pattern::new("*")],
            ..Selection::default()
        });
    }
    selections
}

fn pairs(profile: &Profile, selection: &Selection) {
    let mut smaller = profile.clone();
    smaller.threads.pop();
    let options =
        CompareOptions { per_thread: true, selection: selection.clone(), ..CompareOptions::default() };
    if let Ok(same) = compare(profile.clone().into(), profile.clone().into(), &options) {
        assert!(same.is_equal(), "a profile differs from itself");
        comparison::write_text(&same, &TextOptions::default(), &mut Vec::new()).unwrap();
    }
    let selection = selection.clone();
    let options = DiffOptions { selection, by: By::Class, recursion: true, ..DiffOptions::default() };
    if let Ok(changes) = diff(smaller.into(), profile.clone().into(), &options, &Origins::default()) {
        difference::write_text(&changes, &TextOptions::default(), 10, None, &mut Vec::new()).unwrap();
    }
}

fn export(profile: &Profile, selection: &Selection, dice: &mut Dice) {
    let form = *dice.pick(&[NameForm::Readable, NameForm::Exact, NameForm::Short]);
    let per_thread = form == NameForm::Exact;
    let threshold =
        if per_thread { Threshold::default() } else { Threshold { min_percent: 1.0, depth: Some(50) } };
    let selection = selection.clone();
    let options = Options { per_thread, selection: selection.clone(), form, threshold, ..Options::default() };
    let mut out = Vec::new();
    let formats = FORMATS.len();
    match dice.below(formats + 2) {
        kind if kind < formats => {
            let Ok(source) = Source::new(profile.clone(), &options) else { return };
            (FORMATS[kind].write)(&source, &mut out).unwrap();
        }
        kind if kind == formats => {
            if let Ok(difference) = Difference::new(profile.clone(), profile.clone(), &options) {
                flame::write_difference(&difference, flame::Growth::Icicles, &mut out).unwrap();
            }
        }
        _ => {
            let options = PageOptions {
                selection,
                selected: Vec::new(),
                by: By::Method,
                names: NameStyle::Raw,
                metric: None,
                fold_recursion: false,
                most_contexts: 10,
            };
            let is_library = |method: &Method| is_jdk_by_name(&method.class);
            let library = PageLibrary { is_library: &is_library, which: "the JDK", is_collapsed: false };
            let origins = Origins::default();
            if let Ok(page) = Page::new(profile.clone(), None, Vec::new(), &origins, library, &options) {
                page.write(&mut out).unwrap();
            }
        }
    }
}
