//! `cargo xtask bench run`: time of programs on profiled JDKs.
//!
//! [`kernels`] measures small warm programs. [`programs`] measures real ones ([`works`]) as whole
//! processes, in [`columns`], some of which are [`foreign`] profilers, and [`warm`] in one JVM that
//! repeats them. [`recreated`] has the papers' schemes; [`tables`] and [`sections`] format the
//! results.

mod arguments;
mod columns;
mod foreign;
mod kernels;
mod programs;
mod recreated;
mod sections;
mod tables;
mod warm;
pub mod works;

use anyhow::{Result, ensure};
use xtask_programs::packages::Packages;
use xtask_tools::jdks::{Fetch, Jdk};
use xtask_tools::print::print_line;

use super::ground::Ground;
use super::machine;
use super::page::write_section;
use super::ways::{Homes, WAYS, Way};
pub use arguments::Arguments;
use arguments::Part;
pub use columns::FOR_SPEED;
use columns::{COMPILERS, Column, USUAL};
use foreign::Jacoco;
pub use kernels::KERNELS;
use programs::{Bench, Clock};
use recreated::RecreatedSchemes;
use sections::{ChosenPrograms, Measurements, notes, on_one_jdk};
pub use tables::geometric;

/// Measures, and writes the section of docs/benchmarks.md.
///
/// # Errors
/// Fails if a JDK is missing, a kernel fails, or `--only` names nothing.
pub fn run(arguments: &Arguments) -> Result<()> {
    for name in &arguments.column {
        let all = USUAL.into_iter().chain(COMPILERS).chain(foreign::ALL).map(Column::word);
        let all: Vec<String> = all.collect();
        ensure!(all.contains(name), "unknown column {name}; known are {}", all.join(", "));
    }
    let chosen = ChosenPrograms::of(arguments)?;
    let clock = Clock::start();
    let ground = Ground::new(&arguments.jdks)?;
    let mut packages = Packages::new(Fetch::IfMissing)?;
    let jacoco = (arguments.has(Part::Foreign) && !chosen.works.is_empty())
        .then(|| Jacoco::fetch(&mut packages, ground.work()));
    if !arguments.now {
        machine::wait_until_quiet();
    }
    let mut parts = Vec::new();
    for (&version, jdk) in arguments.jdks.iter().zip(&ground.jdks) {
        clock.say(&format!("JDK {}: {}", jdk.full_version, jdk.home.display()));
        let before = machine::load().unwrap_or(f64::NAN);
        let jacoco = jacoco.as_ref().map(Result::as_ref).and_then(Result::ok);
        let measured = on(arguments, &ground, (version, jdk), &chosen, &mut packages, jacoco, &clock)?;
        let loads = [before, machine::load().unwrap_or(f64::NAN)];
        let tables = on_one_jdk(&measured, arguments, loads);
        give(arguments, &format!("run-{version}"), &tables, &clock)?;
        parts.push(measured);
    }
    give(arguments, "run", &notes(&parts, &chosen, jacoco.as_ref()), &clock)
}

/// Writes a section of the page, as soon as a JDK's is complete; prints it if only a part of the
/// benchmark ran.
fn give(arguments: &Arguments, name: &str, section: &str, clock: &Clock) -> Result<()> {
    if arguments.is_whole() {
        let file = write_section(name, section)?;
        clock.say(&format!("written: {name} in {}", file.display()));
        Ok(())
    } else {
        print_line(&section)
    }
}

/// Measures on one JDK.
fn on(
    arguments: &Arguments,
    ground: &Ground,
    (version, jdk): (u32, &Jdk),
    chosen: &ChosenPrograms,
    packages: &mut Packages,
    jacoco: Option<&Jacoco>,
    clock: &Clock,
) -> Result<Measurements> {
    let kernels: Vec<&str> = KERNELS.iter().map(|(name, _)| *name).collect();
    let kernels: Vec<&str> =
        kernels.into_iter().filter(|name| arguments.has(Part::Kernels) && arguments.wants(name)).collect();
    let works = &chosen.works;
    let warm_columns = arguments.warm_columns();
    // Images take time and room: only the necessary ones.
    let mut ways: Vec<Way> = WAYS.to_vec();
    if kernels.is_empty() {
        let mut columns: Vec<Column> =
            works.iter().flat_map(|work| arguments.columns(work, version)).collect();
        if !chosen.warm.is_empty() {
            columns.extend(&warm_columns);
        }
        ways.retain(|way| columns.iter().any(|column| column.way() == *way));
    }
    let homes = Homes::of(jdk, &ground.cctrewrite, ground.work(), &ways)?;
    clock.say("images are there");
    let mut measured = Measurements {
        version,
        jdk: jdk.full_version.clone(),
        kernels: Vec::new(),
        programs: Vec::new(),
        warm: Vec::new(),
        recreated: None,
        left_out: Vec::new(),
    };
    if !kernels.is_empty() {
        let classes = ground.kernels()?;
        let folder = ground.work().join(format!("recreated-{version}"));
        let recreated = RecreatedSchemes::prepare(jdk, &classes, packages, &folder);
        measured.recreated = Some(match &recreated {
            Ok(recreated) => recreated.library.clone(),
            Err(why) => format!("missing: {why:#}"),
        });
        let recreated = recreated.as_ref().ok();
        for name in kernels {
            let row = kernels::measure(&homes, &classes, recreated, name, arguments.rounds, clock)?;
            measured.kernels.push(row);
        }
    }
    let bench = Bench {
        version,
        jdk,
        homes: &homes,
        cctrewrite: &ground.cctrewrite,
        folder: ground.work().join(format!("programs-{version}")),
        jacoco: jacoco.map(|jacoco| &jacoco.jar),
        rounds: arguments.rounds,
        has_all_rounds: arguments.all_rounds,
        clock,
    };
    for work in works {
        let name = work.program.name;
        let mut columns = arguments.columns(work, version);
        columns.retain(|column| *column != Column::Jacoco || jacoco.is_some());
        let line = match work.why_not_on(version) {
            Some(why) => Err(why.to_owned()),
            None => packages
                .get(&work.program)
                .and_then(|fetched| programs::measure(&bench, work, &fetched, &columns))
                .map_err(|error| format!("{error:#}")),
        };
        match line {
            Ok(line) => measured.programs.push(line),
            Err(why) => {
                clock.say(&format!("{name} is skipped: {why}"));
                measured.left_out.push(format!("{name} ({why})"));
            }
        }
    }
    for work in chosen.warm.iter().filter(|work| work.runs_on(version)) {
        let row = packages
            .get(work.program())
            .and_then(|fetched| warm::measure(&bench, work, &fetched, &warm_columns, arguments.warm_for));
        match row {
            Ok(row) => measured.warm.push(row),
            Err(why) => {
                clock.say(&format!("{}, warm, is skipped: {why:#}", work.name()));
                measured.left_out.push(format!("{}, warm ({why:#})", work.name()));
            }
        }
    }
    Ok(measured)
}
