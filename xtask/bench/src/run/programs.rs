//! Measurement of real programs: each run is a process of its own, and must leave the same files as
//! the plain one.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use xtask_programs::compare;
use xtask_programs::outcome::{Outcome, Totals, totals};
use xtask_programs::packages::ProgramFiles;
use xtask_programs::place::{self, Place, Start};
use xtask_tools::jdks::Jdk;
use xtask_tools::watch::Limits;

use super::super::measure::Spread;
use super::super::ways::{Homes, Way};
use super::columns::Column;
use super::foreign;
use super::works::Work;

/// Longer than any of them takes; a run that takes longer hangs.
const TIME_LIMIT: Duration = Duration::from_secs(900);

/// The environment of the measurements.
pub struct Bench<'a> {
    /// The version of the JDK.
    pub version: u32,
    /// The plain JDK.
    pub jdk: &'a Jdk,
    /// The JDK's images.
    pub homes: &'a Homes,
    /// The command.
    pub cctrewrite: &'a Path,
    /// A folder for this JDK's programs.
    pub folder: PathBuf,
    /// JaCoCo's agent.
    pub jacoco: Option<&'a PathBuf>,
    /// Number of runs in each column.
    pub rounds: u32,
    /// Whether all of cctrewrite's columns run this often, even those for which one run would do.
    pub has_all_rounds: bool,
    /// The clock for progress messages.
    pub clock: &'a Clock,
}

/// Measures the time since the benchmark began.
pub struct Clock(Instant);

impl Clock {
    /// Starts the clock.
    pub fn start() -> Clock {
        Clock(Instant::now())
    }

    /// Prints a message on standard error, with the time since the start.
    pub fn say(&self, what: &str) {
        let seconds = self.0.elapsed().as_secs();
        eprintln!("[{:3}:{:02}] {what}", seconds / 60, seconds % 60);
    }
}

/// A program in one column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// Processor time of each run, in seconds.
    pub cpu: Vec<f64>,
    /// Elapsed time of each run, in seconds.
    pub wall: Vec<f64>,
    /// Whether it was killed before it ended.
    pub is_cut_off: bool,
}

/// A program in all columns.
pub struct Line {
    /// The program's name.
    pub name: &'static str,
    /// The measurements.
    pub cells: Vec<(Column, Cell)>,
    /// The totals of the exact profile.
    pub totals: Option<Totals>,
    /// Remarks for the reader: different outputs, failed measurements and their reasons.
    pub remarks: Vec<String>,
}

impl Line {
    /// The cell of a column, if it was measured.
    pub fn cell(&self, column: Column) -> Option<&Cell> {
        self.cells.iter().find(|(of, _)| *of == column).map(|(_, cell)| cell)
    }

    fn cell_mut(&mut self, column: Column) -> &mut Cell {
        if let Some(at) = self.cells.iter().position(|(of, _)| *of == column) {
            return &mut self.cells[at].1;
        }
        self.cells.push((column, Cell::default()));
        let last = self.cells.len() - 1;
        &mut self.cells[last].1
    }

    fn remark(&mut self, remark: String) {
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }
}

