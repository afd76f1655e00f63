//! Starts the command with this process's standard streams, and waits for it.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use cct_profile::collection::VARIABLE;

use super::signals::Handler;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It ran.
    Code {
        /// Its exit code, or 128 plus the number of the signal that ended it.
        code: u8,
        /// Its process id.
        process: u32,
    },
    /// There is no such command.
    NotFound,
    /// It cannot be started.
    NotStarted,
}

/// Runs a command on an image and waits for its end. Its JVMs write to the folder `collection`,
/// from which `run` makes `output`.
pub fn run(
    program: &OsStr,
    arguments: &[OsString],
    image: &Path,
    collection: &Path,
    output: &Path,
) -> Result<Ending> {
    let mut path = image.join("bin").into_os_string();
    if let Some(folders) = std::env::var_os("PATH") {
        path.push(":");
        path.push(folders);
    }
    let mut command = Command::new(program);
    command.args(arguments).env("JAVA_HOME", image).env("PATH", path).env(VARIABLE, collection);
    let handler = Handler::install(output, collection)?;
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Ending::NotFound),
        Err(_) => return Ok(Ending::NotStarted),
    };
    let watch = handler.watch(&child);
    let status = child.wait().context("cannot wait for the command")?;
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    let code = code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX);
    watch.ended(code);
    Ok(Ending::Code { code, process: child.id() })
}
