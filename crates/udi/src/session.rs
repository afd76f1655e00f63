//! A module that gets classes one after another, as they are defined.

use std::io::{BufWriter, Write};
use std::process::ChildStdin;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use crate::error::Error;
use crate::hearing::{ModuleOutput, WAITING, hear};
use crate::module::Outcome;
use crate::process::{Launch, Process};
use crate::wire::{self, Answer, WireError};

/// A module that waits for classes. Dropping the value ends the process.
#[derive(Debug)]
pub struct Session {
    process: Process,
    to: BufWriter<ChildStdin>,
    from: Receiver<Result<ModuleOutput, WireError>>,
}

impl Session {
    /// Starts a module and reads its greeting. Its own classes are already in the class library.
    ///
    /// # Errors
    /// If it does not start, or sends no greeting.
    pub fn open(launch: &Launch<'_>) -> Result<Session, Error> {
        let mut process = Process::start(launch)?;
        let (stdin, stdout) = process.pipes()?;
        let (sender, from) = sync_channel(WAITING);
        thread::spawn(move || hear(stdout, usize::MAX, &sender));
        let mut session = Session { process, to: BufWriter::new(stdin), from };
        session.send(|to| to.write_all(&wire::MAGIC))?;
        match session.process.next(&session.from, "when it was started")? {
            ModuleOutput::Greeting(_) => Ok(session),
            _ => Err(session.process.out_of_turn("it did not begin with the greeting of a module")),
        }
    }

    /// Asks for the outcome of a class. After an error there are no more answers.
    ///
    /// # Errors
    /// If the module fails, ends, or exceeds the time limit.
    pub fn ask(&mut self, name: &str, bytes: &[u8]) -> Result<Outcome, Error> {
        let at = format!("for class {name}");
        self.send(|to| {
            wire::write_field(to, name.as_bytes())?;
            wire::write_field(to, bytes)
        })?;
        match self.process.next(&self.from, &at)? {
            ModuleOutput::Answer(Answer::Outcome(outcome)) => Ok(outcome),
            ModuleOutput::Answer(Answer::Failed(why)) => Err(self.process.failed(at, why)),
            _ => Err(self.process.out_of_turn(&format!("it gave no answer {at}"))),
        }
    }

    fn send(
        &mut self,
        write: impl FnOnce(&mut BufWriter<ChildStdin>) -> std::io::Result<()>,
    ) -> Result<(), Error> {
        match write(&mut self.to).and_then(|()| self.to.flush()) {
            Ok(()) => Ok(()),
            // A module that stops reading has ended, or is about to: its output says why.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            Err(error) => Err(self.process.system("cannot write to it", error)),
        }
    }
}
