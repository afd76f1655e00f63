//! `cargo xtask fuzz`: runs the targets under libFuzzer in turns, and prints a summary
//! (docs/internals/fuzzing.md).

mod build;
mod piece;
mod table;

use std::path::PathBuf;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use clap::{Args, value_parser};
use xtask_tools::print::print_line;

use self::piece::Way;
use self::table::Sums;

/// Options of `cargo xtask fuzz`.
#[derive(Args)]
pub struct Arguments {
    /// Running time in minutes, once everything is built
    #[arg(long, default_value_t = 60, value_parser = value_parser!(u64).range(1..=10_080), value_name = "N")]
    minutes: u64,

    /// Only these targets
    #[arg(long, value_delimiter = ',', value_name = "TARGET")]
    only: Vec<String>,

    /// How many targets run at the same time
    #[arg(long, default_value_t = 1, value_parser = value_parser!(u32).range(1..=64), value_name = "N")]
    jobs: u32,

    /// Length of a target's turn in seconds
    #[arg(long, default_value_t = 60, value_parser = value_parser!(u64).range(1..=3600), value_name = "N")]
    turn: u64,

    /// A command to run each target with, for instance `nice -n 19`
    #[arg(long, value_name = "COMMAND")]
    under: Option<String>,
}

/// Targets with the most code behind them: they get three turns for each turn of others.
const DEEP: &[&str] =
    &["class", "rewrite", "loadtime", "marked", "profile", "contexts", "trace", "last", "jar", "image"];

/// The shared state of all jobs.
struct State {
    /// Number of turns that have begun.
    turn: usize,
    sums: Vec<Sums>,
}

/// Builds the targets, writes their seeds, runs them in turns until the time is over, and prints a
/// summary.
///
/// # Errors
/// Fails if something cannot be built or run, or if a target found something.
pub fn run(arguments: &Arguments) -> Result<()> {
    let names = wanted(build::names()?, &arguments.only)?;
    let programs = build::programs(&names)?;
    let corpora = build::seeds()?;
    let under = arguments.under.as_deref().unwrap_or_default().split_whitespace().map(str::to_owned);
    let way = Way { under: under.collect(), seconds: arguments.turn, corpora };
    let turns = turns(&names);
    let end = Instant::now() + Duration::from_secs(60 * arguments.minutes);
    let state = Mutex::new(State { turn: 0, sums: names.into_iter().map(Sums::of).collect() });
    let jobs = thread::scope(|scope| {
        let job = || work(&turns, &programs, &way, end, &state);
        let jobs: Vec<_> = (0..arguments.jobs).map(|_| scope.spawn(job)).collect();
        jobs.into_iter().map(|job| job.join()).collect::<Vec<_>>()
    });
    let sums = state.into_inner().map_or_else(|poisoned| poisoned.into_inner().sums, |state| state.sums);
    print_line(&table::markdown(&sums))?;
    for job in jobs {
        job.map_err(|_| anyhow::anyhow!("a job panicked"))??;
    }
    let found: Vec<String> = sums.iter().flat_map(Sums::found).collect();
    ensure!(found.is_empty(), "found; each input can be given to its program:\n{}", found.join("\n"));
    Ok(())
}

/// The requested targets.
fn wanted(all: Vec<String>, only: &[String]) -> Result<Vec<String>> {
    if let Some(unknown) = only.iter().find(|name| !all.contains(name)) {
        bail!("unknown target {unknown}; known are {}", all.join(", "));
    }
    Ok(all.into_iter().filter(|name| only.is_empty() || only.contains(name)).collect())
}

/// The order of turns, by indices into the list of names: a round, which is repeated.
fn turns(names: &[String]) -> Vec<usize> {
    let round = |wanted: fn(&str) -> bool| (0..names.len()).filter(move |&place| wanted(&names[place]));
    let deep = || round(|name| DEEP.contains(&name));
    round(|_| true).chain(deep()).chain(deep()).collect()
}

/// Runs one target after the other until the time is over. A target that has found something gets
/// no more turns: it would find the same.
fn work(turns: &[usize], programs: &[PathBuf], way: &Way, end: Instant, state: &Mutex<State>) -> Result<()> {
    let poisoned = || anyhow::anyhow!("another job panicked");
    while Instant::now() < end {
        let (target, name, turn) = {
            let mut state = state.lock().map_err(|_| poisoned())?;
            if state.sums.iter().all(|sums| sums.found().next().is_some()) {
                return Ok(());
            }
            let target = turns[state.turn % turns.len()];
            state.turn += 1;
            if state.sums[target].found().next().is_some() {
                continue;
            }
            let sums = &mut state.sums[target];
            sums.turns += 1;
            (target, sums.name.clone(), sums.turns)
        };
        let piece = piece::run(&name, &programs[target], turn, way)?;
        print_line(&format!("{name}: {piece}"))?;
        state.lock().map_err(|_| poisoned())?.sums[target].add(piece);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_target_has_a_turn_and_the_deep_ones_have_three() {
        let names = build::names().unwrap();
        assert!(DEEP.iter().all(|deep| names.iter().any(|name| name == deep)), "{names:?}");
        let turns = turns(&names);
        for (place, name) in names.iter().enumerate() {
            let times = turns.iter().filter(|&&turn| turn == place).count();
            assert_eq!(times, if DEEP.contains(&&**name) { 3 } else { 1 }, "{name}");
        }
    }

    #[test]
    fn a_target_that_is_not_there_is_named() {
        let names = || vec!["class".to_owned(), "jar".to_owned()];
        assert_eq!(wanted(names(), &["jar".to_owned()]).unwrap(), ["jar"]);
        assert_eq!(wanted(names(), &[]).unwrap(), names());
        assert!(wanted(names(), &["jars".to_owned()]).unwrap_err().to_string().contains("jars"));
    }
}
