//! `cargo xtask bench rewrite`: time to instrument class libraries and applications, compared with
//! other tools for classes.

mod copier;
mod inputs;
mod parts;
pub mod peers;
mod section;
mod subject;

use std::fs;

use anyhow::{Context as _, Result};
use clap::ValueEnum as _;

use super::chart;
use super::machine;
use super::page::write_section;
use crate::jdks::{self, Answer, Fetch, Jdk};
use crate::workspace;
use copier::Copier;
use inputs::{Input, Name};
use peers::Peers;
use section::{Page, Row, Table};
use subject::{Bench, Sample, Subject};

/// Options of `cargo xtask bench rewrite`.
#[derive(clap::Args)]
pub struct Arguments {
    /// How often rt.jar is measured; all of JDK 8, modules and parts half as often, and jars of
    /// applications a third as often.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// The inputs (repeatable). Default: all. Otherwise the section says which are missing.
    #[arg(long = "input", value_name = "NAME")]
    inputs: Vec<Name>,
    /// Also measure the foreign libraries on other inputs than rt.jar, which takes several times as
    /// long.
    #[arg(long)]
    all_peers: bool,
    /// Do not wait until the machine is quiet.
    #[arg(long)]
    now: bool,
}

/// Measures, and writes the section of docs/benchmarks.md with its picture.
///
/// # Errors
/// Fails if JDK 8 is missing, or a run of cctrewrite fails. Other missing parts are skipped and
/// reported.
pub fn run(arguments: &Arguments) -> Result<()> {
    let wanted = |name: &Name| arguments.inputs.is_empty() || arguments.inputs.contains(name);
    let jdks = Jdks(jdks::get(&[8, 17, 25], Fetch::IfMissing)?);
    let jdk_8 = jdks.of(8)?;
    let built = workspace::build_release(jdk_8)?;
    let folder = built.target.join("bench");
    fs::create_dir_all(&folder)?;
    let work = tempfile::tempdir_in(&folder)?;
    let bench = Bench {
        cctrewrite: built.program,
        copier: Copier(workspace::build_release_of(jdk_8, "copier")?.program),
        peers: Peers::prepare(jdk_8, work.path())?,
        output: work.path().join("out"),
    };

    let mut missing: Vec<String> = Vec::new();
    let mut prepared = Vec::new();
    for &name in Name::value_variants() {
        if !wanted(&name) {
            missing.push(format!("{}: not asked for", name.title()));
            continue;
        }
        eprintln!("preparing: {}", name.title());
        match jdks
            .of(name.jdk())
            .and_then(|jdk| Ok((Input::prepare(name, jdk, &bench.copier, work.path())?, jdk)))
        {
            Ok(input) => prepared.push(input),
            Err(reason) => {
                eprintln!("skipped: {}: {reason:#}", name.title());
                missing.push(format!("{}: not to be had ({reason:#})", name.title()));
            }
        }
    }

    if !arguments.now {
        machine::wait_until_quiet();
    }
    let load_before = machine::load().unwrap_or(f64::NAN);
    let mut tables = Vec::new();
    let mut parts = None;
    for (input, jdk) in &prepared {
        let rounds = input.name.rounds(arguments.rounds);
        if input.name == Name::Parts {
            parts = Some(parts::measure(&bench, input, jdk, rounds, work.path(), &mut missing)?);
            continue;
        }
        let subjects = Subject::on(input.name, arguments.all_peers);
        let rows = measure(&bench, input, jdk, &subjects, rounds, tables.is_empty(), &mut missing)?;
        tables.push(Table::new(input, rounds, rows)?);
    }
    let load_after = machine::load().unwrap_or(f64::NAN);

    let picture = workspace::root().join("docs").join(section::PICTURE);
    if let Some(parts) = &parts {
        fs::write(&picture, chart::draw(&parts.chart()))
            .with_context(|| format!("write {}", picture.display()))?;
    }
    let page = Page { tables, parts, missing, peers: bench.peers.describe(), load_before, load_after };
    let file = write_section("rewrite", &section::section(&page))?;
    eprintln!("written: {}", file.display());
    Ok(())
}

/// The requested JDKs.
struct Jdks(Vec<Answer>);

impl Jdks {
    fn of(&self, version: u32) -> Result<&Jdk> {
        let answer = self.0.iter().find(|answer| answer.version == version);
        let answer = answer.with_context(|| format!("no answer about JDK {version}"))?;
        answer.jdk.as_ref().map_err(|reason| anyhow::anyhow!("{reason:#}"))
    }
}

/// Measures everything on one input, in rounds. Collects failures in `missing`.
fn measure(
    bench: &Bench,
    input: &Input,
    jdk: &Jdk,
    subjects: &[Subject],
    rounds: u32,
    warm_up: bool,
    missing: &mut Vec<String>,
) -> Result<Vec<Row>> {
    let title = input.name.title();
    eprintln!("{title}: {} classes", input.classes);
    let mut runs: Vec<(Subject, Vec<Sample>)> = Vec::new();
    for &subject in subjects {
        if !bench.has(subject) {
            continue; // The section says why.
        }
        // A first round fills the file cache with the programs, and is not counted; later inputs
        // are read once.
        let is_warm_up =
            matches!(subject, Subject::PlainCopy) || (warm_up && !matches!(subject, Subject::LaterPasses(_)));
        if is_warm_up && let Err(error) = bench.measure(subject, input, jdk) {
            give_up(subject, title, error, missing)?;
            continue;
        }
        runs.push((subject, Vec::new()));
    }
    for round in 0..rounds {
        eprintln!("round {} of {rounds}", round + 1);
        // Interleaved, so that a slow minute of the machine affects all; each round starts with
        // another one.
        let count = runs.len();
        for turn in 0..count {
            let (subject, samples) = &mut runs[(round as usize + turn) % count];
            if !subject.is_in_round(round) {
                continue;
            }
            match bench.measure(*subject, input, jdk) {
                Ok(sample) => {
                    let seconds: Vec<String> =
                        sample.seconds.iter().map(|seconds| format!("{seconds:.3}")).collect();
                    eprintln!("  {:<58} {} s", subject.name(), seconds.join(" "));
                    if sample.left > 0 {
                        say(
                            missing,
                            format!(
                                "{title}, {}: {} classes (left as they were)",
                                subject.name(),
                                sample.left
                            ),
                        );
                    }
                    samples.push(sample);
                }
                Err(error) => give_up(*subject, title, error, missing)?,
            }
        }
    }
    Ok(runs.iter().filter_map(|(subject, samples)| Row::of(*subject, samples)).collect())
}

/// Handles a failed run: fails for cctrewrite, and adds a line for a foreign library.
fn give_up(subject: Subject, title: &str, error: anyhow::Error, missing: &mut Vec<String>) -> Result<()> {
    if subject.is_ours() {
        return Err(error);
    }
    let first_line = format!("{error:#}").lines().next().unwrap_or_default().to_owned();
    say(missing, format!("{title}, {}: failed ({first_line})", subject.name()));
    Ok(())
}

/// Adds a line about a failure, once.
fn say(missing: &mut Vec<String>, what: String) {
    if !missing.contains(&what) {
        eprintln!("{what}");
        missing.push(what);
    }
}
