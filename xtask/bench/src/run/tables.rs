//! The tables of `cargo xtask bench run`.

use std::fmt::Write as _;

use super::super::measure::Spread;
use super::super::ways::{WAYS, Way};
use super::columns::{COMPILERS, Column};
use super::kernels::Row;
use super::programs::{Cell, Line};
use super::recreated::SCHEMES;

/// The table of the kernels, with geometric means.
pub fn kernels(rows: &[Row]) -> String {
    let heads: Vec<String> = WAYS[1..].iter().map(|way| format!(" {} |", way.name())).collect();
    let mut text = format!("| | plain ms |{}\n|---|---|{}\n", heads.concat(), "---|".repeat(heads.len()));
    for row in rows {
        text += &kernel(row);
    }
    let all: Vec<Vec<f64>> = rows.iter().map(Row::ratios).collect();
    let means: Vec<String> = (1..WAYS.len())
        .map(|way| {
            let ratios: Vec<f64> = all.iter().map(|ratios| ratios[way]).collect();
            format!(" **x {:.2}** |", geometric(&ratios))
        })
        .collect();
    text + &format!("| *geometric mean* | |{}\n", means.concat())
}

/// A kernel's line.
fn kernel(row: &Row) -> String {
    let mut text = format!("| {} |", row.name);
    let plain = row.spreads.first().map_or(f64::NAN, |plain| plain.median);
    for (way, spread) in WAYS.iter().zip(&row.spreads) {
        let Spread { median, least, most } = spread;
        // Writing to a String cannot fail.
        let _ = match way {
            Way::Plain => {
                write!(text, " {:.1} ({:.1} to {:.1}) |", 1e3 * median, 1e3 * least, 1e3 * most)
            }
            _ => write!(text, " x {:.2} ({:.2} to {:.2}) |", median / plain, least / plain, most / plain),
        };
    }
    text + "\n"
}

/// The table of the papers' schemes compared with cctrewrite, for the kernels that they fit; `None`
/// if there is no such kernel.
pub fn recreated(rows: &[Row]) -> Option<String> {
    let rows: Vec<&Row> = rows.iter().filter(|row| !row.recreated.is_empty()).collect();
    let exact = WAYS.iter().position(|way| *way == Way::Exact)?;
    rows.first()?;
    let heads: Vec<String> = SCHEMES.iter().map(|scheme| format!(" {} |", scheme.name())).collect();
    let mut text = format!("| | exact |{}\n|---|---|{}\n", heads.concat(), "---|".repeat(heads.len()));
    let mut all = vec![Vec::new(); 1 + SCHEMES.len()];
    for row in rows {
        let plain = row.spreads.first()?.median;
        let spreads = std::iter::once(row.spreads.get(exact)?).chain(&row.recreated);
        let cells: Vec<String> = spreads
            .zip(&mut all)
            .map(|(Spread { median, least, most }, all)| {
                all.push(median / plain);
                format!(" x {:.2} ({:.2} to {:.2}) |", median / plain, least / plain, most / plain)
            })
            .collect();
        let _ = writeln!(text, "| {} |{}", row.name, cells.concat());
    }
    let means: Vec<String> = all.iter().map(|ratios| format!(" **x {:.2}** |", geometric(ratios))).collect();
    Some(text + &format!("| *geometric mean* |{}\n", means.concat()))
}

/// The table of processor times, with geometric means.
pub fn processor_times(lines: &[Line], columns: &[Column]) -> String {
    let mut text = head(columns, "plain s");
    for line in lines {
        let cells: Vec<String> = columns.iter().map(|column| spread(line, *column)).collect();
        let _ = writeln!(text, "| {} |{}", line.name, cells.concat());
    }
    let all: Vec<&Line> = lines.iter().collect();
    let means: Vec<String> = columns.iter().map(|column| mean(&all, *column)).collect();
    text + &format!("| *geometric mean* |{}\n", means.concat())
}

/// The table of elapsed times, and the programs' totals.
pub fn elapsed_times(lines: &[Line], columns: &[Column]) -> String {
    let mut text = String::from("| |");
    for column in columns {
        let _ = write!(text, " {} |", if column.base() == *column { "plain s" } else { column.name() });
    }
    text += " contexts | calls | bytecodes |\n|---|";
    text += &"---|".repeat(columns.len() + 3);
    text.push('\n');
    for line in lines {
        let _ = write!(text, "| {} |", line.name);
        for &column in columns {
            text += &elapsed(line, column);
        }
        let sums = line.totals.as_ref().map(|sums| [sums.contexts as u64, sums.calls, sums.bytecodes]);
        for index in 0..3 {
            let sum = sums.map_or_else(|| "-".to_owned(), |sums| millions(sums[index]));
            let _ = write!(text, " {sum} |");
        }
        text.push('\n');
    }
    text
}

