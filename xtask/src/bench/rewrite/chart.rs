//! The picture of [`Parts`](super::parts::Parts): time over the number of classes, as SVG.

use std::fmt::Write as _;

use super::parts::Parts;
use super::subject::Subject;

/// The whole, and the field of the curves in it.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 700.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 350.0;

/// Colours that differ for people who see few of them, too (Okabe and Ito's).
const COLOURS: [&str; 4] = ["#009e73", "#0072b2", "#56b4e9", "#d55e00"];

/// A curve: name, and points of classes and seconds.
struct Curve {
    name: String,
    points: Vec<(f64, f64)>,
}

/// Draws the parts. The same numbers give the same bytes.
pub fn draw(parts: &Parts) -> String {
    let curves = curves(parts);
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let x_step = step(points().map(|point| point.0).fold(0.0, f64::max));
    let y_step = step(points().map(|point| point.1).fold(0.0, f64::max));
    let end = |step: f64, most: f64| (most / step).ceil().max(1.0) * step;
    let x_end = end(x_step, points().map(|point| point.0).fold(0.0, f64::max));
    let y_end = end(y_step, points().map(|point| point.1).fold(0.0, f64::max));
    let x = |classes: f64| LEFT + (RIGHT - LEFT) * classes / x_end;
    let y = |seconds: f64| BOTTOM - (BOTTOM - TOP) * seconds / y_end;

    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>Time over the number of classes</title>\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n"
    );
    // Writing to a String cannot fail.
    for mark in marks(x_step, x_end) {
        let at = x(mark);
        let _ = writeln!(text, "<path d=\"M{at:.1} {TOP}V{BOTTOM}\" stroke=\"#dddddd\"/>");
        let _ = writeln!(
            text,
            "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{mark}</text>",
            BOTTOM + 18.0
        );
    }
    for mark in marks(y_step, y_end) {
        let at = y(mark);
        let digits = if y_step < 1.0 { 1 } else { 0 };
        let _ = writeln!(text, "<path d=\"M{LEFT} {at:.1}H{RIGHT}\" stroke=\"#dddddd\"/>");
        let _ = writeln!(
            text,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{mark:.digits$} s</text>",
            LEFT - 6.0,
            at + 4.0
        );
    }
    let _ = writeln!(
        text,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">classes</text>",
        f64::midpoint(LEFT, RIGHT),
        BOTTOM + 40.0
    );
    for (index, (curve, colour)) in curves.iter().zip(COLOURS).enumerate() {
        let line: Vec<String> =
            curve.points.iter().map(|point| format!("{:.1},{:.1}", x(point.0), y(point.1))).collect();
        let _ = writeln!(
            text,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            line.join(" ")
        );
        for point in &curve.points {
            let _ = writeln!(
                text,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"/>",
                x(point.0),
                y(point.1)
            );
        }
        let key = TOP + 16.0 + 18.0 * index as f64;
        let _ = writeln!(
            text,
            "<path d=\"M{:.1} {key:.1}h24\" stroke=\"{colour}\" stroke-width=\"2\"/>\n<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            LEFT + 14.0,
            LEFT + 46.0,
            key + 4.0,
            curve.name
        );
    }
    text + "</svg>\n"
}

/// A curve for each subject, in the order of the first part.
fn curves(parts: &Parts) -> Vec<Curve> {
    let subjects = parts.parts.iter().flat_map(|part| &part.rows).map(|row| row.subject);
    let mut seen: Vec<Subject> = Vec::new();
    subjects.for_each(|subject| {
        if !seen.contains(&subject) {
            seen.push(subject);
        }
    });
    let points = |subject: Subject| {
        let found = parts.parts.iter().filter_map(|part| {
            let row = part.rows.iter().find(|row| row.subject == subject)?;
            Some((part.classes as f64, row.seconds.median))
        });
        found.collect()
    };
    seen.into_iter()
        .map(|subject| Curve { name: subject.name().replace('`', ""), points: points(subject) })
        .collect()
}

/// A distance of marks, 1, 2 or 5 times a power of ten, of which 4 to 10 fill the axis.
fn step(most: f64) -> f64 {
    if most <= 0.0 {
        return 1.0;
    }
    let tenth = 10f64.powf((most / 10.0).log10().ceil());
    [tenth / 5.0, tenth / 2.0, tenth].into_iter().find(|step| most / step <= 10.0).unwrap_or(tenth)
}

/// Multiples of `step` from 0 to `end`.
fn marks(step: f64, end: f64) -> impl Iterator<Item = f64> {
    (0..=(end / step).round() as u32).map(move |count| f64::from(count) * step)
}

#[cfg(test)]
mod tests {
    use super::super::parts::Part;
    use super::super::section::Row;
    use super::*;
    use crate::bench::measure::Spread;

    fn parts() -> Parts {
        let row = |subject, median| Row {
            subject,
            seconds: Spread { median, least: median, most: median },
            cpu_seconds: None,
            peak_kib: None,
            growth: 1.0,
        };
        let part = |eighths, classes, one, all| Part {
            eighths,
            classes,
            class_bytes: 1,
            rows: vec![row(Subject::OneThread, one), row(Subject::AllThreads, all)],
        };
        Parts { rounds: 1, parts: vec![part(4, 10_000, 1.0, 0.5), part(8, 20_000, 2.0, 1.0)] }
    }

    #[test]
    fn twice_the_classes_stand_twice_as_far_to_the_right_and_twice_as_high() {
        let picture = draw(&parts());
        // 322 = (700 - 56) / 2 to the right of 56; 165 = (350 - 20) / 2 above 350.
        assert!(picture.contains("<polyline points=\"378.0,185.0 700.0,20.0\""), "{picture}");
        assert!(picture.contains("<polyline points=\"378.0,267.5 700.0,185.0\""), "{picture}");
        assert!(picture.contains(">cctrewrite instrument --threads 1</text>"), "{picture}");
    }

    #[test]
    fn marks_are_round_numbers() {
        assert_eq!(step(20_000.0), 2_000.0);
        assert_eq!(step(19_896.0), 2_000.0);
        assert_eq!(step(4.2), 0.5);
        assert_eq!(step(0.0), 1.0);
        assert_eq!(marks(2.0, 6.0).collect::<Vec<_>>(), [0.0, 2.0, 4.0, 6.0]);
    }
}
