//! Pages from `cctrewrite report --html`, opened in a browser: they must show the same as the other
//! commands.
//!
//! `cargo xtask readers` fetches the browser; if it is missing, these tests print that they are
//! skipped.

#![cfg(unix)]
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

mod access;
mod browser;
mod chromium;
mod engine;
mod firefox;
mod history;
mod layout;
mod library;
mod pointer;
mod profiles;
mod sandwich;
mod sites;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use base64::Engine as _;
use browser::Browser;
use cct_profile::labels::{By, Labels};
use cct_profile::names::NameStyle;
use cct_profile::origin::Origins;
use cct_profile::sums::sums;
use cct_profile::{Metric, Profile};
use engine::{Engine, engines};
use profiles::{CHANGED, EVIL, HARD, deep, hostile, plain, write};
use serde_json::Value;

/// A folder with profiles and pages.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs the command, and returns its output.
    fn run(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
        let output = command.args(arguments).current_dir(&self.0).stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Writes the page of `run.cct`, and opens it.
    fn open(&self, browser: &mut Browser, arguments: &[&str], fragment: &str) {
        self.run(&[&["report", "run.cct", "--html", "page.html"], arguments].concat());
        browser.open(&self.path("page.html"), fragment);
    }
}

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../export/tests/data/sample.cct")
}

/// The methods of a profile as in reports: readable names, own and inclusive bytecodes.
fn methods(profile: &Path) -> Vec<(String, u128, u128)> {
    let profile = Profile::read(&fs::read(profile).unwrap()).unwrap();
    let labels = Labels::new(&profile.methods, By::Method, NameStyle::Normalised, &Origins::default());
    let trees: Vec<_> = profile.threads.iter().map(|t| (&t.tree, labels.of_method())).collect();
    let sums = sums(&trees, labels.len(), Metric::Bytecodes).unwrap();
    let rows = labels.readable().into_iter().zip(sums).filter(|(_, sums)| sums.calls > 0);
    rows.map(|(name, sums)| (name, sums.own, sums.inclusive)).collect()
}

/// The names and inclusive counts of the boxes below the root.
const BELOW_ROOT: &str = "(() => { const { state } = cctrewrite;
    return state.root.below.map((box) => [state.nameOf(box), box.inclusive[state.measure]]); })()";

/// The widths of all drawn boxes, by their paths, and the shares that they should have.
const WIDTHS: &str = "(() => { const { state, graph } = cctrewrite; const { measure, root } = state;
    return graph.rows.flat().filter(({ box }) => box).map(({ box, width }) =>
        [box.path.join('.'), width / graph.width, box.inclusive[measure] / root.inclusive[measure]]); })()";

/// The position of the middle of the box of this name in the window, or null. Of several the
/// widest.
fn middle(browser: &mut Browser, name: &str) -> (f64, f64) {
    let name = serde_json::to_string(name).unwrap();
    let place = browser.value(&format!(
        "(() => {{ const {{ state, graph }} = cctrewrite; const frame = graph.view.getBoundingClientRect();
            const items = graph.rows.flatMap((row, level) => row.map((item) => ({{ ...item, level }})));
            const found = items.filter(({{ box }}) => box && state.nameOf(box) === {name}).sort((a, b) => b.width - a.width)[0];
            return found && [frame.left + found.x + found.width / 2, frame.top + graph.top(found.level) - graph.view.scrollTop + 9]; }})()"
    ));
    (place[0].as_f64().unwrap_or_else(|| panic!("there is no box {name}")), place[1].as_f64().unwrap())
}

/// The text of the selected row of a table.
fn selected_row(browser: &mut Browser, table: &str) -> String {
    browser.text(&format!("document.querySelector('#{table} [aria-selected] .text')?.title ?? ''"))
}

fn no_complaints(browser: &mut Browser) {
    assert_eq!(browser.complaints(), [""; 0]);
}

