//! Numbers and names at widths from a phone's to a large window's.

use super::profiles::{large, plain, write};
use super::{Engine, Place, engines, no_complaints};

/// Cells of tables with numbers that do not fit.
const CUT: &str = "[...document.querySelectorAll('.table .cell:not(.text):not(.bars)')]
    .filter((cell) => cell.clientWidth > 0 && cell.scrollWidth > cell.clientWidth)
    .map((cell) => cell.closest('.table').id + ': ' + cell.textContent)";

/// Things that reach out of the window.
const WIDE: &str = "[document.documentElement.scrollWidth - innerWidth, ...['tools', 'selected'].map((id) =>
    document.getElementById(id).scrollWidth - document.getElementById(id).clientWidth)].filter((more) => more > 0)";

fn no_digit_is_cut(engine: Engine) {
    let Some(mut browser) = engine.start(1400, 900) else { return };
    let place = Place::new();
    write(&place.path("run.cct"), &large(98_765_432_109));
    write(&place.path("base.cct"), &large(1));
    for arguments in [&[][..], &["--diff", "base.cct"]] {
        for width in [1400, 1000, 390] {
            browser.resize(width, 900);
            place.open(&mut browser, arguments, "");
            browser.press("ArrowDown");
            browser.press("ArrowDown");
            for tab in ["tree", "methods"] {
                browser.value(&format!("document.getElementById('tab-{tab}').click()"));
                browser.settle();
                let name = format!("{arguments:?} {width} {tab}");
                assert_eq!(browser.value(CUT), serde_json::json!([]), "{name}");
                assert_eq!(browser.value(WIDE), serde_json::json!([]), "{name}");
            }
        }
    }
    no_complaints(&mut browser);
}

fn phones_have_names_above_short_numbers(engine: Engine) {
    let Some(mut browser) = engine.start(390, 800) else { return };
    let place = Place::new();
    write(&place.path("run.cct"), &large(1));
    place.open(&mut browser, &[], "");
    browser.value("document.getElementById('tab-methods').click()");
    browser.settle();
    let cells = browser.value(
        "[...document.querySelector('#methods .lines .line').children].filter((cell) => cell.clientWidth > 0).map((cell) =>
            [cell.textContent, cell.title, cell.getBoundingClientRect().top, cell.classList.contains('text')])",
    );
    let cells = cells.as_array().unwrap();
    let top = |cell: &serde_json::Value| cell[2].as_f64().unwrap();
    let name = cells.iter().find(|cell| cell[3] == true).unwrap();
    assert!(cells.iter().filter(|cell| cell[3] == false).all(|cell| top(cell) > top(name)), "{cells:?}");
    let own = cells.iter().find(|cell| cell[0] == "247 T").unwrap_or_else(|| panic!("{cells:?}"));
    assert_eq!(own[1], "246,913,578,024,690", "the whole number");
    no_complaints(&mut browser);
}

fn colours_are_explained(engine: Engine) {
    let Some(mut browser) = engine.start(1400, 900) else { return };
    let place = Place::new();
    write(&place.path("run.cct"), &plain());
    let legend = "document.getElementById('legend').innerText.replace(/\\s+/g, ' ').trim()";
    place.open(&mut browser, &[], "");
    assert_eq!(browser.text(legend), "JDK other code pruned found");
    place.open(&mut browser, &["--diff", "run.cct"], "");
    assert_eq!(browser.text(legend), "more less the same found");
    // Nothing moves by itself, so there is nothing to be reduced.
    let moving = "[document.getAnimations().length, ...[...document.querySelectorAll('*')].map((one) => getComputedStyle(one)).map((style) =>
        Number(style.transitionDuration !== '0s' || style.animationName !== 'none' || style.scrollBehavior !== 'auto'))].reduce((a, b) => a + b)";
    assert_eq!(browser.number(moving), 0.0);
    no_complaints(&mut browser);
}

engines!(no_digit_is_cut, phones_have_names_above_short_numbers, colours_are_explained,);
