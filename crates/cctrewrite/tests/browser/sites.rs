//! Pages of profiles that distinguish call sites.

use serde_json::{Value, json};

use super::profiles::{split, write};
use super::{Browser, Engine, Place, engines, methods, no_complaints, selected_row};

/// Names and own and inclusive bytecodes of the rows of the table of methods.
const ROWS: &str = "(() => { const { head, table } = cctrewrite.state;
    return head.labels.map((name, at) => [name, table.own[0][at], table.inclusive[0][at], table.contexts[at]]).filter((row) => row[3] > 0); })()";

/// All paths of the tree, as names of frames.
const PATHS: &str = "(() => { const { state } = cctrewrite; const paths = [];
    const look = (box) => { for (const one of box.below) {
        paths.push([one.path.map((label) => state.name(label)).join(' > '), one.own[0]]); look(one); } };
    look(state.root); return paths; })()";

fn paths(browser: &mut Browser) -> Vec<(String, u64)> {
    let found = browser.value(PATHS);
    let mut paths: Vec<(String, u64)> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|pair| (pair[0].as_str().unwrap().to_owned(), pair[1].as_u64().unwrap()))
        .collect();
    paths.sort();
    paths
}

fn trees_tell_sites_apart_and_methods_do_not(engine: Engine) {
    let Some(mut browser) = engine.start(1400, 900) else { return };
    let place = Place::new();
    write(&place.path("run.cct"), &split());
    place.open(&mut browser, &[], "");
    let with = |paths: &[(&str, u64)]| -> Vec<(String, u64)> {
        let mut paths: Vec<_> =
            paths.iter().map(|&(path, own)| (path.replace('.', "app.Main."), own)).collect();
        paths.sort();
        paths
    };
    let all = with(&[
        (".main()", 10),
        (".main() > .step():10", 20),
        (".main() > .step():10 > .walk():20", 30),
        (".main() > .step():10 > .walk():20 > .walk():30@7", 40),
        (".main() > .step():10 > .walk():20 > .walk():30@8", 50),
        (".main() > .step():12", 60),
        (".main() > .step():12 > .walk():20", 70),
    ]);
    assert_eq!(paths(&mut browser), all);
    let rows = |browser: &mut Browser| -> Vec<(String, u128, u128)> {
        let rows = browser.value(ROWS);
        let number = |value: &Value| u128::from(value.as_u64().unwrap());
        let row = |row: &Value| (row[0].as_str().unwrap().to_owned(), number(&row[1]), number(&row[2]));
        rows.as_array().unwrap().iter().map(row).collect()
    };
    assert_eq!(rows(&mut browser), methods(&place.path("run.cct")));

    // A method that is selected in the table shows as the heaviest of its contexts, with the
    // callees of all of them below.
    browser.value(
        "[...document.querySelectorAll('#methods .lines .text')].find((cell) => cell.title === 'app.Main.walk()').click()",
    );
    assert_eq!(selected_row(&mut browser, "tree"), "app.Main.walk():20");
    assert_eq!(selected_row(&mut browser, "methods"), "app.Main.walk()");
    browser.press("f");
    let focused = with(&[(".walk()", 100), (".walk() > .walk():30@7", 40), (".walk() > .walk():30@8", 50)]);
    assert_eq!(paths(&mut browser), focused);
    browser.press("Escape");

    // Recursion refers to methods.
    browser.value("cctrewrite.state.set({ fold: true })");
    let folded = with(&[
        (".main()", 10),
        (".main() > .step():10", 20),
        (".main() > .step():10 > .walk():20", 120),
        (".main() > .step():12", 60),
        (".main() > .step():12 > .walk():20", 70),
    ]);
    assert_eq!(paths(&mut browser), folded);
    browser.value("cctrewrite.state.set({ fold: false })");

    // A search for a method finds all of its call sites.
    browser.value(r"cctrewrite.state.set({ query: 'walk\\(\\)$', regex: true })");
    let said = browser.text("document.getElementById('found').textContent");
    assert!(said.starts_with("1 method; "), "{said}");
    assert_eq!(browser.value("cctrewrite.state.found().sum"), json!(190));
    browser.value("cctrewrite.state.set({ query: '', regex: false })");

    // Callers are methods, too.
    browser.value("cctrewrite.state.set({ view: 'callers', focus: -1 })");
    let callers = browser.value(
        "(() => { const { state } = cctrewrite; const walk = state.root.below.find((box) => state.nameOf(box) === 'app.Main.walk()');
            return walk.below.map((box) => [state.nameOf(box), box.inclusive[0]]); })()",
    );
    assert_eq!(callers, json!([["app.Main.step()", 100], ["app.Main.walk()", 90]]));
    no_complaints(&mut browser);

    // With call sites merged, there are none.
    place.open(&mut browser, &["--merge-sites"], "");
    let merged = with(&[
        (".main()", 10),
        (".main() > .step()", 80),
        (".main() > .step() > .walk()", 100),
        (".main() > .step() > .walk() > .walk()", 90),
    ]);
    assert_eq!(paths(&mut browser), merged);
    no_complaints(&mut browser);
}

engines!(trees_tell_sites_apart_and_methods_do_not,);
