//! A real program run in several ways, in turns.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use super::measure::Spread;
use crate::programs::compare;
use crate::programs::outcome::Outcome;
use crate::programs::place::{Place, RAW, Start};
use crate::watch::Limits;

/// Longer than any of them takes.
const TIME_LIMIT: Duration = Duration::from_secs(900);

/// A way of running a program.
pub struct Way<'w> {
    /// The head of its column.
    pub name: &'w str,
    /// Which jars are on the class path.
    pub jars: String,
    /// What is said to the JVM.
    pub options: Vec<String>,
}

impl<'w> Way<'w> {
    /// The program as it is.
    pub fn plain(options: Vec<String>) -> Way<'w> {
        Way { name: "plain", jars: RAW.to_owned(), options }
    }
}

/// What came of a program, by way.
pub struct Turns {
    /// Of processor times in seconds.
    pub cpu: Vec<Spread>,
    /// Medians of elapsed times in seconds.
    pub wall: Vec<f64>,
    /// What a reader must know.
    pub remarks: Vec<String>,
}

/// Runs a program in all ways, the plain one first, in turns; each round starts with another one. After each run `after` hears of which way it was.
///
/// # Errors
/// If a run does not end as the plain one does.
pub fn take(
    place: &Place,
    home: &Path,
    ways: &[Way],
    rounds: u32,
    mut after: impl FnMut(usize) -> Result<()>,
) -> Result<Turns> {
    let once = |way: &Way| {
        place.run(&Start {
            name: &format!("of-{}", way.jars),
            home,
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
    let cpu: Vec<Spread> =
        cpu.iter().map(|times| Spread::of(times)).collect::<Option<_>>().context("no round")?;
    let wall = wall.iter().filter_map(|times| Spread::of(times)).map(|spread| spread.median).collect();
    let said: Vec<String> = cpu.iter().map(|spread| format!("{:6.2}", spread.median)).collect();
    eprintln!("{:<12} {} s", place.program().name, said.join(" "));
    Ok(Turns { cpu, wall, remarks })
}

/// The run must have done what the plain one does.
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
