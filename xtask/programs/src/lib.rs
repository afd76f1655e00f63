//! `cargo xtask programs`: real programs must behave on a rewritten JDK as on a plain one.
//!
//! [`program`] describes a program; [`catalogue`], [`today`] and [`folders`] list the programs.
//! [`packages`] fetches them (with [`npm`] and [`maven`]), [`stage`] profiles the JDK, [`place`]
//! prepares and runs the programs. [`outcome`] is the result of a run, [`compare`] compares two
//! outcomes, [`known_causes`] lists differences with known causes, and [`table`] prints the
//! results. [`record`] keeps the results of programs of Maven Central, for `--table`.
//! docs/internals/programs.md describes this task for users.

#![cfg_attr(test, allow(clippy::unwrap_used))] // a failing unwrap fails its test, as it should

mod case;
pub mod catalogue;
pub mod compare;
mod folders;
pub mod jars;
mod known_causes;
pub mod maven;
mod mode;
pub mod npm;
pub mod outcome;
pub mod packages;
pub mod place;
pub mod program;
pub mod pypi;
mod record;
pub mod stage;
mod table;
mod today;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use xtask_tools::jdks::{self, Fetch, Jdk};
use xtask_tools::print::print_line;
use xtask_tools::workspace;
use xtask_tools::workspace::ReleaseBuild;

use case::{Case, ProfiledRun};
use catalogue::{SMOKE, programs};
use maven::CENTRAL;
use mode::Mode;
use packages::Packages;
use program::Program;
use stage::Stage;

/// Options of `cargo xtask programs`.
#[derive(Args)]
pub struct Arguments {
    /// The programs, for instance `fop rhino-9`, or prefixes of their names: `rhino`. The task
    /// fails if one of them is missing. Default: all.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// The profiled modes; may be given twice.
    #[arg(long, value_enum, default_values_t = [Mode::Offline, Mode::Untouched, Mode::Image, Mode::Run])]
    mode: Vec<Mode>,
    /// The JDKs, for instance `--jdk 17 --jdk 25`. Default: for each program all that it runs on.
    #[arg(long, value_name = "VERSION", value_parser = jdks::supported)]
    jdk: Vec<u32>,
    /// Use this command instead of a release build, which takes minutes: times are then of little
    /// use.
    #[arg(long, value_name = "CCTREWRITE")]
    command: Option<PathBuf>,
    /// Only a few quick ones; missing ones are skipped.
    #[arg(long, conflicts_with = "names")]
    smoke: bool,
    /// Only list the programs.
    #[arg(long)]
    list: bool,
    /// Write the lock files of the named programs of Maven Central: their jars, with hashes.
    #[arg(long, requires = "names", conflicts_with_all = ["smoke", "list"])]
    lock: bool,
    /// Only print a table of the last run of each program of Maven Central on each JDK.
    #[arg(long, conflicts_with_all = ["names", "smoke", "list", "lock"])]
    table: bool,
    /// Download nothing; programs that are not in the cache folder are skipped.
    #[arg(long)]
    offline: bool,
}

