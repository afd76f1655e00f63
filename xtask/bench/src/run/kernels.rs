//! The kernels of `xtask/bench/Kernels.java`: costs of a warm program, one aspect at a time.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use xtask_tools::process;

use super::super::measure::Spread;
use super::super::ways::{Homes, WAYS, Way};
use super::programs::Clock;
use super::recreated::{self, RecreatedSchemes, SCHEMES};

/// The kernels, with their descriptions.
pub const KERNELS: [(&str, &str); 8] = [
    ("recursion", "calls and nothing else (Fibonacci numbers)"),
    ("dispatch", "virtual calls with three targets, small methods with floating-point numbers"),
    ("collections", "`HashMap`, strings, sorting"),
    ("interpreter", "syntax trees of lambdas and classes that are evaluated"),
    ("exceptions", "`NumberFormatException` and array indices out of bounds, thrown and caught"),
    ("numbers", "a product of matrices, a sieve: loops without calls"),
    ("streams", "`IntStream` and `Stream` with lambdas"),
    ("regex", "a pattern that backtracks"),
];

/// Number of warm-up runs of a kernel in a JVM, so that it is compiled.
pub const WARM: u32 = 40;
/// Number of measured runs.
pub const MEASURED: u32 = 15;

/// One kernel in all ways, on one JDK.
pub struct Row {
    /// The kernel's name.
    pub name: String,
    /// Spreads of processor times in seconds, in the order of [`WAYS`].
    pub spreads: Vec<Spread>,
    /// Spreads for the papers' schemes, in the order of [`SCHEMES`]; empty where they do not apply.
    pub recreated: Vec<Spread>,
}

impl Row {
    /// The ratios to the plain JDK, in the order of [`WAYS`].
    pub fn ratios(&self) -> Vec<f64> {
        let plain = self.spreads.first().map_or(f64::NAN, |plain| plain.median);
        self.spreads.iter().map(|spread| spread.median / plain).collect()
    }
}

/// Runs a kernel in all ways, and by the papers' schemes, in turns. So a slow minute of the machine
/// affects all; each round starts with another one.
///
/// # Errors
/// Fails if a run fails.
pub fn measure(
    homes: &Homes,
    classes: &Path,
    recreated: Option<&RecreatedSchemes>,
    name: &str,
    rounds: u32,
    clock: &Clock,
) -> Result<Row> {
    let recreated = recreated.filter(|_| recreated::KERNELS.contains(&name));
    let turns = WAYS.len() + recreated.map_or(0, |_| SCHEMES.len());
    let mut samples = vec![Vec::new(); turns];
    for round in 0..rounds as usize {
        for turn in 0..turns {
            let index = (round + turn) % turns;
            let (way, scheme) = match index.checked_sub(WAYS.len()) {
                None => (WAYS[index], None),
                Some(index) => (Way::Plain, Some(SCHEMES[index])),
            };
            let rewritten = recreated.zip(scheme).map(|(recreated, scheme)| recreated.classes(scheme));
            let time = once(homes, way, rewritten.as_deref().unwrap_or(classes), name);
            let who = scheme.map_or(way.name(), super::recreated::Scheme::name);
            samples[index].push(time.with_context(|| format!("{name}, {who}"))?);
        }
    }
    let mut spreads: Vec<Spread> =
        samples.iter().map(|samples| Spread::of(samples)).collect::<Option<_>>().context("no round")?;
    let medians: Vec<String> = spreads.iter().map(|spread| format!("{:8.2}", 1e3 * spread.median)).collect();
    clock.say(&format!("{name:<12} {} ms", medians.join(" ")));
    let recreated = spreads.split_off(WAYS.len());
    Ok(Row { name: name.to_owned(), spreads, recreated })
}

/// Runs a kernel in a JVM of its own; returns the median of the processor times of its last runs,
/// in seconds.
fn once(homes: &Homes, way: Way, classes: &Path, name: &str) -> Result<f64> {
    let mut java = homes.java(way)?;
    java.arg("-cp").arg(classes).args(["Kernels", name, &WARM.to_string(), &MEASURED.to_string()]);
    let output = process::output(&mut java)?;
    let (times, checksum) = output.trim_end().split_once("= ").context("the kernel said nothing")?;
    ensure!(!checksum.is_empty(), "there is no checksum");
    let times: Vec<f64> =
        times.split_whitespace().map(|time| Ok(time.parse::<f64>()? / 1e9)).collect::<Result<_>>()?;
    Ok(Spread::of(&times).context("no time")?.median)
}
