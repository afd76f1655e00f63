//! Accessibility, judged by axe-core (`cargo xtask readers`).

use std::fs;
use std::path::Path;

use super::profiles::{CHANGED, plain, tree, with_library, write};
use super::{Browser, Engine, Place, engines, no_complaints};

/// The rules that the page breaks, each with what breaks it.
pub const FINDINGS: &str = "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))";

/// The script of axe-core; if it is missing, prints that the check is skipped.
pub fn axe(engine: Engine) -> Option<String> {
    let script = engine.root()?.with_file_name("axe-core").join("package/axe.min.js");
    let script = fs::read_to_string(script).ok();
    if script.is_none() {
        println!("skipped: axe-core is missing (cargo xtask readers says why)");
    }
    script
}

fn axe_finds_nothing(engine: Engine) {
    let Some(axe) = axe(engine) else { return };
    let Some(mut browser) = engine.start(1400, 900) else { return };
    let place = Place::new();
    write(&place.path("run.cct"), &plain());
    let mut base = plain();
    base.threads[0].tree = tree(&CHANGED);
    write(&place.path("base.cct"), &base);
    write(&place.path("library.cct"), &with_library(1));
    let check = |browser: &mut Browser, page: &Path, fragment: &str| {
        for (width, scheme) in [(1400, "light"), (1000, "dark"), (390, "light")] {
            browser.resize(width, 900);
            browser.prefer(scheme);
            browser.open(page, fragment);
            browser.press("ArrowDown");
            browser.press("ArrowDown");
            browser.run(&axe);
            for dialog in ["", "about", "choose", "help"] {
                if !dialog.is_empty() {
                    browser.value(&format!("document.getElementById('{dialog}').showModal()"));
                }
                let findings = browser.value(FINDINGS);
                assert_eq!(findings, serde_json::json!([]), "{page:?} {fragment} {width} {dialog}");
                browser.value("document.querySelector('dialog[open]')?.close()");
            }
        }
    };
    place.run(&["report", "run.cct", "--html", "plain.html"]);
    place.run(&["report", "run.cct", "--html", "change.html", "--diff", "base.cct"]);
    place.run(&["report", "library.cct", "--html", "library.html", "--collapse-library"]);
    check(&mut browser, &place.path("plain.html"), "query=walk");
    check(&mut browser, &place.path("change.html"), "view=callers");
    check(&mut browser, &place.path("library.html"), "view=sandwich&focus=0");
    no_complaints(&mut browser);
}

engines!(axe_finds_nothing,);
