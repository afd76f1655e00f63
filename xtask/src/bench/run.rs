//! `cargo xtask bench run`: how long programs take on profiled JDKs.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};

use super::ground::Ground;
use super::machine;
use super::measure::{self, Spread};
use super::page::write_section;
use super::sources::Sources;
use super::ways::{Homes, WAYS, Way};
use crate::jdks;
use crate::process;

/// Options of `cargo xtask bench run`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The JDKs (repeatable).
    #[arg(long = "jdk", value_name = "VERSION", default_values_t = [8, 17, 25], value_parser = jdks::supported)]
    jdks: Vec<u32>,
    /// How many JVMs run each kernel in each way.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Do not wait until the machine is quiet.
    #[arg(long)]
    now: bool,
}

/// The kernels of `xtask/bench/Kernels.java`, and what each of them does.
const KERNELS: [(&str, &str); 8] = [
    ("recursion", "calls and nothing else (Fibonacci numbers)"),
    ("dispatch", "virtual calls with three targets, small methods with floating-point numbers"),
    ("collections", "`HashMap`, strings, sorting"),
    ("interpreter", "syntax trees of lambdas and classes that are evaluated"),
    ("exceptions", "`NumberFormatException` and array indices out of bounds, thrown and caught"),
    ("numbers", "a product of matrices, a sieve: loops without calls"),
    ("streams", "`IntStream` and `Stream` with lambdas"),
    ("regex", "a pattern that backtracks"),
];

/// Runs of a kernel in a JVM before those that are measured, so that it has been compiled, and those that are.
const WARM: u32 = 40;
const MEASURED: u32 = 15;

/// One program in all ways, on one JDK.
struct Row {
    name: String,
    spreads: Vec<Spread>,
}

/// All programs on one JDK.
struct Part {
    jdk: String,
    kernels: Vec<Row>,
    javac: Row,
}

/// Measures, and writes the section of docs/benchmarks.md.
///
/// # Errors
/// If a JDK or the sources that are compiled are not to be had, or a run fails or gives another result.
pub fn run(arguments: &Arguments) -> Result<()> {
    let ground = Ground::new(&arguments.jdks)?;
    let classes = ground.kernels()?;
    let sources = Sources::fetch()?;
    let compiled = ground.work().join("compiled");
    fs::create_dir(&compiled)?;

    if !arguments.now {
        machine::wait_until_quiet();
    }
    let load_before = machine::load().unwrap_or(f64::NAN);
    let mut parts = Vec::new();
    for jdk in &ground.jdks {
        eprintln!("JDK {}: {}", jdk.full_version, jdk.home.display());
        let homes = Homes::of(jdk, &ground.cctrewrite, ground.work())?;
        let mut kernels = Vec::new();
        for (name, _) in KERNELS {
            let row = interleaved(name, arguments.rounds, |way| kernel(&homes, way, &classes, name))?;
            kernels.push(row);
        }
        let javac = interleaved("javac", arguments.rounds, |way| compile(&sources, &homes, way, &compiled))?;
        parts.push(Part { jdk: jdk.full_version.clone(), kernels, javac });
    }
    let loads = [load_before, machine::load().unwrap_or(f64::NAN)];
    let file = write_section("run", &section(&parts, arguments.rounds, loads, &sources.version))?;
    eprintln!("written: {}", file.display());
    Ok(())
}

/// Runs a program in all ways, in turns, so that a slow minute of the machine hits all; each round starts with another one.
fn interleaved(name: &str, rounds: u32, mut measure: impl FnMut(Way) -> Result<f64>) -> Result<Row> {
    let mut samples: [Vec<f64>; WAYS.len()] = Default::default();
    for round in 0..rounds as usize {
        for turn in 0..WAYS.len() {
            let index = (round + turn) % WAYS.len();
            let way = WAYS[index];
            samples[index].push(measure(way).with_context(|| format!("{name}, {}", way.name()))?);
        }
    }
    let spreads: Vec<Spread> =
        samples.iter().map(|samples| Spread::of(samples)).collect::<Option<_>>().context("no round")?;
    let medians: Vec<String> = spreads.iter().map(|spread| format!("{:8.2}", 1e3 * spread.median)).collect();
    eprintln!("  {name:<12} {} ms", medians.join(" "));
    Ok(Row { name: name.to_owned(), spreads })
}

/// A kernel in a JVM of its own: the median of the processor times of its last runs, in seconds.
fn kernel(homes: &Homes, way: Way, classes: &Path, name: &str) -> Result<f64> {
    let mut java = homes.tool(way, "java", "");
    java.arg("-cp").arg(classes).args(["Kernels", name, &WARM.to_string(), &MEASURED.to_string()]);
    let output = process::output(&mut java)?;
    let (times, checksum) = output.trim_end().split_once("= ").context("the kernel said nothing")?;
    ensure!(!checksum.is_empty(), "there is no checksum");
    let times: Vec<f64> =
        times.split_whitespace().map(|time| Ok(time.parse::<f64>()? / 1e9)).collect::<Result<_>>()?;
    Ok(Spread::of(&times).context("no time")?.median)
}