/// The table of HotSpot's compilers, for the programs that were measured with them.
pub fn compilers(lines: &[Line]) -> Option<String> {
    let measured: Vec<&Line> = lines.iter().filter(|line| line.cell(COMPILERS[0]).is_some()).collect();
    measured.first()?;
    let mut text = head(&COMPILERS, "");
    for line in &measured {
        let cells: Vec<String> = COMPILERS.iter().map(|column| spread(line, *column)).collect();
        let _ = writeln!(text, "| {} |{}", line.name, cells.concat());
    }
    let means: Vec<String> = COMPILERS.iter().map(|column| mean(&measured, *column)).collect();
    Some(text + &format!("| *geometric mean* |{}\n", means.concat()))
}

fn head(columns: &[Column], plain: &str) -> String {
    let mut text = String::from("| |");
    for column in columns {
        let name = if *column == Column::Of(Way::Plain) { plain } else { column.name() };
        let seconds = if column.base() == *column && name != plain { " s" } else { "" };
        let _ = write!(text, " {name}{seconds} |");
    }
    text + "\n|---|" + &"---|".repeat(columns.len()) + "\n"
}

/// The measurement, and its base.
fn measured(line: &Line, column: Column) -> Option<(&Cell, Spread, f64)> {
    let cell = line.cell(column)?;
    let base = Spread::of(&line.cell(column.base())?.cpu)?.median;
    Some((cell, Spread::of(&cell.cpu)?, base))
}

/// A cell of processor times.
fn spread(line: &Line, column: Column) -> String {
    let Some((cell, Spread { median, least, most }, base)) = measured(line, column) else {
        return " - |".to_owned();
    };
    let is_one = cell.cpu.len() == 1;
    if cell.is_cut_off {
        return format!(" > x {:.0} |", (median / base).floor());
    }
    // The first column is in seconds, the others are multiples of it.
    let (sign, unit) = if column.base() == column { ("", 1.0) } else { ("x ", base) };
    let range = if is_one { String::new() } else { format!(" ({:.2} to {:.2})", least / unit, most / unit) };
    format!(" {sign}{:.2}{range} |", median / unit)
}

/// A cell of elapsed times: medians.
fn elapsed(line: &Line, column: Column) -> String {
    let median = |column| line.cell(column).and_then(|cell| Spread::of(&cell.wall)).map(|wall| wall.median);
    match (median(column), median(column.base())) {
        (Some(own), Some(_)) if column.base() == column => format!(" {own:.2} |"),
        (Some(own), Some(base)) => {
            let more = if line.cell(column).is_some_and(|cell| cell.is_cut_off) { "> " } else { "" };
            format!(" {more}x {:.2} |", own / base)
        }
        _ => " - |".to_owned(),
    }
}

/// The geometric mean of a column, over the programs that have it; a lower bound if one was killed.
fn mean(lines: &[&Line], column: Column) -> String {
    if column.base() == column {
        return " |".to_owned();
    }
    let cells: Vec<(&Cell, Spread, f64)> = lines.iter().filter_map(|line| measured(line, column)).collect();
    if cells.is_empty() {
        return " - |".to_owned();
    }
    let ratios: Vec<f64> = cells.iter().map(|(_, spread, base)| spread.median / base).collect();
    let more = if cells.iter().any(|(cell, ..)| cell.is_cut_off) { "> " } else { "" };
    // A mean over fewer programs must not be compared with the others.
    let part = if cells.len() < lines.len() {
        format!(" ({} of {})", cells.len(), lines.len())
    } else {
        String::new()
    };
    format!(" **{more}x {:.2}**{part} |", geometric(&ratios))
}

/// The geometric mean.
pub fn geometric(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp()
}

