//! The library, collapsed in the page: the same numbers as those of `--collapse-library`.

use std::fs;

use serde_json::Value;

use super::profiles::{with_library, write};
use super::{Browser, Engine, Place, engines, methods, no_complaints, sample};

/// All boxes: the path of names, the own and the inclusive counts.
const BOXES: &str = "(() => { const { state } = cctrewrite; const rows = [];
    const all = [[state.root, '']];
    for (let pair = all.pop(); pair; pair = all.pop()) {
        const [box, path] = pair;
        rows.push([path, ...box.own, ...box.inclusive]);
        for (const below of box.below) all.push([below, path + ';' + state.nameOf(below)]);
    }
    return rows.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0)); })()";

/// The rows of the table of methods: name, own and inclusive counts.
const ROWS: &str = "(() => { const { table, head } = cctrewrite.state; const rows = [];
    table.contexts.forEach((contexts, label) => contexts > 0 && rows.push([head.labels[label],
        ...table.own.map((own) => own[label]), ...table.inclusive.map((sums) => sums[label])]));
    return rows.sort((a, b) => (a[0] < b[0] ? -1 : 1)); })()";

/// The boxes and the rows.
fn all(browser: &mut Browser) -> (Value, Value) {
    (browser.value(BOXES), browser.value(ROWS))
}

