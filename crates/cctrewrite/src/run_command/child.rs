//! The command itself: started with our own streams, and waited for.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;
use std::thread;

use anyhow::{Context, Result};
use cct_profile::collection::VARIABLE;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It ran; its exit code, for a signal as shells give it.
    Code(u8),
    /// There is no such command.
    NotFound,
    /// It cannot be started.
    NotStarted,
}

/// Runs a command on an image and waits for its end.
pub fn run(program: &OsStr, arguments: &[OsString], image: &Path, collection: &Path) -> Result<Ending> {
    let mut path = image.join("bin").into_os_string();
    if let Some(folders) = std::env::var_os("PATH") {
        path.push(":");
        path.push(folders);
    }
    let mut command = Command::new(program);
    command.args(arguments).env("JAVA_HOME", image).env("PATH", path).env(VARIABLE, collection);
    // A signal that we handle has its default effect in the command again.
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM]).context("cannot watch for signals")?;
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Ending::NotFound),
        Err(_) => return Ok(Ending::NotStarted),
    };
    let id = child.id();
    thread::spawn(move || {
        for signal in &mut signals {
            // A terminal sends its signals to the command as well. The others are for us alone, and meant for it.
            if matches!(signal, SIGTERM | SIGHUP) {
                pass_on(signal, id);
            }
        }
    });
    let status = child.wait().context("cannot wait for the command")?;
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    Ok(Ending::Code(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)))
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
