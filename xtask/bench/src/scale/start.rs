//! Start-up: from the start of a process to `main`, and to the tenth iteration of its work.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, ensure};
use xtask_tools::jdks::released_version;
use xtask_tools::process;

use super::super::measure::Spread;
use super::super::ways::{Homes, Way};
use super::common::{Bench, ModeOutput, PartResult, spread};

/// The JDKs on which starting is measured.
pub const STARTS: [u32; 3] = [8, 17, 25];

const WAYS: [Way; 3] = [Way::Plain, Way::Off, Way::Exact];

/// Number of iterations of the work.
const TIMES: usize = 10;
/// Number of the library's files that each iteration compiles, with those that they need.
const FILES: usize = 8;
/// Number of starts per round, since starting is short.
const STARTS_EACH: u32 = 5;

/// Times in milliseconds since the start of the process.
struct Row {
    way: Way,
    /// Until main is entered.
    main: Spread,
    /// Until the end of a process that does nothing else.
    end: Spread,
    /// Until the end of the first, the second and the last iteration.
    work: [Spread; 3],
    /// Duration of the last iteration.
    last: Spread,
}

/// Measures start-up.
pub fn measure(bench: &Bench) -> Result<PartResult> {
    let mut text = format!(
        "### From the start on

Milliseconds since the start of the process. *main*: until `main` is entered. *end*: until a program that prints one line has ended, its profile written. Then until javac
has compiled {FILES} files and what they need ({}) for the first, second and {TIMES}th time in one JVM, and what the {TIMES}th time takes alone. Elapsed time.

| JDK | | main | end | 1st | 2nd | {TIMES}th | {TIMES}th alone |
|---|---|---|---|---|---|---|---|
",
        bench.sources.version
    );
    for version in STARTS {
        let jdk = bench.ground.jdks.iter().find(|jdk| released_version(&jdk.home) == Some(version));
        let jdk = jdk.with_context(|| format!("no JDK {version}"))?;
        let homes = Homes::of(jdk, &bench.ground.cctrewrite, bench.ground.work(), &WAYS)?;
        let rows = on(bench, &homes)?;
        let plain = rows.first().context("no way")?;
        for row in &rows {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "| {version} | {}", line(row, plain));
        }
        eprintln!("{text}");
    }
    Ok(PartResult { text, picture: None })
}

fn on(bench: &Bench, homes: &Homes) -> Result<Vec<Row>> {
    let mut main: [Vec<f64>; 3] = Default::default();
    let mut end: [Vec<f64>; 3] = Default::default();
    let mut work: [[Vec<f64>; 3]; 3] = Default::default();
    let mut last: [Vec<f64>; 3] = Default::default();
    let into = bench.ground.work().join("into");
    std::fs::create_dir_all(&into)?;
    let files: Vec<String> = bench.sources.some(FILES).map(|file| file.display().to_string()).collect();
    for _ in 0..bench.rounds {
        for (index, way) in WAYS.into_iter().enumerate() {
            for _ in 0..STARTS_EACH {
                let (said, ended) = start(bench, homes, way, 0, &[])?;
                main[index].push(*said.first().context("no time")?);
                end[index].push(ended);
            }
            let mut arguments =
                vec![into.display().to_string(), bench.sources.folder().display().to_string()];
            arguments.extend(files.iter().cloned());
            let (said, _) = start(bench, homes, way, TIMES, &arguments)?;
            ensure!(said.len() == TIMES + 1, "{} times", said.len());
            for (at, samples) in [1, 2, TIMES].into_iter().zip(&mut work[index]) {
                samples.push(said[at]);
            }
            last[index].push(said[TIMES] - said[TIMES - 1]);
        }
    }
    let mut rows = Vec::new();
    for (index, way) in WAYS.into_iter().enumerate() {
        let [first, second, tenth] = &work[index];
        rows.push(Row {
            way,
            main: spread(&main[index])?,
            end: spread(&end[index])?,
            work: [spread(first)?, spread(second)?, spread(tenth)?],
            last: spread(&last[index])?,
        });
    }
    Ok(rows)
}

/// The times that the program reports and its end, in milliseconds since its start.
fn start(
    bench: &Bench,
    homes: &Homes,
    way: Way,
    times: usize,
    arguments: &[String],
) -> Result<(Vec<f64>, f64)> {
    let mut java = homes.java(way)?;
    java.arg("-cp").arg(&bench.programs).args(["Scale", "start", &times.to_string()]);
    java.args(arguments);
    let started = milliseconds()?;
    let output = process::output(&mut java)?;
    let ended = milliseconds()? - started;
    // The program's clock has no fractions of milliseconds.
    let said = ModeOutput::parse(&output)?.numbers.into_iter().map(|at| at + 0.5 - started);
    Ok((said.collect(), ended))
}

fn milliseconds() -> Result<f64> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs_f64() * 1e3)
}

/// A line of the table, without the JDK.
fn line(row: &Row, plain: &Row) -> String {
    let cell = |spread: Spread, plain: Spread| match row.way {
        Way::Plain => format!("{:.0} ({:.0} to {:.0})", spread.median, spread.least, spread.most),
        _ => format!("{:.0} (x {:.2})", spread.median, spread.median / plain.median),
    };
    let mut cells = vec![row.way.name().to_owned(), cell(row.main, plain.main), cell(row.end, plain.end)];
    cells.extend(row.work.into_iter().zip(plain.work).map(|(spread, plain)| cell(spread, plain)));
    cells.push(cell(row.last, plain.last));
    format!("{} |", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_times_have_spreads_and_others_ratios() {
        let at = |median| Spread { median, least: median - 1.0, most: median + 1.0 };
        let row = |way, by: f64| Row {
            way,
            main: at(40.0 * by),
            end: at(50.0 * by),
            work: [at(500.0 * by), at(800.0 * by), at(2000.0 * by)],
            last: at(100.0 * by),
        };
        let plain = row(Way::Plain, 1.0);
        assert!(line(&plain, &plain).starts_with("plain | 40 (39 to 41) | 50 (49 to 51) | 500 "));
        let exact = line(&row(Way::Exact, 2.0), &plain);
        assert_eq!(
            exact,
            "exact | 80 (x 2.00) | 100 (x 2.00) | 1000 (x 2.00) | 1600 (x 2.00) | 4000 (x 2.00) | 200 (x 2.00) |"
        );
    }
}