fn a_page_opens_alone_and_has_the_sums_that_info_says(engine: Engine) {
    let Some(mut browser) = engine.start(1400, 900) else { return };
    let place = Place::new();
    fs::copy(sample(), place.path("run.cct")).unwrap();
    place.open(&mut browser, &[], "");
    let info: Value = serde_json::from_str(&place.run(&["info", "run.cct", "--format", "json"])).unwrap();
    let info = &info["profiles"][0]["totals"];
    let shown = browser.text("document.getElementById('sums').textContent").replace(',', "");
    let number = |key: &str| info[key].as_u64().unwrap_or_else(|| panic!("{key} in {info}"));
    let wanted = ["bytecodes", "calls", "contexts"].map(|key| format!("{} {key}", number(key)));
    assert_eq!(shown, wanted.join(" · "));
    assert_eq!(browser.number("cctrewrite.state.root.inclusive[0]"), number("bytecodes") as f64);

    // The page contains the output of info, line by line.
    let about = browser.text("document.getElementById('about').textContent");
    for line in place.run(&["info", "run.cct"]).lines().skip(1).take_while(|line| !line.is_empty()) {
        let (key, text) = line.split_at(12);
        assert!(about.contains(&format!("{}{text}", key.trim_end())), "{line}");
    }
    no_complaints(&mut browser);
}

fn widths_are_shares_of_the_metric(engine: Engine) {
    let Some(mut browser) = engine.start(1400, 900) else { return };
    let place = Place::new();
    write(&place.path("run.cct"), &plain());
    place.open(&mut browser, &[], "");
    let mut seen = Vec::new();
    for _ in 0..2 {
        let widths = browser.value(WIDTHS);
        let widths = widths.as_array().unwrap().clone();
        assert!(widths.len() > 4);
        for width in &widths {
            let (is, should) = (width[1].as_f64().unwrap(), width[2].as_f64().unwrap());
            assert!((is - should).abs() < 1e-9, "{width}");
        }
        seen.push(widths);
        browser.press("m");
    }
    assert_ne!(seen[0], seen[1], "the metric changes the widths");
    // hash has no bytecodes, and most of the calls.
    assert!(browser.text("document.getElementById('metric').selectedOptions[0].textContent") == "bytecodes");
    browser.press("m");
    middle(&mut browser, "app.Main.hash()");
    no_complaints(&mut browser);
}

fn the_view_of_callers_adds_up_to_the_methods_even_if_contexts_are_pruned(engine: Engine) {
    let Some(mut browser) = engine.start(1400, 900) else { return };
    let place = Place::new();
    fs::copy(sample(), place.path("run.cct")).unwrap();
    let rows = methods(&place.path("run.cct"));
    for pruning in ["1000000", "40", "0"] {
        place.open(&mut browser, &["--max-contexts", pruning], "view=callers");
        let below = browser.value(BELOW_ROOT);
        assert_eq!(below.as_array().unwrap().len(), rows.len());
        let own = |name: &str| {
            let found = below.as_array().unwrap().iter().find(|pair| pair[0] == name);
            found.unwrap_or_else(|| panic!("{name} is not in the page"))[1].as_u64().unwrap()
        };
        for (name, bytecodes, _) in &rows {
            assert_eq!(u128::from(own(name)), *bytecodes, "{name} with {pruning} contexts");
        }
        // Each box has its callers' width as expected, and so do outermost ones.
        let wrong = browser.value(
            "(() => { const { state } = cctrewrite; const { measure } = state; const wrong = [];
                for (const box of state.root.below) {
                    const below = box.below.reduce((sum, one) => sum + one.inclusive[measure], 0);
                    if (below > box.inclusive[measure]) wrong.push(state.nameOf(box));
                }
                return wrong; })()",
        );
        assert_eq!(wrong, serde_json::json!([]));
        // And the table has the reports' numbers.
        let inclusive = browser.value(
            "Object.fromEntries(cctrewrite.state.head.labels.map((name, at) => [name, cctrewrite.state.table.inclusive[0][at]]))",
        );
        for (name, _, bytecodes) in &rows {
            assert_eq!(inclusive[name].as_u64().map(u128::from), Some(*bytecodes), "{name}");
        }
        let pruned = browser.text("document.getElementById('pruned').textContent");
        assert_eq!(pruned.is_empty(), pruning == "1000000", "{pruned}");
    }
    no_complaints(&mut browser);
}

