//! `cargo xtask bench trace`: cost of traces, compared with the plain JDK and the profile, as whole
//! processes including all writing; and compression by several codecs.
//!
//! This module measures kernels and a small compilation, in all ways; [`programs`] measures real
//! programs.

mod codecs;
mod figures;
mod programs;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use xtask_tools::jdks::tool;
use xtask_tools::print::print_line;

use super::ground::Ground;
use super::machine;
use super::measure::{self, Spread};
use super::page::write_section;
use super::run::{KERNELS, geometric};
use super::turns::Choice;
use super::ways;
use figures::{sizes, spelled};

/// Options of `cargo xtask bench trace`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    choice: Choice,
    /// How often each kernel does its work in a JVM.
    #[arg(long, default_value_t = 60)]
    times: u32,
}

/// A way to run a program.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Way {
    name: &'static str,
    /// The options of its image; `None` for the plain JDK.
    image: Option<&'static [&'static str]>,
    /// The JVM's options.
    options: &'static [&'static str],
}

const TRACE: &[&str] = &["--tool", "trace"];

const WAYS: [Way; 6] = [
    Way { name: "plain", image: None, options: &[] },
    Way { name: "profile", image: Some(&[]), options: &[] },
    Way { name: "trace", image: Some(TRACE), options: &[] },
    Way { name: "in memory", image: Some(TRACE), options: &["-Dcctrewrite.trace-memory=3g"] },
    Way { name: "last 100,000", image: Some(TRACE), options: &["-Dcctrewrite.trace-last=100000"] },
    Way { name: "shared", image: Some(TRACE), options: &["-Dcctrewrite.trace-mode=shared"] },
];

/// Index of the usual trace.
const USUAL: usize = 2;

/// The small compilation.
const TEN_LINES: &str = "ten lines";

/// A program in all ways.
struct Row {
    name: String,
    seconds: Vec<Spread>,
    events: u64,
    stored: u64,
}

/// Measures, and writes the section of docs/benchmarks.md.
///
/// # Errors
/// Fails if a JDK is missing, or a run fails.
pub fn run(arguments: &Arguments) -> Result<()> {
    let choice = &arguments.choice;
    let ground = choice.ground()?;
    let jdk = ground.jdks.first().context("no JDK")?;
    let homes: Vec<PathBuf> = WAYS
        .iter()
        .map(|way| match way.image {
            None => Ok(jdk.home.clone()),
            Some(options) => ways::image(jdk, &ground.cctrewrite, options),
        })
        .collect::<Result<_>>()?;
    let kernels = ground.kernels()?;
    let names: Vec<&str> = [TEN_LINES].into_iter().chain(KERNELS.iter().map(|(name, _)| *name)).collect();
    let load_before = choice.quiet();
    let mut rows = Vec::new();
    let mut codecs = Vec::new();
    for &name in names.iter().filter(|name| choice.has(name)) {
        let left = ground.work().join("left");
        let command = |way: usize| {
            let mut java = tool(&homes[way], "java");
            java.args(WAYS[way].options).arg(format!("-Dcctrewrite.out={}", left.display()));
            program(&mut java, name, arguments, &kernels, ground.work());
            java
        };
        let (row, of_codecs) = measure_one(name, &command, &left, choice.rounds, &ground)?;
        rows.push(row);
        codecs.push((name.to_owned(), of_codecs));
    }
    let measured = choice.each(&names, |work, fetched| {
        programs::measure(choice, &ground, jdk, [&homes[1], &homes[USUAL]], work, fetched)
    })?;
    let load_after = measured.loads[1];
    let mut text = format!(
        "## Traces: `cargo xtask bench trace`

On JDK {}. Whole processes, all writing included; medians of {} runs in turns, in parentheses the least and the most. Load average {load_before:.2} before, {load_after:.2} after. {}.

- **Machine**: {}.

",
        jdk.full_version,
        choice.rounds,
        choice.origin(),
        machine::describe(),
    );
    if !rows.is_empty() {
        text += &format!(
            "Kernels, each of which does its work {} times, and `javac` compiling a class of ten lines. Elapsed time: seconds of the plain JDK, and how many times as long each way takes.

",
            arguments.times
        );
        text += &table(&rows);
    }
    if !measured.rows.is_empty() {
        text += &programs::table(&measured);
    }
    if !codecs.is_empty() {
        text += &codecs::table(&codecs);
    }
    if choice.only.is_empty() {
        print_line(&format!("wrote {}", write_section("trace", &text)?.display()))
    } else {
        print_line(&text)
    }
}