/// Runs the task. The exit code is 1 if there is a difference without a known cause, or if a
/// program does not run plain.
///
/// # Errors
/// Fails if a JDK or a program named on the command line is missing.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let mut chosen = chosen(&arguments.names)?;
    if arguments.smoke {
        chosen.retain(|program| SMOKE.contains(&program.name));
    }
    if arguments.list {
        for program in chosen {
            let jdks = program.jdks.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
            print_line(&format!("{:<18} {:<10} {}", program.name, jdks, program.about))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.table {
        let table = record::table(&workspace::target_folder().join("programs"))?;
        print_line(&table.trim_end())?;
        return Ok(ExitCode::SUCCESS);
    }
    let fetch = if arguments.offline { Fetch::Never } else { Fetch::IfMissing };
    let mut packages = Packages::new(fetch)?;
    if arguments.lock {
        lock(&chosen, &packages)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut ledger = Ledger::default();
    for version in versions(&chosen, &arguments.jdk, &arguments.mode) {
        let programs = chosen.iter().copied().filter(|program| program.jdks.contains(&version));
        let answer = jdks::get(&[version], fetch)?.into_iter().next().context("no answer about a JDK")?;
        match answer.jdk {
            Ok(jdk) => {
                print_line(&format!("\nJDK {version}: {} ({})", jdk.full_version, jdk.origin))?;
                let stage = match &arguments.command {
                    Some(command) => Stage::of(version, jdk, built(command)?)?,
                    None => Stage::new(version, jdk)?,
                };
                on(&stage, programs, &mut packages, &arguments.mode, &mut ledger)?;
            }
            Err(reason) if arguments.jdk.is_empty() => {
                print_line(&format!("\nJDK {version}\n  skipped: {reason:#}"))?;
                ledger.skipped.extend(programs.map(|program| format!("{} on JDK {version}", program.name)));
            }
            Err(reason) => return Err(reason.context(format!("JDK {version}"))),
        }
    }
    table::summary(&ledger.cases, ledger.failed.len(), ledger.skipped.len())?;
    if !arguments.names.is_empty() && !ledger.skipped.is_empty() {
        bail!("missing: {}; see the reasons above", ledger.skipped.join(", "));
    }
    Ok(if ledger.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Uses a command that was built before.
fn built(command: &Path) -> Result<ReleaseBuild> {
    let program = fs::canonicalize(command).with_context(|| format!("find {}", command.display()))?;
    Ok(ReleaseBuild { program, target: workspace::target_folder() })
}

/// Programs that `cargo xtask test` runs: two agents, a compiler, a library of many generic types.
/// They take a minute on each JDK.
const TESTED: [&str; 4] = ["byteman", "jackson", "mockito", "scala3"];

/// Runs the programs of [`TESTED`] on one JDK with the command `built`.
///
/// # Errors
/// Fails if the catalogue cannot be read, or the cache folder cannot be used. The ledger has
/// programs that fail or are missing.
pub fn run_tested(version: u32, jdk: &Jdk, built: ReleaseBuild, fetch: Fetch) -> Result<Ledger> {
    let mut ledger = Ledger::default();
    let stage = Stage::of(version, jdk.clone(), built)?;
    let programs = folders::read()?.iter().filter(|program| TESTED.contains(&program.name));
    let programs = programs.filter(|program| program.jdks.contains(&version));
    on(&stage, programs, &mut Packages::new(fetch)?, &[Mode::Run], &mut ledger)?;
    Ok(ledger)
}

/// The results of the programs on all JDKs.
#[derive(Default)]
pub struct Ledger {
    cases: Vec<Case>,
    /// Programs that do not run plain, or cannot be prepared.
    failed: Vec<String>,
    /// Missing programs.
    pub skipped: Vec<String>,
}

impl Ledger {
    /// Whether every available program ran, and behaved profiled as plain, or differed for a known
    /// reason.
    pub fn is_good(&self) -> bool {
        self.failed.is_empty()
            && !self.cases.iter().flat_map(|case| &case.profiled).any(ProfiledRun::is_unknown)
    }
}

/// Resolves the programs of Maven Central again and writes their lock files.
fn lock(chosen: &[&Program], packages: &Packages) -> Result<()> {
    for program in chosen {
        if program.suite != CENTRAL {
            bail!("{} is not a program of Maven Central", program.name);
        }
        let jars = packages.resolve_anew(program.packages)?;
        fs::write(folders::lock_file(program.name), maven::lock_text(&jars))?;
        print_line(&format!("{}: {} jars", program.name, jars.len()))?;
    }
    Ok(())
}

/// The JDKs that can run one of the programs, oldest first: those of `wanted` if there are any, and
/// only those with one of the modes.
fn versions(chosen: &[&Program], wanted: &[u32], modes: &[Mode]) -> BTreeSet<u32> {
    let of = |program: &&Program| {
        let program = **program;
        let runs = move |version: u32| modes.iter().any(|mode| mode.is_for(&program, version));
        program.jdks.iter().copied().filter(move |&version| runs(version))
    };
    let all = chosen.iter().flat_map(of);
    all.filter(|version| wanted.is_empty() || wanted.contains(version)).collect()
}

/// Runs programs on one JDK.
fn on(
    stage: &Stage,
    programs: impl Iterator<Item = &'static Program>,
    packages: &mut Packages,
    modes: &[Mode],
    ledger: &mut Ledger,
) -> Result<()> {
    for program in programs {
        let name = format!("{} on JDK {}", program.name, stage.version());
        match packages.get(program) {
            Ok(fetched) => match one(stage, program, &fetched, modes) {
                Ok(case) => {
                    table::details(&case)?;
                    ledger.cases.push(case);
                }
                Err(error) => {
                    print_line(&format!("\n{name}\n  failed: {error:#}"))?;
                    ledger.failed.push(name);
                }
            },
            Err(reason) => {
                print_line(&format!("\n{name}\n  skipped: {reason:#}"))?;
                ledger.skipped.push(name);
            }
        }
    }
    Ok(())
}

/// The programs whose names start with one of `names`; all, if there are no names.
fn chosen(names: &[String]) -> Result<Vec<&'static Program>> {
    let programs: Vec<&'static Program> = programs().chain(folders::read()?).collect();
    if let Some(name) =
        names.iter().find(|name| !programs.iter().any(|program| program.name.starts_with(*name)))
    {
        let all: Vec<_> = programs.iter().map(|program| program.name).collect();
        bail!("unknown program {name}; known are {}", all.join(", "));
    }
    let wanted = |program: &&'static Program| {
        names.is_empty() || names.iter().any(|name| program.name.starts_with(name))
    };
    Ok(programs.into_iter().filter(wanted).collect())
}

/// Runs a program in all modes.
fn one(
    stage: &Stage,
    program: &'static Program,
    fetched: &packages::ProgramFiles,
    modes: &[Mode],
) -> Result<Case> {
    eprintln!("{}: preparing", program.name);
    let place = stage.prepare(program, fetched)?;
    eprintln!("{}: plain", program.name);
    let plain = stage.run(&place, Mode::Plain)?;
    // Otherwise the run would show nothing.
    if plain.exit != Some(0) {
        bail!("on the plain JDK it ended with {}: {}", plain.end(), plain.last_words());
    }
    let mut profiled = Vec::new();
    for &mode in modes.iter().filter(|mode| mode.is_for(program, stage.version())) {
        eprintln!("{}: {}", program.name, mode.word());
        let outcome = stage.run(&place, mode)?;
        let differences = compare::outcomes(program, &plain, &outcome);
        let known = known_causes::cause(program.name, mode, &outcome, &differences);
        profiled.push(ProfiledRun { mode, outcome, differences, known });
    }
    let case = Case { program, jdk: stage.version(), packages: fetched.versions.clone(), plain, profiled };
    record::keep(&case, place.folder())?;
    Ok(case)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_chosen_by_the_beginnings_of_their_names() {
        let names = |of: &[&str]| {
            let of: Vec<String> = of.iter().map(|name| (*name).to_owned()).collect();
            chosen(&of).map(|programs| programs.iter().map(|program| program.name).collect::<Vec<_>>())
        };
        assert!(names(&[]).unwrap().len() > programs().count());
        assert_eq!(names(&["rhino"]).unwrap(), ["rhino-9", "rhino-0", "rhino-interpreted"]);
        assert!(names(&["no-such"]).is_err());
    }

    #[test]
    fn only_jdks_on_which_something_runs_are_used() {
        let rhino: Vec<_> = programs().filter(|program| program.name.starts_with("rhino")).collect();
        let of =
            |wanted: &[u32], modes: &[Mode]| versions(&rhino, wanted, modes).into_iter().collect::<Vec<_>>();
        assert_eq!(of(&[], &[Mode::Offline, Mode::Image]), [8, 17, 25]);
        assert_eq!(of(&[], &[Mode::Untouched]), [8]);
        assert_eq!(of(&[25, 21, 8], &[Mode::Image]), [25]);
    }
}
