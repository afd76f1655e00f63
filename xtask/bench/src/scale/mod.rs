//! `cargo xtask bench scale`: growth of costs with threads, contexts and classes, and during
//! warm-up.

mod classes;
mod common;
mod profiles;
mod start;
mod threads;

use std::fmt::Write as _;
use std::fs;

use anyhow::{Context as _, Result};
use xtask_tools::jdks;
use xtask_tools::print::print_line;
use xtask_tools::workspace;

use super::chart;
use super::ground::Ground;
use super::machine;
use super::page::write_section;
use super::sources::Sources;
use super::ways::{Homes, Way};
use common::Bench;
use start::STARTS;

/// Options of `cargo xtask bench scale`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The JDK of all parts except start-up, which is measured on 8, 17 and 25.
    #[arg(long, value_name = "VERSION", default_value_t = 17, value_parser = jdks::supported)]
    jdk: u32,
    /// How often everything is measured.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Only these parts (repeatable). Prints the results and leaves docs unchanged.
    #[arg(long, value_name = "PART")]
    part: Vec<Part>,
    /// Do not wait until the machine is quiet.
    #[arg(long)]
    now: bool,
}

/// A part of the benchmark.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// From start to main, and to the tenth iteration.
    Start,
    /// A program with more and more threads.
    Threads,
    /// Classes loaded, and so rewritten, while the program runs.
    Classes,
    /// Commands on profiles of more and more contexts.
    Profiles,
}

const PARTS: [Part; 4] = [Part::Start, Part::Threads, Part::Classes, Part::Profiles];

/// Measures, and writes the section of docs/benchmarks.md.
///
/// # Errors
/// Fails if a JDK is missing, or a run fails.
pub fn run(arguments: &Arguments) -> Result<()> {
    let chosen: Vec<Part> =
        PARTS.into_iter().filter(|part| arguments.part.is_empty() || arguments.part.contains(part)).collect();
    let starts = chosen.contains(&Part::Start);
    let mut versions = vec![arguments.jdk];
    versions.extend(STARTS.into_iter().filter(|&version| starts && version != arguments.jdk));
    let ground = Ground::new(&versions)?;
    let jdk = ground.jdks.first().context("no JDK")?;
    let homes = Homes::of(jdk, &ground.cctrewrite, ground.work(), &[Way::Plain, Way::Exact])?;
    let full_version = jdk.full_version.clone();
    let programs = ground.classes("Scale.java")?;
    let bench = Bench { homes, programs, sources: Sources::fetch()?, rounds: arguments.rounds, ground };
    if !arguments.now {
        machine::wait_until_quiet();
    }
    let load_before = machine::load().unwrap_or(f64::NAN);
    let mut text = format!(
        "## Growth: `cargo xtask bench scale`\n\nOn JDK {full_version}, unless another is named.\n\n"
    );
    for part in chosen {
        let found = match part {
            Part::Start => start::measure(&bench)?,
            Part::Threads => threads::measure(&bench)?,
            Part::Classes => classes::measure(&bench)?,
            Part::Profiles => profiles::measure(&bench)?,
        };
        text += &found.text;
        text.push('\n');
        if let Some((name, chart)) = found.picture.filter(|_| arguments.part.is_empty()) {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "![{}]({name})\n", chart.title);
            let file = workspace::root().join("docs").join(name);
            fs::write(&file, chart::draw(&chart)).with_context(|| format!("write {}", file.display()))?;
        }
    }
    let load_after = machine::load().unwrap_or(f64::NAN);
    let (machine, commit, date) = (machine::describe(), machine::commit(), machine::date());
    let _ = write!(
        text,
        "Medians and, in parentheses, least and most of {} rounds; all ways took turns. The image has default options (*exact*).
Load average {load_before:.2} before, {load_after:.2} after. {date}, commit {commit} (`+`: with changes).

- **Machine**: {machine}.
",
        arguments.rounds
    );
    if !arguments.part.is_empty() {
        return print_line(&text);
    }
    let file = write_section("scale", &text)?;
    eprintln!("written: {}", file.display());
    Ok(())
}