/// Adds a program and its arguments.
fn program(java: &mut Command, name: &str, arguments: &Arguments, kernels: &Path, work: &Path) {
    if name != TEN_LINES {
        java.arg("-cp").arg(kernels).args(["Kernels", name, &(arguments.times - 1).to_string(), "1"]);
        return;
    }
    let source = work.join("Ten.java");
    // If it cannot be written, javac reports it.
    let _ = fs::write(&source, codecs::TEN_LINES);
    match arguments.choice.jdk {
        8 => java.arg("-cp").arg(kernels).args(["-Djava.ext.dirs=", "com.sun.tools.javac.Main"]),
        _ => java.args(["-m", "jdk.compiler/com.sun.tools.javac.Main", "--release", "11"]),
    };
    java.args(["-proc:none", "-d"]).arg(work).arg(source);
}

fn measure_one(
    name: &str,
    command: &dyn Fn(usize) -> Command,
    left: &Path,
    rounds: u32,
    ground: &Ground,
) -> Result<(Row, Vec<codecs::CodecResult>)> {
    let mut seconds: Vec<Vec<f64>> = vec![Vec::new(); WAYS.len()];
    let (mut events, mut stored, mut of_codecs) = (0, 0, Vec::new());
    for round in 0..rounds as usize {
        for turn in 0..WAYS.len() {
            let way = (round + turn) % WAYS.len();
            let run =
                measure::run(&mut command(way)).with_context(|| format!("{name}, {}", WAYS[way].name))?;
            seconds[way].push(run.seconds);
            if way == USUAL && round == 0 {
                (events, stored) = sizes(&ground.cctrewrite, left)?;
                of_codecs = codecs::measure(left)?;
            }
            // The plain JDK leaves none.
            let _ = fs::remove_file(left);
        }
    }
    let seconds =
        seconds.iter().map(|seconds| Spread::of(seconds)).collect::<Option<Vec<_>>>().context("no round")?;
    let said: Vec<String> = seconds.iter().map(|spread| format!("{:7.2}", spread.median)).collect();
    print_line(&format!("{name:<12} {} s", said.join(" ")))?;
    Ok((Row { name: name.to_owned(), seconds, events, stored }, of_codecs))
}

fn table(rows: &[Row]) -> String {
    let mut text = "| | plain, s |".to_owned();
    for way in &WAYS[1..] {
        text += &format!(" {} |", way.name);
    }
    text += " events, M | bytes each |\n|---|---|";
    text += &"---|".repeat(WAYS.len() + 1);
    text += "\n";
    for row in rows {
        let plain = row.seconds[0];
        text += &format!("| {} | {:.2} |", row.name, plain.median);
        for of in &row.seconds[1..] {
            let by = |seconds: f64| seconds / plain.median;
            text += &format!(" {:.1} ({:.1} to {:.1}) |", by(of.median), by(of.least), by(of.most));
        }
        text += &format!(
            " {} | {} |\n",
            spelled(row.events as f64 / 1e6),
            spelled(row.stored as f64 / row.events.max(1) as f64)
        );
    }
    text += "| *geometric mean* | |";
    for way in 1..WAYS.len() {
        let by = |row: &Row| row.seconds[way].median / row.seconds[0].median;
        text += &format!(" **{:.1}** |", geometric(&rows.iter().map(by).collect::<Vec<_>>()));
    }
    text += " | |\n\n";
    text
}