fn rows(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

/// A page whose library is collapsed shows what a page of the collapsed profile shows.
fn assert_collapses(browser: &mut Browser, place: &Place, page: &[&str]) {
    place.run(&[&["report", "run.cct", "--html", "whole.html"], page].concat());
    place.run(&[&["report", "mine.cct", "--html", "mine.html"], page].concat());
    browser.open(&place.path("mine.html"), "");
    let wanted = all(browser);
    browser.press("r");
    let folded = all(browser);
    browser.open(&place.path("whole.html"), "");
    let whole = all(browser);
    assert_ne!(whole, wanted);
    browser.press("l");
    assert_eq!(all(browser), wanted, "{page:?}");
    browser.press("r");
    assert_eq!(all(browser), folded, "{page:?}, folded");
    browser.press("l");
    browser.press("r");
    assert_eq!(all(browser), whole, "{page:?}, back");
}

fn a_switch_collapses_the_library_as_the_commands_do(engine: Engine) {
    let Some(mut browser) = engine.start(1400, 900) else { return };
    let place = Place::new();
    fs::copy(sample(), place.path("run.cct")).unwrap();
    place.run(&["merge", "run.cct", "-o", "mine.cct", "--collapse-library", "--threads", "apart"]);
    for by in ["method", "class", "package"] {
        assert_collapses(&mut browser, &place, &["--by", by]);
    }
    // The table has the numbers of the command's report.
    let reported = methods(&place.path("mine.cct"));
    place.open(&mut browser, &["--collapse-library"], "");
    let shown = browser.value(ROWS);
    let shown: Vec<(String, u128, u128)> = rows(&shown)
        .iter()
        .map(|row| {
            let number = |at: usize| u128::from(row[at].as_u64().unwrap());
            (row[0].as_str().unwrap().to_owned(), number(1), number(3))
        })
        .collect();
    let mut reported = reported;
    reported.sort();
    assert_eq!(shown, reported);
    assert!(shown.iter().any(|(name, own, _)| name == "(library)" && *own > 0));
    no_complaints(&mut browser);
}

fn lines_of_the_library_are_exact_even_if_contexts_are_pruned(engine: Engine) {
    let Some(mut browser) = engine.start(1400, 900) else { return };
    let place = Place::new();
    fs::copy(sample(), place.path("run.cct")).unwrap();
    place.open(&mut browser, &["--collapse-library"], "");
    let (boxes, table) = all(&mut browser);
    let mut lines = 0;
    for pruning in ["100", "20"] {
        place.open(&mut browser, &["--collapse-library", "--max-contexts", pruning], "");
        let (few, same) = all(&mut browser);
        assert_eq!(same, table, "the table is exact");
        assert_eq!(few[0], boxes[0], "the root has all");
        for row in rows(&few).iter().filter(|row| !row[0].as_str().unwrap().contains("(pruned")) {
            assert!(rows(&boxes).contains(row), "{row} with {pruning} contexts");
            lines += u32::from(row[0].as_str().unwrap().ends_with(";(library)"));
        }
    }
    assert!(lines > 1, "{lines} lines");
    no_complaints(&mut browser);
}

fn differences_and_call_sites_collapse_too(engine: Engine) {
    let Some(mut browser) = engine.start(1400, 900) else { return };
    let place = Place::new();
    write(&place.path("run.cct"), &with_library(1));
    write(&place.path("base.cct"), &with_library(3));
    for (from, to) in [("run.cct", "mine.cct"), ("base.cct", "mine-base.cct")] {
        let merge = ["merge", from, "-o", to, "--mine", "app.*", "--merge-sites", "--threads", "apart"];
        place.run(&merge);
    }
    // Within a class, what the library calls back starts no context of its own.
    for by in ["method", "class"] {
        assert_collapses(&mut browser, &place, &["--by", by]);
    }
    // A difference.
    place.run(&["report", "mine.cct", "--html", "mine.html", "--diff", "mine-base.cct"]);
    browser.open(&place.path("mine.html"), "");
    let wanted = all(&mut browser);
    place.open(&mut browser, &["--diff", "base.cct", "--mine", "app.*"], "");
    assert_eq!(all(&mut browser), wanted);
    let changed = browser.text(
        "[...document.querySelectorAll('#methods .lines .line')].map((line) => line.textContent).find((text) => text.includes('(library)'))",
    );
    assert!(changed.starts_with("-146"), "{changed}");
    no_complaints(&mut browser);
}

fn the_page_begins_as_the_command_says_and_keeps_the_switch(engine: Engine) {
    let Some(mut browser) = engine.start(1400, 900) else { return };
    let place = Place::new();
    write(&place.path("run.cct"), &with_library(1));
    let state = "[cctrewrite.state.library, document.getElementById('library').checked]";
    place.open(&mut browser, &["--mine", "app.Main"], "");
    assert_eq!(browser.value(state), serde_json::json!([true, true]));
    let title = browser.text("document.getElementById('library-label').title");
    assert!(title.contains("(all but app.Main)"), "{title}");
    browser.value("document.getElementById('library').click()");
    assert_eq!(browser.value(state), serde_json::json!([false, false]));
    let fragment = browser.text("location.hash.slice(1)");
    assert_eq!(fragment, "library=false");
    browser.open(&place.path("page.html"), &fragment);
    assert_eq!(browser.value(state), serde_json::json!([false, false]));
    // What is selected and zoomed stays so where it is there.
    browser.value(
        "(() => { const { state } = cctrewrite; const box = state.forest.heaviest(state.head.labels.indexOf('app.Main.compare()'));
            state.select(box); state.set({ zoom: box }); })()",
    );
    browser.press("l");
    let names = "[cctrewrite.state.zoom.path.map((l) => cctrewrite.state.name(l)), cctrewrite.state.nameOf(cctrewrite.state.selected)]";
    assert_eq!(
        browser.value(names),
        serde_json::json!([["app.Main.work()", "app.Main.compare()"], "app.Main.compare()"])
    );
    // A program without a library has no switch.
    write(&place.path("run.cct"), &super::profiles::plain());
    place.open(&mut browser, &[], "library=true");
    assert!(browser.value("document.getElementById('library-label').hidden").as_bool().unwrap());
    browser.press("l");
    assert!(!browser.value("cctrewrite.state.library").as_bool().unwrap());
    no_complaints(&mut browser);
}

engines!(
    a_switch_collapses_the_library_as_the_commands_do,
    lines_of_the_library_are_exact_even_if_contexts_are_pruned,
    differences_and_call_sites_collapse_too,
    the_page_begins_as_the_command_says_and_keeps_the_switch,
);