/// Runs a program in `columns`, which contain the plain one, in turns; each round starts with
/// another one.
///
/// # Errors
/// Fails if it does not run plain.
pub fn measure(bench: &Bench, work: &Work, fetched: &ProgramFiles, columns: &[Column]) -> Result<Line> {
    let program = work.program;
    let place = Place::prepare(program, bench.version, bench.jdk, &bench.folder.join(program.name), fetched)?;
    let mut line = Line { name: program.name, cells: Vec::new(), totals: None, remarks: Vec::new() };
    let mut columns = columns.to_vec();
    if columns.contains(&Column::Offline) {
        if place.has_classes() {
            place.rewrite(bench.cctrewrite, &[bench.homes.home(Way::Exact)?.to_owned()])?;
        } else {
            columns.retain(|column| *column != Column::Offline);
            line.remark("exact, offline: all its classes are the JDK's".to_owned());
        }
    }
    let plain = once(bench, &place, Column::Of(Way::Plain), Limits::of(TIME_LIMIT))?;
    if plain.exit != Some(0) {
        bail!("on the plain JDK it ended with {}: {}", plain.end(), plain.last_words());
    }
    let (ours, others): (Vec<Column>, Vec<Column>) =
        columns.into_iter().partition(|column| !column.is_foreign());
    for round in 0..bench.rounds as usize {
        let turns: Vec<Column> = ours
            .iter()
            .copied()
            .filter(|column| round == 0 || bench.has_all_rounds || !column.is_once())
            .collect();
        for turn in 0..turns.len() {
            let column = turns[(round + turn) % turns.len()];
            let run = once(bench, &place, column, Limits::of(TIME_LIMIT))?;
            take(bench, &mut line, &place, column, &plain, run);
            if round == 0 && column == Column::Of(Way::Exact) {
                match totals(bench.homes.profile()) {
                    Ok(sums) => line.totals = Some(sums),
                    Err(why) => line.remark(format!("exact: {why}")),
                }
            }
        }
    }
    for column in others {
        let limits = Limits {
            wall: TIME_LIMIT,
            cpu_seconds: foreign::LIMIT * plain_cpu(&line).context("no plain run")?,
        };
        let mut run = once(bench, &place, column, limits)?;
        run.stdout = foreign::without_own_words(&run.stdout);
        run.stderr = foreign::without_own_words(&run.stderr);
        take(bench, &mut line, &place, column, &plain, run);
        foreign::remove(&bench.homes.profile().with_extension("foreign"))?;
    }
    Ok(line)
}

/// One run in a column.
fn once(bench: &Bench, place: &Place, column: Column, limits: Limits) -> Result<Outcome> {
    // A profile of another run must not be taken for this one's.
    foreign::remove(bench.homes.profile())?;
    place.run(&Start {
        name: &column.word(),
        home: bench.homes.home(column.way())?,
        through: &[],
        options: &column.options(bench.homes, bench.jacoco),
        jars: if column == Column::Offline { place::REWRITTEN } else { place::RAW },
        limits,
    })
}

/// Compares a run with the plain one and records its times.
fn take(bench: &Bench, line: &mut Line, place: &Place, column: Column, plain: &Outcome, run: Outcome) {
    let (name, head) = (line.name, column.name());
    let (cpu, wall) = (run.cpu_seconds, run.wall.as_secs_f64());
    if !run.is_cut_off {
        if run.exit != plain.exit {
            line.remark(format!("{head}: ended with {}: {}", run.end(), run.last_words().replace('\t', "")));
            bench.clock.say(&format!("{name}, {head}: ended with {}", run.end()));
            return;
        }
        for difference in compare::outcomes(place.program(), plain, &run) {
            line.remark(format!("{head}: {difference}"));
            bench.clock.say(&format!("{name}, {head}: {difference}"));
        }
        if !matches!(column.way(), Way::Plain | Way::Off) && !bench.homes.profile().is_file() {
            line.remark(format!("{head}: there is no profile"));
            bench.clock.say(&format!("{name}, {head}: there is no profile"));
        }
    }
    let cell = line.cell_mut(column);
    cell.cpu.push(cpu);
    cell.wall.push(wall);
    cell.is_cut_off |= run.is_cut_off;
    let more = if run.is_cut_off { ", cut off" } else { "" };
    let times = plain_cpu(line).map_or_else(String::new, |plain| format!(", x {:.2}", cpu / plain));
    bench.clock.say(&format!("{name}, {head}: {cpu:.2} s of processor time{times}, {wall:.2} s{more}"));
}

/// The median of the plain processor times so far.
fn plain_cpu(line: &Line) -> Option<f64> {
    Spread::of(&line.cell(Column::Of(Way::Plain))?.cpu).map(|spread| spread.median)
}
