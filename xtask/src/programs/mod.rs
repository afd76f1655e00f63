//! `cargo xtask programs`: real programs, run on a plain JDK 8 and on a rewritten one, must do the same.
//!
//! [`catalogue`] says which programs, [`packages`] fetches them, [`stage`] puts them in place and runs them, [`outcome`] is what a run
//! left behind, [`compare`] holds two outcomes against each other, [`known`] has the differences whose cause is known, and [`table`]
//! is what is printed at the end. docs/programs.md is for readers.

mod catalogue;
mod compare;
mod jars;
mod known;
mod outcome;
mod packages;
mod stage;
mod table;

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use clap::{Args, ValueEnum};

use crate::jdks::{self, Fetch};
use crate::print_line;
use catalogue::{PROGRAMS, Program, SMOKE};
use compare::Difference;
use known::Known;
use outcome::Outcome;
use packages::Packages;
use stage::Stage;

/// What to run.
#[derive(Args)]
pub struct Arguments {
    /// The programs, for instance `fop rhino-9`, or the beginnings of their names: `rhino`. A program named here must be had. Without any: all.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// How to run them profiled; may be given twice.
    #[arg(long, value_enum, default_values_t = [Mode::Offline, Mode::Untouched])]
    mode: Vec<Mode>,
    /// Only a few quick ones; one that cannot be had is skipped.
    #[arg(long, conflicts_with = "names")]
    smoke: bool,
    /// Only say which programs there are.
    #[arg(long)]
    list: bool,
    /// Download nothing; programs that are not in the cache folder are skipped.
    #[arg(long)]
    offline: bool,
}

/// How a program is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Mode {
    /// The program as it came, on the JDK as it came.
    #[value(skip)]
    Plain,
    /// The program's jars rewritten with the JDK's as library.
    Offline,
    /// The program as it came, on the rewritten JDK.
    Untouched,
}

impl Mode {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Mode::Plain => "plain",
            Mode::Offline => "offline",
            Mode::Untouched => "untouched",
        }
    }
}

/// What became of a program.
pub struct Case {
    /// The program.
    pub program: &'static Program,
    /// The packages it came from, with their versions.
    pub packages: Vec<String>,
    /// The run on the plain JDK.
    pub plain: Outcome,
    /// The profiled runs.
    pub profiled: Vec<Profiled>,
}

/// A profiled run, and what was different.
pub struct Profiled {
    /// How it was run.
    pub mode: Mode,
    /// What it left behind.
    pub outcome: Outcome,
    /// What is different from the plain run.
    pub differences: Vec<Difference>,
    /// The known cause of all of that.
    pub known: Option<&'static Known>,
}

/// Runs the task. The exit code is 1 if something differs that is not known, or a program does not even run plain.
///
/// # Errors
/// If there is no JDK 8, or a program named on the command line cannot be had.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let mut chosen = chosen(&arguments.names)?;
    if arguments.smoke {
        chosen.retain(|program| SMOKE.contains(&program.name));
    }
    if arguments.list {
        for program in chosen {
            print_line(&format!("{:<16} {}", program.name, program.about))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let fetch = if arguments.offline { Fetch::Never } else { Fetch::IfMissing };
    let jdk =
        jdks::get(&[8], fetch)?.into_iter().next().context("no answer about JDK 8")?.jdk.context("JDK 8")?;
    print_line(&format!("JDK 8: {} ({})", jdk.full_version, jdk.origin))?;

    let mut packages = Packages::new(fetch)?;
    let stage = Stage::new(jdk)?;
    let mut cases = Vec::new();
    let (mut skipped, mut failed) = (Vec::new(), Vec::new());
    for program in chosen {
        match packages.get(program) {
            Ok(fetched) => match one(&stage, program, &fetched, &arguments.mode) {
                Ok(case) => {
                    table::details(&case)?;
                    cases.push(case);
                }
                Err(error) => {
                    print_line(&format!(
                        "
{}
  failed: {error:#}",
                        program.name
                    ))?;
                    failed.push(program.name);
                }
            },
            Err(reason) => {
                print_line(&format!("\n{}\n  skipped: {reason:#}", program.name))?;
                skipped.push(program.name);
            }
        }
    }
    table::summary(&cases, &failed, &skipped)?;
    if !arguments.names.is_empty() && !skipped.is_empty() {
        bail!("not to be had: {}; the reasons stand above", skipped.join(", "));
    }
    let unknown = cases.iter().flat_map(|case| &case.profiled).any(Profiled::is_unknown);
    Ok(if unknown || !failed.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

impl Profiled {
    /// Whether it differs for a reason that is not known.
    pub fn is_unknown(&self) -> bool {
        !self.differences.is_empty() && self.known.is_none()
    }
}

/// The programs whose names start with one of `names`; all, if there is none.
fn chosen(names: &[String]) -> Result<Vec<&'static Program>> {
    if let Some(name) =
        names.iter().find(|name| !PROGRAMS.iter().any(|program| program.name.starts_with(*name)))
    {
        let all: Vec<_> = PROGRAMS.iter().map(|program| program.name).collect();
        bail!("there is no program {name}; there are {}", all.join(", "));
    }
    let wanted =
        |program: &&Program| names.is_empty() || names.iter().any(|name| program.name.starts_with(name));
    Ok(PROGRAMS.iter().filter(wanted).collect())
}

/// Runs a program in all modes.
fn one(
    stage: &Stage,
    program: &'static Program,
    fetched: &packages::Fetched,
    modes: &[Mode],
) -> Result<Case> {
    eprintln!("{}: preparing", program.name);
    let place = stage.prepare(program, fetched)?;
    eprintln!("{}: plain", program.name);
    let plain = place.run(Mode::Plain)?;
    // Otherwise nothing would be learned from it.
    if plain.exit != Some(0) {
        bail!("on the plain JDK it ended with {}: {}", plain.end(), plain.last_words());
    }
    let mut profiled = Vec::new();
    for &mode in modes {
        eprintln!("{}: {}", program.name, mode.word());
        let outcome = place.run(mode)?;
        let differences = compare::outcomes(program, &plain, &outcome);
        let known = known::cause(program.name, mode, &outcome, &differences);
        profiled.push(Profiled { mode, outcome, differences, known });
    }
    Ok(Case { program, packages: fetched.versions.clone(), plain, profiled })
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
        assert_eq!(names(&[]).unwrap().len(), PROGRAMS.len());
        assert_eq!(names(&["rhino"]).unwrap(), ["rhino-9", "rhino-0", "rhino-interpreted"]);
        assert!(names(&["no-such"]).is_err());
    }
}
