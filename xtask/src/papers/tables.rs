//! The tables in Markdown, with the columns of the papers.

use std::fmt;

use anyhow::{Context as _, Result};

/// The results of a program.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    name: &'static str,
    /// Contexts of natives, and calls of them, each with its share in percent.
    natives: [(u64, f64); 2],
    /// Overlap by calls with the tree without natives, in percent.
    overlap: f64,
    /// Calls within and between application and JDK, in percent.
    library: [f64; 4],
    methods: u64,
    contexts: u64,
    depth: u64,
    calls: u64,
    bytecodes: u64,
}

impl Row {
    /// Creates a row from the CSV output of `cctrewrite report --table`, for the tables `natives`,
    /// `overlap`, `library` and `shape`.
    pub(super) fn new(
        name: &'static str,
        natives: &[String],
        overlap: &[String],
        library: &[String],
        shape: &[String],
    ) -> Result<Row> {
        Ok(Row {
            name,
            natives: [(cell(natives, 1)?, cell(natives, 2)?), (cell(natives, 3)?, cell(natives, 4)?)],
            overlap: cell(overlap, 2)?,
            library: [cell(library, 1)?, cell(library, 2)?, cell(library, 3)?, cell(library, 4)?],
            methods: cell(shape, 1)?,
            contexts: cell(shape, 2)?,
            depth: cell(shape, 4)?,
            calls: cell(shape, 6)?,
            bytecodes: cell(shape, 7)?,
        })
    }
}

fn cell<T: std::str::FromStr>(row: &[String], at: usize) -> Result<T> {
    let text = row.get(at).with_context(|| format!("no column {at} in {row:?}"))?;
    text.parse().ok().with_context(|| format!("column {at} is no number in {row:?}"))
}

/// The tables of one JDK.
#[derive(Debug, Default)]
pub(super) struct Tables {
    /// A row for each program.
    pub(super) rows: Vec<Row>,
    /// Programs without a row, and why.
    pub(super) left_out: Vec<String>,
}

impl fmt::Display for Tables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tables { rows, left_out } = self;
        f.write_str(
            "### Natives, and the overlap with trees without them (CCCP, table 1)\n\n\
             | program | contexts of natives | | calls of natives | | overlap |\n\
             |---|---:|---:|---:|---:|---:|\n",
        )?;
        for Row { name, natives: [(contexts, of_contexts), (calls, of_calls)], overlap, .. } in rows {
            let [contexts, calls] = [*contexts, *calls].map(grouped);
            writeln!(
                f,
                "| {name} | {contexts} | {of_contexts:.2}% | {calls} | {of_calls:.2}% | {overlap:.2}% |"
            )?;
        }
        f.write_str(
            "\n### Calls within and between application and JDK (CCCP, table 2)\n\n\
             | program | app. → app. | JDK → app. | app. → JDK | JDK → JDK |\n\
             |---|---:|---:|---:|---:|\n",
        )?;
        for Row { name, library: [a, b, c, d], .. } in rows {
            writeln!(f, "| {name} | {a:.2}% | {b:.2}% | {c:.2}% | {d:.2}% |")?;
        }
        f.write_str(
            "\n### Methods and contexts (JP2, figure 9)\n\n\
             | program | methods | contexts | depth | calls | bytecodes |\n\
             |---|---:|---:|---:|---:|---:|\n",
        )?;
        for Row { name, methods, contexts, depth, calls, bytecodes, .. } in rows {
            let [methods, contexts, depth, calls, bytecodes] =
                [*methods, *contexts, *depth, *calls, *bytecodes].map(grouped);
            writeln!(f, "| {name} | {methods} | {contexts} | {depth} | {calls} | {bytecodes} |")?;
        }
        if !left_out.is_empty() {
            writeln!(f, "\nWithout a row: {}.", left_out.join("; "))?;
        }
        Ok(())
    }
}

/// A number with commas between groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn csv(line: &str) -> Vec<String> {
        line.split(',').map(str::to_owned).collect()
    }

    #[test]
    fn rows_come_from_reports() {
        let row = Row::new(
            "p",
            &csv("a.cct,4741,8.027566,5060160,4.107572,59059,123191027"),
            &csv("a.cct,b.cct,99.5,98.5"),
            &csv("a.cct,10.5,20.5,30.25,38.75,123190954,73,0"),
            &csv("a.cct,2313,59059,28713,52,24.529945,123191027,2507140876"),
        );
        let tables = Tables { rows: vec![row.unwrap()], left_out: vec!["q (why)".to_owned()] };
        let text = tables.to_string();
        for line in [
            "| p | 4,741 | 8.03% | 5,060,160 | 4.11% | 99.50% |",
            "| p | 10.50% | 20.50% | 30.25% | 38.75% |",
            "| p | 2,313 | 59,059 | 52 | 123,191,027 | 2,507,140,876 |",
            "Without a row: q (why).",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }

    #[test]
    fn a_row_that_lacks_a_number_is_an_error() {
        let short = csv("a.cct,1");
        assert!(Row::new("p", &short, &short, &short, &short).is_err());
        let odd = csv("a.cct,x,2,3,4,5,6,7");
        assert!(Row::new("p", &odd, &odd, &odd, &odd).is_err());
    }
}