fn pruned_contexts_are_in_the_sums_of_their_callers(engine: Engine) {
    let Some(mut browser) = engine.start(1400, 900) else { return };
    let place = Place::new();
    fs::copy(sample(), place.path("run.cct")).unwrap();
    place.open(&mut browser, &[], "");
    let all = browser.value(BELOW_ROOT);
    place.open(&mut browser, &["--max-contexts", "60"], "");
    let few = browser.value(BELOW_ROOT);
    let (all, few) = (all.as_array().unwrap(), few.as_array().unwrap());
    for pair in few.iter().filter(|pair| !pair[0].as_str().unwrap().starts_with("(pruned")) {
        assert!(all.contains(pair), "{pair}");
    }
    let sum = |pairs: &[Value]| pairs.iter().map(|pair| pair[1].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum(all), sum(few));
    // The page says the same as standard error.
    let said = browser.text("document.getElementById('pruned').textContent");
    let lost = browser.number("cctrewrite.state.totals.lost");
    assert!(said.replace(',', "").starts_with(&format!("Pruned: {lost} contexts (")), "{said}");
    no_complaints(&mut browser);
}

fn search_finds_methods_and_goes_from_box_to_box(engine: Engine) {
    let Some(mut browser) = engine.start(1400, 900) else { return };
    let place = Place::new();
    write(&place.path("run.cct"), &plain());
    place.open(&mut browser, &[], "");
    browser.press("/");
    for key in "walk".chars() {
        browser.press(&key.to_string());
    }
    // walk has 100 of 400 bytecodes with its callees.
    let found = browser.text("document.getElementById('found').textContent");
    assert_eq!(found, "1 method; 25.00 % of bytecodes in and below");
    assert_eq!(browser.text("document.querySelector('#methods .lines .text').title"), "app.Main.walk(int)");
    // The heaviest of its three contexts, then the others by their weight.
    for (key, inclusive, place) in [("Enter", 100.0, 1), ("n", 70.0, 2), ("n", 30.0, 3), ("N", 70.0, 2)] {
        browser.press(key);
        assert_eq!(selected_row(&mut browser, "tree"), "app.Main.walk(int)");
        assert_eq!(browser.number("cctrewrite.state.selected.inclusive[0]"), inclusive);
        let said = browser.text("document.getElementById('found').textContent");
        assert_eq!(said, format!("{found}; match {place} of 3"));
    }

    // A context of two threads is one match: step below main, and step of the worker.
    browser.value("cctrewrite.state.set({ query: 'sort' })");
    browser.press("n");
    assert!(browser.text("document.getElementById('found').textContent").ends_with("; match 1 of 2"));
    assert_eq!(browser.number("cctrewrite.state.selected.inclusive[0]"), 50.0);

    // A regular expression, and an invalid one.
    browser.press("Escape");
    assert_eq!(browser.text("document.getElementById('query').value"), "");
    browser.value("cctrewrite.state.set({ query: '\\\\.(step|sort)\\\\(', regex: true })");
    assert!(browser.text("document.getElementById('found').textContent").starts_with("2 methods; "));
    browser.value("cctrewrite.state.set({ query: '(' })");
    assert_eq!(browser.text("document.getElementById('found').textContent"), "not a regular expression");
    no_complaints(&mut browser);
}

fn the_end_of_a_search_scrolls_back(engine: Engine) {
    let Some(mut browser) = engine.start(1400, 900) else { return };
    let place = Place::new();
    let mut profile = deep(2_000);
    let mut row = profile.methods[1].clone();
    row.name = "last".into();
    profile.methods.push(row);
    let mut nodes: Vec<profiles::Node> = (1..=2_000).map(|at| (at, (at % 2) as u32, 1, 1)).collect();
    nodes.push((2_001, 2, 1, 1));
    profile.threads[0].tree = profiles::tree(&nodes);
    write(&place.path("run.cct"), &profile);
    place.open(&mut browser, &[], "");
    browser.value("cctrewrite.graph.view.scrollTop = 400");
    browser.settle();
    browser.press("/");
    for key in "last".chars() {
        browser.press(&key.to_string());
    }
    browser.press("Enter");
    assert!(browser.number("cctrewrite.graph.view.scrollTop") > 10_000.0);
    browser.press("Escape");
    assert_eq!(browser.number("cctrewrite.graph.view.scrollTop"), 400.0);
    no_complaints(&mut browser);
}