/// Compiles the library in a JVM of its own; the processor time of the whole process in seconds.
fn compile(sources: &Sources, homes: &Homes, way: Way, into: &Path) -> Result<f64> {
    let mut javac = homes.tool(way, "javac", "-J");
    sources.compile(&mut javac, into);
    let run = measure::run(&mut javac)?;
    if run.cpu_seconds <= 0.0 {
        bail!("no processor time was seen");
    }
    Ok(run.cpu_seconds)
}

/// The ratios to the plain JDK, in the order of [`WAYS`].
fn ratios(row: &Row) -> Vec<f64> {
    let plain = row.spreads.first().map_or(f64::NAN, |plain| plain.median);
    row.spreads.iter().map(|spread| spread.median / plain).collect()
}

/// Geometric means of the ratios of some programs.
fn means(rows: &[Row]) -> Vec<f64> {
    let all: Vec<Vec<f64>> = rows.iter().map(ratios).collect();
    let mean = |way: usize| {
        let logarithms: f64 = all.iter().map(|ratios| ratios[way].ln()).sum();
        (logarithms / all.len() as f64).exp()
    };
    (0..WAYS.len()).map(mean).collect()
}

fn section(parts: &[Part], rounds: u32, [before, after]: [f64; 2], sources: &str) -> String {
    let mut text = String::from("## Running programs: `cargo xtask bench run`\n\n");
    // Writing to a String cannot fail.
    for Part { jdk, kernels, javac } in parts {
        let _ = writeln!(text, "JDK {jdk}:\n");
        let heads: Vec<String> = WAYS[1..].iter().map(|way| format!(" {} |", way.name())).collect();
        let _ = writeln!(text, "| | plain |{}", heads.concat());
        let _ = writeln!(text, "|---|---|{}", "---|".repeat(heads.len()));
        for row in kernels.iter().chain([javac]) {
            let _ = writeln!(text, "{}", line(row));
        }
        let means: Vec<String> =
            means(kernels)[1..].iter().map(|mean| format!(" **x {mean:.2}** |")).collect();
        let _ = writeln!(text, "| *kernels, geometric mean* | |{}\n", means.concat());
    }
    let kernels: Vec<String> = KERNELS.iter().map(|(name, does)| format!("*{name}*: {does}")).collect();
    let (machine, commit, date) = (machine::describe(), machine::commit(), machine::date());
    let _ = write!(
        text,
        "Plain: milliseconds of processor time, median and, in parentheses, least and most of {rounds} JVMs. The other columns: how many times that the median is, and least and most likewise, each over the plain
median. All ways took turns. Load average {before:.2} before, {after:.2} after. {date}, commit {commit} (`+`: with changes).

- **Machine**: {machine}.
- **Kernels** (`xtask/bench/Kernels.java`): in each JVM {WARM} runs to warm up, then the median of {MEASURED} runs, time of the running thread alone. {kernels}.
- **javac** compiles {sources} in a JVM of its own: time of the whole process, all threads, those of the compilers and the collector included, and writing the profile. Its classes are the image's, so they were rewritten
  beforehand; on JDK 8 (`tools.jar`) they are rewritten as they are loaded.
- **recording off** runs all rewritten code with `-Dcctrewrite.record=off`; **calls** is `--metrics calls`; **exact** what is made by default, calls and bytecodes; **precise** and **papers' default** the other rules of `--blocks`; **activation** exact with
  `--activation-counters`; **native** exact with `--intrinsics native`.
",
        kernels = kernels.join("; "),
    );
    text
}

/// A program's line of the table.
fn line(row: &Row) -> String {
    let mut text = format!("| {} |", row.name);
    let plain = row.spreads.first().map_or(f64::NAN, |plain| plain.median);
    for (way, spread) in WAYS.iter().zip(&row.spreads) {
        let Spread { median, least, most } = spread;
        let _ = match way {
            Way::Plain => {
                write!(text, " {:.1} ({:.1} to {:.1}) |", 1e3 * median, 1e3 * least, 1e3 * most)
            }
            _ => write!(text, " x {:.2} ({:.2} to {:.2}) |", median / plain, least / plain, most / plain),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(medians: [f64; WAYS.len()]) -> Row {
        let spread = |median| Spread { median, least: median / 2.0, most: median * 2.0 };
        Row { name: "it".to_owned(), spreads: medians.map(spread).to_vec() }
    }

    #[test]
    fn times_are_multiples_of_the_plain_ones() {
        let row = row([0.010, 0.011, 0.015, 0.020, 0.025, 0.010, 0.010, 0.010]);
        assert_eq!(
            line(&row),
            "| it | 10.0 (5.0 to 20.0) | x 1.10 (0.55 to 2.20) | x 1.50 (0.75 to 3.00) | x 2.00 (1.00 to 4.00) | \
             x 2.50 (1.25 to 5.00) | x 1.00 (0.50 to 2.00) | x 1.00 (0.50 to 2.00) | x 1.00 (0.50 to 2.00) |"
        );
    }

    #[test]
    fn means_are_geometric() {
        let means = means(&[row([1.0; 8]), row([1.0, 4.0, 1.0, 1.0, 1.0, 16.0, 1.0, 1.0])]);
        assert_eq!((means[1], means[5]), (2.0, 4.0));
    }
}
