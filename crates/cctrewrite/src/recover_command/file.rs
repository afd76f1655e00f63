//! Recovers the profile of one file.

use std::fs::File;

use std::path::Path;

use anyhow::{Context, Result};
use cct_archive::{INDEX_NAME, Input, Limits};
use cct_arena::{Memory, Recovery, State};
use cct_build::output::entry;
use std::borrow::Cow;

/// Recovers the profile from the file that holds a JVM's memory.
pub fn of_file(path: &Path) -> Result<Recovery> {
    let shown = path.display();
    let file = File::open(path).with_context(|| format!("cannot open {shown}"))?;
    let memory = Memory::open(file).with_context(|| shown.to_string())?;
    let state = if memory.is_in_use() { State::Running } else { State::Killed };
    cct_arena::recover(&memory, state, &in_jar).with_context(|| shown.to_string())
}

/// The index in a jar, which must be an output.
pub(crate) fn in_jar(jar: &Path) -> Result<Vec<u8>, String> {
    let index = || -> Result<Vec<u8>> {
        let input = Input::open(jar, &Limits::default())?;
        let index = entry(&input, INDEX_NAME)?.map(Cow::into_owned);
        index.with_context(|| format!("it has no {INDEX_NAME}"))
    };
    index().map_err(|e| format!("{e:#}"))
}
