//! The same work, done by more and more threads: each has a tree of its own, and nothing is shared.

use std::fmt::Write as _;
use std::fs;

use anyhow::{Result, ensure};
use cct_profile::Profile;

use super::super::chart::{Across, Chart, Curve};
use super::super::measure::Spread;
use super::super::ways::Way;
use super::common::{Bench, PartResult, shown, spread};

/// Numbers of threads.
const COUNTS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
/// The kernel, and its total number of runs over all threads.
const KERNEL: &str = "interpreter";
const UNITS: u32 = 256;

struct Row {
    count: u32,
    /// Times in seconds, plain and exact.
    seconds: [Spread; 2],
    /// Trees and contexts of the profile.
    trees: usize,
    contexts: usize,
}

/// Measures the kernel.
pub fn measure(bench: &Bench) -> Result<PartResult> {
    let mut rows = Vec::new();
    let mut same = None;
    for count in COUNTS {
        let mut samples = [Vec::new(), Vec::new()];
        for _ in 0..bench.rounds {
            for (way, samples) in [Way::Plain, Way::Exact].into_iter().zip(&mut samples) {
                let arguments = ["threads", KERNEL, &count.to_string(), &UNITS.to_string()];
                let said = bench.scale(way, &arguments.map(str::to_owned))?;
                ensure!(*same.get_or_insert_with(|| said.same.clone()) == said.same, "another checksum");
                samples.push(said.numbers.iter().sum::<f64>() / 1e9);
            }
        }
        let profile = Profile::read(&fs::read(bench.homes.profile())?)?;
        let row = Row {
            count,
            seconds: [spread(&samples[0])?, spread(&samples[1])?],
            trees: profile.threads.len(),
            contexts: profile.threads.iter().map(|thread| thread.tree.nodes().len()).sum(),
        };
        eprintln!("{count:>3} threads: {:.2} s, {:.2} s", row.seconds[0].median, row.seconds[1].median);
        rows.push(row);
    }
    Ok(found(&rows))
}

fn found(rows: &[Row]) -> PartResult {
    let mut text = format!(
        "### Threads

The kernel *{KERNEL}*, {UNITS} times by all threads together, when it has been compiled; elapsed time.

| threads | plain s | exact s | exact / plain | trees | contexts |
|---|---|---|---|---|---|
"
    );
    for Row { count, seconds: [plain, exact], trees, contexts } in rows {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "| {count} | {} | {} | x {:.2} | {trees} | {contexts} |",
            shown(plain, 2),
            shown(exact, 2),
            exact.median / plain.median
        );
    }
    let curve = |name: &str, of: usize| Curve {
        name: name.to_owned(),
        points: rows.iter().map(|row| (f64::from(row.count), row.seconds[of].median)).collect(),
    };
    let chart = Chart {
        title: "Time over the number of threads, the work being the same",
        below: "threads",
        across: Across::Doubling,
        unit: "s",
        curves: vec![curve("plain", 0), curve("exact", 1)],
    };
    PartResult { text, picture: Some(("benchmarks-threads.svg", chart)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_its_ratio() {
        let second = |median| Spread { median, least: median, most: median };
        let row = Row { count: 2, seconds: [second(1.0), second(2.5)], trees: 5, contexts: 1000 };
        let found = found(&[row]);
        assert!(
            found.text.ends_with("| 2 | 1.00 (1.00 to 1.00) | 2.50 (2.50 to 2.50) | x 2.50 | 5 | 1000 |\n"),
            "{}",
            found.text
        );
    }
}