fn selections_agree_in_all_commands(engine: Engine) {
    let Some(mut browser) = engine.start(1400, 900) else { return };
    let place = Place::new();
    write(&place.path("run.cct"), &plain());
    place.open(&mut browser, &[], "");
    let (x, y) = middle(&mut browser, "app.Main.sort()");
    browser.click(x, y);
    for table in ["tree", "methods"] {
        assert_eq!(selected_row(&mut browser, table), "app.Main.sort()", "{table}");
    }
    assert!(browser.text("document.getElementById('selected').textContent").contains("50 (12.50 %)"));
    // From the table of methods into graph and tree.
    browser.value(
        "[...document.querySelectorAll('#methods .lines .text')].find((cell) => cell.title === 'app.Main.step()').click()",
    );
    assert_eq!(selected_row(&mut browser, "tree"), "app.Main.step()");
    assert_eq!(browser.text("cctrewrite.state.nameOf(cctrewrite.state.selected)"), "app.Main.step()");
    let outline = browser.number("document.getElementById('outline').getBoundingClientRect().width");
    let wanted = browser.number("cctrewrite.graph.place(cctrewrite.state.selected).width");
    assert!((outline - wanted).abs() < 0.1, "{outline} is not {wanted}");
    no_complaints(&mut browser);
}

fn keys_do_all_that_buttons_do(engine: Engine) {
    let Some(mut browser) = engine.start(1400, 900) else { return };
    let place = Place::new();
    write(&place.path("run.cct"), &plain());
    place.open(&mut browser, &[], "");
    let name = |browser: &mut Browser| browser.text("cctrewrite.state.nameOf(cctrewrite.state.selected)");
    browser.press("ArrowDown"); // the root
    browser.press("ArrowDown");
    assert_eq!(name(&mut browser), "app.Main.main()");
    browser.press("ArrowDown");
    assert_eq!(name(&mut browser), "app.Main.step()", "the heaviest callee");
    browser.press("ArrowRight");
    assert_eq!(name(&mut browser), "app.Main.walk(int)");
    browser.press("ArrowLeft");
    browser.press("ArrowUp");
    assert_eq!(name(&mut browser), "app.Main.main()");
    browser.press("ArrowDown");
    browser.press("Enter");
    assert_eq!(browser.text("cctrewrite.state.nameOf(cctrewrite.state.zoom)"), "app.Main.step()");
    browser.press("Backspace");
    assert_eq!(browser.text("cctrewrite.state.nameOf(cctrewrite.state.zoom)"), "app.Main.main()");
    browser.press("Escape");
    assert_eq!(browser.number("cctrewrite.state.zoom.level"), 0.0);
    browser.press("c");
    assert_eq!(browser.text("cctrewrite.state.view"), "callers");
    browser.press("c");
    browser.press("f");
    assert_eq!(browser.text("cctrewrite.state.name(cctrewrite.state.focus)"), "app.Main.step()");
    browser.press("Escape");
    browser.press("i");
    assert!(browser.value("cctrewrite.state.up").as_bool().unwrap());
    browser.press("i");
    let theme = |browser: &mut Browser| browser.text("document.documentElement.dataset.theme");
    assert_eq!(theme(&mut browser), "light");
    browser.press("d");
    assert_eq!(theme(&mut browser), "dark");
    for (key, dialog) in [("?", "help"), ("a", "about"), ("t", "choose")] {
        browser.press(key);
        assert!(
            browser.value(&format!("document.getElementById('{dialog}').open")).as_bool().unwrap(),
            "{key}"
        );
        browser.value(&format!("document.getElementById('{dialog}').close()"));
    }
    no_complaints(&mut browser);
}

fn threads_can_be_chosen_and_recursion_folded(engine: Engine) {
    let Some(mut browser) = engine.start(1400, 900) else { return };
    let place = Place::new();
    write(&place.path("run.cct"), &plain());
    place.open(&mut browser, &[], "");
    let sum = "cctrewrite.state.root.inclusive[0]";
    assert_eq!(browser.number(sum), 400.0);
    browser.press("t");
    browser.value("[...document.querySelectorAll('#thread-list label')].find((l) => l.textContent.includes('worker')).click()");
    browser.value("document.getElementById('choose').close()");
    browser.settle();
    assert_eq!(browser.number(sum), 340.0);
    assert_eq!(browser.text("cctrewrite.state.rootName"), "[main]");
    let table = browser.number("cctrewrite.state.table.own[0].reduce((a, b) => a + b)");
    assert_eq!(table, 340.0);

    let walks = "(() => { let walks = 0; const all = [cctrewrite.state.root];
        for (let box = all.pop(); box; box = all.pop()) { all.push(...box.below); walks += cctrewrite.state.nameOf(box) === 'app.Main.walk(int)'; }
        return walks; })()";
    assert_eq!(browser.number(walks), 3.0);
    browser.press("r");
    assert_eq!((browser.number(walks), browser.number(sum)), (1.0, 340.0));
    // As in the report.
    let folded: Value = serde_json::from_str(&place.run(&[
        "report",
        "run.cct",
        "--format",
        "json",
        "--fold-recursion",
        "--min-percent",
        "0",
        "--thread",
        "main",
    ]))
    .unwrap();
    let contexts =
        browser.number("cctrewrite.state.tree(true, false).label.reduce((n, label) => n + (label >= 0), 0)");
    let of_worker = 2.0;
    let wanted = folded["trees"][0]["contexts"].as_array().unwrap().len() as f64;
    assert_eq!(contexts, wanted + of_worker, "{folded}");
    no_complaints(&mut browser);
}