/// A number in millions.
fn millions(number: u64) -> String {
    format!("{:.1} M", number as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(medians: [f64; WAYS.len()]) -> Row {
        let spread = |median| Spread { median, least: median / 2.0, most: median * 2.0 };
        Row { name: "it".to_owned(), spreads: medians.map(spread).to_vec(), recreated: Vec::new() }
    }

    fn line(name: &'static str, cells: &[(Column, f64, bool)]) -> Line {
        let cell = |&(column, time, is_cut_off)| {
            (column, Cell { cpu: vec![time], wall: vec![time / 2.0], is_cut_off })
        };
        Line { name, cells: cells.iter().map(cell).collect(), totals: None, remarks: Vec::new() }
    }

    const PLAIN: Column = Column::Of(Way::Plain);
    const EXACT: Column = Column::Of(Way::Exact);

    #[test]
    fn times_are_multiples_of_the_plain_ones() {
        let row = row([0.010, 0.011, 0.015, 0.020, 0.025, 0.010, 0.010, 0.010, 0.010, 0.010]);
        assert_eq!(
            kernel(&row),
            "| it | 10.0 (5.0 to 20.0) | x 1.10 (0.55 to 2.20) | x 1.50 (0.75 to 3.00) | x 2.00 (1.00 to 4.00) | \
             x 2.50 (1.25 to 5.00) | x 1.00 (0.50 to 2.00) | x 1.00 (0.50 to 2.00) | x 1.00 (0.50 to 2.00) | x 1.00 (0.50 to 2.00) | \
             x 1.00 (0.50 to 2.00) |\n"
        );
    }

    #[test]
    fn means_are_geometric() {
        let text = kernels(&[row([1.0; 10]), row([1.0, 4.0, 1.0, 1.0, 1.0, 16.0, 1.0, 1.0, 1.0, 1.0])]);
        let means = text.lines().last().unwrap();
        assert!(means.starts_with("| *geometric mean* | | **x 2.00** | **x 1.00** |"), "{means}");
        assert!(means.contains("**x 4.00**"), "{means}");
    }

    #[test]
    fn schemes_of_the_papers_stand_beside_ours() {
        let mut first = row([1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
        assert!(recreated(std::slice::from_ref(&first)).is_none());
        first.recreated = [4.0, 9.0].map(|median| Spread { median, least: 3.0, most: 10.0 }).to_vec();
        assert_eq!(
            recreated(&[first, row([1.0; 10])]).unwrap(),
            "| | exact | JP (2005) | thread-local (CCCP 4.1) |\n|---|---|---|---|\n\
             | it | x 2.00 (1.00 to 4.00) | x 4.00 (3.00 to 10.00) | x 9.00 (3.00 to 10.00) |\n\
             | *geometric mean* | **x 2.00** | **x 4.00** | **x 9.00** |\n"
        );
    }

    #[test]
    fn what_was_cut_off_is_a_lower_bound() {
        let lines = [
            line("a", &[(PLAIN, 2.0, false), (EXACT, 4.0, false), (Column::Hprof, 61.0, true)]),
            line("b", &[(PLAIN, 1.0, false), (EXACT, 8.0, false)]),
        ];
        let text = processor_times(&lines, &[PLAIN, EXACT, Column::Hprof]);
        assert_eq!(
            text,
            "| | plain s | exact | hprof |\n|---|---|---|---|\n| a | 2.00 | x 2.00 | > x 30 |\n| b | 1.00 | x 8.00 | - |\n\
             | *geometric mean* | | **x 4.00** | **> x 30.50** (1 of 2) |\n"
        );
        let text = elapsed_times(&lines, &[PLAIN, EXACT, Column::Hprof]);
        assert!(text.contains("| a | 1.00 | x 2.00 | > x 30.50 | - | - | - |"), "{text}");
    }

    #[test]
    fn with_one_compiler_plain_is_what_counts() {
        let [quick, quick_exact, thorough, thorough_exact] = COMPILERS;
        let lines = [
            line(
                "a",
                &[
                    (PLAIN, 9.0, false),
                    (quick, 2.0, false),
                    (quick_exact, 5.0, false),
                    (thorough, 1.0, false),
                    (thorough_exact, 4.0, false),
                ],
            ),
            line("b", &[(PLAIN, 9.0, false)]),
        ];
        assert_eq!(
            compilers(&lines).unwrap(),
            "| | plain, C1 s | exact, C1 | plain, C2 s | exact, C2 |\n|---|---|---|---|---|\n| a | 2.00 | x 2.50 | 1.00 | x 4.00 |\n\
             | *geometric mean* | | **x 2.50** | | **x 4.00** |\n"
        );
        assert!(compilers(&lines[1..]).is_none());
    }
}
