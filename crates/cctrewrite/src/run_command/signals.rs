//! Signals that reach `run`: the command's while it runs, `run`'s own afterwards.

use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use cct_build::pending_file;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::{emulate_default_handler, signal_name};

use crate::exit::say;
use crate::run_folder;

/// How long after the command's end a signal counts as the one that ended it: both processes get
/// the signals of a terminal, and `run` may notice its own later.
const SAME_SIGNAL: Duration = Duration::from_millis(250);

/// The signals that `run` handles from now on. In the commands that it starts they have their
/// default effect.
pub struct Handler {
    signals: Signals,
    unfinished: Unfinished,
}

/// What is removed when a signal ends `run`.
struct Unfinished {
    /// The file that `run` was asked for.
    output: PathBuf,
    /// The folder into which JVMs write.
    collection: PathBuf,
}

/// Whose signals they are.
enum Owner {
    /// The command with this process id.
    Command(u32),
    /// `run`, since the command ended at this time with this exit code.
    Run(Instant, u8),
}

/// The signals of a command that runs.
pub struct Watch(Arc<Mutex<Owner>>);

impl Handler {
    /// Handles signals. What `run` was asked for is `output`, and JVMs write to `collection`.
    pub fn install(output: &Path, collection: &Path) -> Result<Handler> {
        let signals = Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM]).context("cannot watch for signals")?;
        let unfinished = Unfinished { output: output.to_owned(), collection: collection.to_owned() };
        Ok(Handler { signals, unfinished })
    }

    /// Passes signals on to the command until [`Watch::ended`].
    pub fn watch(mut self, command: &Child) -> Watch {
        let owner = Arc::new(Mutex::new(Owner::Command(command.id())));
        let watch = Watch(owner.clone());
        thread::spawn(move || {
            for signal in &mut self.signals {
                let owner = owner.lock().unwrap_or_else(PoisonError::into_inner);
                match *owner {
                    // A terminal sends its signals to the command as well. The others are for us
                    // alone, and meant for it.
                    Owner::Command(process) if matches!(signal, SIGTERM | SIGHUP) => pass_on(signal, process),
                    Owner::Command(_) => {}
                    Owner::Run(since, code) => {
                        let is_the_commands =
                            i32::from(code) == 128 + signal && since.elapsed() < SAME_SIGNAL;
                        if !is_the_commands {
                            self.unfinished.end_by(signal);
                        }
                    }
                }
            }
        });
        watch
    }
}

impl Watch {
    /// From now on signals end `run`: the command has ended with this exit code.
    pub fn ended(self, code: u8) {
        let run = Owner::Run(Instant::now(), code);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = run;
    }
}

impl Unfinished {
    /// Removes what `run` has not finished, and ends it as the signal does by default.
    fn end_by(&self, signal: i32) {
        let name = signal_name(signal).unwrap_or("a signal");
        say(&format!(
            "cctrewrite: ended by {name} before {} was complete; run the command again",
            self.output.display()
        ));
        pending_file::remove_all();
        run_folder::remove(&self.collection);
        // Of these signals it does not return.
        let _ = emulate_default_handler(signal);
    }
}

/// Sends a signal to a process.
fn pass_on(signal: i32, process: u32) {
    if let Some(process) = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw)
        && let Some(signal) = rustix::process::Signal::from_named_raw(signal)
    {
        // A process that has ended needs no signal.
        let _ = rustix::process::kill_process(process, signal);
    }
}
