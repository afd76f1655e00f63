//! Cost of commands on profiles of more and more contexts.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use cct_profile::Profile;
use xtask_tools::jdks::tool;

use super::super::chart::{Across, Chart, Curve};
use super::super::measure::{self, Spread};
use super::super::page::megabytes;
use super::super::ways::Way;
use super::common::{Bench, PartResult, shown, spread};

/// javac gets the first few of each group of this many of the library's files.
const OF: usize = 16;
const PARTS: [usize; 4] = [1, 4, 8, 16];

/// The commands, the first profile being `P` and another run's `Q`.
const COMMANDS: [(&str, &[&str]); 4] = [
    ("report", &["report", "P"]),
    ("report --html", &["report", "P", "--html", "O"]),
    ("diff", &["diff", "P", "Q"]),
    ("merge", &["merge", "P", "Q", "-o", "O"]),
];

struct Row {
    contexts: usize,
    /// Size of the profile, in bytes.
    file: u64,
    /// For each command: seconds, and the largest resident set in KiB.
    taken: Vec<(Spread, u64)>,
}

/// Measures the commands.
pub fn measure(bench: &Bench) -> Result<PartResult> {
    let work = bench.ground.work();
    let [first, second] = ["first.cct", "second.cct"].map(|name| work.join(name));
    let mut rows = Vec::new();
    for part in PARTS {
        for profile in [&first, &second] {
            record(bench, part, profile)?;
        }
        let contexts = Profile::read(&fs::read(&first)?)?;
        let contexts = contexts.threads.iter().map(|thread| thread.tree.nodes().len()).sum();
        let mut taken = vec![(Vec::new(), 0); COMMANDS.len()];
        for _ in 0..bench.rounds {
            for ((_, arguments), (seconds, peak)) in COMMANDS.iter().zip(&mut taken) {
                let run = command(bench, arguments, &first, &second)?;
                seconds.push(run.seconds);
                *peak = run.peak_kib.max(*peak);
            }
        }
        let taken = taken
            .into_iter()
            .map(|(seconds, peak)| Ok((spread(&seconds)?, peak)))
            .collect::<Result<Vec<_>>>()?;
        let row = Row { contexts, file: fs::metadata(&first)?.len(), taken };
        let medians: Vec<String> =
            row.taken.iter().map(|(seconds, _)| format!("{:.2} s", seconds.median)).collect();
        eprintln!("{contexts:>9} contexts: {}", medians.join(", "));
        rows.push(row);
    }
    Ok(found(&rows, &bench.sources.version))
}

/// Compiles a part of the library with javac, and writes its profile.
fn record(bench: &Bench, part: usize, profile: &Path) -> Result<()> {
    let into = bench.ground.work().join("compiled");
    if into.exists() {
        fs::remove_dir_all(&into)?;
    }
    fs::create_dir(&into)?;
    let mut javac = tool(bench.homes.home(Way::Exact)?, "javac");
    javac.arg(format!("-J-Dcctrewrite.out={}", profile.display()));
    bench.sources.compile_some(&mut javac, &into, part, OF);
    measure::run(&mut javac).context("javac").map(|_| ())
}

fn command(bench: &Bench, arguments: &[&str], first: &Path, second: &Path) -> Result<measure::Run> {
    let output = bench.ground.work().join("output");
    if output.exists() {
        fs::remove_file(&output)?;
    }
    let mut command = Command::new(&bench.ground.cctrewrite);
    for argument in arguments {
        match *argument {
            "P" => command.arg(first),
            "Q" => command.arg(second),
            "O" => command.arg(&output),
            word => command.arg(word),
        };
    }
    measure::run(&mut command)
}

fn found(rows: &[Row], sources: &str) -> PartResult {
    let heads: Vec<String> = COMMANDS.iter().map(|(name, _)| format!("`{name}` s | MB |")).collect();
    let mut text = format!(
        "### Commands on profiles

javac compiling parts of {sources}; *diff* and *merge* are given the profiles of two such runs. MB: largest resident set.

| contexts | profile | {}
|---|---|{}
",
        heads.join(" "),
        "---|".repeat(2 * COMMANDS.len())
    );
    for Row { contexts, file, taken } in rows {
        let cells: Vec<String> = taken
            .iter()
            .map(|(seconds, peak)| format!("{} | {} |", shown(seconds, 2), megabytes(peak * 1024)))
            .collect();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "| {contexts} | {:.1} MB | {}", *file as f64 / 1e6, cells.join(" "));
    }
    let curve = |(at, (name, _)): (usize, &(&str, &[&str]))| Curve {
        name: (*name).to_owned(),
        points: rows
            .iter()
            .filter_map(|row| Some((row.contexts as f64 / 1e6, row.taken.get(at)?.0.median)))
            .collect(),
    };
    let chart = Chart {
        title: "Time of commands over the number of contexts",
        below: "millions of contexts",
        across: Across::Linear,
        unit: "s",
        curves: COMMANDS.iter().enumerate().map(curve).collect(),
    };
    PartResult { text, picture: Some(("benchmarks-contexts.svg", chart)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_has_two_columns() {
        let taken = vec![(Spread { median: 0.5, least: 0.25, most: 1.0 }, 1000); COMMANDS.len()];
        let found = found(&[Row { contexts: 10, file: 1_500_000, taken }], "some 1");
        assert!(found.text.contains("| 10 | 1.5 MB | 0.50 (0.25 to 1.00) | 1 | 0.50"), "{}", found.text);
        let columns = |line: &str| line.matches('|').count();
        let lines: Vec<&str> = found.text.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(lines.iter().map(|line| columns(line)).collect::<Vec<_>>(), [11, 11, 11]);
    }
}
