//! Loading of an application's classes: plain, rewritten at load time, and rewritten beforehand.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use xtask_programs::catalogue::programs;
use xtask_programs::packages::Packages;
use xtask_programs::place::instrument;
use xtask_tools::jdks::Fetch;

use super::super::chart::{Across, Chart, Curve};
use super::super::measure::Spread;
use super::super::ways::Way;
use super::common::{Bench, PartResult, shown, spread};

/// The program whose jars are loaded.
const PROGRAM: &str = "jython";
/// Number of parts after which times are taken.
const MARKS: usize = 8;

const NAMES: [&str; 3] = ["plain", "rewritten at load time", "rewritten beforehand"];

/// Measures the loading.
pub fn measure(bench: &Bench) -> Result<PartResult> {
    let program = programs().find(|program| program.name == PROGRAM);
    let fetched = Packages::new(Fetch::IfMissing)?.get(program.context("it is not in the catalogue")?)?;
    let jars: Vec<PathBuf> = fetched.jars.iter().map(|(_, jar)| jar.clone()).collect();
    let beforehand = bench.ground.work().join("beforehand");
    fs::create_dir(&beforehand)?;
    instrument(&bench.ground.cctrewrite, &[bench.homes.home(Way::Exact)?.to_owned()], &jars, &beforehand)?;
    let rewritten: Vec<PathBuf> =
        jars.iter().filter_map(|jar| Some(beforehand.join(jar.file_name()?))).collect();

    let mut samples: [[Vec<f64>; MARKS]; 3] = Default::default();
    let mut loaded = None;
    for _ in 0..bench.rounds {
        let ways = [(Way::Plain, &jars), (Way::Exact, &jars), (Way::Exact, &rewritten)];
        for ((way, jars), samples) in ways.into_iter().zip(&mut samples) {
            let mut arguments = vec!["classes".to_owned(), MARKS.to_string()];
            arguments.extend(jars.iter().map(|jar| jar.display().to_string()));
            let said = bench.scale(way, &arguments)?;
            ensure!(
                *loaded.get_or_insert_with(|| said.same.clone()) == said.same,
                "other classes are loaded"
            );
            ensure!(said.numbers.len() == MARKS, "{} marks", said.numbers.len());
            for (at, samples) in said.numbers.iter().zip(samples) {
                samples.push(at / 1e9);
            }
        }
    }
    let mut seconds = Vec::new();
    for way in &samples {
        seconds.push(way.iter().map(|at| spread(at)).collect::<Result<Vec<_>>>()?);
    }
    let count: f64 = loaded.context("no round")?.parse()?;
    let found = found(&seconds, count, &fetched.versions.join(", "));
    eprintln!("{}", found.text);
    Ok(found)
}

/// `seconds`: for each way, at each mark.
fn found(seconds: &[Vec<Spread>], count: f64, versions: &str) -> PartResult {
    let mut text = format!(
        "### Classes that are loaded

All {count} classes in the jars of {PROGRAM} that find what they extend are loaded, by their names and by one thread, and not initialised; the JVM has just started.
*Each*: what a class takes more than the plain one.

| | s | each |
|---|---|---|
"
    );
    let last = |way: usize| seconds.get(way).and_then(|marks| marks.last());
    for (way, name) in NAMES.iter().enumerate() {
        let (Some(plain), Some(all)) = (last(0), last(way)) else { continue };
        let each = match way {
            0 => "-".to_owned(),
            _ => format!("{:.0} µs", 1e6 * (all.median - plain.median) / count),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "| {name} | {} | {each} |", shown(all, 2));
    }
    let _ = writeln!(text, "\nThe jars: {versions}.");
    let curves = NAMES
        .iter()
        .zip(seconds)
        .map(|(name, marks)| Curve {
            name: (*name).to_owned(),
            points: (1..)
                .zip(marks)
                .map(|(part, spread)| ((count * f64::from(part) / MARKS as f64).round(), spread.median))
                .collect(),
        })
        .collect();
    let chart = Chart {
        title: "Time over the number of classes that are loaded",
        below: "classes",
        across: Across::Linear,
        unit: "s",
        curves,
    };
    PartResult { text, picture: Some(("benchmarks-loading.svg", chart)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_takes_its_share_of_what_is_added() {
        let at = |median| vec![Spread { median, least: median, most: median }];
        let found = found(&[at(1.0), at(1.5), at(1.25)], 1000.0, "some 1");
        assert!(
            found.text.contains("| rewritten at load time | 1.50 (1.50 to 1.50) | 500 µs |"),
            "{}",
            found.text
        );
        assert!(
            found.text.contains("| rewritten beforehand | 1.25 (1.25 to 1.25) | 250 µs |"),
            "{}",
            found.text
        );
    }
}
