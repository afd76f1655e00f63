//! Line charts as SVG. The same numbers give the same bytes.

use std::fmt::Write as _;

/// Size of the picture, and position of the plot area in it.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 700.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 350.0;

/// Colours that people with colour blindness can distinguish, too (Okabe and Ito's).
const COLOURS: [&str; 4] = ["#009e73", "#0072b2", "#56b4e9", "#d55e00"];

/// A curve.
pub struct Curve {
    /// The text in the legend.
    pub name: String,
    /// The points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// The scale of the horizontal axis.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Across {
    /// Linear, from 0.
    Linear,
    /// Logarithmic, from 1: twice the number is one step further.
    Doubling,
}

/// A line chart.
pub struct Chart {
    /// The chart's title, for people who cannot see it.
    pub title: &'static str,
    /// The label of the horizontal axis.
    pub below: &'static str,
    /// The scale of the horizontal axis.
    pub across: Across,
    /// The unit after each number of the vertical axis.
    pub unit: &'static str,
    /// The curves, at most four.
    pub curves: Vec<Curve>,
}

/// Draws the chart.
pub fn draw(chart: &Chart) -> String {
    let Chart { title, below, across, unit, curves } = chart;
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let x_most = points().map(|point| point.0).fold(0.0, f64::max);
    let y_most = points().map(|point| point.1).fold(0.0, f64::max);
    let y_step = step(y_most);
    let end = |step: f64, most: f64| (most / step).ceil().max(1.0) * step;
    let y_end = end(y_step, y_most);
    let x_marks: Vec<f64> = match across {
        Across::Linear => marks(step(x_most), end(step(x_most), x_most)).collect(),
        Across::Doubling => {
            std::iter::successors(Some(1.0), |at| Some(2.0 * at)).take_while(|at| *at <= x_most).collect()
        }
    };
    let along = |number: f64| if *across == Across::Linear { number } else { number.log2() };
    let x_end = x_marks.last().map_or(1.0, |last| along(*last)).max(f64::MIN_POSITIVE);
    let x = |number: f64| LEFT + (RIGHT - LEFT) * along(number) / x_end;
    let y = |number: f64| BOTTOM - (BOTTOM - TOP) * number / y_end;

    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>{title}</title>\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n"
    );
    // Writing to a String cannot fail.
    for mark in x_marks {
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
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{mark:.digits$} {unit}</text>",
            LEFT - 6.0,
            at + 4.0
        );
    }
    let _ = writeln!(
        text,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{below}</text>",
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

/// A distance of marks: 1, 2 or 5 times a power of ten, with 4 to 10 marks on the axis.
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
    use super::*;

    fn chart(across: Across) -> Chart {
        let curve =
            |name: &str, points: [(f64, f64); 2]| Curve { name: name.to_owned(), points: points.into() };
        let curves = vec![
            curve("one", [(10_000.0, 1.0), (20_000.0, 2.0)]),
            curve("all", [(10_000.0, 0.5), (20_000.0, 1.0)]),
        ];
        Chart { title: "Time", below: "classes", across, unit: "s", curves }
    }

    #[test]
    fn twice_the_classes_stand_twice_as_far_to_the_right_and_twice_as_high() {
        let picture = draw(&chart(Across::Linear));
        // 322 = (700 - 56) / 2 to the right of 56; 165 = (350 - 20) / 2 above 350.
        assert!(picture.contains("<polyline points=\"378.0,185.0 700.0,20.0\""), "{picture}");
        assert!(picture.contains("<polyline points=\"378.0,267.5 700.0,185.0\""), "{picture}");
        assert!(picture.contains(">one</text>"), "{picture}");
    }

    #[test]
    fn twice_the_number_is_one_step() {
        let curve = Curve { name: "it".to_owned(), points: vec![(1.0, 1.0), (2.0, 1.0), (16.0, 1.0)] };
        let picture = draw(&Chart { curves: vec![curve], ..chart(Across::Doubling) });
        assert!(picture.contains("<polyline points=\"56.0,20.0 217.0,20.0 700.0,20.0\""), "{picture}");
        assert!(picture.contains(">8</text>"), "{picture}");
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
