//! The page of `cctrewrite bench history --html`: accessible, and readable on a phone.

use std::fs;

use super::access::{FINDINGS, axe};
use super::{Engine, Place, engines, no_complaints};

/// How far the page is wider than the window.
const WIDE: &str = "document.documentElement.scrollWidth - innerWidth";

/// The heights of a curve's marks, from the top of its picture.
const MARKS: &str = "[...document.querySelectorAll('svg.curve .mark')].map((mark) =>
    mark.getBoundingClientRect().top - mark.closest('svg').getBoundingClientRect().top)";

fn history() -> String {
    let line = |(run, (status, value)): (usize, &(&str, u64))| {
        let entry = format!("com.acme.{}.parse(1000, \\\"a file\\\")", "long".repeat(20));
        format!(
            "{{\"cctrewrite bench history\":1,\"entry\":\"{entry}\",\"revision\":\"{run:040}\",\"time\":\"2026-01-01T00:00:00Z\",\
             \"status\":\"{status}\",\"metric\":\"bytecodes\",\"value\":{value},\"calls\":1,\"program\":[{value},1],\
             \"java\":\"17.0.1\",\"jdk\":\"00ff\",\"settings\":\"blocks=exact intrinsics=bytecode\",\"warm_up\":1}}\n"
        )
    };
    let runs = [("passes", 1_000_000_000), ("exceeds", 1_500_000_000), ("exceeds", 3_000_000_000)];
    runs.iter().enumerate().map(line).collect()
}

fn the_page_of_a_history_is_accessible_and_fits_a_phone(engine: Engine) {
    let Some(mut browser) = engine.start(1400, 900) else { return };
    let axe = axe(engine);
    let place = Place::new();
    fs::write(place.path("history.jsonl"), history()).unwrap();
    place.run(&["bench", "history", "history.jsonl", "--html", "page.html"]);
    for (width, scheme) in [(1400, "light"), (1400, "dark"), (390, "light"), (320, "dark")] {
        browser.resize(width, 800);
        browser.prefer(scheme);
        browser.open_static(&place.path("page.html"));
        assert!(browser.number(WIDE) <= 0.0, "{width}");
        if let Some(axe) = &axe {
            browser.run(axe);
            assert_eq!(browser.value(FINDINGS), serde_json::json!([]), "{width} {scheme}");
        }
        let marks = browser.value(MARKS);
        let marks: Vec<f64> = marks.as_array().unwrap().iter().map(|mark| mark.as_f64().unwrap()).collect();
        assert!(marks.len() == 2 && marks[1] < marks[0], "the higher count is drawn higher: {marks:?}");
    }
    no_complaints(&mut browser);
}

engines!(the_page_of_a_history_is_accessible_and_fits_a_phone);
