//! Wheel, pinch, drag and the tip at the pointer.

use super::profiles::{plain, write};
use super::{Browser, Engine, Place, engines, middle, no_complaints};

const SCALE: &str = "cctrewrite.graph.scale";

/// The name of the box at a place of the window.
fn at(browser: &mut Browser, (x, y): (f64, f64)) -> String {
    let event = format!("{{ clientX: {x}, clientY: {y} }}");
    browser.text(&format!("cctrewrite.state.nameOf(cctrewrite.graph.at({event}).box)"))
}

fn wheel_and_pointer_stretch_and_move_the_graph(engine: Engine) {
    let Some(mut browser) = engine.start(1400, 900) else { return };
    let place = Place::new();
    write(&place.path("run.cct"), &plain());
    place.open(&mut browser, &[], "");
    let spot = middle(&mut browser, "app.Main.sort()");
    browser.wheel(spot.0, spot.1, (0.0, -300.0), true);
    let scale = browser.number(SCALE);
    assert!((scale - 1.5_f64.exp()).abs() < 0.01, "{scale}");
    assert_eq!(at(&mut browser, spot), "app.Main.sort()", "what is at the pointer stays there");
    // Widths are still shares, of a wider whole.
    let width = browser.number(
        "cctrewrite.graph.rows.flat().find(({ box }) => cctrewrite.state.nameOf(box) === 'app.Main.sort()').width / cctrewrite.graph.width",
    );
    assert!((width - 0.125 * scale).abs() < 1e-9, "{width}");

    // Dragging takes the box along, and selects nothing.
    let target = (spot.0 - 120.0, spot.1);
    browser.drag(spot, target);
    assert_eq!(at(&mut browser, target), "app.Main.sort()");
    assert!(browser.value("cctrewrite.state.selected").is_null());
    browser.wheel(spot.0, spot.1, (-120.0, 0.0), false);
    assert_eq!(at(&mut browser, spot), "app.Main.sort()", "the wheel moves it to the side");
    // A click still selects.
    browser.click(spot.0, spot.1);
    assert_eq!(browser.text("cctrewrite.state.nameOf(cctrewrite.state.selected)"), "app.Main.sort()");

    // Keys; a zoom into a box begins with all of it.
    browser.press("+");
    assert!(browser.number(SCALE) > scale);
    browser.press("0");
    assert_eq!((browser.number(SCALE), browser.number("cctrewrite.graph.left")), (1.0, 0.0));
    browser.press("+");
    browser.press("Enter");
    assert_eq!(browser.number(SCALE), 1.0);
    browser.press("-");
    assert_eq!(browser.number(SCALE), 1.0, "never narrower than the window");
    no_complaints(&mut browser);
}

fn the_tip_has_shares_and_the_stack(engine: Engine) {
    let Some(mut browser) = engine.start(1400, 900) else { return };
    let place = Place::new();
    write(&place.path("run.cct"), &plain());
    place.open(&mut browser, &[], "");
    let (x, y) = middle(&mut browser, "app.Main.sort()");
    browser.point(x, y);
    let tip = browser.text("document.getElementById('tip').innerText");
    // 50 of 340 in main, of 400 in all.
    for part in [
        "app.Main.sort()\n",
        "50 (12.50 %)",
        "14.71 % of bytecodes",
        "25.00 bytecodes, 0.00 calls\n",
        "2.00 calls\n",
        "\napp.Main.main()",
    ] {
        assert!(tip.contains(part), "{part} in {tip}");
    }
    let place = browser.value(
        "(() => { const tip = document.getElementById('tip').getBoundingClientRect(); return [tip.left, tip.top, tip.right, tip.bottom]; })()",
    );
    let side = |at: usize| place[at].as_f64().unwrap();
    assert!((side(0) - x).abs() < 40.0 && (side(1) - y).abs() < 40.0, "{place} at {x} {y}");
    browser.point(x, 890.0);
    assert!(browser.value("document.getElementById('tip').hidden").as_bool().unwrap());
    no_complaints(&mut browser);
}

engines!(wheel_and_pointer_stretch_and_move_the_graph, the_tip_has_shares_and_the_stack,);
