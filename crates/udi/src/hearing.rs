//! A thread that reads a module's output, so that the wait for an answer can be limited.

use std::io::{BufReader, Read};
use std::process::ChildStdout;
use std::sync::mpsc::SyncSender;

use crate::module::RuntimeClass;
use crate::wire::{self, Answer, WireError};

/// Maximum number of answers in the queue.
pub const WAITING: usize = 64;

/// An item of a module's output.
pub enum ModuleOutput {
    Greeting(Vec<RuntimeClass>),
    Answer(Answer),
    /// The end of the output, as expected.
    End,
    /// Output after the expected answers.
    More,
}

/// Forwards the greeting, this many answers, and the end; an error comes last.
pub fn hear(stdout: ChildStdout, answers: usize, to: &SyncSender<Result<ModuleOutput, WireError>>) {
    let mut input = BufReader::new(stdout);
    let send = |said: Result<ModuleOutput, WireError>| {
        let goes_on = said.is_ok();
        to.send(said).is_ok() && goes_on
    };
    if !send(wire::read_greeting(&mut input).map(ModuleOutput::Greeting)) {
        return;
    }
    for _ in 0..answers {
        if !send(wire::read_answer(&mut input).map(ModuleOutput::Answer)) {
            return;
        }
    }
    send(match input.read(&mut [0]) {
        Ok(0) => Ok(ModuleOutput::End),
        Ok(_) => Ok(ModuleOutput::More),
        Err(error) => Err(error.into()),
    });
}
