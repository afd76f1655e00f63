//! Callers above a method, callees below it.

use super::profiles::{plain, write};
use super::{Engine, Place, engines, middle, no_complaints};

/// The drawn rows: names and inclusive bytecodes.
const ROWS: &str = "cctrewrite.graph.rows.map((row) => row.map(({ box }) =>
    [cctrewrite.state.nameOf(box), box.inclusive[0]]))";

fn callers_stand_above_a_method_and_callees_below(engine: Engine) {
    let Some(mut browser) = engine.start(1400, 900) else { return };
    let place = Place::new();
    write(&place.path("run.cct"), &plain());
    place.open(&mut browser, &[], "");
    browser.value("cctrewrite.state.selectMethod(cctrewrite.state.head.labels.indexOf('app.Main.step()'))");
    browser.press("s");
    assert_eq!(browser.text("cctrewrite.state.view"), "sandwich");
    // main calls step (180); it is also the first frame of the worker, where it calls sort (60).
    let wanted = serde_json::json!([
        [["app.Main.main()", 180]],
        [["app.Main.step()", 240]],
        [["app.Main.sort()", 15]],
    ]);
    assert_eq!(browser.value(ROWS), wanted);
    // Recursion: the outermost walk, with its callers and all of its callees.
    browser.value(
        "(() => { const { state } = cctrewrite; state.set({ focus: state.head.labels.indexOf('app.Main.walk(int)') }); })()",
    );
    let wanted = serde_json::json!([
        [["app.Main.main()", 100]],
        [["app.Main.walk(int)", 100]],
        [["app.Main.walk(int)", 70]],
        [["app.Main.walk(int)", 30]],
    ]);
    assert_eq!(browser.value(ROWS), wanted);
    // The nearest callers are next to the method.
    browser.value(
        "cctrewrite.state.set({ metric: 1, focus: cctrewrite.state.head.labels.indexOf('app.Main.hash()') })",
    );
    let names = browser.value("cctrewrite.graph.rows.map((row) => cctrewrite.state.nameOf(row[0].box))");
    let walk = "app.Main.walk(int)";
    assert_eq!(names, serde_json::json!(["app.Main.main()", walk, walk, walk, "app.Main.hash()"]));
    browser.value(&format!(
        "cctrewrite.state.set({{ metric: 0, focus: cctrewrite.state.head.labels.indexOf('{walk}') }})"
    ));
    // A caller can be selected by a click and the keys, and looked at in turn.
    let (x, y) = middle(&mut browser, "app.Main.main()");
    browser.click(x, y);
    assert_eq!(browser.text("cctrewrite.state.nameOf(cctrewrite.state.selected)"), "app.Main.main()");
    assert!(!browser.value("document.getElementById('outline').hidden").as_bool().unwrap());
    browser.press("ArrowDown");
    assert_eq!(browser.number("cctrewrite.state.selected.inclusive[0]"), 100.0);
    browser.press("ArrowUp");
    browser.press("Enter");
    assert_eq!(browser.text("cctrewrite.state.name(cctrewrite.state.focus)"), "app.Main.main()");
    // The address keeps it, and Escape goes back.
    let fragment = browser.text("location.hash.slice(1)");
    browser.open(&place.path("page.html"), &fragment);
    assert_eq!(browser.text("cctrewrite.state.view"), "sandwich");
    browser.press("Escape");
    assert_eq!(
        browser.value("[cctrewrite.state.view, cctrewrite.state.focus]"),
        serde_json::json!(["callees", -1])
    );
    no_complaints(&mut browser);
}

engines!(callers_stand_above_a_method_and_callees_below,);
