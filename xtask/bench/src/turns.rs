//! Real programs, run in several ways in turns.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use xtask_programs::compare;
use xtask_programs::outcome::Outcome;
use xtask_programs::packages::{Packages, ProgramFiles};
use xtask_programs::place::{Place, RAW, Start};
use xtask_tools::jdks::{self, Fetch};
use xtask_tools::watch::Limits;

use super::ground::Ground;
use super::machine;
use super::measure::Spread;
use super::run::works::{Work, works};

/// Longer than any of them takes.
const TIME_LIMIT: Duration = Duration::from_secs(900);

/// Choice of the programs and the number of runs.
#[derive(clap::Args)]
pub struct Choice {
    /// The JDK.
    #[arg(long, value_name = "VERSION", default_value_t = 17, value_parser = jdks::supported)]
    pub jdk: u32,
    /// How often to run each program in each way, in turns.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: u32,
    /// Only these programs (repeatable). Prints the section and leaves docs/benchmarks.md
    /// unchanged.
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// A `cctrewrite` that was built before, instead of a new release build.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Do not wait until the machine is quiet.
    #[arg(long)]
    now: bool,
}

/// Results of the chosen programs.
pub struct Measurements<R> {
    /// One row for each measured program.
    pub rows: Vec<R>,
    /// The others, with the reason.
    pub left_out: Vec<String>,
    /// Load averages before and after.
    pub loads: [f64; 2],
}

impl Choice {
    /// Prepares the JDK and the command.
    ///
    /// # Errors
    /// Fails if the JDK is missing, or the command cannot be built.
    pub fn ground(&self) -> Result<Ground> {
        match &self.program {
            Some(program) => Ground::with(&[self.jdk], program),
            None => Ground::new(&[self.jdk]),
        }
    }

    /// Whether a program is chosen.
    pub fn has(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == name)
    }

    /// Waits until the machine is quiet, unless disabled; returns the load average.
    pub fn quiet(&self) -> f64 {
        if !self.now {
            machine::wait_until_quiet();
        }
        machine::load().unwrap_or(f64::NAN)
    }

    /// Measures each chosen program, once the machine is quiet. Programs that cannot be measured
    /// are listed. `elsewhere`: further valid names, which another part measures.
    ///
    /// # Errors
    /// Fails if a chosen program does not exist, or if none could be measured.
    pub fn each<R>(
        &self,
        elsewhere: &[&str],
        measure: impl Fn(&Work, &ProgramFiles) -> Result<R>,
    ) -> Result<Measurements<R>> {
        let mut works = works()?;
        for name in &self.only {
            let is_work = works.iter().any(|work| work.program.name == name);
            ensure!(is_work || elsewhere.contains(&name.as_str()), "unknown program {name}");
        }
        works.retain(|work| self.has(work.program.name));
        let mut packages = Packages::new(Fetch::IfMissing)?;
        let before = self.quiet();
        let (mut rows, mut left_out) = (Vec::new(), Vec::new());
        for work in &works {
            let name = work.program.name;
            let row = match work.why_not_on(self.jdk) {
                Some(why) => Err(anyhow::anyhow!(why)),
                None => packages.get(&work.program).and_then(|fetched| measure(work, &fetched)),
            };
            match row {
                Ok(row) => rows.push(row),
                Err(why) => {
                    eprintln!("{name} is skipped: {why:#}");
                    left_out.push(format!("{name} ({why:#})"));
                }
            }
        }
        ensure!(works.is_empty() || !rows.is_empty(), "nothing was measured: {}", left_out.join("; "));
        Ok(Measurements { rows, left_out, loads: [before, machine::load().unwrap_or(f64::NAN)] })
    }

    /// Date and commit of a table.
    pub fn origin(&self) -> String {
        let (date, commit) = (machine::date(), machine::commit());
        let by = if self.program.is_some() { ", by a program that was built before" } else { "" };
        format!("{date}, commit {commit} (`+`: with changes){by}")
    }
}

/// A way of running a program.
pub struct Way<'w> {
    /// The heading of its column.
    pub name: &'w str,
    /// The JDK, or an image of it.
    pub home: &'w Path,
    /// The jars on the class path.
    pub jars: String,
    /// Options for the JVM.
    pub options: Vec<String>,
}