fn a_difference_shows_what_has_changed(engine: Engine) {
    let Some(mut browser) = engine.start(1400, 900) else { return };
    let place = Place::new();
    let mut base = plain();
    base.threads[0].tree = profiles::tree(&CHANGED);
    write(&place.path("base.cct"), &base);
    write(&place.path("run.cct"), &plain());
    place.open(&mut browser, &["--diff", "base.cct"], "");
    let first = "[...document.querySelectorAll('#methods .lines .line:first-child .cell')].map((cell) => cell.textContent).join('|')";
    // step itself had 150 bytecodes in BASE, and has 200; its callees add 50 more.
    assert_eq!(browser.text(first), "+50|+28.57 %|+50|Main.step()app|175|225");
    let colour = |browser: &mut Browser, name: &str| -> (i64, i64, i64) {
        let (x, y) = middle(browser, name);
        let pixel = browser.value(&format!(
            "(() => {{ const frame = cctrewrite.graph.view.getBoundingClientRect();
                const {{ canvas }} = cctrewrite.graph; const copy = new OffscreenCanvas(canvas.width, canvas.height);
                const pen = copy.getContext('2d', {{ willReadFrequently: true }}); pen.drawImage(canvas, 0, 0);
                return [...pen.getImageData({x} - frame.left, {y} - frame.top - 7, 1, 1).data]; }})()"
        ));
        let part = |at: usize| pixel[at].as_i64().unwrap();
        (part(0), part(1), part(2))
    };
    let (red, _, blue) = colour(&mut browser, "app.Main.step()");
    assert!(red > blue + 30, "step has more: {red} {blue}");
    let (red, green, blue) = colour(&mut browser, "app.Main.walk(int)");
    assert!((red - blue).abs() < 12 && (red - green).abs() < 12, "walk is the same: {red} {green} {blue}");
    let (red, _, blue) = colour(&mut browser, "app.Main.sort()");
    assert!(blue > red + 30, "sort has less: {red} {blue}");
    // A vanished context has no width in NEW, and its width in BASE.
    let gone = "cctrewrite.graph.rows.flat().filter(({ box }) => box && cctrewrite.state.nameOf(box) === 'app.Main.hash()' && box.level === 2).length";
    assert_eq!(browser.number(gone), 0.0);
    browser.press("w");
    assert_eq!(browser.number(gone), 1.0);
    no_complaints(&mut browser);
}

fn names_can_do_no_harm(engine: Engine) {
    let Some(mut browser) = engine.start(1400, 900) else { return };
    let place = Place::new();
    write(&place.path("run.cct"), &hostile());
    write(&place.path(HARD), &hostile());
    place.run(&["report", HARD, "--html", "page.html", "--diff", "run.cct"]);
    for fragment in ["", "view=callers"] {
        browser.open(&place.path("page.html"), fragment);
        browser.press("a");
        browser.value("document.getElementById('about').close()");
        browser.press("t");
        browser.value("document.getElementById('choose').close()");
        let (x, y) = middle(&mut browser, &format!("{}.{}()", EVIL.replace('/', "."), EVIL));
        browser.click(x, y);
        browser.value("cctrewrite.state.set({ query: '<img' })");
        browser.settle();
        assert!(
            browser.text("document.getElementById('selected').textContent").contains("<img src=x onerror=")
        );
        assert!(browser.text("document.getElementById('about').textContent").contains("<img"));
        assert_eq!(browser.number("document.querySelectorAll('img, iframe, object, svg').length"), 0.0);
        assert_eq!(browser.text("typeof globalThis.harmed"), "undefined");
        assert!(browser.text("document.title").contains("<img"));
    }
    no_complaints(&mut browser);
    // The policy itself holds, in case a name got through.
    browser.value(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"globalThis.harmed = 1\">')",
    );
    browser.value("document.body.append(Object.assign(document.createElement('script'), { textContent: 'globalThis.harmed = 2' }))");
    browser.settle();
    assert_eq!(browser.text("typeof globalThis.harmed"), "undefined");
    let complaints = browser.complaints().join("\n").replace('-', " ");
    assert!(complaints.contains("Content Security Policy"), "{complaints}");
}

