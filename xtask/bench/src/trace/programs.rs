//! Real programs, plain, profiled and traced.

use std::fs;
use std::path::Path;

use anyhow::Result;
use xtask_programs::packages::ProgramFiles;
use xtask_programs::place::{Place, RAW};
use xtask_tools::jdks::Jdk;

use super::super::ground::Ground;
use super::super::measure::Spread;
use super::super::run::works::Work;
use super::super::run::{FOR_SPEED, geometric};
use super::super::turns::{self, Choice, Measurements, Turns, Way};
use super::figures::{sizes, spelled};

/// The ways to run a program.
const HEADS: [&str; 5] = ["plain", "plain, --fast", "profile", "trace", "last 100,000"];
/// Index of the usual trace.
const USUAL: usize = 3;

/// A program in all ways.
pub(super) struct Row {
    name: &'static str,
    turns: Turns,
    events: u64,
    stored: u64,
}

/// Runs a program in all ways, in turns. `images`: the profiling and the tracing images of the JDK.
///
/// # Errors
/// Fails if it does not behave as on the plain JDK.
pub(super) fn measure(
    choice: &Choice,
    ground: &Ground,
    jdk: &Jdk,
    images: [&Path; 2],
    work: &Work,
    fetched: &ProgramFiles,
) -> Result<Row> {
    let [profiling, tracing] = images;
    let program = work.program;
    let folder = ground.work().join(program.name);
    let place = Place::prepare(program, choice.jdk, jdk, &folder, fetched)?;
    let left = ground.work().join("left");
    let on = |at: usize, home, more: &[&str]| {
        let mut options = vec![format!("-Dcctrewrite.out={}", left.display())];
        options.extend(more.iter().map(|&option| option.to_owned()));
        Way { name: HEADS[at], home, jars: RAW.to_owned(), options }
    };
    let ways = [
        Way::plain(&jdk.home, Vec::new()),
        Way::plain_fast(&jdk.home, &FOR_SPEED.map(str::to_owned)),
        on(2, profiling, &[]),
        on(USUAL, tracing, &[]),
        on(4, tracing, &["-Dcctrewrite.trace-last=100000"]),
    ];
    let mut size = None;
    let turns = turns::take(&place, &ways, choice.rounds, |at| {
        if at == USUAL && size.is_none() {
            size = Some(sizes(&ground.cctrewrite, &left)?);
        }
        // The plain JDK leaves none.
        let _ = fs::remove_file(&left);
        Ok(())
    })?;
    // Makes room for the next one.
    fs::remove_dir_all(&folder)?;
    let (events, stored) = size.unwrap_or_default();
    Ok(Row { name: program.name, turns, events, stored })
}

/// Markdown.
pub(super) fn table(measured: &Measurements<Row>) -> String {
    let Measurements { rows, left_out, .. } = measured;
    let mut text = "Real programs, those of `bench run`. `plain, --fast`: the plain program with the options for speed that images have built in.\n".to_owned();
    let elapsed = |row: &Row| row.turns.wall.clone();
    let processor = |row: &Row| row.turns.cpu.clone();
    type Times<'t> = &'t dyn Fn(&Row) -> Vec<Spread>;
    let kinds: [(&str, Times); 2] =
        [("Elapsed time", &elapsed), ("Processor time of all threads", &processor)];
    for (kind, times) in kinds {
        text += &format!("\n{kind}:\n\n| | plain, s |");
        for head in &HEADS[1..] {
            text += &format!(" {head} |");
        }
        text += " events, M | bytes each |\n|---|---|";
        text += &"---|".repeat(HEADS.len() + 1);
        text += "\n";
        for row in rows {
            let times = times(row);
            text += &format!("| {} | {:.2} |", row.name, times[0].median);
            for of in &times[1..] {
                let by = |seconds: f64| seconds / times[0].median;
                text += &format!(" {:.2} ({:.2} to {:.2}) |", by(of.median), by(of.least), by(of.most));
            }
            let (events, each) = (row.events as f64 / 1e6, row.stored as f64 / row.events.max(1) as f64);
            text += &format!(" {} | {} |\n", spelled(events), spelled(each));
        }
        text += "| *geometric mean* | |";
        for way in 1..HEADS.len() {
            let by = |row: &Row| times(row)[way].median / times(row)[0].median;
            text += &format!(" **{:.2}** |", geometric(&rows.iter().map(by).collect::<Vec<_>>()));
        }
        text += " | |\n";
    }
    text + &turns::remarks(left_out, rows.iter().map(|row| &row.turns), |_| false) + "\n"
}