impl<'w> Way<'w> {
    /// The unchanged program, on a plain JDK.
    pub fn plain(home: &'w Path, options: Vec<String>) -> Way<'w> {
        Way { name: "plain", home, jars: RAW.to_owned(), options }
    }

    /// The unchanged program, on a plain JDK, with those of `marked` that are options for speed,
    /// which marked programs have.
    pub fn plain_fast(home: &'w Path, marked: &[String]) -> Way<'w> {
        let for_speed = marked.iter().filter(|option| option.starts_with("-XX:")).cloned();
        Way { name: "plain, --fast", ..Way::plain(home, for_speed.collect()) }
    }
}

/// Results of a program, by way.
pub struct Turns {
    /// Of processor times in seconds.
    pub cpu: Vec<Spread>,
    /// Of elapsed times in seconds.
    pub wall: Vec<Spread>,
    /// Remarks for the reader.
    pub remarks: Vec<String>,
}

/// Runs a program in all ways, the plain one first, in turns; each round starts with another one.
/// Calls `after` with the way after each run.
///
/// # Errors
/// Fails if a run does not end like the plain one.
pub fn take(
    place: &Place,
    ways: &[Way],
    rounds: u32,
    mut after: impl FnMut(usize) -> Result<()>,
) -> Result<Turns> {
    let once = |way: &Way| {
        place.run(&Start {
            name: &format!("of-{}", way.jars),
            home: way.home,
            through: &[],
            options: &way.options,
            jars: &way.jars,
            limits: Limits::of(TIME_LIMIT),
        })
    };
    let plain = once(ways.first().context("no way")?)?;
    if plain.exit != Some(0) {
        bail!("on the plain JDK it ended with {}: {}", plain.end(), plain.last_words());
    }
    let (mut cpu, mut wall) = (vec![Vec::new(); ways.len()], vec![Vec::new(); ways.len()]);
    let mut remarks = Vec::new();
    for round in 0..rounds as usize {
        for turn in 0..ways.len() {
            let at = (round + turn) % ways.len();
            let run = once(&ways[at])?;
            check(ways[at].name, place, &plain, &run, &mut remarks)?;
            after(at)?;
            cpu[at].push(run.cpu_seconds);
            wall[at].push(run.wall.as_secs_f64());
        }
    }
    let spreads = |times: Vec<Vec<f64>>| -> Result<Vec<Spread>> {
        times.iter().map(|times| Spread::of(times)).collect::<Option<_>>().context("no round")
    };
    let (cpu, wall) = (spreads(cpu)?, spreads(wall)?);
    let said: Vec<String> = cpu.iter().map(|spread| format!("{:6.2}", spread.median)).collect();
    eprintln!("{:<12} {} s", place.program().name, said.join(" "));
    Ok(Turns { cpu, wall, remarks })
}

/// Checks that the run behaved like the plain one.
fn check(way: &str, place: &Place, plain: &Outcome, run: &Outcome, remarks: &mut Vec<String>) -> Result<()> {
    if run.exit != plain.exit {
        bail!("{way}: ended with {}: {}", run.end(), run.last_words());
    }
    for difference in compare::outcomes(place.program(), plain, run) {
        let remark = format!("{}, {way}: {difference}", place.program().name);
        if !remarks.contains(&remark) {
            eprintln!("{remark}");
            remarks.push(remark);
        }
    }
    Ok(())
}

/// Remarks below a table: programs that were not measured, and runs that differ from the plain one.
pub fn remarks<'t>(
    left_out: &[String],
    turns: impl IntoIterator<Item = &'t Turns>,
    is_known: impl Fn(&str) -> bool,
) -> String {
    let mut text = String::from("\n");
    if !left_out.is_empty() {
        text += &format!("Not measured: {}.\n\n", left_out.join("; "));
    }
    text += "Exit codes, standard output, standard error and files are those of the plain run in all ways";
    let remarks = turns.into_iter().flat_map(|turns| &turns.remarks).map(String::as_str);
    let remarks: Vec<&str> = remarks.filter(|remark| !is_known(remark)).collect();
    if remarks.is_empty() {
        text += ".\n"
    } else {
        text += &format!(", with these remarks:\n\n- {}\n", remarks.join("\n- "))
    }
    text
}