fn the_address_keeps_the_view(engine: Engine) {
    let Some(mut browser) = engine.start(1400, 900) else { return };
    let place = Place::new();
    write(&place.path("run.cct"), &plain());
    place.open(&mut browser, &[], "");
    browser.press("m");
    browser.press("ArrowDown");
    browser.press("ArrowDown");
    browser.press("Enter");
    browser.value("cctrewrite.state.set({ query: 'walk', order: 'name' })");
    let fragment = browser.text("location.hash.slice(1)");
    browser.open(&place.path("page.html"), &fragment);
    let state = browser.value("[cctrewrite.state.words, cctrewrite.state.query, cctrewrite.state.order, cctrewrite.state.nameOf(cctrewrite.state.zoom)]");
    assert_eq!(state, serde_json::json!(["calls", "walk", "name", "app.Main.main()"]));
    // Invalid fragments are ignored.
    browser.open(
        &place.path("page.html"),
        "zoom=99.7.x&metric=parsecs&threads=17&focus=-3&view=sideways&theme=plaid",
    );
    assert_eq!(browser.number("cctrewrite.state.zoom.level"), 0.0);
    no_complaints(&mut browser);
}

fn deep_stacks_are_shown(engine: Engine) {
    let Some(mut browser) = engine.start(1400, 900) else { return };
    let place = Place::new();
    write(&place.path("run.cct"), &deep(30_000));
    place.open(&mut browser, &[], "");
    assert_eq!(browser.number("cctrewrite.state.root.inclusive[0]"), 30_000.0);
    // All of it: upward, to the innermost frame.
    browser.press("i");
    assert_eq!(browser.number("cctrewrite.graph.rows.length"), 30_001.0);
    browser.value("(() => { const rows = cctrewrite.graph.rows; cctrewrite.state.select(rows[rows.length - 1][0].box); })()");
    assert_eq!(browser.number("cctrewrite.state.selected.level"), 30_000.0);
    browser.press("r");
    assert_eq!(browser.number("cctrewrite.graph.rows.length"), 3.0);
    no_complaints(&mut browser);
}

/// `BLESS=1` renews the picture of `docs/use/html.md`. It is not compared: the rendering of letters
/// depends on the browser.
fn the_picture_of_the_manual_can_be_drawn(engine: Engine) {
    let Some(mut browser) = engine.start(1200, 720) else { return };
    let place = Place::new();
    fs::copy(sample(), place.path("run.cct")).unwrap();
    place.open(&mut browser, &["--root", "Sample.main"], "");
    let (x, y) = middle(&mut browser, "java.lang.String.compareTo(String)");
    browser.click(x, y);
    let picture = base64::engine::general_purpose::STANDARD.decode(browser.picture()).unwrap();
    assert!(picture.starts_with(b"\x89PNG") && picture.len() < 200_000, "{} bytes", picture.len());
    if engine == Engine::Chromium && std::env::var_os("BLESS").is_some() {
        fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/use/html.png"), picture).unwrap();
    }
    no_complaints(&mut browser);
}

engines!(
    a_page_opens_alone_and_has_the_sums_that_info_says,
    widths_are_shares_of_the_metric,
    the_view_of_callers_adds_up_to_the_methods_even_if_contexts_are_pruned,
    pruned_contexts_are_in_the_sums_of_their_callers,
    search_finds_methods_and_goes_from_box_to_box,
    the_end_of_a_search_scrolls_back,
    selections_agree_in_all_commands,
    keys_do_all_that_buttons_do,
    threads_can_be_chosen_and_recursion_folded,
    a_difference_shows_what_has_changed,
    names_can_do_no_harm,
    the_address_keeps_the_view,
    deep_stacks_are_shown,
    the_picture_of_the_manual_can_be_drawn,
);
