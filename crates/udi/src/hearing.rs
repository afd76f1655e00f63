//! What comes out of a module, heard by a thread so that an answer need not be waited for without
//! end.

use std::io::{BufReader, Read};
use std::process::ChildStdout;
use std::sync::mpsc::SyncSender;

use crate::module::RuntimeClass;
use crate::wire::{self, Answer, WireError};

/// Answers that wait to be taken.
pub const WAITING: usize = 64;

/// What a module says.
pub enum Said {
    Greeting(Vec<RuntimeClass>),
    Answer(Answer),
    /// Nothing any more, as it should be.
    End,
    /// More than it was asked.
    More,
}

/// Hands on the greeting, so many answers, and the end; an error is the last.
pub fn hear(stdout: ChildStdout, answers: usize, to: &SyncSender<Result<Said, WireError>>) {
    let mut input = BufReader::new(stdout);
    let send = |said: Result<Said, WireError>| {
        let goes_on = said.is_ok();
        to.send(said).is_ok() && goes_on
    };
    if !send(wire::read_greeting(&mut input).map(Said::Greeting)) {
        return;
    }
    for _ in 0..answers {
        if !send(wire::read_answer(&mut input).map(Said::Answer)) {
            return;
        }
    }
    send(match input.read(&mut [0]) {
        Ok(0) => Ok(Said::End),
        Ok(_) => Ok(Said::More),
        Err(error) => Err(error.into()),
    });
}
