//! Signals that reach `run`. They are meant for the command while it runs, and for `run`
//! afterwards.

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

/// How long after the command's end a signal counts as the one that ended it. A terminal sends
/// signals to both processes, and `run` may notice its own later.
const SAME_SIGNAL: Duration = Duration::from_millis(250);

/// The signals that `run` handles from now on. In commands that it starts, they have their default
/// effect.
pub struct Handler {
    signals: Signals,
    unfinished: UnfinishedWork,
}

/// The work that `run` has not finished when a signal ends it.
struct UnfinishedWork {
    /// The output file of `run`.
    output: PathBuf,
    /// The folder into which JVMs write.
    collection: PathBuf,
}

/// The process for which signals are meant.
enum Owner {
    /// The command with this process id.
    Command(u32),
    /// `run`, since the command ended at this time with this exit code.
    Run(Instant, u8),
}

/// Passes signals on while a command runs.
pub struct Watch(Arc<Mutex<Owner>>);

impl Handler {
    /// Begins to handle signals. `output` is the output file of `run`, and JVMs write to
    /// `collection`.
    pub fn install(output: &Path, collection: &Path) -> Result<Handler> {
        let signals = Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM]).context("cannot watch for signals")?;
        let unfinished = UnfinishedWork { output: output.to_owned(), collection: collection.to_owned() };
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
                    // A terminal sends its signals to the command, too. These two reach only `run`,
                    // but are meant for the command.
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
    /// From now on signals end `run`, since the command has ended with this exit code.
    pub fn ended(self, code: u8) {
        let run = Owner::Run(Instant::now(), code);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = run;
    }
}

impl UnfinishedWork {
    /// Removes what `run` has not finished, and ends `run` as the signal does by default.
    fn end_by(&self, signal: i32) {
        let name = signal_name(signal).unwrap_or("a signal");
        say(&format!(
            "cctrewrite: ended by {name} before {} was complete; run the command again",
            self.output.display()
        ));
        pending_file::remove_all();
        run_folder::remove(&self.collection);
        // For these signals it does not return.
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
