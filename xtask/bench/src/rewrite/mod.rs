//! `cargo xtask bench rewrite`: time to instrument class libraries and applications, compared with
//! other tools for classes.

mod copier;
mod inputs;
mod parts;
pub mod peers;
mod rounds;
mod row;
mod section;
mod subject;

use std::fs;

use anyhow::{Context as _, Result};
use clap::ValueEnum as _;
use xtask_tools::jdks::{self, Answer, Fetch, Jdk};
use xtask_tools::workspace;

use super::chart;
use super::machine;
use super::page::write_section;
use copier::Copier;
use inputs::{Input, Name};
use peers::Peers;
use section::{Page, Table};
use subject::{Bench, Subject};

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
                missing.push(format!("{}: missing ({reason:#})", name.title()));
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
        let rows = rounds::measure(&bench, input, jdk, &subjects, rounds, tables.is_empty(), &mut missing)?;
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
