//! `cctrewrite top`: what a running JVM executes per second.
//!
//! Each table is the difference of two profiles that are read from the JVM's memory, divided by the
//! time between them.

mod table;

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use cct_profile::Profile;
use cct_profile::diff::{DiffOptions, DiffOrder, Difference, diff};
use cct_profile::origin::Origins;
use cct_profile::summary::Summary;

use crate::args::{DiffOrderArgument, Library, Top};
use crate::exit::{Outcome, say};
use crate::recover_command::running_jvm::RunningJvm;
use crate::verdicts::program_and_verdicts;
use table::{Rates, Room};

/// What a terminal does before a table: the cursor goes to the first line, and what follows is
/// erased.
const CLEAR: &[u8] = b"\x1b[H\x1b[J";

/// A profile, and when it was begun to be read.
struct Look {
    at: Instant,
    profile: Profile,
    /// What the JVM's memory lacks, in sentences.
    problems: Vec<String>,
}

/// Runs the command.
pub fn run(arguments: &Top) -> Result<Outcome> {
    let jvm = RunningJvm::find(&arguments.jvm)?;
    let library = arguments.library.library()?;
    let tables = if arguments.once { Some(1) } else { arguments.batch };
    let is_live = tables.is_none() && io::stdout().is_terminal();
    let look = || look(jvm, library.as_ref());
    let (mut last, mut outcome) = look()?;
    let mut next = last.at;
    for shown in 1u32.. {
        next = arguments.every.sleep_until_next(next);
        let (now, of_look) = match look() {
            Err(_) if jvm.has_ended() && shown > 1 => break,
            Err(_) if jvm.has_ended() => bail!("{jvm} has ended before the first table"),
            look => look?,
        };
        outcome = of_look;
        let rates = Rates {
            jvm: jvm.to_string(),
            program: now.profile.meta.get("main").cloned().unwrap_or_default(),
            threads: now.profile.threads.len(),
            elapsed: now.at - last.at,
            verdicts: verdicts(&now),
            is_whole: library.is_none(),
        };
        let room = Room::of(arguments, is_live);
        let found = difference(last.profile, now.profile.clone(), arguments.sort, room.contexts)?;
        last = now;
        let mut text = if is_live { CLEAR.to_vec() } else { Vec::new() };
        text.extend_from_slice(rates.table(&found, room, arguments.layout.of_stdout()).as_bytes());
        if shown > 1 && !is_live {
            text.insert(0, b'\n');
        }
        match io::stdout().write_all(&text).and_then(|()| io::stdout().flush()) {
            // A reader that stops early (`| head`) is no error.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(outcome),
            written => written.context("cannot write to standard output")?,
        }
        if tables == Some(shown) {
            return Ok(outcome);
        }
    }
    say(&format!("cctrewrite: {jvm} has ended"));
    Ok(outcome)
}

/// Reads the JVM's profile.
fn look(jvm: RunningJvm, library: Option<&Library>) -> Result<(Look, Outcome)> {
    let at = Instant::now();
    let recovered = jvm.recover()?;
    let outcome = if recovered.problems.is_empty() { Outcome::Complete } else { Outcome::Damaged };
    let profile = recovered.profile.without_allocations()?;
    let profile = match library {
        Some(library) => library.collapsed(profile)?,
        None => profile,
    };
    Ok((Look { at, profile, problems: recovered.problems }, outcome))
}

/// Whether the counts are exact, and what is missing from them. These are the lines of a report's
/// header without the first one and the options of the recording.
fn verdicts(look: &Look) -> Vec<String> {
    let verdicts = program_and_verdicts(&Summary::of(&look.profile), None).into_iter().skip(1);
    let problems = look.problems.iter().map(|problem| format!("INCOMPLETE: {problem}"));
    verdicts.chain(problems).collect()
}

/// What was executed between two looks.
fn difference(last: Profile, now: Profile, sort: DiffOrderArgument, contexts: usize) -> Result<Difference> {
    let order = match sort {
        DiffOrderArgument::Own => DiffOrder::Own,
        DiffOrderArgument::Inclusive => DiffOrder::Inclusive,
        DiffOrderArgument::Calls => DiffOrder::Calls,
        DiffOrderArgument::Relative => DiffOrder::Relative,
    };
    let options = DiffOptions { order, limit: contexts, ..DiffOptions::default() };
    Ok(diff(last.into(), now.into(), &options, &Origins::default())?)
}
