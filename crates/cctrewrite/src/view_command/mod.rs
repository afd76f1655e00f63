//! `cctrewrite view`: a profile on the terminal, to look through.
//!
//! [`state`] is what the user sees and what keys do to it, [`draw`] its picture, [`terminal`] the
//! rest. Rows exist only for what is open, so millions of contexts take no longer than for
//! `report`.

mod contexts;
mod draw;
mod numbers;
mod outline;
mod search;
mod source;
mod state;
mod terminal;
#[cfg(test)]
mod tests;
mod trees;

use std::io;

use anstream::{AutoStream, ColorChoice};
use anyhow::{Result, bail};

use crate::args::{SortArgument, View};
use crate::exit::Outcome;
use crate::profile_file::is_stdin;
use numbers::Sort;
use source::Source;
use state::State;

/// Runs the command.
pub fn run(arguments: &View) -> Result<Outcome> {
    if !terminal::is_there() {
        bail!(
            "`view` needs a terminal as standard input and output; use `cctrewrite report` for files and pipes"
        );
    }
    if arguments.profiles.iter().any(|path| is_stdin(path)) {
        bail!("`view` reads keys from standard input, so profiles cannot come from there; name a file");
    }
    let sort = match arguments.sort {
        SortArgument::Inclusive => Sort::Inclusive,
        SortArgument::Own => Sort::Own,
        SortArgument::Calls => Sort::Calls,
        SortArgument::Name => Sort::Name,
    };
    let (source, is_damaged, choice) = Source::read(arguments)?;
    source.say_unmatched();
    let mut state = State::new(source, choice, sort)?;
    let has_colours = AutoStream::choice(&io::stdout()) != ColorChoice::Never;
    terminal::show(&mut state, has_colours)?;
    Ok(if is_damaged { Outcome::Damaged } else { Outcome::Complete })
}
